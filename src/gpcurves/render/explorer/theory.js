// The theory tab without its page: from settings to curves, the region that bounds leave, solutions and words.
import { KERNELS } from "./kernels.js";
import * as formulas from "./formulas.js";
import { gaussianSpectrum } from "./gaussian.js";
import { gridError, gridSizes } from "./grid.js";
import { bracketedRoot } from "./special.js";
import { torusSpectrum } from "./spectrum.js";
import { DEFAULTS, FIELDS, fromHash } from "./state.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./kernels.js").Kernel} Kernel
 * @typedef {import("./spectrum.js").Spectrum} Spectrum
 * @typedef {{key: string, label: string, title: string, kind: "approximation" | "lower" | "upper" | "exact", n: number[], error: number[]}} Curve
 * @typedef {{n: number[], curves: Curve[], region: {n: number[], low: number[], high: number[] | null} | null, main: Curve}} Theory
 */

const POINTS = 60;

/** @param {State} s @returns {Kernel} */
export const studentKernel = (s) => ({ name: s.kernel, lengthscale: s.lengthscale, variance: s.variance });
/** @param {State} s @returns {Kernel} */
export const teacherKernel = (s) => ({ name: s.trueKernel, lengthscale: s.trueLengthscale, variance: s.trueVariance });

/** @type {Map<string, Spectrum>} */
const cache = new Map();

/** The spectrum of a kernel under the inputs of a state. @param {State} s @param {Kernel} kernel @param {Kernel | null} [teacher] */
export function spectrumOf(s, kernel, teacher = null) {
  const key = JSON.stringify([s.inputs, s.dim, s.inputs === "gaussian" && s.inputVariance, kernel, teacher]);
  let spectrum = cache.get(key);
  if (spectrum === undefined) {
    if (cache.size > 30) cache.clear();
    spectrum =
      s.inputs === "gaussian"
        ? gaussianSpectrum(kernel, s.dim, s.inputVariance, teacher)
        : torusSpectrum(kernel, s.dim, teacher);
    cache.set(key, spectrum);
  }
  return spectrum;
}

/** Numbers of examples, those of --n 1:MOST:log:60. @param {number} most */
export function sizesUpTo(most) {
  const all = Array.from({ length: POINTS }, (_, i) => Math.round(most ** (i / (POINTS - 1))));
  return [...new Set(all)];
}

/** All curves of a state; those of regular grids only if asked for, because they take longer. @param {State} s @param {boolean} grids @returns {Theory} */
export function computeTheory(s, grids) {
  const n = sizesUpTo(s.most), kept = keptCurve(s, n);
  const theory = s.labels === "classes" ? classCurves(s, n) : s.wrong ? misspecifiedCurves(s, n) : matchedCurves(s, n);
  if (kept !== null) theory.curves.push(kept);
  if (s.labels === "classes") return theory;
  if (grids && s.inputs === "torus") theory.curves.push(s.wrong ? gridCurve(s, teacherKernel(s), s.trueNoise) : gridCurve(s, studentKernel(s), s.noise));
  return theory;
}

/** The problem that was kept for comparison; null if there is none, or if it is about another quantity. @param {State} s */
export function keptState(s) {
  if (s.kept === "") return null;
  const kept = { ...fromHash(s.kept, DEFAULTS), most: s.most };
  const quantity = (/** @type {State} */ each) => (each.labels === "classes" && each.quantity !== "mse" ? each.quantity : "mse");
  return quantity(kept) === quantity(s) ? kept : null;
}

/** @param {State} s @param {number[]} n @returns {Curve | null} */
function keptCurve(s, n) {
  const kept = keptState(s);
  return kept && { key: "kept", label: "kept for comparison", title: "the main curve of the problem that was kept", kind: "approximation", n, error: n.map((size) => mainError(kept, size)) };
}

/** Evaluate a function of n that starts from the solution before. @param {number[]} n @param {(n: number, start: number) => [number, number]} f */
function follow(n, f) {
  let start = NaN;
  return n.map((size) => {
    const [value, h] = f(size, start);
    start = Math.log(h);
    return value;
  });
}

/** @param {Spectrum} spectrum @param {number} noise @param {number[]} n */
const lcErrors = (spectrum, noise, n) =>
  follow(n, (size, start) => {
    const h = formulas.lcParameter(spectrum, noise, size, start);
    return [formulas.g(spectrum, h), h];
  });

