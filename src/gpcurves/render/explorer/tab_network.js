// The network tab: a graph, labels by click, what is known at every vertex, and the learning curve beside it.
import { Chart, makeLegend } from "./chart.js";
import { button, choices, copyable, downloadCsv, downloadPicture, fileDrop, h, slider, svg } from "./dom.js";
import * as formulas from "./formulas.js";
import * as graphs from "./graph.js";
import { noiseOf } from "./gp.js";
import { makeRandom } from "./random.js";
import { listedSpectrum } from "./spectrum.js";
import { networkCommand, networkPython, say } from "./words.js";
import { start } from "./worker.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./dom.js").Change} Change
 * @typedef {import("./tab_theory.js").Tab} Tab
 * @typedef {import("./graph.js").Graph} Graph
 * @typedef {import("./worker.js").Report} Report
 */

const SIZE = 460, ROUNDS = 150, MOST_LINK = 6000, MOST_FILE = 2e6, MOST_LABELS = 1000;
const FIRST_PAIRS = 2e5, PAIRS = 1e6; // of vertices that push each other, in the rounds of drawing before a first picture and before others
const SHARES = [0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2]; // labels per vertex, of the curve

/** Colours between two ends, and for signed values through a middle. */
const RAMPS = {
  variance: ["#1b4f72", "#4b9fbf", "#f6d55c", "#d1495b"],
  mean: ["#2166ac", "#92c5de", "#f4f1ea", "#f4a582", "#b2182b"],
};

/** @param {string[]} ramp @param {number} share between 0 and 1 */
function colourAt(ramp, share) {
  const place = Math.min(Math.max(share, 0), 1) * (ramp.length - 1), i = Math.min(Math.floor(place), ramp.length - 2);
  const [from, to] = [ramp[i], ramp[i + 1]].map((code) => [1, 3, 5].map((at) => parseInt(code.slice(at, at + 2), 16)));
  return `rgb(${from.map((each, k) => Math.round(each + (place - i) * (to[k] - each))).join(" ")})`;
}

/** Labelled vertices from a link. @param {string} text @param {number} vertices */
const readLabelled = (text, vertices) =>
  text
    .split(",")
    .filter((each) => each !== "")
    .map(Number)
    .filter((each) => Number.isInteger(each) && each >= 0 && each < vertices)
    .slice(0, MOST_LABELS);

