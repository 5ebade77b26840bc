// The theory tab: a problem by sliders, its curves, what they answer, and real data sets beside them.
import { Chart, makeLegend } from "./chart.js";
import { button, choices, copyable, downloadCsv, downloadPicture, h, slider, table, toggle } from "./dom.js";
import { KERNELS } from "./kernels.js";
import { DEFAULTS, FIELDS, problemText, within } from "./state.js";
import { computeTheory, keptState, outsideRegion, sizesUpTo } from "./theory.js";
import { answer, curvesInWords, difference, explanation, fallInWords, quantityName, say, sayCount, theoryCommand, theoryPython } from "./words.js";
import { PRECISION, start } from "./worker.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./state.js").NumberField} NumberField
 * @typedef {import("./words.js").Package} Package
 * @typedef {import("./worker.js").Report} Report
 * @typedef {import("./theory.js").Theory} Theory
 * @typedef {import("./dom.js").Change} Change
 * @typedef {{panel: HTMLElement, show: (state: State) => void}} Tab
 */

const LOOKS = {
  lc: { colour: "var(--c1)", width: 3 },
  misspecified: { colour: "var(--c3)", width: 3 },
  uc: { colour: "var(--c2)", dash: "8 4" },
  two: { colour: "var(--c4)", dash: "6 3" },
  ov: { colour: "var(--c5)", dash: "6 3" },
  plaskota: { colour: "var(--c5)", dash: "2 3" },
  kept: { colour: "var(--quiet)", dash: "12 3", width: 2.5 },
  grid: { colour: "var(--c6)", points: true, joined: true, dash: "1 3", size: 3 },
};
const LARGEST = 400, LARGEST_CLASSES = 100; // simulated data sets
const REST = 90; // milliseconds without a move

const KERNEL_TITLES = Object.fromEntries(Object.entries(KERNELS).map(([name, { title }]) => [name, title]));

