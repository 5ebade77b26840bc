// Learning curves by formula: the same as gpcurves/methods/formulas, for one n at a time.
import { SHORT_GAUSS, bracketedRoot, increasingRoot, normalCdf, normalDensity } from "./special.js";

/**
 * @typedef {import("./spectrum.js").Spectrum} Spectrum
 * @typedef {(error: number) => number} LabelVariance one over the information of a label at an error: σ² + ε for Gaussian noise
 */

const [LOW, HIGH] = [-690, 690]; // of ln h

/** g(h) = Σ λ/(1 + hλ), the error if h examples were worth their number. @param {Spectrum} s @param {number} h */
export function g(s, h) {
  let sum = 0;
  for (let i = 0; i < s.values.length; i++) sum += (s.numbers[i] * s.values[i]) / (1 + h * s.values[i]);
  return sum;
}

/** T(h) = Σ ln(1 + hλ), twice the information gain. @param {Spectrum} s @param {number} h */
export function T(s, h) {
  let sum = 0;
  for (let i = 0; i < s.values.length; i++) sum += s.numbers[i] * Math.log1p(h * s.values[i]);
  return sum;
}

/** The h at which LC has n = h(σ² + g(h)) examples. @param {Spectrum} s @param {number} noise @param {number} n */
export function lcParameter(s, noise, n, start = NaN) {
  if (n === 0) return 0;
  const target = Math.log(n);
  const low = target - Math.log(noise + s.trace) - 1e-9, high = target - Math.log(noise) + 1e-9;
  const root = increasingRoot((y) => {
    const h = Math.exp(y);
    let sum = 0, slope = 0;
    for (let i = 0; i < s.values.length; i++) {
      const x = h * s.values[i], q = 1 / (1 + x);
      sum += s.numbers[i] * x * q;
      slope += s.numbers[i] * x * q * q;
    }
    const reached = h * noise + sum;
    return [Math.log(reached / n), (h * noise + slope) / reached];
  }, low, high, Number.isNaN(start) ? low : start);
  return Math.exp(root);
}

/** LC: ε = g(n/(σ² + ε)), Sollich & Halees 2002 (16). @param {Spectrum} s @param {number} noise @param {number} n */
export const lc = (s, noise, n) => g(s, lcParameter(s, noise, n));

/** UC: ε = g(h), n = hσ² + T(h), Sollich & Halees 2002 (12). @param {Spectrum} s @param {number} noise @param {number} n */
export const uc = (s, noise, n) => g(s, ucParameter(s, noise, n));

/** The h of UC. @param {Spectrum} s @param {number} noise @param {number} n @param {number} [start] */
export function ucParameter(s, noise, n, start = NaN) {
  if (n === 0) return 0;
  const low = Math.log(n) - Math.log(noise + s.trace) - 1e-9, high = Math.log(n) - Math.log(noise) + 1e-9;
  const root = increasingRoot((y) => {
    const h = Math.exp(y);
    let sum = 0, slope = 0;
    for (let i = 0; i < s.values.length; i++) {
      const x = h * s.values[i];
      sum += s.numbers[i] * Math.log1p(x);
      slope += (s.numbers[i] * x) / (1 + x);
    }
    const reached = h * noise + sum;
    return [Math.log(reached / n), (h * noise + slope) / reached];
  }, low, high, Number.isNaN(start) ? low : start);
  return Math.exp(root);
}

/** OV, a lower bound of the average: g(n/σ²), Sollich & Halees 2002 (9). @param {Spectrum} s @param {number} noise @param {number} n */
export const ov = (s, noise, n) => g(s, n / noise);

/**
 * TWO, an upper bound of the average for a uniform prior variance, Sollich & Halees 2002 (24).
 * @param {Spectrum} s @param {number} noise @param {number} n
 */
export function two(s, noise, n) {
  // σ² + tr Λ - λ without cancellation if one eigenvalue is nearly all of the trace
  let others = -s.largest;
  for (let i = s.values.length - 1; i > 0; i--) others += s.numbers[i] * s.values[i];
  others += s.numbers[0] * s.values[0];
  if (s.values[0] === s.largest) {
    others = (s.numbers[0] - 1) * s.largest;
    for (let i = s.values.length - 1; i > 0; i--) others += s.numbers[i] * s.values[i];
  }
  let sum = 0;
  for (let i = 0; i < s.values.length; i++) {
    const gap = noise + others + (s.largest - s.values[i]);
    sum += (s.numbers[i] * s.values[i] * gap) / (gap + n * s.values[i]);
  }
  return sum;
}