/** @param {Change} change @returns {Tab} */
export function networkTab(change) {
  let state = /** @type {State} */ ({});
  /** @type {{key: string, graph: Graph, places: ReturnType<typeof graphs.layOut>} | null} */
  let drawn = null;
  /** @type {{key: string, C: Float64Array, truth: Float64Array, spectrum: ReturnType<typeof listedSpectrum>, sizes: number[]} | null} */
  let kept = null;
  let theory = /** @type {number[]} */ ([]);
  let own = /** @type {Graph | null} */ (null), labelled = /** @type {number[]} */ ([]), path = /** @type {number[]} */ ([]);
  let known = /** @type {ReturnType<typeof graphs.posterior> | null} */ (null);
  /** @type {Report | null} */
  let simulated = null;
  let stop = /** @type {(() => void) | null} */ (null), timer = 0, settling = 0, wanted = "", cursor = 0;

  const kinds = choices("graph", "Graph", { er: "Erdős–Rényi", regular: "Regular", powerlaw: "Power law", own: "Your own" }, change);
  const vertices = slider("vertices", "Vertices", change), degree = slider("degree", "Average degree", change);
  const alpha = slider("alpha", "Exponent α", change), cutoff = slider("cutoff", "Smallest mean degree", change), seed = slider("graphSeed", "Graph (random seed)", change);
  const drop = fileDrop("Your own graph: choose or drop an edge list, two vertices per line (CSV or text), perhaps with a weight.", takeEdges, MOST_FILE);
  const kernel = [
    choices("normalise", "Normalise prior variances", { local: "Each is 1 (local)", global: "1 on average (global)" }, change),
    slider("p", "Random-walk steps p", change),
    slider("a", "a: each step moves with probability 1/a", change),
    slider("graphNoise", "Noise variance σ²", change),
  ];
  const colour = choices("colour", "Colour", { variance: "Posterior variance", mean: "Posterior mean", truth: "True function" }, change);
  const map = svg("svg", { class: "chart", role: "application", tabindex: 0, viewBox: `0 0 ${SIZE} ${SIZE}`, width: "100%" });
  const scale = h("div", { class: "scale" }), told = h("p", { role: "status", class: "answer first" }), reading = h("p", { role: "status", class: "progress" });
  const curve = new Chart("Learning curve on this graph", 380);
  const legend = makeLegend((key) => {
    const hidden = new Set(state.hide.split(",").filter(Boolean));
    if (!hidden.delete(key)) hidden.add(key);
    change({ hide: [...hidden].join(",") });
  });
  const label = (/** @type {number[]} */ more) => change({ labelled: [...labelled, ...more].slice(0, MOST_LABELS).join(",") });
  const python = copyable("Python", () => networkPython(state)), command = copyable("Command line", () => networkCommand(state));
  const panel = h(
    "div",
    { class: "columns" },
    h("form", { class: "controls", "aria-label": "Graph and kernel", onsubmit: (/** @type {Event} */ event) => event.preventDefault() }, kinds.element, vertices.element, degree.element, alpha.element, cutoff.element, seed.element, drop, ...kernel.map((each) => each.element), colour.element),
    h(
      "div",
      { class: "main" },
      h("p", { class: "first" }, "Click or tap a vertex to label it. With the keyboard: focus the graph, move with the arrow keys and press Enter. A label is the true value plus noise."),
      h("div", { class: "pictures first" }, h("div", { class: "card" }, map, scale, reading), h("div", { class: "card" }, curve.element)),
      h("div", { class: "first" }, legend.element),
      told,
      h(
        "div",
        { class: "tools first" },
        button("Label one at random", () => drawn && label([makeRandom(31 * state.graphSeed + labelled.length).below(drawn.graph.vertices)]), "primary"),
        button("Label the least certain", () => known && label([known.variance.indexOf(Math.max(...known.variance))]), "primary"),
        button("Label ten at random", () => {
          const random = makeRandom(31 * state.graphSeed + labelled.length);
          if (drawn) label(Array.from({ length: 10 }, () => random.below(/** @type {any} */ (drawn).graph.vertices)));
        }),
        button("Undo", () => change({ labelled: labelled.slice(0, -1).join(",") })),
        button("Clear", () => change({ labelled: "" })),
      ),
      h("div", { class: "tools" }, button("Picture", () => downloadPicture("gpcurves-network.png", map)), button("CSV", () => downloadCsv("gpcurves-vertices.csv", rows()))),
      h("details", {}, h("summary", {}, "How it is computed"), h("ul", {}, h("li", {}, "Covariance ((1 − 1/a)I + T/a)ᵖ, T = D^−½ A D^−½, normalised; posterior C − C_o(C_oo + σ²)⁻¹C_oᵀ over the labelled vertices o, all by dense algebra."), h("li", {}, "The average curve draws labels at random vertices, a hundred data sets or until 2 %; the eigenvalue approximation is LC with the eigenvalues of C/V."))),
      h("details", {}, h("summary", {}, "The same numbers elsewhere"), h("p", {}, "Random graphs of the package are drawn with its own random numbers, so that averages agree and single graphs differ."), python.element, command.element),
    ),
  );

  const rows = () => [["vertex", "labels", "mean", "variance", "truth"], ...(drawn?.graph.names ?? []).map((name, i) => [name, labelled.filter((each) => each === i).length, known?.mean[i] ?? "", known?.variance[i] ?? "", kept?.truth[i] ?? ""])];

  /** @param {string} name @param {string} text */
  function takeEdges(name, text) {
    own = graphs.readEdges(text);
    const compact = own.edges.map(([i, j, weight]) => `${own?.names[i]},${own?.names[j]}${weight === 1 ? "" : `,${weight}`}\n`).join("");
    // a small graph travels in the link; a large one stays in this page
    change({ graph: "own", edges: compact.length <= MOST_LINK ? compact : `${name}, ${own.vertices} vertices`, labelled: "" });
    drawn = null;
  }

  function makeGraph() {
    const key = JSON.stringify([state.graph, state.vertices, state.degree, state.alpha, state.cutoff, state.graphSeed, state.graph === "own" && state.edges]);
    if (drawn?.key === key) return drawn;
    const random = makeRandom(state.graphSeed);
    if (state.graph === "own" && state.edges.includes("\n")) {
      try {
        own = graphs.readEdges(state.edges);
      } catch {
        own = null; // a link that somebody has damaged
      }
    }
    const graph =
      state.graph === "own" && own !== null ? own
      : state.graph === "regular" ? graphs.randomRegular(state.vertices, Math.round(state.degree), random)
      : state.graph === "powerlaw" ? graphs.powerLaw(state.vertices, state.alpha, state.cutoff, random)
      : graphs.erdosRenyi(state.vertices, state.degree, random);
    const places = graphs.layOut(graph, random, ROUNDS);
    places.relax(Math.ceil(FIRST_PAIRS / graph.vertices ** 2)); // some rounds at once, the others when the sliders rest
    clearTimeout(settling);
    settling = window.setTimeout(settle, 150);
    return (drawn = { key, graph, places });
  }

  function settle() {
    if (drawn?.places.relax(Math.ceil(PAIRS / drawn.graph.vertices ** 2))) settling = window.setTimeout(settle, 0);
    drawMap();
  }

  /** @param {Graph} graph @param {string} key */
  function makeKernel(graph, key) {
    if (kept?.key === key) return kept;
    const n = graph.vertices, C = graphs.walkCovariance(graph, state), spectrum = listedSpectrum(graphs.graphEigenvalues(C, n));
    const sizes = [...new Set(SHARES.map((share) => Math.round(share * n)).filter((size) => size <= 800))];
    const truth = graphs.drawFunction(C, n, makeRandom(state.graphSeed + 77));
    return (kept = { key, C, truth, sizes, spectrum });
  }

  /** The average over random labels, in a worker, once the sliders rest. @param {Graph} graph @param {string} key */
  function simulate(graph, key) {
    if (wanted === key) return;
    wanted = key;
    stop?.();
    stop = null;
    simulated = null;
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      const sizes = /** @type {NonNullable<typeof kept>} */ (kept).sizes;
      stop = start({ state, sizes, graph }, (report) => {
        if (!report.complaint) simulated = report;
        drawCurve();
      });
    }, 250);
  }

  function drawMap() {
    if (drawn === null || known === null || kept === null) return;
    const { graph, places } = drawn, values = { variance: known.variance, mean: known.mean, truth: kept.truth }[state.colour];
    const [left, right, low, high] = [Math.min(...places.x), Math.max(...places.x), Math.min(...places.y), Math.max(...places.y)];
    const at = (/** @type {number} */ i) => [16 + ((SIZE - 32) * (places.x[i] - left)) / (right - left || 1), 16 + ((SIZE - 32) * (places.y[i] - low)) / (high - low || 1)];
    const priors = Float64Array.from({ length: graph.vertices }, (_, i) => /** @type {NonNullable<typeof kept>} */ (kept).C[i * graph.vertices + i]).sort();
    const prior = priors[Math.floor(0.95 * (priors.length - 1))]; // a few small components may have much larger ones
    const largest = state.colour === "variance" ? prior : Math.max(1e-9, ...kept.truth.map(Math.abs)), signed = state.colour !== "variance";
    const ramp = signed ? RAMPS.mean : RAMPS.variance, share = (/** @type {number} */ v) => (signed ? (v / largest + 1) / 2 : v / largest);
    const radius = Math.max(3, Math.min(9, 90 / Math.sqrt(graph.vertices))), counts = new Map();
    for (const each of labelled) counts.set(each, (counts.get(each) ?? 0) + 1);
    const edges = graph.edges.map(([i, j]) => `M${at(i).map((v) => v.toFixed(1)).join(",")}L${at(j).map((v) => v.toFixed(1)).join(",")}`).join("");
    map.replaceChildren(
      svg("path", { d: edges, style: "stroke: var(--quiet)", opacity: 0.45, "stroke-width": 1, fill: "none" }),
      ...graph.names.map((name, i) => {
        const [cx, cy] = at(i), mark = counts.has(i);
        const circle = svg("circle", { cx, cy, r: mark ? radius + 1.5 : radius, class: "vertex", fill: colourAt(ramp, share(values[i])), style: `stroke: ${mark ? "var(--ink)" : "var(--quiet)"}`, "stroke-width": mark ? 3 : 0.6, "data-vertex": i });
        circle.append(svg("title", {}, `${name}: ${say(values[i])}${mark ? `, ${counts.get(i)} labels` : ""}`));
        circle.addEventListener("click", () => label([i]));
        return circle;
      }),
      svg("circle", { class: "cursor", r: radius + 6, style: "fill: none; stroke: var(--accent)", "stroke-width": 2.5, cx: at(cursor)[0], cy: at(cursor)[1], visibility: document.activeElement === map ? "visible" : "hidden" }),
    );
    map.setAttribute("aria-label", `Graph of ${graph.vertices} vertices and ${graph.edges.length} edges, ${counts.size} of them labelled. Arrow keys move, Enter labels.`);
    scale.replaceChildren(say(signed ? -largest : 0), h("i", { style: `background: linear-gradient(to right, ${ramp.join(", ")})` }), `${say(largest)}${signed ? "" : " or more"}`, h("span", {}, { variance: "posterior variance", mean: "posterior mean", truth: "true function" }[state.colour]), h("span", {}, "thick ring: labelled"));
  }

  function drawCurve() {
    if (kept === null) return;
    const hidden = state.hide.split(","), labels = path.map((_, i) => i);
    const series = [
      { key: "eigenvalue", label: "eigenvalue approximation", x: kept.sizes, y: theory, colour: "var(--c1)", dash: "8 4" },
      ...(simulated ? [{ key: "average", label: "average over random labels", x: simulated.sizes, y: simulated.mean, error: simulated.stderr, colour: "var(--ink)", points: true, joined: true }] : []),
      { key: "path", label: "your labels", x: labels, y: path, colour: "var(--c3)", points: true, size: 3 },
    ].map((each) => ({ ...each, hidden: hidden.includes(each.key) }));
    const most = Math.max(kept.sizes[kept.sizes.length - 1], labels.length), low = Math.min(...series.flatMap((each) => each.y).filter((each) => each > 0)) / 1.4;
    curve.draw({ x: { label: "number of labels n", low: 0, high: most, log: false }, y: { label: "mean posterior variance", low, high: Math.max(...theory, ...path) * 1.2, log: true }, series });
    legend.show(series);
  }

  map.addEventListener("keydown", (event) => {
    if (drawn === null) return;
    const { places, graph } = drawn, [dx, dy] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key] ?? [0, 0];
    if (event.key === "Enter") label([cursor]);
    if (dx === 0 && dy === 0) return;
    event.preventDefault();
    let best = Infinity, next = cursor;
    for (let i = 0; i < graph.vertices; i++) {
      const ahead = (places.x[i] - places.x[cursor]) * dx + (places.y[i] - places.y[cursor]) * dy;
      const aside = Math.abs((places.x[i] - places.x[cursor]) * dy) + Math.abs((places.y[i] - places.y[cursor]) * dx);
      if (ahead > 0 && ahead + 2 * aside < best) [best, next] = [ahead + 2 * aside, i];
    }
    cursor = next;
    drawMap();
    reading.textContent = `Vertex ${graph.names[cursor]}: mean ${say(known?.mean[cursor] ?? NaN)}, variance ${say(known?.variance[cursor] ?? NaN)}`;
  });
  for (const name of ["focus", "blur"]) map.addEventListener(name, () => drawMap());

  return {
    panel,
    show(next) {
      state = next;
      for (const control of [kinds, vertices, degree, alpha, cutoff, seed, ...kernel, colour]) control.show(state);
      const random = state.graph !== "own";
      vertices.element.hidden = seed.element.hidden = !random;
      degree.element.hidden = !(state.graph === "er" || state.graph === "regular");
      alpha.element.hidden = cutoff.element.hidden = state.graph !== "powerlaw";
      drop.hidden = random;
      const { graph, key } = makeGraph(), n = graph.vertices;
      const kernelKey = JSON.stringify([key, state.p, state.a, state.normalise]);
      const { C, truth, spectrum, sizes } = makeKernel(graph, kernelKey);
      theory = sizes.map((size) => formulas.lc(spectrum, state.graphNoise, size));
      labelled = readLabelled(state.labelled, n);
      cursor = Math.min(cursor, n - 1);
      const values = labelled.map((vertex, i) => ({ vertex, value: truth[vertex] + Math.sqrt(state.graphNoise) * noiseOf(state.graphSeed, i) }));
      known = graphs.posterior(C, n, state.graphNoise, values);
      path = graphs.meanVariances(C, n, state.graphNoise, labelled);
      drawMap();
      drawCurve();
      simulate(graph, `${kernelKey} ${state.graphNoise}`);
      const wrong = known.mean.reduce((sum, value, i) => sum + (value - truth[i]) ** 2 / n, 0);
      const missing = state.graph === "own" && own === null ? "Your own graph is not here yet: choose its file. Until then a random graph is shown. " : "";
      told.textContent = `${missing}${labelled.length === 1 ? "One label" : `${labelled.length} labels`} on ${n} vertices: mean posterior variance ${say(path[path.length - 1])}, mean squared error ${say(wrong)}.`;
      python.show();
      command.show();
    },
  };
}
