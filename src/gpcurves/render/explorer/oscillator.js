// Spectra of Matérn kernels on Gaussian inputs: the same construction as gpcurves/spectra/oscillator.py, which derives it.
//
// A Matérn kernel is a mixture of Gaussians, whose elements between oscillator functions are known; spherical harmonics of
// different degrees do not mix. Far down the list of eigenvalues fades out and Weyl's law fades in: as many eigenvalues are above λ
// as there are cells of phase space in which p(x) Ĉ(q) > λ. Lengths are in units of the inputs' standard deviation.
import { cholesky, rotateColumns } from "./linear.js";
import { GAUSS, LONG_GAUSS, erfc, logGammaHalf } from "./special.js";
import { Squeezer, inOrder } from "./spectrum.js";

/**
 * @typedef {import("./spectrum.js").Spectrum} Spectrum
 * @typedef {{nu: number, scale: number, variance: number}} Radial
 * @typedef {{values: number[], numbers: number[], powers: number[]}} Listed
 */

const STEP = 0.25; // of the trapezoidal rule over ln z: its error is exp(-π²/step)
const FADE = 14, JITTER = 1e-14, WELL_KNOWN = 1e-6;
export const DEPTH = 75; // how far the law is listed below the list, in ln λ

/** Rates τ = ν/2l²z and weights of the Gaussians; z has a gamma distribution. @param {Radial} kernel @param {number} dim @param {number} highest frequency that matters */
export function mixture({ nu, scale, variance }, dim, highest) {
  if (nu === Infinity) return { rates: Float64Array.of(0.5 / scale ** 2), weights: Float64Array.of(variance) };
  const low = Math.log(1e-17) / (nu + dim / 2) - 2 * Math.log(Math.max(highest * scale, 1)) - 1;
  const first = Math.floor(low / STEP), count = Math.ceil(Math.log(45 + 3 * nu) / STEP) + 1 - first;
  const y = Float64Array.from({ length: count }, (_, i) => STEP * (first + i));
  const norm = logGammaHalf(nu);
  return { rates: y.map((each) => (nu / (2 * scale ** 2)) * Math.exp(-each)), weights: y.map((each) => STEP * variance * Math.exp(nu * each - Math.exp(each) - norm)) };
}

/** Logarithm of p(0) Ĉ(q) as a function of the squared frequency. @param {Radial} kernel @param {number} dim @returns {(squared: number) => number} */
function logTransform({ nu, scale, variance }, dim) {
  const front = Math.log(variance) + dim * Math.log(scale), half = scale ** 2 / 2;
  if (nu === Infinity) return (squared) => front - half * squared;
  const all = front - 0.5 * dim * Math.log(nu) + logGammaHalf(nu + dim / 2) - logGammaHalf(nu);
  return (squared) => all - (nu + dim / 2) * Math.log1p((half * squared) / nu);
}

/** Root of an increasing function of ln x, by bisection. @param {(x: number) => number} f @param {number} high */
function invert(f, high) {
  let low = -90, top = Math.log(high);
  for (let i = 0; i < 64; i++) {
    const middle = (low + top) / 2;
    if (f(Math.exp(middle)) > 0) top = middle;
    else low = middle;
  }
  return Math.exp((low + top) / 2);
}

/** Phase space of a Matérn kernel, by the level t = ln(p(0)Ĉ(0)/λ)/η. */
class Levels {
  /** @param {Radial} kernel @param {number} dim */
  constructor(kernel, dim) {
    this.dim = dim;
    this.eta = kernel.nu + dim / 2;
    this.top = logTransform(kernel, dim)(0);
    this.stiffness = (2 * kernel.nu) / kernel.scale ** 2;
    this.angles = Array.from(LONG_GAUSS.nodes, (node, i) => {
      const angle = ((node + 1) * Math.PI) / 4, sine = Math.sin(angle);
      return { sine2: sine * sine, weight: LONG_GAUSS.weights[i] * sine ** (dim - 1) * Math.cos(angle) };
    });
    this.logFront = (dim / 2) * Math.log(this.stiffness * 2 * this.eta) - 2 * logGammaHalf(dim / 2) - dim * Math.LN2;
  }

  /** About the number of the shell. @param {number} level */
  action(level) {
    return level > 0 ? Math.sqrt(this.stiffness * Math.expm1(level) * 2 * this.eta * level) / 2 : 0;
  }

  /** @param {number} action */
  level(action) {
    return invert((level) => this.action(level) - action, 600);
  }

  /** The frequency of an oscillator whose shells resemble those of a level. @param {number} level */
  frequency(level) {
    const axes = Math.sqrt((this.stiffness * Math.expm1(level)) / (2 * this.eta * level));
    const v = invert((each) => each + Math.expm1(each - level), 1);
    const circle = Math.sqrt((this.stiffness * Math.expm1(level - v)) / (2 * this.eta * v)), share = (this.dim - 1) / (this.dim + 1);
    return axes ** (1 - share) * circle ** share;
  }

