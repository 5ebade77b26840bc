// Spectra under Gaussian inputs: an RBF has a closed form, Matérn kernels an oscillator basis (oscillator.js).
import { KERNELS } from "./kernels.js";
import { DEPTH, mixture, oscillatorSpectrum } from "./oscillator.js";
import { Squeezer, UNDERFLOW, inOrder } from "./spectrum.js";

/**
 * @typedef {import("./kernels.js").Kernel} Kernel
 * @typedef {import("./spectrum.js").Spectrum} Spectrum
 * @typedef {import("./oscillator.js").Radial} Radial
 */

/** A kernel in units of the inputs' standard deviation. @param {Kernel} kernel @param {number} inputVariance @returns {Radial} */
const radial = ({ name, lengthscale, variance }, inputVariance) => ({ nu: KERNELS[name].smoothness, scale: lengthscale / Math.sqrt(inputVariance), variance });

/**
 * Spectrum under Gaussian inputs, with the power of a teacher's functions in each eigenfunction.
 * @param {Kernel} kernel @param {number} dim @param {number} inputVariance @param {Kernel | null} [teacher] @returns {Spectrum}
 */
export function gaussianSpectrum(kernel, dim, inputVariance, teacher = null) {
  const student = radial(kernel, inputVariance), truth = teacher === null ? null : radial(teacher, inputVariance);
  return student.nu === Infinity ? rbfSpectrum(student, dim, truth) : oscillatorSpectrum(student, dim, truth);
}

/** Levels of an RBF, Sollich & Halees 2002 (45). @param {Radial} kernel @param {number} dim @param {Radial | null} teacher @returns {Spectrum} */
function rbfSpectrum(kernel, dim, teacher) {
  const ratio = kernel.scale ** 2;
  const decay = Math.log1p(ratio / 2 + Math.sqrt((ratio * ratio) / 4 + ratio)); // ln 1/β
  const origin = Math.log(kernel.variance) + dim * Math.log(-Math.expm1(-decay));
  const levels = Math.min(Math.ceil(UNDERFLOW / decay), 200_000);
  const values = new Float64Array(levels + 1), number = new Float64Array(levels + 1);
  number[0] = 1;
  for (let s = 0; s <= levels; s++) {
    values[s] = Math.exp(origin - s * decay);
    if (s > 0) number[s] = (number[s - 1] * (s + dim - 1)) / s;
  }
  const powers = teacher === null ? values.map((value, s) => value * number[s]) : levelPowers(kernel, decay, dim, teacher, levels + 1);
  const squeezed = new Squeezer(origin);
  for (let s = 0; s <= levels; s++) squeezed.add(origin - s * decay, number[s], Math.log(powers[s] / number[s]));
  if (teacher !== null) squeezed.lose(0, teacher.variance);
  const list = inOrder(values, number, 0);
  return { ...squeezed.finish(), ordered: () => list };
}

/**
 * The power of a teacher's functions in all eigenfunctions of each level of an RBF together, as far as they can be learnt.
 *
 * For one Gaussian of the teacher's mixture they have the generating function c [(1+ft)(1+gt)]^(-d/2), by Mehler's formula: with
 * the frequency ω of the eigenfunctions and w = 1/2 + 4τ, f = (1/2-ω)/(1/2+ω), g = (ω-w)/(ω+w), c = (2ω/(1/2+ω)(ω+w))^(d/2).
 * @param {Radial} kernel @param {number} decay @param {number} dim @param {Radial} teacher @param {number} count
 */
function levelPowers(kernel, decay, dim, teacher, count) {
  const frequency = Math.sinh(decay) / kernel.scale ** 2;
  const levels = Math.min(count, Math.ceil(DEPTH / decay)); // further eigenvalues are as good as zero
  const powers = new Float64Array(count), first = (0.5 - frequency) / (0.5 + frequency);
  const { rates, weights } = mixture(teacher, dim, Math.sqrt(2 * frequency * levels));
  for (let i = 0; i < rates.length; i++) {
    const wide = 0.5 + 4 * rates[i], second = (frequency - wide) / (frequency + wide), sum = first + second, product = first * second;
    let now = weights[i] * ((2 * frequency) / ((0.5 + frequency) * (frequency + wide))) ** (dim / 2), earlier = 0;
    for (let s = 0; s < levels; s++) {
      powers[s] += now;
      const later = -((s + dim / 2) * sum * now + (s - 1 + dim) * product * earlier) / (s + 1);
      earlier = now;
      now = later;
    }
  }
  return powers.map((power) => Math.max(power, 0)); // rounding leaves noise where nothing is left
}
