// See it learn: one function, examples by click, and the error at each n beside the learning curve.
import { Chart, makeLegend } from "./chart.js";
import { torusCovariance } from "./covariance.js";
import { button, choices, copyable, downloadCsv, downloadPicture, h, slider, toggle } from "./dom.js";
import * as formulas from "./formulas.js";
import { chosenInputs, drawTruth, learn, makeModel, mostUncertain } from "./gp.js";
import { KERNELS } from "./kernels.js";
import { makeRandom } from "./random.js";
import { torusSpectrum } from "./spectrum.js";
import { studentKernel } from "./theory.js";
import { learnCommand, learnPython, say } from "./words.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./dom.js").Change} Change
 * @typedef {import("./tab_theory.js").Tab} Tab
 */

const MOST = 150, COMPARED = 30;

/** Places of examples from a link. @param {string} text */
const readPlaces = (text) =>
  text
    .split(",")
    .filter((each) => each !== "")
    .map(Number)
    .filter((each) => each >= 0 && each <= 1)
    .slice(0, MOST);

/** @param {Change} change @returns {Tab} */
export function learnTab(change) {
  let state = /** @type {State} */ ({});
  let compared = /** @type {{key: string, random: number[], chosen: number[]} | null} */ (null);
  /** @type {{key: string, model: ReturnType<typeof makeModel>, truth: Float64Array, theory: number[]} | null} */
  let kept = null;
  let known = /** @type {ReturnType<typeof learn> | null} */ (null), x = /** @type {number[]} */ ([]);

  const controls = [
    choices("kernel", "Kernel", Object.fromEntries(Object.entries(KERNELS).map(([name, { title }]) => [name, title])), change),
    slider("lengthscale", "Lengthscale", change),
    slider("noise", "Noise variance σ²", change),
    slider("variance", "Prior variance", change),
    slider("seed", "Function (random seed)", change),
    toggle("reveal", "Show the true function", change),
  ];
  const place = (/** @type {number[]} */ places) => change({ examples: [...x, ...places].slice(0, MOST).map((each) => Number(each.toFixed(4))).join(",") });
  const fresh = () => makeRandom(7919 * state.seed + x.length + 1).uniform();
  const buttons = h(
    "div",
    { class: "tools first" },
    button("Add at random", () => place([fresh()]), "primary"),
    button("Add where least certain", () => kept && known && place([mostUncertain(kept.model, known.variance)]), "primary"),
    button("Add ten at random", () => {
      const random = makeRandom(7919 * state.seed + x.length + 1);
      place(Array.from({ length: 10 }, random.uniform));
    }),
    button("Undo", () => change({ examples: x.slice(0, -1).join(",") })),
    button("Clear", () => change({ examples: "" })),
    button("New function", () => change({ seed: (state.seed % 9999) + 1, examples: "" })),
    button("Compare random and chosen inputs", compare),
  );
  const functions = new Chart("The function and what is known of it", 380), curve = new Chart("The error at each n", 380);
  functions.onpick = (at) => place([at]);
  const legend = makeLegend((key) => {
    const hidden = new Set(state.hide.split(",").filter(Boolean));
    if (!hidden.delete(key)) hidden.add(key);
    change({ hide: [...hidden].join(",") });
  });
  const told = h("p", { role: "status", class: "answer first" });
  const python = copyable("Python", () => learnPython(state)), command = copyable("Command line", () => learnCommand(state));
  const panel = h(
    "div",
    { class: "columns" },
    h("form", { class: "controls", "aria-label": "Model", onsubmit: (/** @type {Event} */ event) => event.preventDefault() }, ...controls.map((each) => each.element)),
    h(
      "div",
      { class: "main" },
      h("p", { class: "first" }, "Click or tap the picture of the function to measure it there. With the keyboard: focus the picture, move with the arrow keys and press Enter. The band is the posterior mean ± 2 posterior standard deviations."),
      h("div", { class: "pictures first" }, h("div", { class: "card" }, functions.element), h("div", { class: "card" }, curve.element)),
      h("div", { class: "first" }, legend.element),
      told,
      buttons,
      h("div", { class: "tools" }, button("Picture", () => downloadPicture("gpcurves-function.png", functions.drawing, functions.keys)), button("CSV", () => downloadCsv("gpcurves-examples.csv", rows()))),
      h("details", {}, h("summary", {}, "How it is computed"), h("ul", {}, h("li", {}, "The function is drawn from the Gaussian process on the circle between 0 and 1, whose ends are joined."), h("li", {}, "Mean k(x)ᵀ(K + σ²)⁻¹y and variance C(x,x) − k(x)ᵀ(K + σ²)⁻¹k(x) by one Cholesky factor: its leading blocks give every smaller n."), h("li", {}, "LC is the average over all functions and all random inputs; one function lies above or below it."))),
      h("details", {}, h("summary", {}, "The same numbers elsewhere"), python.element, command.element),
    ),
  );

  const rows = () => [["n", "x", "y", "posterior variance", "squared error"], ...(known?.expected ?? []).map((variance, n) => [n, n > 0 ? x[n - 1] : "", n > 0 ? known?.y[n - 1] ?? "" : "", variance, known?.found[n] ?? ""])];

  /** Learn the same function twice, from random inputs and from chosen ones. */
  function compare() {
    if (kept === null) return;
    const random = makeRandom(state.seed), drawn = Array.from({ length: COMPARED }, random.uniform);
    const { expected: fromRandom } = learn(kept.model, kept.truth, drawn, state.seed);
    const { expected: fromChosen } = learn(kept.model, kept.truth, chosenInputs(kept.model, COMPARED, drawn[0]), state.seed);
    compared = { key: kept.key, random: fromRandom, chosen: fromChosen };
    draw();
  }

  function draw() {
    if (kept === null || known === null) return;
    const { model, truth } = kept, { mean, variance, y, expected, found } = known, grid = Array.from(model.grid);
    const deviation = Array.from(variance, (each) => Math.sqrt(Math.max(each, 0)));
    const scale = 3.2 * Math.sqrt(model.prior[0]), ends = [-scale, scale, ...truth, ...y];
    functions.draw({
      x: { label: "input x", low: 0, high: 1, log: false },
      y: { label: "function", low: Math.min(...ends), high: Math.max(...ends), log: false },
      bands: [{ x: grid, low: grid.map((_, i) => mean[i] - 2 * deviation[i]), high: grid.map((_, i) => mean[i] + 2 * deviation[i]), colour: "var(--region)" }],
      series: [
        { key: "mean", label: "posterior mean", x: grid, y: Array.from(mean), colour: "var(--c1)", width: 3 },
        { key: "truth", label: "true function", x: grid, y: Array.from(truth), colour: "var(--c3)", dash: "5 4", hidden: !state.reveal },
        { key: "examples", label: "examples", x, y: Array.from(y), colour: "var(--ink)", points: true, size: 4.5 },
      ],
    });
    const n = expected.map((_, i) => i), most = Math.max(COMPARED, x.length), all = Array.from({ length: most + 1 }, (_, i) => i);
    const theory = all.map((size) => kept?.theory[size] ?? NaN), top = Math.max(theory[0], ...found) * 1.3;
    const shown = compared?.key === kept.key ? compared : null;
    const series = [
      { key: "lc", label: "LC: average over functions", x: all, y: theory, colour: "var(--c1)", width: 3 },
      { key: "variance", label: "posterior variance", x: n, y: expected, colour: "var(--c6)", points: true, joined: true, size: 3.5 },
      { key: "error", label: "squared error of this function", x: n, y: found, colour: "var(--c3)", points: true, size: 3.5 },
      ...(shown ? [
        { key: "random", label: "30 random inputs", x: shown.random.map((_, i) => i), y: shown.random, colour: "var(--c2)", dash: "6 3" },
        { key: "chosen", label: "30 inputs, each where the model was least certain", x: shown.chosen.map((_, i) => i), y: shown.chosen, colour: "var(--c4)", dash: "2 3" },
      ] : []),
    ];
    const hidden = state.hide.split(",");
    for (const each of series) Object.assign(each, { hidden: hidden.includes(each.key) });
    const low = Math.min(...series.flatMap((each) => each.y).filter((each) => each > 0)) / 1.5;
    curve.draw({ x: { label: "number of examples n", low: 0, high: most, log: false }, y: { label: "squared error", low, high: top, log: true }, series });
    legend.show(series);
    const now = `After ${x.length === 1 ? "one example" : `${x.length} examples`}: posterior variance ${say(expected[x.length])}, squared error of this function ${say(found[x.length])}, LC ${say(kept.theory[x.length])}.`;
    told.textContent = shown ? `${now} With ${COMPARED} inputs, the posterior variance is ${say(shown.chosen[COMPARED])} if each is chosen where the model is least certain, and ${say(shown.random[COMPARED])} if they are random.` : now;
  }

  return {
    panel,
    show(next) {
      state = next;
      for (const control of controls) control.show(state);
      const kernel = studentKernel(state), key = JSON.stringify([kernel, state.noise, state.seed]);
      if (kept?.key !== key) {
        const model = makeModel(torusCovariance(kernel, 1), state.noise), spectrum = torusSpectrum(kernel, 1);
        kept = { key, model, truth: drawTruth(model, state.seed), theory: Array.from({ length: MOST + 1 }, (_, n) => formulas.lc(spectrum, state.noise, n)) };
      }
      x = readPlaces(state.examples);
      known = learn(kept.model, kept.truth, x, state.seed);
      draw();
      python.show();
      command.show();
    },
  };
}
