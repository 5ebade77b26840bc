// Covariances between inputs: plain for Gaussian inputs, summed over all periodic images on the torus.
//
// The nearest image of a Matérn kernel is added as it is; the others are a mixture of Gaussians, whose sums over images
// factorise over the dimensions. The number of terms then does not grow with the dimension.
import { KERNELS, logTransform } from "./kernels.js";
import { logGammaHalf } from "./special.js";

/**
 * @typedef {import("./kernels.js").Kernel} Kernel
 * @typedef {(X: Float64Array, i: number, Y: Float64Array, j: number) => number} Covariance between row i of X and row j of Y
 */

const STEP = 0.3; // in the logarithm of the width of the Gaussians; images are then right to 1e-11 or so

/** Covariance on the line or in space. @param {Kernel} kernel @param {number} dim @returns {Covariance} */
export function plainCovariance(kernel, dim) {
  const { correlation } = KERNELS[kernel.name];
  return (X, i, Y, j) => {
    let square = 0;
    for (let axis = 0; axis < dim; axis++) square += (X[i * dim + axis] - Y[j * dim + axis]) ** 2;
    return kernel.variance * correlation(Math.sqrt(square) / kernel.lengthscale);
  };
}

/** Distance on the circle, between 0 and 1/2. @param {number} x @param {number} y */
const wrapped = (x, y) => Math.abs(x - y - Math.round(x - y));

/** Σ_m e^(-rate (x+m)²). @param {number} rate @param {number} x between 0 and 1/2 */
function images(rate, x) {
  if (rate > Math.PI) {
    let sum = Math.exp(-rate * x * x);
    for (let m = 1; rate * (m - x) ** 2 < 45; m++) sum += Math.exp(-rate * (m - x) ** 2) + Math.exp(-rate * (m + x) ** 2);
    return sum;
  }
  const decay = (Math.PI * Math.PI) / rate; // Poisson's formula
  let sum = 1;
  for (let q = 1; q * q * decay < 45; q++) sum += 2 * Math.exp(-q * q * decay) * Math.cos(2 * Math.PI * q * x);
  return Math.sqrt(Math.PI / rate) * sum;
}

/** Covariance on the torus. @param {Kernel} kernel @param {number} dim @returns {Covariance} */
export function torusCovariance(kernel, dim) {
  const { smoothness: nu, correlation } = KERNELS[kernel.name], l = kernel.lengthscale;
  if (nu === Infinity) {
    const rate = 0.5 / (l * l);
    return (X, i, Y, j) => {
      let product = kernel.variance;
      for (let axis = 0; axis < dim; axis++) product *= images(rate, wrapped(X[i * dim + axis], Y[j * dim + axis]));
      return product;
    };
  }
  const alpha = nu + dim / 2, c = (2 * Math.PI * l) ** 2 / (2 * nu), step = Math.min(STEP, 0.8 / Math.sqrt(alpha));
  const front = logTransform(kernel, dim)(0) - logGammaHalf(alpha);
  /** @type {{rate: number, weight: number}[]} */
  const terms = [];
  for (let u = Math.log((Math.PI * Math.PI) / (160 * c)); u < Math.log(alpha + 40); u += step) {
    const t = Math.exp(u), rate = (Math.PI * Math.PI) / (c * t);
    terms.push({ rate, weight: step * Math.exp(front + alpha * u - t + (dim / 2) * Math.log(rate / Math.PI)) });
  }
  const far = (/** @type {Float64Array} */ away) => {
    let total = 0;
    for (const { rate, weight } of terms) {
      let all = 1, square = 0;
      for (let axis = 0; axis < dim; axis++) {
        all *= images(rate, away[axis]);
        square += away[axis] ** 2;
      }
      total += weight * (all - Math.exp(-rate * square));
    }
    return total;
  };
  const onLine = dim === 1 ? interpolate((x) => far(Float64Array.of(x))) : null; // many pairs share one function of the distance
  const away = new Float64Array(dim);
  return (X, i, Y, j) => {
    let square = 0;
    for (let axis = 0; axis < dim; axis++) {
      away[axis] = wrapped(X[i * dim + axis], Y[j * dim + axis]);
      square += away[axis] ** 2;
    }
    return kernel.variance * correlation(Math.sqrt(square) / l) + (onLine === null ? far(away) : onLine(away[0]));
  };
}

/** A smooth even function between 0 and 1/2 by its Chebyshev series in 8x² - 1. @param {(x: number) => number} f @returns {(x: number) => number} */
function interpolate(f) {
  const degree = 24;
  const angles = Array.from({ length: degree }, (_, j) => (Math.PI * (j + 0.5)) / degree);
  const values = angles.map((angle) => f(Math.sqrt((1 + Math.cos(angle)) / 8)));
  const series = angles.map((_, k) => ((k === 0 ? 1 : 2) / degree) * angles.reduce((sum, angle, j) => sum + values[j] * Math.cos(k * angle), 0));
  return (x) => {
    const z = 8 * x * x - 1;
    let one = 0, two = 0;
    for (let k = degree - 1; k > 0; k--) [one, two] = [2 * z * one - two + series[k], one];
    return z * one - two + series[0];
  };
}