  /** Eigenvalues per unit of the level, and the power of a teacher's functions in them; see the package for the angle. @param {number} level @param {((squared: number) => number) | null} truth */
  density(level, truth) {
    const half = this.dim / 2, last = Math.min(level, 150 / this.dim);
    let number = 0, power = 0;
    for (let i = 0; i < this.angles.length; i++) {
      const { sine2, weight } = this.angles[i], v = last * sine2, gap = level - v;
      const each = weight * Math.exp(half * gap) * (-Math.expm1(-gap)) ** (half - 1);
      number += each;
      if (truth !== null) power += each * Math.exp(truth(this.stiffness * Math.expm1(gap)) - this.eta * v);
    }
    const front = (Math.PI / 2) * last ** half * Math.exp(this.logFront);
    number *= front;
    return { number, power: truth === null ? number * Math.exp(this.top - this.eta * level) : front * power };
  }
}

/** The number of spherical harmonics of a degree. @param {number} dim @param {number} degree */
function harmonics(dim, degree) {
  if (degree === 0 || dim === 1) return 1;
  if (dim === 2) return 2;
  let number = (2 * degree + dim - 2) / (dim - 2);
  for (let k = 1; k <= dim - 3; k++) number *= (degree + k) / k;
  return Math.round(number);
}

/**
 * Matrices of a mixture of Gaussians between oscillator functions, one for each degree: Σ_j T_mj T_nj S_(m+n-2j, l+2j).
 * @param {{rates: Float64Array, weights: Float64Array}} gaussians @param {number} frequency @param {number} dim @param {number} shells
 */
function blockElements({ rates, weights }, frequency, dim, shells) {
  const wide = shells + 1, S = new Float64Array(wide * wide), base = 0.25 + frequency / 2;
  for (let k = 0; k < rates.length; k++) {
    const P = base * (base + 2 * rates[k]), a = (0.0625 + rates[k] / 2 - frequency ** 2 / 4) / P, r = (rates[k] * frequency) / P;
    for (let i = 0, outer = weights[k] * (frequency / (2 * P)) ** (dim / 2); i <= shells; i++, outer *= a) {
      for (let j = 0, inner = outer; j <= shells - i; j++, inner *= r) S[i * wide + j] += inner;
    }
  }
  /** @type {{size: number, K: Float64Array}[]} */
  const blocks = [];
  for (let degree = 0; degree <= (dim > 1 ? shells : 1); degree++) {
    const size = Math.floor((shells - degree) / 2) + 1, kappa = degree + dim / 2, K = new Float64Array(size * size), T = new Float64Array(size);
    for (let j = 0; j < size; j++) {
      T[j] = 1;
      for (let m = j; m + 1 < size; m++) T[m + 1] = (T[m] * Math.sqrt((m + 1) * (kappa + m))) / (m + 1 - j);
      for (let m = j; m < size; m++) for (let n = j; n <= m; n++) K[m * size + n] += T[m] * T[n] * S[(m + n - 2 * j) * wide + degree + 2 * j];
    }
    for (let m = 0; m < size; m++) for (let n = 0; n < m; n++) K[n * size + m] = K[m * size + n];
    blocks.push({ size, K });
  }
  return blocks;
}

/** Eigenvalues above a level, multiplicities, and the power of the teacher's functions. @param {Levels} levels @param {Radial} kernel @param {number} last @param {number} action @param {Radial | null} teacher @returns {Listed} */
function listBlocks(levels, kernel, last, action, teacher) {
  const { dim } = levels, frequency = levels.frequency(last), highest = Math.sqrt(levels.stiffness * Math.expm1(last));
  const shells = Math.floor(1.15 * action) + 6; // beyond the action, for the exponential tails of eigenfunctions
  const blocks = blockElements(mixture(kernel, dim, highest), frequency, dim, shells);
  const truth = teacher === null ? null : blockElements(mixture(teacher, dim, highest), frequency, dim, shells);
  const values = [], numbers = [], powers = [];
  for (let degree = 0; degree < blocks.length; degree++) {
    const { size, K } = blocks[degree];
    for (let m = 0; m < size; m++) K[m * size + m] *= 1 + JITTER;
    const columns = rotateColumns(cholesky(K, size), size); // orthogonal, with squared norms that are the eigenvalues
    for (let i = 0; i < size; i++) {
      const vector = columns.subarray(i * size, (i + 1) * size);
      let value = 0;
      for (let m = 0; m < size; m++) value += vector[m] * vector[m];
      if (!(levels.action((levels.top - Math.log(value)) / levels.eta) < action)) continue;
      values.push(value);
      numbers.push(harmonics(dim, degree));
      powers.push(truth === null ? value : Math.max(quadraticForm(truth[degree].K, vector) / value, 0));
    }
  }
  return { values, numbers, powers };
}

