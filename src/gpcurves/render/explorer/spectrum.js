// Eigenvalues of a kernel under uniform inputs on the torus, squeezed into a few hundred nodes.
//
// Smooth sums over all eigenvalues are analytic in ln λ up to Im ln λ = ±π, so that the eigenvalues in a bin of width 2 in
// ln λ are replaced by 20 Chebyshev nodes (see gpcurves/spectra/measure.py). Far out on the torus the lattice of
// frequencies fades out and its volume fades in (see gpcurves/spectra/lattice.py), which leaves no error of Gauss's circle.
import { KERNELS, logTransform, transformValues } from "./kernels.js";
import { GAUSS, erfc, logGammaHalf } from "./special.js";

/**
 * @typedef {import("./kernels.js").Kernel} Kernel
 * @typedef {{k: Float64Array, number: Float64Array}} Shells squared lengths of integer vectors, and how many have each
 * @typedef {{values: Float64Array, before: Float64Array, roots: Float64Array, after: Float64Array, count: number}} Ordered
 *   eigenvalues in descending blocks: how many come before each, the sum of their roots, the sum from each block on
 * @typedef {{values: Float64Array, numbers: Float64Array, powers: Float64Array, trace: number, power: number, largest: number,
 *   ordered: (most: number) => Ordered}} Spectrum
 */

const SHARPNESS = 6.5; // widths of the soft boundary on both sides of its middle: erfc(6.5) is below 1e-19
const WIDEST = 20; // of the boundary, in units of the lattice; 2 would do for double precision
const SMOOTH_LINE = 1000, SMOOTH_SHELLS = 8100, MOST_SHELLS = 50_000;
const DEGREE = 20, WIDTH = 2;
export const UNDERFLOW = 690;
const NEGLIGIBLE = 65; // in the logarithm, below the largest eigenvalue

/** @type {Map<string, Shells>} */
const known = new Map();

/** List the squared lengths of integer vectors up to a limit. @param {number} dim @param {number} limit @returns {Shells} */
export function latticeShells(dim, limit) {
  const size = Math.floor(limit);
  const key = `${dim}:${size}`;
  let shells = known.get(key);
  if (shells === undefined) {
    if (known.size > 24) known.clear();
    known.set(key, (shells = dim === 1 ? lineShells(size) : listOccurring(countVectors(dim, size))));
  }
  return shells;
}

/** @param {number} limit @returns {Shells} */
function lineShells(limit) {
  const last = Math.floor(Math.sqrt(limit));
  const k = Float64Array.from({ length: last + 1 }, (_, q) => q * q);
  return { k, number: k.map((each) => (each === 0 ? 1 : 2)) };
}

/** Count integer vectors with each squared length. @param {number} dim @param {number} limit */
function countVectors(dim, limit) {
  let number = new Float64Array(limit + 1);
  for (let a = 0; a * a <= limit; a++) {
    for (let b = 0; a * a + b * b <= limit; b++) number[a * a + b * b] += (a === 0 ? 1 : 2) * (b === 0 ? 1 : 2);
  }
  for (let axis = 2; axis < dim; axis++) {
    const longer = number.slice();
    for (let root = 1; root * root <= limit; root++) {
      const square = root * root;
      for (let k = square; k <= limit; k++) longer[k] += 2 * number[k - square];
    }
    number = longer;
  }
  return number;
}

/** @param {Float64Array} number @returns {Shells} */
function listOccurring(number) {
  const found = [];
  for (let k = 0; k < number.length; k++) if (number[k] > 0) found.push(k);
  return { k: Float64Array.from(found), number: Float64Array.from(found, (k) => number[k]) };
}

/** Logarithm of the volume of the unit ball. @param {number} dim */
const logBall = (dim) => 0.5 * dim * Math.log(Math.PI) - logGammaHalf(dim / 2 + 1);

/**
 * Nodes of the continuum beyond the soft boundary of a lattice that is listed up to a squared length.
 * @param {number} dim @param {number} limit @param {number} steepness how fast the logarithm of the eigenvalue falls with that of k
 */
function continuum(dim, limit, steepness) {
  const { middle, width } = boundary(limit);
  const edges = [];
  for (let i = 0; i <= 44; i++) edges.push(middle + width * (-6.1 + (i * 13.9) / 44));
  // one over 1 + hλ has poles at π/2α from the real axis of ln|q|: panels must be shorter than that
  const stretch = Math.exp(Math.min(0.6, 1.8 / steepness));
  while (edges[edges.length - 1] < 1e19) edges.push(edges[edges.length - 1] * stretch);
  const k = [], number = [];
  const front = dim * Math.exp(logBall(dim));
  for (let i = 0; i + 1 < edges.length; i++) {
    const half = (edges[i + 1] - edges[i]) / 2, centre = (edges[i + 1] + edges[i]) / 2;
    for (let j = 0; j < 16; j++) {
      const radius = centre + half * GAUSS.nodes[j];
      k.push(radius * radius);
      number.push(half * GAUSS.weights[j] * front * radius ** (dim - 1) * (1 - erfc((radius - middle) / width) / 2));
    }
  }
  return { k, number };
}