/** @param {Change} change @param {Package} about @returns {Tab} */
export function theoryTab(change, about) {
  let state = /** @type {State} */ ({}), theory = /** @type {Theory | null} */ (null);
  /** @type {Report | null} */
  let simulated = null;
  let stop = /** @type {(() => void) | null} */ (null), simulatedFor = "", timer = 0;

  const forward = (/** @type {Partial<State>} */ part) => change(part);
  const truth = [
    choices("trueKernel", "True kernel", KERNEL_TITLES, forward),
    slider("trueLengthscale", "True lengthscale", forward),
    slider("trueVariance", "True prior variance", forward),
    slider("trueNoise", "True noise variance", forward),
  ];
  const model = [
    choices("kernel", "Kernel", KERNEL_TITLES, forward),
    slider("lengthscale", "Lengthscale", forward),
    slider("noise", "Noise variance σ²", forward),
    slider("variance", "Prior variance", forward),
  ];
  const dim = slider("dim", "Dimension d", forward), most = slider("most", "Largest n", forward);
  const inputs = choices("inputs", "Inputs", { torus: "Uniform (torus)", gaussian: "Gaussian" }, forward);
  const inputVariance = slider("inputVariance", "Input variance", forward);
  const labels = choices("labels", "Labels", { numbers: "Numbers", classes: "Classes (probit)" }, forward);
  const quantity = choices("quantity", "Show", { "error-rate": "Error rate", "sign-error-rate": "Sign error rate", mse: "Squared error" }, forward);
  const wrong = toggle("wrong", "Misspecified model: the data come from another kernel or noise", (part) => change(part.wrong && untouched() ? { ...part, ...stretched() } : part));
  const untouched = () => /** @type {(keyof State)[]} */ (["trueKernel", "trueLengthscale", "trueVariance", "trueNoise"]).every((name) => state[name] === DEFAULTS[name]);
  /** A truth that differs from the model in its lengthscale alone: what that costs is the first thing to see. */
  const stretched = () => ({ trueKernel: state.kernel, trueLengthscale: within(/** @type {NumberField} */ (FIELDS.trueLengthscale), 3 * state.lengthscale), trueVariance: state.variance, trueNoise: state.noise });
  const truthBox = h("div", { class: "sub" }, ...truth.map((each) => each.element));
  const controls = h(
    "form",
    { class: "controls", "aria-label": "Problem", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
    ...model.map((each) => each.element),
    inputs.element,
    dim.element,
    inputVariance.element,
    most.element,
    labels.element,
    quantity.element,
    wrong.element,
    truthBox,
  );

  const chart = new Chart("Learning curves");
  const legend = makeLegend((key) => {
    const hidden = new Set(state.hide.split(",").filter(Boolean));
    if (!hidden.delete(key)) hidden.add(key);
    change({ hide: [...hidden].join(",") });
  });
  chart.onpick = (x) => change({ at: within(/** @type {NumberField} */ (FIELDS.at), x), solve: "error" });

  const progress = h("span", { role: "status", class: "progress" });
  const simulate = button("Simulate", () => (stop ? halt("Stopped.") : begin()), "primary");
  const keep = button("Keep this curve", () => change({ kept: state.kept === "" ? problemText(state) : "" })), described = h("p", { class: "hint first" });
  const tools = h(
    "div",
    { class: "tools" },
    simulate,
    keep,
    button("Picture", () => downloadPicture("gpcurves.png", chart.drawing, chart.keys)),
    button("CSV", () => downloadCsv("gpcurves.csv", rows())),
    progress,
  );

  const solve = choices("solve", "Read", { n: "n", error: "error", noise: "noise", lengthscale: "lengthscale" }, forward);
  const at = slider("at", "Examples n", forward), goal = slider("goal", "Error", forward);
  const answered = h("p", { class: "answer", role: "status" });
  const use = button("Apply", () => {
    const { value } = answer(state), name = { n: "at", error: "goal", noise: "noise", lengthscale: "lengthscale" }[state.solve];
    const field = /** @type {NumberField} */ (FIELDS[/** @type {keyof State} */ (name)]);
    if (Number.isFinite(value)) change({ [name]: within(field, field.integer ? Math.ceil(value - 1e-9) : Number(value.toPrecision(4))) });
  });
  const solver = h("section", { class: "card" }, h("h2", {}, "Fix three, read the fourth"), solve.element, h("div", { class: "pair" }, at.element, goal.element), answered, use);
  const falling = h("div", {}), computed = h("ul", {}), numbers = h("div", {});
  const python = copyable("Python", () => theoryPython(state, about)), command = copyable("Command line", () => theoryCommand(state, about));
  const panel = h(
    "div",
    { class: "columns" },
    controls,
    h(
      "div",
      { class: "main" },
      h("div", { class: "sticky first" }, chart.element),
      h("div", { class: "first" }, legend.element),
      described,
      tools,
      h("div", { class: "cards" }, solver, h("section", { class: "card" }, h("h2", {}, "How the error falls"), falling)),
      h("details", {}, h("summary", {}, "How it is computed"), computed),
      h("details", {}, h("summary", {}, "Numbers"), numbers),
      h("details", { open: true }, h("summary", {}, "The same numbers elsewhere"), python.element, command.element),
    ),
  );

  function rows() {
    const curves = theory?.curves ?? [];
    const listed = curves.flatMap((curve) => curve.n.map((n, i) => [curve.key, n, curve.error[i], ""]));
    const points = simulated ? simulated.sizes.map((n, i) => ["simulation", n, simulated?.mean[i] ?? "", simulated?.stderr[i] ?? ""]) : [];
    return /** @type {(string | number)[][]} */ ([["method", "n", "error", "stderr"], ...listed, ...points]);
  }

  function begin() {
    const largest = Math.min(state.most, state.labels === "classes" ? LARGEST_CLASSES : LARGEST);
    const all = sizesUpTo(largest), sizes = all.filter((_, i) => i % Math.ceil(all.length / 14) === 0 || i === all.length - 1);
    simulated = null;
    simulatedFor = problemText(state);
    simulate.textContent = "Stop";
    progress.textContent = "Drawing data sets …";
    stop = start({ state, sizes }, (report) => {
      if (report.complaint) return halt(`The simulation failed: ${report.complaint}.`);
      simulated = report;
      const precise = `largest standard error ${(100 * report.precision).toFixed(1)} %`;
      progress.textContent = `${report.count} data sets, ${precise}${report.done ? "" : ` (goal ${100 * PRECISION} %)`}`;
      if (report.done) halt(null);
      draw();
    });
  }

  /** @param {string | null} words */
  function halt(words) {
    stop?.();
    stop = null;
    simulate.textContent = "Simulate";
    if (words !== null) progress.textContent = words;
  }

  function draw() {
    if (theory === null) return;
    const hidden = new Set(state.hide.split(","));
    const curves = theory.curves, kept = keptState(state);
    const series = curves.map((curve) => ({
      .../** @type {any} */ (LOOKS)[curve.key],
      key: curve.key,
      label: curve.key === "kept" && kept !== null ? difference(kept, state) : curve.label,
      title: curve.title,
      x: curve.n,
      y: curve.error,
      hidden: hidden.has(curve.key),
    }));
    if (simulated !== null) {
      const { sizes, mean, stderr } = simulated;
      series.push({ key: "simulation", label: "simulated", title: "average over real data sets, ± standard error", x: sizes, y: mean, error: stderr, points: true, size: 4, colour: "var(--ink)", hidden: hidden.has("simulation") });
    }
    const main = theory.main.error, top = Math.max(...main, ...(theory.region?.high ?? [0])) * 1.25;
    const bottom = Math.min(...curves.filter(({ kind }) => kind === "approximation").flatMap(({ error }) => error)) / 3;
    const bands = [];
    if (theory.region && !hidden.has("region")) {
      const { n, low, high } = theory.region;
      bands.push({ x: n, low, high: high ?? n.map(() => top * 10), colour: "var(--region)", label: "what the bounds allow" });
    }
    const read = state.solve === "n" || state.solve === "error" ? answer(state).value : NaN; // the others are not points of this curve
    const error = state.solve === "error" ? read : state.goal, size = state.solve === "n" ? read : state.at;
    const shown = Number.isFinite(read) && size >= 1 && size <= state.most && error >= bottom && error <= top;
    const marks = shown ? [{ x: size, y: error, label: `n = ${sayCount(size)}, ${say(error)}` }] : [];
    chart.draw({ x: { label: "number of examples n", low: 1, high: state.most, log: true }, y: { label: quantityName(state), low: bottom, high: top, log: true }, series, bands, marks });
    const region = theory.region ? [{ key: "region", label: "where the truth must lie", x: [], y: [], colour: "var(--region-edge)", width: 8, hidden: hidden.has("region"), title: theory.region.high ? "between the highest lower bound and the upper bound" : "above the highest lower bound" }] : [];
    legend.show([...series, ...region]);
  }

  function tell() {
    if (state.solve === "lengthscale") answered.textContent = "Solving …"; // every lengthscale has a spectrum of its own: it follows when sliders rest
    else solved();
    const outside = theory === null ? null : outsideRegion(theory);
    const caution = outside === null ? [] : [`Between n = ${sayCount(outside.from)} and ${sayCount(outside.to)}, LC lies outside what the bounds allow: it is an approximation and no bound, and is far off if one eigenvalue dominates.`];
    falling.replaceChildren(...[...fallInWords(state), ...caution].map((line) => h("p", {}, line)));
    computed.replaceChildren(...explanation(state).map((line) => h("li", {}, line)));
    python.show();
    command.show();
    const sizes = (theory?.n ?? []).filter((_, i, all) => i % Math.ceil(all.length / 12) === 0 || i === all.length - 1), curves = theory?.curves.filter(({ key }) => key !== "grid") ?? [];
    const lines = sizes.map((n) => [sayCount(n), ...curves.map((curve) => say(curve.error[curve.n.indexOf(n)], 4))]);
    numbers.replaceChildren(table(`${quantityName(state)} after n examples`, ["n", ...curves.map(({ label }) => label)], lines));
  }

  function solved() {
    const { value, text } = answer(state);
    answered.textContent = text;
    use.hidden = !Number.isFinite(value);
  }

  /** Grids take longer than a slider may, and so does solving for the lengthscale: they follow when it rests. */
  function finish() {
    theory = computeTheory(state, true);
    draw();
    if (state.solve === "lengthscale") solved();
  }

  return {
    panel,
    show(next) {
      if (stop !== null && problemText(next) !== simulatedFor) halt("");
      if (simulated !== null && problemText(next) !== simulatedFor) {
        simulated = null;
        progress.textContent = "";
      }
      state = next;
      for (const control of [...model, ...truth, dim, most, inputs, inputVariance, labels, quantity, wrong, solve, at, goal]) control.show(state);
      inputVariance.element.hidden = state.inputs !== "gaussian";
      const classes = state.labels === "classes";
      quantity.element.hidden = !classes;
      wrong.element.hidden = classes;
      truthBox.hidden = classes || !state.wrong;
      at.element.hidden = state.solve === "n";
      goal.element.hidden = state.solve === "error";
      keep.textContent = state.kept === "" ? "Keep this curve" : "Forget the kept curve";
      described.textContent = curvesInWords(state);
      theory = computeTheory(state, false);
      draw();
      tell();
      clearTimeout(timer);
      timer = window.setTimeout(finish, REST);
    },
  };
}
