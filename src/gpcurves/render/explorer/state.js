// Everything that a page shows, as one flat record: it is the link, and nothing is kept anywhere else.

/**
 * @typedef {import("./kernels.js").KernelName} KernelName
 * @typedef {{
 *   tab: "theory" | "learn" | "network" | "plan",
 *   kernel: KernelName, lengthscale: number, variance: number, noise: number, dim: number,
 *   inputs: "torus" | "gaussian", inputVariance: number, labels: "numbers" | "classes", quantity: "error-rate" | "sign-error-rate" | "mse",
 *   wrong: boolean, trueKernel: KernelName, trueLengthscale: number, trueVariance: number, trueNoise: number,
 *   most: number, kept: string, solve: "n" | "error" | "noise" | "lengthscale", at: number, goal: number, hide: string,
 *   seed: number, examples: string, reveal: boolean,
 *   graph: "er" | "regular" | "powerlaw" | "own", vertices: number, degree: number, alpha: number, cutoff: number, graphSeed: number,
 *   p: number, a: number, normalise: "local" | "global", graphNoise: number, labelled: string, colour: "variance" | "mean" | "truth",
 *   edges: string, measure: "rmse" | "error_rate", target: number,
 * }} State
 * @typedef {{kind: "number", low: number, high: number, integer?: boolean, log?: boolean}} NumberField
 * @typedef {NumberField | {kind: "choice", of: string[]} | {kind: "switch"} | {kind: "text"}} Field
 */

const KERNEL_NAMES = ["rbf", "ou", "matern32", "matern52"];
/** @returns {NumberField} */
const logarithmic = (/** @type {number} */ low, /** @type {number} */ high, integer = false) => ({ kind: "number", low, high, log: true, integer });
/** @returns {NumberField} */
const integer = (/** @type {number} */ low, /** @type {number} */ high) => ({ kind: "number", low, high, integer: true });
/** @returns {Field} */
const choice = (/** @type {string[]} */ ...of) => ({ kind: "choice", of });

/** What each entry may be. @type {Record<keyof State, Field>} */
export const FIELDS = {
  tab: choice("theory", "learn", "network", "plan"),
  kernel: choice(...KERNEL_NAMES),
  lengthscale: logarithmic(0.01, 2),
  variance: logarithmic(0.01, 100),
  noise: logarithmic(1e-6, 10),
  dim: integer(1, 10),
  inputs: choice("torus", "gaussian"),
  inputVariance: logarithmic(0.01, 10),
  labels: choice("numbers", "classes"),
  quantity: choice("error-rate", "sign-error-rate", "mse"),
  wrong: { kind: "switch" },
  trueKernel: choice(...KERNEL_NAMES),
  trueLengthscale: logarithmic(0.01, 2),
  trueVariance: logarithmic(0.01, 100),
  trueNoise: logarithmic(1e-6, 10),
  most: logarithmic(10, 1e6, true),
  kept: { kind: "text" },
  solve: choice("n", "error", "noise", "lengthscale"),
  at: logarithmic(1, 1e6, true),
  goal: logarithmic(1e-6, 100),
  hide: { kind: "text" },
  seed: integer(1, 9999),
  examples: { kind: "text" },
  reveal: { kind: "switch" },
  graph: choice("er", "regular", "powerlaw", "own"),
  vertices: integer(20, 400),
  degree: { kind: "number", low: 1, high: 12 },
  alpha: { kind: "number", low: 1.5, high: 5 },
  cutoff: { kind: "number", low: 0.5, high: 6 },
  graphSeed: integer(1, 9999),
  p: integer(1, 60),
  a: { kind: "number", low: 2, high: 8 },
  normalise: choice("local", "global"),
  graphNoise: logarithmic(1e-4, 10),
  labelled: { kind: "text" },
  colour: choice("variance", "mean", "truth"),
  edges: { kind: "text" },
  measure: choice("rmse", "error_rate"),
  target: { kind: "number", low: 0, high: 1e300 },
};

/** @type {State} */
export const DEFAULTS = {
  tab: "theory",
  kernel: "rbf",
  lengthscale: 0.1,
  variance: 1,
  noise: 0.05,
  dim: 1,
  inputs: "torus",
  inputVariance: 1 / 12,
  labels: "numbers",
  quantity: "error-rate",
  wrong: false,
  trueKernel: "ou",
  trueLengthscale: 0.1,
  trueVariance: 1,
  trueNoise: 0.05,
  most: 1000,
  kept: "",
  solve: "n",
  at: 100,
  goal: 0.05,
  hide: "",
  seed: 1,
  examples: "",
  reveal: true,
  graph: "er",
  vertices: 200,
  degree: 3,
  alpha: 2.5,
  cutoff: 2,
  graphSeed: 1,
  p: 10,
  a: 2,
  normalise: "local",
  graphNoise: 0.1,
  labelled: "",
  colour: "variance",
  edges: "",
  measure: "rmse",
  target: 0,
};

/** A number that a field allows. @param {NumberField} field @param {number} value */
export function within(field, value) {
  const inside = Math.min(Math.max(value, field.low), field.high);
  return field.integer ? Math.round(inside) : inside;
}

/** Read a value of a field from a link; null if it is none. @param {Field} field @param {string} text */
function read(field, text) {
  if (field.kind === "number") return text.trim() === "" || Number.isNaN(Number(text)) ? null : within(field, Number(text));
  if (field.kind === "choice") return field.of.includes(text) ? text : null;
  if (field.kind === "switch") return text === "1";
  return text;
}

/** The state that a link describes; what it leaves out is as in `base`. @param {string} hash @param {State} base @returns {State} */
export function fromHash(hash, base) {
  const state = { ...base };
  for (const [name, text] of new URLSearchParams(hash.replace(/^#/, ""))) {
    if (!Object.hasOwn(FIELDS, name)) continue;
    const value = read(FIELDS[/** @type {keyof State} */ (name)], text);
    if (value !== null) Object.assign(state, { [name]: value });
  }
  return state;
}

/** The link that describes a state: what differs from the defaults, or from what this page begins with. @param {State} state @param {State} base */
export function toHash(state, base) {
  const names = /** @type {(keyof State)[]} */ (Object.keys(state)).filter((name) => state[name] !== DEFAULTS[name] || state[name] !== base[name]);
  const texts = names.map((name) => [name, typeof state[name] === "boolean" ? (state[name] ? "1" : "0") : String(state[name])]);
  return `#${new URLSearchParams([["tab", state.tab], ...texts.filter(([name]) => name !== "tab")])}`;
}

const OF_PROBLEM = /** @type {(keyof State)[]} */ (["kernel", "lengthscale", "variance", "noise", "dim", "inputs", "inputVariance", "labels", "quantity", "wrong", "trueKernel", "trueLengthscale", "trueVariance", "trueNoise"]);

/** The problem of a state alone, as text that a link can hold. @param {State} state */
export const problemText = (state) => toHash({ ...DEFAULTS, ...Object.fromEntries(OF_PROBLEM.map((name) => [name, state[name]])) }, DEFAULTS);