/**
 * Plaskota's lower bound for every data set, Sollich & Halees 2002 (19) and (42); NaN beyond the listed eigenvalues.
 * @param {Spectrum} s @param {number} noise @param {number} n an integer @param {number} [most] the largest n that will be asked for
 */
export function plaskota(s, noise, n, most = n) {
  if (n === 0) return s.trace;
  const list = s.ordered(Math.max(n, most));
  const budget = n * s.trace;
  // how many eigenfunctions are worth observing: the largest k with Σ_{j≤k} (√(λ_j/λ_k) - 1) < S/σ²
  let low = 0, high = list.values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const deficit = list.roots[middle] / Math.sqrt(list.values[middle]) - list.before[middle];
    if (deficit < budget / noise) low = middle + 1;
    else high = middle;
  }
  const k = Math.min(n, list.before[low]);
  let block = Math.min(low, list.values.length - 1);
  while (block > 0 && list.before[block] >= k) block--;
  const inside = k - list.before[block];
  const roots = list.roots[block] + inside * Math.sqrt(list.values[block]);
  const beyond = list.after[block + 1] + (list.before[block + 1] - k) * list.values[block];
  return (noise / (budget + k * noise)) * roots * roots + beyond;
}

/**
 * LC of a misspecified model: the true functions have the powers of the spectrum and the noise σ₀².
 *
 * ε = [Σ M/(1+hλ)² + σ₀² a]/(1 - a), a = h ΣG²/(σ² + g), G = λ/(1+hλ); h is the student's own.
 * @param {Spectrum} s @param {number} noise @param {number} trueNoise @param {number} n @param {number} [start]
 */
export function lcMisspecified(s, noise, trueNoise, n, start = NaN) {
  if (n === 0) return s.power;
  const h = lcParameter(s, noise, n, start);
  let squares = 0, narrow = 0, error = 0, missed = 0;
  for (let i = 0; i < s.values.length; i++) {
    const x = h * s.values[i], q = 1 / (1 + x), mass = s.numbers[i] * s.values[i] * q;
    squares += mass * x * q;
    narrow += mass * q;
    error += mass;
    missed += s.powers[i] * q * q;
  }
  const expected = noise + error;
  return (missed + (trueNoise * squares) / expected) / ((noise + narrow) / expected);
}

const PANEL_DEGREE = 18, LAST_PANEL = 10; // the ratio below is e^-50 there
/** @type {Float64Array[]} */
const panels = [];

/** φ(a)²/(Φ(a)Φ(-a)) for a ≥ 0, by Chebyshev series on panels of length 1: its poles are 2.8 away. @param {number} a */
function ratioOfNormals(a) {
  const panel = Math.floor(a);
  if (panel >= LAST_PANEL) return 0;
  const series = (panels[panel] ??= chebyshevSeries((x) => {
    const at = panel + (1 + x) / 2, rest = normalCdf(-at);
    return normalDensity(at) ** 2 / (rest * (1 - rest));
  }));
  const x = 2 * (a - panel) - 1;
  let one = 0, two = 0;
  for (let k = PANEL_DEGREE - 1; k > 0; k--) {
    const next = 2 * x * one - two + series[k];
    two = one;
    one = next;
  }
  return x * one - two + series[0];
}

/** Coefficients of a function on [-1, 1]. @param {(x: number) => number} f */
function chebyshevSeries(f) {
  const angles = Array.from({ length: PANEL_DEGREE }, (_, j) => (Math.PI * (j + 0.5)) / PANEL_DEGREE), values = angles.map((angle) => f(Math.cos(angle)));
  return Float64Array.from(angles, (_, k) => ((k === 0 ? 1 : 2) / PANEL_DEGREE) * angles.reduce((sum, angle, j) => sum + values[j] * Math.cos(k * angle), 0));
}

/**
 * One over the information of a class label, the sign of the function plus Gaussian noise: with a = √(q/(σ²+ε)) ξ,
 * q = ρ - ε, the information is E[φ(a)²/(Φ(a)Φ(-a))]/(σ² + ε).
 * @param {number} noise @param {number} variance the prior variance ρ @returns {LabelVariance}
 */
