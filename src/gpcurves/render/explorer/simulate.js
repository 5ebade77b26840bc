// Real data sets: the error of one for every n from one nested Cholesky factor, and averages with standard errors.
import { cholesky, solveLower } from "./linear.js";

/**
 * @typedef {import("./covariance.js").Covariance} Covariance
 * @typedef {import("./random.js").Random} Random
 * @typedef {{covariance: Covariance, noise: number}} Process
 * @typedef {{dim: number, gaussian: number | null, student: Process, teacher: Process | null, sizes: number[]}} Experiment
 *   `gaussian` is the variance of Gaussian inputs, null for the torus
 */

const TEST_POINTS = 100;

/** Draw inputs, one per row. @param {number} count @param {Experiment} experiment @param {Random} random */
export function drawInputs(count, { dim, gaussian }, random) {
  const draw = gaussian === null ? random.uniform : () => Math.sqrt(gaussian) * random.normal();
  return Float64Array.from({ length: count * dim }, draw);
}

/** @param {Process} process @param {Float64Array} X @param {number} n */
function observed({ covariance, noise }, X, n) {
  const K = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) K[i * n + j] = K[j * n + i] = covariance(X, i, X, j);
    K[i * n + i] += noise;
  }
  return K;
}

/** @param {Covariance} covariance @param {Float64Array} X @param {number} n @param {Float64Array} Y @param {number} m */
function between(covariance, X, n, Y, m) {
  const C = new Float64Array(n * m);
  for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) C[i * m + j] = covariance(X, i, Y, j);
  return C;
}

/**
 * The error of one data set at each size, averaged over the targets: exact for its inputs and test points.
 * @param {Experiment} experiment @param {Random} random
 */
export function oneDataSet(experiment, random) {
  const { student, teacher, sizes } = experiment;
  const n = sizes[sizes.length - 1], m = TEST_POINTS;
  const X = drawInputs(n, experiment, random), test = drawInputs(m, experiment, random);
  const L = cholesky(observed(student, X, n), n);
  const W = solveLower(L, n, between(student.covariance, X, n, test, m), m);
  const truth = teacher ?? student;
  let prior = 0;
  for (let j = 0; j < m; j++) prior += truth.covariance(test, j, test, j) / m;
  const gains = teacher === null ? ownGains(W, n, m) : misspecifiedGains(L, W, teacher, X, test, n, m);
  const curve = [prior];
  for (let i = 0; i < n; i++) curve.push(curve[i] - gains[i]);
  return sizes.map((size) => curve[size]);
}

/** By how much each example lowers the error. @param {Float64Array} W @param {number} n @param {number} m */
function ownGains(W, n, m) {
  const gains = new Float64Array(n);
  for (let i = 0; i < n; i++) for (let j = 0; j < m; j++) gains[i] += W[i * m + j] ** 2 / m;
  return gains;
}

/**
 * The same if the targets come from a teacher: 2WV - A_ii W² - 2W(AW), A = L⁻¹K₀L⁻ᵀ below its diagonal.
 * @param {Float64Array} L @param {Float64Array} W @param {Process} teacher @param {Float64Array} X @param {Float64Array} test
 * @param {number} n @param {number} m
 */
function misspecifiedGains(L, W, teacher, X, test, n, m) {
  const V = solveLower(L, n, between(teacher.covariance, X, n, test, m), m);
  const half = solveLower(L, n, observed(teacher, X, n), n);
  const flipped = new Float64Array(n * n);
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) flipped[j * n + i] = half[i * n + j];
  const A = solveLower(L, n, flipped, n);
  const gains = new Float64Array(n);
  const mixed = new Float64Array(m);
  for (let i = 0; i < n; i++) {
    mixed.fill(0);
    for (let k = 0; k < i; k++) for (let j = 0; j < m; j++) mixed[j] += A[i * n + k] * W[k * m + j];
    for (let j = 0; j < m; j++) {
      const w = W[i * m + j];
      gains[i] += (2 * w * V[i * m + j] - A[i * n + i] * w * w - 2 * w * mixed[j]) / m;
    }
  }
  return gains;
}

/** Averages of several numbers, with standard errors. */
export class Average {
  /** @param {number} length */
  constructor(length) {
    this.count = 0;
    this.mean = new Float64Array(length);
    this.squares = new Float64Array(length);
  }

  /** @param {number[]} values */
  add(values) {
    this.count++;
    values.forEach((value, i) => {
      const away = value - this.mean[i];
      this.mean[i] += away / this.count;
      this.squares[i] += away * (value - this.mean[i]);
    });
  }

  /** @returns {number[]} */
  get stderr() {
    return Array.from(this.squares, (sum) => (this.count < 2 ? NaN : Math.sqrt(sum / (this.count - 1) / this.count)));
  }

  /** The largest standard error relative to its mean. */
  get precision() {
    return this.count < 2 ? Infinity : Math.max(...this.stderr.map((each, i) => each / Math.abs(this.mean[i])));
  }
}
