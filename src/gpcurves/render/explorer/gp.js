// One function on the line between 0 and 1, and what a Gaussian process knows of it after some examples.
import { cholesky, solveLower } from "./linear.js";
import { makeRandom } from "./random.js";

/**
 * @typedef {import("./covariance.js").Covariance} Covariance
 * @typedef {{grid: Float64Array, prior: Float64Array, covariance: Covariance, noise: number}} Model
 *   places, and the prior variance at each
 */

const PLACES = 200;

/** @param {Covariance} covariance @param {number} noise @returns {Model} */
export function makeModel(covariance, noise) {
  const grid = Float64Array.from({ length: PLACES + 1 }, (_, i) => i / PLACES);
  return { grid, prior: grid.map((_, i) => covariance(grid, i, grid, i)), covariance, noise };
}

/** A function of the prior at all places; the circle closes. @param {Model} model @param {number} seed */
export function drawTruth({ covariance, grid }, seed) {
  const K = new Float64Array(PLACES * PLACES), random = makeRandom(seed);
  for (let i = 0; i < PLACES; i++) {
    for (let j = 0; j <= i; j++) K[i * PLACES + j] = K[j * PLACES + i] = covariance(grid, i, grid, j);
    K[i * PLACES + i] *= 1 + 1e-8; // smooth functions have singular covariances
  }
  const L = cholesky(K, PLACES), z = Float64Array.from({ length: PLACES }, random.normal), f = new Float64Array(PLACES + 1);
  for (let i = 0; i < PLACES; i++) for (let k = 0; k <= i; k++) f[i] += L[i * PLACES + k] * z[k];
  f[PLACES] = f[0];
  return f;
}

/** The value of a function between places. @param {Float64Array} f @param {number} x */
export function valueAt(f, x) {
  const at = Math.min(Math.max(x, 0), 1) * PLACES, i = Math.min(Math.floor(at), PLACES - 1);
  return f[i] + (at - i) * (f[i + 1] - f[i]);
}

/** The noise of the example with a number, always the same for a seed. @param {number} seed @param {number} number */
export const noiseOf = (seed, number) => makeRandom(1_000_003 * seed + number).normal();

/**
 * What is known after each number of examples: means and variances at all places after all of them, and for every n the mean
 * posterior variance and the mean squared error.
 * @param {Model} model @param {Float64Array} truth @param {number[]} x @param {number} seed
 */
export function learn({ grid, prior, covariance, noise }, truth, x, seed) {
  const n = x.length, m = grid.length, X = Float64Array.from(x), y = X.map((each, i) => valueAt(truth, each) + Math.sqrt(noise) * noiseOf(seed, i));
  const K = new Float64Array(n * n), W = new Float64Array(n * m);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) K[i * n + j] = covariance(X, i, X, j);
    K[i * n + i] += noise;
    for (let j = 0; j < m; j++) W[i * m + j] = covariance(X, i, grid, j);
  }
  const L = cholesky(K, n), b = solveLower(L, n, y.slice(), 1);
  solveLower(L, n, W, m);
  const mean = new Float64Array(m), variance = prior.slice();
  const average = (/** @type {(j: number) => number} */ f) => {
    let sum = 0;
    for (let j = 0; j < m - 1; j++) sum += f(j) / (m - 1); // both ends are one place
    return sum;
  };
  const expected = [average((j) => variance[j])], found = [average((j) => truth[j] ** 2)];
  for (let i = 0; i < n; i++) {
    // the leading block of a factor is the factor of the first examples: each adds one term to means and variances
    for (let j = 0; j < m; j++) {
      mean[j] += b[i] * W[i * m + j];
      variance[j] -= W[i * m + j] ** 2;
    }
    expected.push(average((j) => variance[j]));
    found.push(average((j) => (mean[j] - truth[j]) ** 2));
  }
  return { y, mean, variance, expected, found };
}

/** The place at which least is known. @param {Model} model @param {Float64Array} variance */
export const mostUncertain = ({ grid }, variance) => grid[variance.indexOf(Math.max(...variance))] % 1;

/** Inputs that are chosen one after the other where least is known. @param {Model} model @param {number} count @param {number} first */
export function chosenInputs(model, count, first) {
  const flat = new Float64Array(model.grid.length), x = [first];
  while (x.length < count) x.push(mostUncertain(model, learn(model, flat, x, 1).variance));
  return x;
}
