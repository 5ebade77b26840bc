// Data sets with class labels: a function, the signs of its noisy values, and expectation propagation (Rasmussen & Williams 3.6).
import { cholesky, solveLower, solveUpper } from "./linear.js";
import { drawInputs } from "./simulate.js";
import { normalCdf, normalDensity } from "./special.js";

/**
 * @typedef {import("./simulate.js").Experiment} Experiment
 * @typedef {import("./random.js").Random} Random
 */

const TEST_POINTS = 100, SWEEPS = 30, SETTLED = 1e-4;

/**
 * Sites of expectation propagation for labels ±1: precisions and precision times mean.
 * @param {Float64Array} K covariances between inputs @param {number} n @param {Float64Array} labels @param {number} noise
 */
export function propagate(K, n, labels, noise) {
  const precision = new Float64Array(n), shift = new Float64Array(n), mean = new Float64Array(n), S = K.slice();
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let moved = 0;
    for (let i = 0; i < n; i++) {
      const own = S[i * n + i], left = 1 / own - precision[i], centre = (mean[i] / own - shift[i]) / left, variance = 1 / left;
      const width = Math.sqrt(noise + variance), z = (labels[i] * centre) / width;
      const ratio = z > -30 ? normalDensity(z) / normalCdf(z) : -z;
      const newVariance = variance - (variance * variance * ratio * (z + ratio)) / (noise + variance);
      const newMean = centre + (labels[i] * variance * ratio) / width;
      const change = Math.max(1 / newVariance - left, 1e-12) - precision[i];
      moved = Math.max(moved, Math.abs(change) * variance);
      precision[i] += change;
      shift[i] = newMean / newVariance - centre * left;
      const column = S.slice(i * n, i * n + n), factor = change / (1 + change * own);
      for (let a = 0; a < n; a++) for (let b = 0; b < n; b++) S[a * n + b] -= factor * column[a] * column[b];
      for (let a = 0; a < n; a++) {
        mean[a] = 0;
        for (let b = 0; b < n; b++) mean[a] += S[a * n + b] * shift[b];
      }
    }
    if (moved < SETTLED) break;
  }
  return { precision, shift };
}

/**
 * The weights of k(x, X) in the mean prediction, (K + P⁻¹)⁻¹ P⁻¹ s, P the precisions and s the shifts.
 * @param {Float64Array} K @param {number} n @param {{precision: Float64Array, shift: Float64Array}} sites
 */
function predictionWeights(K, n, { precision, shift }) {
  const A = K.slice(), b = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    A[i * n + i] += 1 / precision[i];
    b[i] = shift[i] / precision[i];
  }
  const L = cholesky(A, n);
  return solveUpper(L, n, solveLower(L, n, b, 1));
}

/**
 * One data set: the share of wrong labels, of wrong signs or the squared error, at each size.
 * @param {Experiment} experiment @param {"error-rate" | "sign-error-rate" | "mse"} quantity @param {Random} random
 */
export function oneClassDataSet(experiment, quantity, random) {
  const { student, sizes } = experiment, n = sizes[sizes.length - 1], m = TEST_POINTS, all = n + m;
  const X = drawInputs(all, experiment, random), C = new Float64Array(all * all);
  for (let i = 0; i < all; i++) {
    for (let j = 0; j <= i; j++) C[i * all + j] = C[j * all + i] = student.covariance(X, i, X, j);
  }
  const jittered = C.slice();
  for (let i = 0; i < all; i++) jittered[i * all + i] *= 1 + 1e-9;
  const L = cholesky(jittered, all), z = Float64Array.from({ length: all }, random.normal), f = new Float64Array(all);
  for (let i = 0; i < all; i++) for (let k = 0; k <= i; k++) f[i] += L[i * all + k] * z[k];
  const deviation = Math.sqrt(student.noise);
  const labels = f.slice(0, n).map((value) => (value + deviation * random.normal() > 0 ? 1 : -1));
  return sizes.map((size) => {
    const K = new Float64Array(size * size);
    for (let i = 0; i < size; i++) for (let j = 0; j < size; j++) K[i * size + j] = C[i * all + j];
    const weights = size === 0 ? new Float64Array(0) : predictionWeights(K, size, propagate(K, size, labels, student.noise));
    let total = 0;
    for (let t = n; t < all; t++) {
      let predicted = 0;
      for (let i = 0; i < size; i++) predicted += weights[i] * C[t * all + i];
      const sign = predicted > 0 ? 1 : -1; // without examples, a guess
      if (quantity === "mse") total += (f[t] - predicted) ** 2 / m;
      else if (quantity === "error-rate") total += normalCdf((-sign * f[t]) / deviation) / m;
      else total += (sign * f[t] > 0 ? 0 : 1) / m;
    }
    return total;
  });
}
