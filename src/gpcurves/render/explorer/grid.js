// The exact error of a regular grid of N points per period on the torus, n = N^d: the best inputs for many examples.
//
// With S_q = Σ_m λ_{q+Nm} and Q_q = Σ_m λ²_{q+Nm}, ε = Σ_q [S_q - N^d Q_q/(N^d S_q + σ²)]. A Matérn transform is a mixture of
// Gaussians, (1 + ck)^-α = ∫ dt t^(α-1) e^(-t(1+ck))/Γ(α), and sums over Gaussians factorise over the dimensions.
import { KERNELS, logTransform } from "./kernels.js";
import { logGammaHalf } from "./special.js";

/**
 * @typedef {import("./kernels.js").Kernel} Kernel
 * @typedef {{rate: number, weight: number}[]} Mixture Gaussians exp(-rate k) whose sum is the transform over its value at 0
 */

const MOST_PRODUCTS = 60_000; // of sums over lines, for one grid

/**
 * A Matérn transform to a power as a mixture of Gaussians.
 * @param {Kernel} kernel @param {number} dim @param {number} power @param {number} points N @returns {Mixture}
 */
function mixture(kernel, dim, power, points) {
  const nu = KERNELS[kernel.name].smoothness;
  if (nu === Infinity) return [{ rate: power * 2 * (Math.PI * kernel.lengthscale) ** 2, weight: 1 }];
  const alpha = power * (nu + dim / 2), c = (2 * Math.PI * kernel.lengthscale) ** 2 / (2 * nu);
  const front = -logGammaHalf(alpha);
  // sums over all m grow as t^(-d/2) for small t: there the integrand is a power of t, whose sum over equal steps is known
  const falling = alpha - dim / 2, wide = Math.min(0, -Math.log(c * points * points));
  const from = wide - 35 / Math.min(falling + 0.5, 2); // what is left out is not quite a power, by the root of t
  const terms = [], step = Math.min(0.25, 0.6 / Math.sqrt(alpha)); // the trapezoidal rule is then right to 1e-13
  for (let u = from; u < Math.log(alpha + 50); u += step) {
    const t = Math.exp(u);
    terms.push({ rate: c * t, weight: step * Math.exp(front + alpha * u - t) });
  }
  terms[0].weight /= -Math.expm1(-falling * step); // the geometric series of all earlier steps
  return terms;
}

/**
 * For |q| ≤ N/2 the term m = 0 of Σ_m e^(-rate (q+Nm)²), and the sum of all others.
 * @param {number} rate @param {number} points @returns {{own: Float64Array, others: Float64Array}}
 */
function lineSums(rate, points) {
  const size = Math.floor(points / 2) + 1, own = new Float64Array(size), others = new Float64Array(size);
  const square = rate * points * points;
  // Poisson's formula: few waves instead of many images
  const tall = Math.sqrt(Math.PI / square), waves = Math.floor(Math.sqrt(40 * square) / Math.PI);
  for (let q = 0; q < size; q++) {
    own[q] = Math.exp(-rate * q * q);
    if (square < 1) {
      let sum = tall;
      for (let j = 1; j <= waves; j++) {
        sum += 2 * tall * Math.exp((-j * j * Math.PI * Math.PI) / square) * Math.cos((2 * Math.PI * j * q) / points);
      }
      others[q] = sum - own[q];
      continue;
    }
    for (let m = 1; ; m++) {
      const exponent = rate * (points * m - q) ** 2;
      if (exponent > 700) break;
      others[q] += Math.exp(-exponent) * (1 + Math.exp(-4 * rate * points * m * q));
      if (rate * points * (points * (2 * m + 1) - 2 * q) > 40) break; // the next is e^-40 of this
    }
  }
  return { own, others };
}

/**
 * Visit all q with components 0 ≤ q_1 ≤ ... ≤ q_d ≤ N/2 with the number of vectors that they stand for.
 * @param {number} dim @param {number} points @param {(q: number[], number: number) => void} visit
 */
function visitClasses(dim, points, visit) {
  const largest = Math.floor(points / 2);
  const twice = (/** @type {number} */ q) => (q === 0 || 2 * q === points ? 1 : 2); // q and -q
  const q = new Array(dim).fill(0);
  const go = (/** @type {number} */ axis, /** @type {number} */ number, /** @type {number} */ run) => {
    if (axis === dim) return visit(q, number);
    for (let each = axis === 0 ? 0 : q[axis - 1]; each <= largest; each++) {
      const same = axis > 0 && each === q[axis - 1] ? run + 1 : 1;
      q[axis] = each;
      go(axis + 1, (number * (axis + 1) * twice(each)) / same, same);
    }
  };
  go(0, 1, 0);
}

/** How many products one grid needs. @param {Kernel} kernel @param {number} dim @param {number} points */
export function gridCost(kernel, dim, points) {
  let classes = 1;
  for (let i = 1; i <= dim; i++) classes = (classes * (Math.floor(points / 2) + i)) / i;
  return classes * (kernel.name === "rbf" ? 1 : 120);
}

/** The numbers of points per period whose grids are quickly computed, up to n examples. @param {Kernel} kernel @param {number} dim @param {number} most */
export function gridSizes(kernel, dim, most) {
  const sizes = [];
  for (let points = 1; Math.round(points ** dim) <= most; points = Math.max(points + 1, Math.round(points * 1.5))) {
    if (gridCost(kernel, dim, points) > MOST_PRODUCTS) break;
    sizes.push(points);
  }
  return sizes;
}

/**
 * The error of a grid with N points per period.
 * @param {Kernel} kernel @param {number} dim @param {number} noise @param {number} points N
 */
export function gridError(kernel, dim, noise, points) {
  const n = points ** dim;
  const log = logTransform(kernel, dim), origin = Math.exp(log(0));
  const [plain, squared] = [1, 2].map((power) => {
    const terms = mixture(kernel, dim, power, points);
    return { terms, lines: terms.map(({ rate }) => lineSums(rate, points)) };
  });
  // Σ over all images but the nearest, of products over dimensions: no differences, so that small sums keep their digits
  const rest = (/** @type {typeof plain} */ { terms, lines }, /** @type {number[]} */ q) => {
    let total = 0;
    for (let i = 0; i < terms.length; i++) {
      let nearest = 1, others = 0;
      for (const each of q) {
        const own = lines[i].own[each], more = lines[i].others[each];
        others = others * (own + more) + nearest * more;
        nearest *= own;
      }
      total += terms[i].weight * others;
    }
    return total;
  };
  let error = 0;
  visitClasses(dim, points, (q, number) => {
    let k = 0;
    for (const each of q) k += each * each;
    const near = Math.exp(log(k)), far = origin * rest(plain, q), squares = origin * origin * rest(squared, q);
    const sum = near + far;
    error += (number * (n * (2 * near * far + far * far - squares) + noise * sum)) / (n * sum + noise);
  });
  return error;
}