export function probitVariance(noise, variance) {
  return (error) => {
    const explained = Math.max(variance - error, 0) / (noise + error);
    if (!(explained > 0)) return ((noise + error) * Math.PI) / 2; // at a = 0 the ratio is 2/π
    // the ratio falls like a Gaussian of variance 1 or so: trapezoidal steps of half a width resolve its product with that of a
    const step = 0.45 * Math.sqrt(explained / (1 + explained));
    let total = 1 / Math.PI;
    for (let i = 1; i <= 21; i++) total += Math.exp((-0.5 * (i * step) ** 2) / explained) * ratioOfNormals(i * step);
    return ((noise + error) * Math.sqrt((Math.PI / 2) * explained)) / (step * total); // the weights alone sum to this root
  };
}

/**
 * LC for labels of any kind: ε = g(h), n = h · variance(ε).
 * @param {Spectrum} s @param {LabelVariance} variance @param {number} n @param {number} [start] ln h
 */
export function lcAnyLabel(s, variance, n, start = NaN) {
  if (n === 0) return s.trace;
  return g(s, Math.exp(anyLabelParameter(s, variance, n, start)));
}

/** ln h of LC for labels of any kind. @param {Spectrum} s @param {LabelVariance} variance @param {number} n @param {number} [start] */
export function anyLabelParameter(s, variance, n, start = NaN) {
  const f = (/** @type {number} */ y) => y + Math.log(variance(g(s, Math.exp(y)))) - Math.log(n);
  let low = Number.isNaN(start) ? Math.log(n / variance(s.trace)) : start;
  let high = low, step = 0.5;
  while (f(low) > 0 && low > LOW) low -= step *= 2;
  step = 0.5;
  while (f(high) < 0 && high < HIGH) high += step *= 2;
  return low === high ? low : bracketedRoot(f, low, high, 1e-14);
}

/**
 * UC for labels of any kind at increasing n: n = ∫ dh · variance(g(h)), by panels of width 1 in ln h.
 * @param {Spectrum} s @param {LabelVariance} variance @param {number[]} sizes ascending
 */
export function ucAnyLabel(s, variance, sizes) {
  const rate = (/** @type {number} */ y) => Math.exp(y) * variance(g(s, Math.exp(y)));
  const positive = sizes.filter((n) => n > 0);
  if (positive.length === 0) return sizes.map(() => s.trace);
  let left = Math.log(1e-14 * Math.min(1 / s.largest, positive[0] / rate(0)));
  let before = rate(left);
  const integral = (/** @type {number} */ from, /** @type {number} */ width) => {
    let sum = 0;
    // the rate is analytic up to π from the real axis, so that 8 points are exact to rounding on panels of length 1
    for (let j = 0; j < 8; j++) sum += SHORT_GAUSS.weights[j] * rate(from + (width * (1 + SHORT_GAUSS.nodes[j])) / 2);
    return (sum * width) / 2;
  };
  let panel = integral(left, 1);
  return sizes.map((n) => {
    if (n === 0) return s.trace;
    while (before + panel < n && left < HIGH) {
      before += panel;
      left += 1;
      panel = integral(left, 1);
    }
    const width = increasingRoot((x) => [before + integral(left, x) - n, rate(left + x)], 0, 1, (n - before) / panel);
    return g(s, Math.exp(left + width));
  });
}

/** Share of wrong labels, arccos √(q/(ρ+σ²))/π. @param {number} error @param {number} noise @param {number} variance */
export const labelErrorRate = (error, noise, variance) =>
  Math.atan2(Math.sqrt(error + noise), Math.sqrt(Math.max(variance - error, 0))) / Math.PI;

/** Share of wrong signs of the function, arccos √(q/ρ)/π. @param {number} error @param {number} variance */
export const signErrorRate = (error, variance) =>
  Math.atan2(Math.sqrt(error), Math.sqrt(Math.max(variance - error, 0))) / Math.PI;

/** The h at which g(h) is an error. @param {Spectrum} s @param {number} error */
export function parameterOfError(s, error) {
  const f = (/** @type {number} */ y) => Math.log(error / g(s, Math.exp(y)));
  return Math.exp(bracketedRoot(f, LOW / 4, HIGH / 4, 1e-14));
}

/** How many examples LC needs for an error. @param {Spectrum} s @param {LabelVariance} variance @param {number} error */
export function lcExamples(s, variance, error) {
  return error >= s.trace ? 0 : parameterOfError(s, error) * variance(error);
}

/** The noise at which LC has an error after n examples: σ² = n/h - ε; negative if no noise is low enough. @param {Spectrum} s @param {number} n @param {number} error */
export function lcNoise(s, n, error) {
  return n / parameterOfError(s, error) - error;
}