/** Where the lattice fades out, so that nothing is left of it at its limit. @param {number} limit */
function boundary(limit) {
  const width = Math.min(Math.sqrt(limit) / (2 * SHARPNESS), WIDEST);
  return { middle: Math.sqrt(limit) - SHARPNESS * width, width };
}

/** The share that the lattice keeps of an eigenvalue, as a function of k. @param {number} limit @returns {(k: number) => number} */
function latticeShare(limit) {
  const { middle, width } = boundary(limit);
  return (k) => {
    const away = (Math.sqrt(k) - middle) / width;
    return away < -6 ? 1 : erfc(away) / 2;
  };
}

/**
 * Spectrum on the torus, with the power of a teacher's functions in each wave; the kernel's own without a teacher.
 * @param {Kernel} kernel @param {number} dim @param {Kernel | null} [teacher] @returns {Spectrum}
 */
export function torusSpectrum(kernel, dim, teacher = null) {
  const log = logTransform(kernel, dim), taught = logTransform(teacher ?? kernel, dim);
  const nu = KERNELS[kernel.name].smoothness, trueNu = KERNELS[(teacher ?? kernel).name].smoothness;
  const most = dim === 1 ? SMOOTH_LINE ** 2 : SMOOTH_SHELLS;
  // waves that the student cannot learn count as well, as far as the teacher's functions have any
  const complete = Math.min(Math.max(reach(kernel), reach(teacher ?? kernel)), dim === 1 ? 1e8 : MOST_SHELLS);
  const endless = nu !== Infinity || trueNu !== Infinity;
  const limit = endless ? Math.max(most, complete) : complete;
  const { k, number } = latticeShells(dim, Math.max(limit, 1));
  const squeezed = new Squeezer(log(0)), share = endless ? latticeShare(limit) : () => 1;
  for (let i = 0; i < k.length; i++) squeezed.add(log(k[i]), number[i] * share(k[i]), taught(k[i]));
  if (endless) {
    const steepness = (nu === Infinity ? 1 : nu) + dim / 2;
    const far = continuum(dim, limit, Math.max(steepness, (trueNu === Infinity ? 1 : trueNu) + dim / 2));
    for (let i = 0; i < far.k.length; i++) squeezed.add(log(far.k[i]), far.number[i], taught(far.k[i]));
  }
  const ordered = remember((count) => orderedWaves(kernel, dim, count));
  return { ...squeezed.finish(), ordered };
}

/** The squared frequency beyond which an RBF is lost to double precision. @param {Kernel} kernel */
const reach = (kernel) =>
  kernel.name === "rbf" ? Math.ceil(UNDERFLOW / (2 * Math.PI * Math.PI * kernel.lengthscale ** 2)) : 0;

/** @param {Kernel} kernel @param {number} dim @param {number} most how many eigenvalues must be listed @returns {Ordered} */
function orderedWaves(kernel, dim, most) {
  const log = logTransform(kernel, dim);
  const needed = Math.ceil(1.1 * Math.exp((2 / dim) * (Math.log(most + 1) - logBall(dim)))) + 4;
  const smooth = kernel.name === "rbf";
  const limit = smooth ? Math.max(1, Math.min(reach(kernel), dim === 1 ? 1e8 : Math.max(MOST_SHELLS, needed))) : Math.max(needed, 2500);
  const { k, number } = latticeShells(dim, limit);
  const values = transformValues(kernel, dim, k);
  let rest = 0;
  if (!smooth) {
    const far = continuum(dim, limit, KERNELS[kernel.name].smoothness + dim / 2);
    for (let i = far.k.length - 1; i >= 0; i--) rest += far.number[i] * Math.exp(log(far.k[i]));
    const share = latticeShare(limit), { middle, width } = boundary(limit);
    let i = k.length - 1;
    for (const fading = (middle - 6 * width) ** 2; i >= 0 && k[i] >= fading; i--) rest -= number[i] * values[i] * (1 - share(k[i]));
  }
  return inOrder(values, number, rest);
}

/** @param {Float64Array} values descending @param {Float64Array} number @param {number} rest the sum of what is not listed @returns {Ordered} */
export function inOrder(values, number, rest) {
  const before = new Float64Array(values.length + 1), roots = new Float64Array(values.length + 1);
  const after = new Float64Array(values.length + 1);
  for (let i = 0; i < values.length; i++) {
    before[i + 1] = before[i] + number[i];
    roots[i + 1] = roots[i] + number[i] * Math.sqrt(values[i]);
  }
  after[values.length] = rest;
  for (let i = values.length - 1; i >= 0; i--) after[i] = after[i + 1] + number[i] * values[i];
  return { values, before, roots, after, count: before[values.length] };
}

