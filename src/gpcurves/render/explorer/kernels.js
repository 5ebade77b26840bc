// Covariance functions of the scaled distance r = |x - x'|/l, and their Fourier transforms (Rasmussen & Williams 4.15).
import { logGammaHalf } from "./special.js";

/**
 * @typedef {"rbf" | "ou" | "matern32" | "matern52"} KernelName
 * @typedef {{name: KernelName, lengthscale: number, variance: number}} Kernel
 */

/** @type {Record<KernelName, {title: string, python: string, smoothness: number, correlation: (r: number) => number}>} */
export const KERNELS = {
  rbf: { title: "RBF", python: "RBF", smoothness: Infinity, correlation: (r) => Math.exp(-0.5 * r * r) },
  ou: { title: "OU", python: "OU", smoothness: 0.5, correlation: (r) => Math.exp(-r) },
  matern32: {
    title: "Matérn 3/2",
    python: "Matern32",
    smoothness: 1.5,
    correlation: (r) => (1 + Math.sqrt(3) * r) * Math.exp(-Math.sqrt(3) * r),
  },
  matern52: {
    title: "Matérn 5/2",
    python: "Matern52",
    smoothness: 2.5,
    correlation: (r) => (1 + Math.sqrt(5) * r + (5 / 3) * r * r) * Math.exp(-Math.sqrt(5) * r),
  },
};

/**
 * Logarithm of the transform in `dim` dimensions as a function of the squared frequency k = |q|².
 * @param {Kernel} kernel @param {number} dim @returns {(k: number) => number}
 */
export function logTransform(kernel, dim) {
  const nu = KERNELS[kernel.name].smoothness;
  const scale = kernel.lengthscale * kernel.lengthscale;
  const front = Math.log(kernel.variance) + dim * Math.log(kernel.lengthscale);
  if (nu === Infinity) {
    const origin = front + 0.5 * dim * Math.log(2 * Math.PI);
    return (k) => origin - 2 * Math.PI * Math.PI * scale * k;
  }
  const origin =
    front + dim * Math.LN2 + 0.5 * dim * Math.log(Math.PI / (2 * nu)) + logGammaHalf(nu + dim / 2) - logGammaHalf(nu);
  const factor = (4 * Math.PI * Math.PI * scale) / (2 * nu);
  return (k) => origin - (nu + dim / 2) * Math.log1p(factor * k);
}

/** The transform at many squared frequencies, without logarithms if it is a power: lists may be long. @param {Kernel} kernel @param {number} dim @param {Float64Array} k */
export function transformValues(kernel, dim, k) {
  const nu = KERNELS[kernel.name].smoothness, log = logTransform(kernel, dim), values = new Float64Array(k.length);
  if (nu === Infinity) {
    for (let i = 0; i < k.length; i++) values[i] = Math.exp(log(k[i]));
    return values;
  }
  const order = nu + dim / 2, whole = Math.floor(order), half = order > whole, origin = Math.exp(log(0));
  const factor = (4 * Math.PI * Math.PI * kernel.lengthscale ** 2) / (2 * nu);
  for (let i = 0; i < k.length; i++) {
    const base = 1 + factor * k[i];
    let power = half ? Math.sqrt(base) : 1;
    for (let j = 0; j < whole; j++) power *= base;
    values[i] = origin / power;
  }
  return values;
}