/** @param {State} s @param {number[]} n @param {Kernel} kernel @param {number} noise @returns {Curve[]} */
function bounds(s, n, kernel, noise) {
  const spectrum = spectrumOf(s, kernel);
  return [
    { key: "ov", label: "OV", title: "lower bound of the average", kind: "lower", n, error: n.map((size) => formulas.ov(spectrum, noise, size)) },
    {
      key: "plaskota",
      label: "Plaskota",
      title: "lower bound of every data set",
      kind: "lower",
      n,
      error: n.map((size) => formulas.plaskota(spectrum, noise, size, s.most)),
    },
  ];
}

/** @param {State} s @param {Kernel} kernel @param {number} noise @returns {Curve} */
function gridCurve(s, kernel, noise) {
  const points = gridSizes(kernel, s.dim, s.most);
  const error = points.map((each) => gridError(kernel, s.dim, noise, each));
  return { key: "grid", label: "regular grid", title: "exact, inputs chosen on a grid", kind: "exact", n: points.map((each) => each ** s.dim), error };
}

/** @param {State} s @param {number[]} n @returns {Theory} */
function matchedCurves(s, n) {
  const kernel = studentKernel(s), spectrum = spectrumOf(s, kernel);
  const lower = bounds(s, n, kernel, s.noise);
  /** @type {Curve} */
  const lc = { key: "lc", label: "LC", title: "approximation of the average", kind: "approximation", n, error: lcErrors(spectrum, s.noise, n) };
  /** @type {Curve} */
  const uc = {
    key: "uc",
    label: "UC",
    title: "approximation, never below LC",
    kind: "approximation",
    n,
    error: follow(n, (size, start) => {
      const h = formulas.ucParameter(spectrum, s.noise, size, start);
      return [formulas.g(spectrum, h), h];
    }),
  };
  /** @type {Curve} */
  const two = { key: "two", label: "TWO", title: "upper bound of the average", kind: "upper", n, error: n.map((size) => formulas.two(spectrum, s.noise, size)) };
  const low = n.map((_, i) => Math.max(lower[0].error[i], lower[1].error[i]));
  return { n, curves: [lc, uc, two, ...lower], region: { n, low, high: two.error }, main: lc };
}

/** @param {State} s @param {number[]} n @returns {Theory} */
function misspecifiedCurves(s, n) {
  const teacher = teacherKernel(s), spectrum = spectrumOf(s, studentKernel(s), teacher);
  const lower = bounds(s, n, teacher, s.trueNoise);
  /** @type {Curve} */
  const wrong = {
    key: "misspecified",
    label: "LC, wrong model",
    title: "approximation of the wrong model's average error",
    kind: "approximation",
    n,
    error: follow(n, (size, start) => [
      formulas.lcMisspecified(spectrum, s.noise, s.trueNoise, size, start),
      formulas.lcParameter(spectrum, s.noise, size, start),
    ]),
  };
  /** @type {Curve} */
  const right = {
    key: "lc",
    label: "LC, right model",
    title: "approximation if the model were right",
    kind: "approximation",
    n,
    error: lcErrors(spectrumOf(s, teacher), s.trueNoise, n),
  };
  const low = n.map((_, i) => Math.max(lower[0].error[i], lower[1].error[i]));
  return { n, curves: [wrong, right, ...lower], region: { n, low, high: null }, main: wrong };
}

/** An error of the function as the quantity that is shown. @param {State} s @param {Spectrum} spectrum @returns {(error: number) => number} */
function quantityOf(s, spectrum) {
  if (s.labels === "numbers" || s.quantity === "mse") return (error) => error;
  if (s.quantity === "error-rate") return (error) => formulas.labelErrorRate(error, s.noise, spectrum.trace);
  return (error) => formulas.signErrorRate(error, spectrum.trace);
}