/** Collects eigenvalues by their logarithms and replaces crowds by Chebyshev nodes. */
export class Squeezer {
  /** @param {number} top logarithm of the largest eigenvalue */
  constructor(top) {
    this.top = top;
    /** @type {{log: number[], number: number[], power: number[]}[]} */
    this.bins = [];
    this.lost = 0; // the sum of eigenvalues so small that 1 + hλ is 1 for every h in use
    this.lostPower = 0;
  }

  /** @param {number} log @param {number} number @param {number} logPower power of each of them */
  add(log, number, logPower) {
    if (number === 0) return;
    const below = this.top - log;
    const power = number * Math.exp(logPower);
    if (below > NEGLIGIBLE) {
      this.lost += number * Math.exp(log);
      this.lostPower += power;
      return;
    }
    const index = Math.max(0, Math.floor(below / WIDTH));
    const bin = (this.bins[index] ??= { log: [], number: [], power: [] });
    bin.log.push(log);
    bin.number.push(number);
    bin.power.push(power);
  }

  /**
   * Add eigenvalues that are as good as zero, and what the true functions have beyond all that was added.
   * @param {number} mass @param {number} total the whole power; 0 if it is the eigenvalues themselves
   */
  lose(mass, total) {
    this.lost += mass;
    if (total === 0) return;
    let known = this.lostPower;
    this.bins.forEach((bin) => bin.power.forEach((power) => (known += power)));
    if (total - known > 1e-11 * total) this.lostPower += total - known; // less is what rounding leaves of sums that agree
  }

  finish() {
    const logs = [], numbers = [], powers = [];
    this.bins.forEach((bin, index) => {
      if (bin.log.length <= DEGREE) {
        logs.push(...bin.log);
        numbers.push(...bin.number);
        powers.push(...bin.power);
        return;
      }
      const centre = this.top - (index + 0.5) * WIDTH;
      const position = bin.log.map((log) => (log - centre) / (WIDTH / 2));
      const [number, power] = [chebyshevWeights(position, bin.number), chebyshevWeights(position, bin.power)];
      for (let j = 0; j < DEGREE; j++) {
        logs.push(centre + (WIDTH / 2) * Math.cos((Math.PI * (j + 0.5)) / DEGREE));
        numbers.push(number[j]);
        powers.push(power[j]);
      }
    });
    if (this.lost > 0 || this.lostPower > 0) {
      const value = Math.exp(this.top - NEGLIGIBLE - 10);
      logs.push(Math.log(value));
      numbers.push(this.lost / value);
      powers.push(this.lostPower);
    }
    const values = Float64Array.from(logs, Math.exp);
    let trace = 0, power = 0;
    for (let i = values.length - 1; i >= 0; i--) {
      trace += values[i] * numbers[i];
      power += powers[i];
    }
    return { values, numbers: Float64Array.from(numbers), powers: Float64Array.from(powers), trace, power, largest: Math.exp(this.top) };
  }
}

const ANGLES = Float64Array.from({ length: DEGREE }, (_, j) => (Math.PI * (j + 0.5)) / DEGREE);

/** Weights at Chebyshev nodes with the same moments. @param {number[]} position between -1 and 1 @param {number[]} weight */
function chebyshevWeights(position, weight) {
  const moments = new Float64Array(DEGREE);
  for (let i = 0; i < position.length; i++) {
    const x = position[i];
    let now = weight[i], last = x * now;
    for (let k = 0; k < DEGREE; k++) {
      moments[k] += now;
      [now, last] = k === 0 ? [last, now] : [2 * x * now - last, now];
    }
  }
  return ANGLES.map((angle) => {
    let total = moments[0];
    for (let k = 1; k < DEGREE; k++) total += 2 * moments[k] * Math.cos(k * angle);
    return total / DEGREE;
  });
}

/** Keep the longest list that was made. @param {(most: number) => Ordered} make @returns {(most: number) => Ordered} */
function remember(make) {
  /** @type {Ordered | null} */
  let list = null;
  let length = -1;
  return (most) => {
    if (list === null || most > length) list = make((length = most));
    return list;
  };
}

/**
 * A spectrum that is given by its eigenvalues, such as that of a covariance matrix.
 * @param {ArrayLike<number>} eigenvalues @returns {Spectrum}
 */
export function listedSpectrum(eigenvalues) {
  const values = Float64Array.from(eigenvalues).filter((value) => value > 0).sort().reverse();
  const numbers = values.map(() => 1);
  const list = inOrder(values, numbers, 0);
  return { values, numbers, powers: values, trace: list.after[0], power: list.after[0], largest: values[0], ordered: () => list };
}