/** @param {Float64Array} M @param {Float64Array} v */
function quadraticForm(M, v) {
  let total = 0;
  for (let i = 0; i < v.length; i++) {
    let row = 0;
    for (let j = 0; j < v.length; j++) row += M[i * v.length + j] * v[j];
    total += v[i] * row;
  }
  return total;
}

/** @typedef {{mass: number, share: number, error: number}} Part a mass, how much of it counts, and the law's relative error */

/** The amplitude of the law's relative error. @param {number} total @param {Part[]} listed @param {Part[]} law @param {number} beyond */
function amplitude(total, listed, law, beyond) {
  const sum = (/** @type {Part[]} */ parts, /** @type {(part: Part) => number} */ f) => parts.reduce((all, part) => all + part.mass * f(part), 0);
  const rest = sum(law, ({ share }) => share) + beyond, window = (/** @type {Part} */ { share }) => share * (1 - share);
  const found =
    rest > WELL_KNOWN * total
      ? (total - sum(listed, ({ share }) => share) - rest) / sum(law, ({ share, error }) => share * error)
      : (sum(listed, window) - sum(law, window)) / Math.max(sum(law, (part) => part.error * window(part)), 1e-300);
  return Math.min(Math.max(found, -0.9), 10);
}

/** Spectrum of a Matérn kernel, with the power of a teacher's functions. @param {Radial} kernel @param {number} dim @param {Radial | null} teacher @returns {Spectrum} */
export function oscillatorSpectrum(kernel, dim, teacher) {
  const levels = new Levels(kernel, dim), truth = teacher === null ? null : logTransform(teacher, dim);
  const action = 24 + dim / 2 + 36 / dim, width = action / FADE, middle = action - 4.2 * width, last = levels.level(action);
  const listShare = (/** @type {number} */ level) => erfc((levels.action(level) - middle) / width) / 2;
  const { values, numbers, powers } = listBlocks(levels, kernel, last, action, teacher);
  const fading = values.map((value) => listShare((levels.top - Math.log(value)) / levels.eta));
  const begin = levels.level(middle - 4.2 * width), panels = Math.ceil(DEPTH / 4), end = last + DEPTH / levels.eta;
  const edges = Array.from({ length: 9 + panels }, (_, i) => (i < 9 ? begin + ((last - begin) * i) / 8 : last + ((end - last) * (i - 8)) / panels));
  /** @type {{level: number, value: number, count: number, power: number, share: number, error: number}[]} */
  const law = [];
  for (let i = 0; i + 1 < edges.length; i++) {
    const half = (edges[i + 1] - edges[i]) / 2, centre = (edges[i + 1] + edges[i]) / 2;
    for (let j = 0; j < 16; j++) {
      const level = centre + half * GAUSS.nodes[j], step = half * GAUSS.weights[j], { number, power } = levels.density(level, truth);
      law.push({ level, value: Math.exp(levels.top - levels.eta * level), count: number * step, power: power * step, share: 1 - listShare(level), error: Math.exp(last - level) });
    }
  }
  const parts = (/** @type {number[]} */ masses) => masses.map((mass, i) => ({ mass: mass * numbers[i], share: fading[i], error: 0 }));
  const beyond = levels.density(end, null).power / kernel.nu;
  const own = amplitude(kernel.variance, parts(values), law.map((each) => ({ ...each, mass: each.value * each.count })), beyond);
  let other = own;
  if (teacher !== null) {
    const lost = teacher.nu === Infinity ? 0 : levels.density(end, truth).power / teacher.nu;
    other = amplitude(teacher.variance, parts(powers), law.map((each) => ({ ...each, mass: each.power })), lost);
  }
  const all = values.map((value, i) => ({ value, number: numbers[i] * fading[i], power: powers[i] }));
  for (const { value, count, power, share, error } of law) {
    all.push({ value, number: count * share * (1 + error * own), power: ((power / count) * (1 + error * other)) / (1 + error * own) });
  }
  all.sort((one, two) => two.value - one.value);
  const squeezed = new Squeezer(Math.log(all[0].value));
  for (const { value, number, power } of all) squeezed.add(Math.log(value), number, Math.log(power));
  squeezed.lose(beyond, teacher?.variance ?? 0);
  const list = inOrder(Float64Array.from(all, ({ value }) => value), Float64Array.from(all, ({ number }) => number), beyond);
  return { ...squeezed.finish(), ordered: () => list };
}