/** @param {State} s @param {number[]} n @returns {Theory} */
function classCurves(s, n) {
  const spectrum = spectrumOf(s, studentKernel(s)), variance = formulas.probitVariance(s.noise, spectrum.trace), show = quantityOf(s, spectrum);
  /** @type {Curve} */
  const lc = {
    key: "lc",
    label: "LC",
    title: "approximation of the average",
    kind: "approximation",
    n,
    error: follow(n, (size, start) => {
      const h = Math.exp(formulas.anyLabelParameter(spectrum, variance, size, start));
      return [show(formulas.g(spectrum, h)), h];
    }),
  };
  /** @type {Curve} */
  const uc = {
    key: "uc",
    label: "UC",
    title: "approximation",
    kind: "approximation",
    n,
    error: formulas.ucAnyLabel(spectrum, variance, n).map(show),
  };
  return { n, curves: [lc, uc], region: null, main: lc };
}

/** The main curve at one n, which need not be an integer. @param {State} s @param {number} n */
export function mainError(s, n) {
  const student = studentKernel(s);
  if (s.labels === "classes") {
    const spectrum = spectrumOf(s, student);
    return quantityOf(s, spectrum)(formulas.lcAnyLabel(spectrum, formulas.probitVariance(s.noise, spectrum.trace), n));
  }
  if (s.wrong) return formulas.lcMisspecified(spectrumOf(s, student, teacherKernel(s)), s.noise, s.trueNoise, n);
  return formulas.lc(spectrumOf(s, student), s.noise, n);
}

/**
 * Fix three of lengthscale, noise, n and error, and return the fourth; NaN if there is none within the limits.
 * @param {State} s
 */
export function solveFor(s) {
  if (s.solve === "error") return mainError(s, s.at);
  const plain = s.labels === "numbers" && !s.wrong;
  if (plain && s.solve === "n") return formulas.lcExamples(spectrumOf(s, studentKernel(s)), (error) => s.noise + error, s.goal);
  if (plain && s.solve === "noise") {
    const spectrum = spectrumOf(s, studentKernel(s));
    const noise = s.goal < spectrum.trace ? formulas.lcNoise(spectrum, s.at, s.goal) : NaN;
    return noise > 0 ? noise : NaN;
  }
  const name = s.solve === "n" ? "at" : s.solve;
  const field = FIELDS[name];
  if (field.kind !== "number") return NaN;
  const away = (/** @type {number} */ log) => {
    const other = { ...s, [name]: Math.exp(log) };
    return Math.log(mainError(other, other.at) / s.goal);
  };
  // the error of a wrong model may have several maxima: the first crossing on a coarse grid counts, from many examples down
  const steps = s.solve === "n" ? 24 : 12, [first, last] = [Math.log(field.low), Math.log(s.solve === "n" ? 1e9 : field.high)];
  let before = away(first);
  for (let i = 1; i <= steps; i++) {
    const [from, to] = [i - 1, i].map((each) => first + ((last - first) * each) / steps);
    const after = away(to);
    if (before * after <= 0) return Math.exp(bracketedRoot(away, from, to, 1e-9));
    before = after;
  }
  return NaN;
}

/** The slope of the main curve in double logarithms. @param {State} s @param {number} n */
export function slopeAt(s, n) {
  const factor = 1.02;
  return Math.log(mainError(s, n * factor) / mainError(s, n / factor)) / (2 * Math.log(factor));
}

/**
 * Exponents of the decay, and where one law gives way to the other; for Matérn kernels on the torus, λ ~ i^-r, r = 1 + 2ν/d.
 * @param {State} s
 */
export function decay(s) {
  const student = studentKernel(s), spectrum = spectrumOf(s, student), nu = KERNELS[s.kernel].smoothness;
  const power = nu === Infinity ? Infinity : 1 + (2 * nu) / s.dim;
  // the crossover: where LC equals the noise, n = 2σ²h with g(h) = σ²
  const crossover = s.noise < spectrum.trace ? 2 * s.noise * formulas.parameterOfError(spectrum, s.noise) : 0;
  return { power, late: power === Infinity ? 1 : 1 - 1 / power, early: power === Infinity ? Infinity : power - 1, crossover };
}

/** Where the main curve lies outside the region that the bounds leave, as an approximation may; null if it does not. @param {Theory} theory */
export function outsideRegion({ main, region }) {
  if (region === null) return null;
  const where = region.n.filter((_, i) => main.error[i] > 1.01 * (region.high?.[i] ?? Infinity) || main.error[i] < 0.99 * region.low[i]);
  return where.length === 0 ? null : { from: where[0], to: where[where.length - 1] };
}
