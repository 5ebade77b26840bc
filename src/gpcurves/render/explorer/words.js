// What a page says: numbers as people write them, the Python and the command line of a state, and how it is computed.
import * as formulas from "./formulas.js";
import { gridSizes } from "./grid.js";
import { KERNELS } from "./kernels.js";
import { decay, mainError, slopeAt, solveFor, spectrumOf, studentKernel, teacherKernel } from "./theory.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./kernels.js").Kernel} Kernel
 * @typedef {{methods: string[], version: string}} Package what the package that made the page can do
 */

const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹", ".": "·" };

/** A number with a few digits. @param {number} x @param {number} [digits] */
export function say(x, digits = 3) {
  if (!Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-4) {
    const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
    const front = Number(mantissa) === 1 ? "" : `${Number(mantissa)}·`;
    return `${front}10${[...String(Number(exponent))].map((c) => SUPERSCRIPTS[/** @type {keyof typeof SUPERSCRIPTS} */ (c)]).join("")}`;
  }
  if (size >= 100) return Number(x.toFixed(size >= 1000 || Number.isInteger(x) ? 0 : 1)).toLocaleString("en");
  return String(Number(x.toPrecision(digits)));
}

/** A number of examples, rounded up. @param {number} n */
export const sayCount = (n) => (n < 1e15 ? Math.ceil(n - 1e-9).toLocaleString("en") : say(n));

/** As Python writes it. @param {number} x */
const plain = (x) => String(Number(x.toPrecision(12)));

/** @param {Kernel} kernel */
const pythonKernel = ({ name, lengthscale, variance }) =>
  `gpc.${KERNELS[name].python}(${plain(lengthscale)}${variance === 1 ? "" : `, variance=${plain(variance)}`})`;

/** @param {State} s */
function pythonProblem(s) {
  const inputs = s.inputs === "torus" ? `gpc.Torus(dim=${s.dim})` : `gpc.Gaussian(dim=${s.dim}, variance=${plain(s.inputVariance)})`;
  const labels = s.labels === "classes" ? `gpc.Probit(${plain(s.noise)})` : `noise=${plain(s.noise)}`;
  const teacher = s.wrong && s.labels === "numbers" ? `,\n    teacher=gpc.Teacher(${pythonKernel(teacherKernel(s))}, noise=${plain(s.trueNoise)})` : "";
  return `gpc.Problem(${pythonKernel(studentKernel(s))}, ${inputs}, ${labels}${teacher})`;
}

/** The package's names of the curves that it computes as well. @param {State} s @param {Package} about */
function packageMethods(s, about) {
  const all = s.labels === "classes" ? ["lc", "uc"] : s.wrong ? ["lc"] : ["lc", "uc", "two", "ov", "plaskota"];
  return all.filter((name) => about.methods.includes(name));
}

/** The numbers of examples at which there are regular grids, if the package has them as well. @param {State} s @param {Package} about */
function gridExamples(s, about) {
  const known = about.methods.includes("grid") && s.labels === "numbers" && !s.wrong && s.inputs === "torus";
  return known ? gridSizes(studentKernel(s), s.dim, s.most).map((points) => points ** s.dim) : [];
}

/** @param {State} s @param {Package} about */
export function theoryPython(s, about) {
  const grids = gridExamples(s, about);
  const methods = packageMethods(s, about).map((name) => `"${name}"`).join(", ");
  const quantity = s.labels === "classes" ? `, quantity="${s.quantity}"` : "";
  return `import numpy as np
import gpcurves as gpc

problem = ${pythonProblem(s)}
n = np.unique(np.geomspace(1, ${s.most}, 60).round())
curves = gpc.learning_curves(problem, n=n, methods=[${methods}]${quantity})
print(curves.to_frame())${grids.length > 0 ? `\ngrid = gpc.learning_curve(problem, "grid", n=[${grids.join(", ")}])` : ""}`;
}

/** The options of the command line that describe the problem. @param {State} s */
function problemOptions(s) {
  const options = [`--kernel ${s.kernel} --lengthscale ${plain(s.lengthscale)} --variance ${plain(s.variance)}`, `--inputs ${s.inputs} --dim ${s.dim}`];
  if (s.inputs === "gaussian") options.push(`--input-variance ${plain(s.inputVariance)}`);
  if (s.labels === "classes") options.push("--likelihood probit");
  options.push(`--noise ${plain(s.noise)}`);
  if (s.wrong && s.labels === "numbers") {
    options.push(`--teacher-kernel ${s.trueKernel} --teacher-lengthscale ${plain(s.trueLengthscale)}`);
    options.push(`--teacher-variance ${plain(s.trueVariance)} --teacher-noise ${plain(s.trueNoise)}`);
  }
  return options.join(" ");
}

/** @param {State} s @param {Package} about */
export function theoryCommand(s, about) {
  const quantity = s.labels === "classes" && s.quantity !== "mse" ? ` --quantity ${s.quantity}` : "";
  const grids = gridExamples(s, about), more = grids.length > 0 ? `\ngpcurves curve ${problemOptions(s)} --n ${grids.join(",")} --methods grid` : "";
  return `gpcurves curve ${problemOptions(s)} --n 1:${s.most}:log:60 --methods ${packageMethods(s, about).join(",")}${quantity}${more}`;
}

/** What the vertical axis shows. @param {State} s */
export function quantityName(s) {
  if (s.labels === "numbers") return "average squared error";
  return { "error-rate": "error rate", "sign-error-rate": "sign error rate", mse: "average squared error" }[s.quantity];
}

/** The answer to "fix three, read the fourth". @param {State} s */
export function answer(s) {
  const value = solveFor(s), what = quantityName(s), article = /^[ae]/.test(what) ? "an " : "a ";
  const error = `${article}${what} of ${say(s.goal)}`;
  const missing = { n: `No number of examples reaches ${error}.`, error: "", noise: `No noise variance gives ${error} at n = ${sayCount(s.at)}.`, lengthscale: `No lengthscale from 0.01 to 2 gives ${error} at n = ${sayCount(s.at)}.` };
  if (!Number.isFinite(value)) return { value, text: missing[s.solve] };
  const texts = {
    n: `LC needs ${sayCount(value)} examples for ${error}.`,
    error: `After ${sayCount(s.at)} examples, LC gives ${article}${what} of ${say(value)}.`,
    noise: `LC gives ${error} at n = ${sayCount(s.at)} if the noise variance is ${say(value)}.`,
    lengthscale: `LC gives ${error} at n = ${sayCount(s.at)} if the lengthscale is ${say(value)}.`,
  };
  return { value, text: texts[s.solve] };
}

/** The number of examples that the page is about: the one that is read, or the one that is fixed. @param {State} s */
export function focus(s) {
  const solved = s.solve === "n" ? solveFor(s) : NaN;
  return Number.isFinite(solved) && solved >= 1 ? Math.ceil(solved - 1e-9) : s.at;
}

/** The exponent and the crossover in words. @param {State} s @returns {string[]} */
export function fallInWords(s) {
  const n = focus(s), slope = -slopeAt(s, n), after = (100 * 2 ** -slope).toFixed(0);
  const near =
    slope >= 0.005
      ? `At n = ${sayCount(n)}, the error falls as n to the power −${slope.toFixed(2)}: doubling the examples leaves ${after} % of it.`
      : slope > -0.005
        ? `At n = ${sayCount(n)}, the error barely changes with n.`
        : `At n = ${sayCount(n)}, the error rises with n: doubling the examples makes it ${after} % of what it was. The model trusts its data too much.`;
  if (s.labels === "classes") {
    const { trace } = spectrumOf(s, studentKernel(s)), floor = formulas.labelErrorRate(0, s.noise, trace);
    return [near, `The noise floor is an error rate of ${(100 * floor).toFixed(1)} %: no number of examples gets below it.`, "The theory assumes that many eigenfunctions share the variance. With a long lengthscale, single functions differ widely: simulate to see how much."];
  }
  if (s.wrong) {
    const right = formulas.lc(spectrumOf(s, teacherKernel(s)), s.trueNoise, n), price = mainError(s, n) / right;
    return [near, `At n = ${sayCount(n)}, the wrong model has ${say(price)} times the error of the right one, which LC puts at ${say(right)}.`];
  }
  const { power, late, early, crossover } = decay(s), smooth = power === Infinity;
  const law = smooth
    ? `Eigenvalues of the RBF kernel fall faster than any power. Once noise dominates, the error falls nearly as 1/n: ten times the examples leave a little more than 10 % of it.`
    : `Eigenvalues fall as i to the power −${power.toFixed(2)} (r = 1 + 2ν/d, ν = ${KERNELS[s.kernel].smoothness}, d = ${s.dim}). Once noise dominates, the error falls as n to the power −${late.toFixed(2)}: ten times the examples leave ${(100 * 10 ** -late).toFixed(0)} % of it.`;
  const before = smooth ? "faster than any power" : `as n to the power −${early.toFixed(2)}`;
  const change =
    crossover < 1
      ? `The noise is above the prior variance, so that it dominates from the first example on.`
      : `Before, while the error is above the noise variance of ${say(s.noise)}, it falls ${before}. The change is near n = ${sayCount(crossover)}, where LC equals the noise variance.`;
  return [near, law, change];
}

/** How the numbers at n come about. @param {State} s @returns {string[]} */
export function explanation(s) {
  const student = studentKernel(s), n = focus(s);
  const spectrum = spectrumOf(s, student, s.wrong && s.labels === "numbers" ? teacherKernel(s) : null);
  const onGaussian = s.kernel === "rbf" ? "(1−β)ᵈ βˢ with multiplicity (d+s−1)!/(s!(d−1)!)" : "the first ones from matrices between oscillator functions, one for each degree of spherical harmonics, and Weyl's law for the others";
  const where = s.inputs === "torus" ? "the Fourier transform of the kernel at all integer vectors" : onGaussian;
  const lines = [`Eigenvalues λ of the kernel: ${where}. The largest is ${say(spectrum.largest, 4)}; all add up to tr Λ = ${say(spectrum.trace, 4)}, the error without examples.`];
  if (s.labels === "classes") {
    const variance = formulas.probitVariance(s.noise, spectrum.trace), h = Math.exp(formulas.anyLabelParameter(spectrum, variance, n)), error = formulas.g(spectrum, h);
    lines.push(`LC: ε = Σ λ/(1 + hλ) with n = h/r(ε), where r is the information of one label. At n = ${sayCount(n)}: h = ${say(h, 4)}, ε = ${say(error, 4)}, r = ${say(1 / variance(error), 4)}.`);
    lines.push(`Error rate: arccos √((tr Λ − ε)/(tr Λ + σ²))/π = ${say(formulas.labelErrorRate(error, s.noise, spectrum.trace), 4)}.`);
    return lines;
  }
  const h = formulas.lcParameter(spectrum, s.noise, n), error = formulas.g(spectrum, h);
  lines.push(`LC: ε = Σ λ/(1 + hλ) with h = n/(σ² + ε). At n = ${sayCount(n)}: h = ${sayCount(n)}/(${say(s.noise)} + ${say(error, 4)}) = ${say(h, 4)}, and the sum is ε = ${say(error, 4)} again.`);
  if (s.wrong) {
    lines.push(`The model is misspecified: with M the true functions' power in each eigenfunction, G = λ/(1+hλ) and a = h ΣG²/(σ²+ε), the error is [Σ M/(1+hλ)² + σ₀² a]/(1 − a) = ${say(mainError(s, n), 4)}.`);
    lines.push("Lower bounds are those of the best predictor, which knows where the data come from.");
    return lines;
  }
  lines.push(`UC: ε = Σ λ/(1 + hλ) with n = hσ² + Σ ln(1 + hλ): ${say(formulas.uc(spectrum, s.noise, n), 4)}.`);
  lines.push(`OV: Σ λ/(1 + nλ/σ²) = ${say(formulas.ov(spectrum, s.noise, n), 4)}. Plaskota: σ²/(n tr Λ + kσ²) (Σ_{i≤k} √λ)² + Σ_{i>k} λ = ${say(formulas.plaskota(spectrum, s.noise, n, s.most), 4)}.`);
  lines.push(`TWO: Σ λ (tr Λ + σ² − λ)/(tr Λ + σ² + (n−1)λ) = ${say(formulas.two(spectrum, s.noise, n), 4)}.`);
  if (s.inputs === "torus") lines.push("Regular grid of N points per period: Σ_q [S − N Q/(N S + σ²)] with S = Σ_m λ_{q+Nm} and Q = Σ_m λ²_{q+Nm}; in d dimensions Nᵈ points.");
  return lines;
}

/** @param {State} s */
export function learnPython(s) {
  const kernel = pythonKernel({ ...studentKernel(s) });
  return `import gpcurves as gpc

problem = gpc.Problem(${kernel}, gpc.Torus(dim=1), noise=${plain(s.noise)})
theory = gpc.learning_curve(problem, "lc", n=40)
random = gpc.learning_curve(problem, "simulation", n=40, datasets=100, rng=0)
print(theory.error[-1], random.error[-1])`;
}

/** @param {State} s */
export const learnCommand = (s) =>
  `gpcurves curve --kernel ${s.kernel} --lengthscale ${plain(s.lengthscale)} --variance ${plain(s.variance)} --inputs torus --dim 1 --noise ${plain(s.noise)} --n 0:40:1 --methods lc --simulate 100`;

/** @param {State} s */
function ensemble(s) {
  if (s.graph === "regular") return { python: `gpc.RandomRegular(${Math.round(s.degree)})`, option: `--ensemble regular:${Math.round(s.degree)}` };
  if (s.graph === "powerlaw") return { python: `gpc.PowerLaw(${plain(s.alpha)}, ${plain(s.cutoff)})`, option: `--ensemble powerlaw:${plain(s.alpha)},${plain(s.cutoff)}` };
  if (s.graph === "er") return { python: `gpc.ErdosRenyi(${plain(s.degree)})`, option: `--ensemble er:${plain(s.degree)}` };
  return { python: `gpc.read_graph("edges.csv")`, option: "--edges edges.csv" };
}

/** @param {State} s */
export function networkPython(s) {
  const own = s.graph === "own", sizes = own ? "n=[0, 10, 50, 100]" : `nu=[0, 0.1, 0.5, 1, 2], vertices=${s.vertices}`;
  return `import gpcurves as gpc

kernel = gpc.RandomWalkKernel(p=${s.p}, a=${plain(s.a)}, normalise="${s.normalise}")
problem = gpc.GraphProblem(${ensemble(s).python}, kernel, noise=${plain(s.graphNoise)})
print(gpc.learning_curves(problem, ${sizes}, methods=["eigenvalue", "simulation"], rng=0).to_frame())`;
}

/** @param {State} s */
export function networkCommand(s) {
  const size = s.graph === "own" ? "" : ` --vertices ${s.vertices}`;
  return `gpcurves graph ${ensemble(s).option} --p ${s.p} --a ${plain(s.a)} --normalise ${s.normalise} --noise ${plain(s.graphNoise)} --nu 0,0.1,0.5,1,2 --methods eigenvalue,simulation${size}`;
}

/** What the curves are. @param {State} s */
export function curvesInWords(s) {
  if (s.labels === "classes") return "LC and UC approximate the average over data sets. They are not bounds: simulate to see the truth.";
  if (s.wrong) return "LC approximates the average error, of the wrong model and of the right one. No predictor has a lower average error than the bounds OV and Plaskota.";
  return `LC and UC approximate the average error. It is never below OV and Plaskota, and never above TWO.${s.inputs === "torus" ? " The regular grid is the exact error if inputs are chosen on one." : ""}`;
}

const SHORT = { kernel: "kernel", lengthscale: "lengthscale", variance: "prior variance", noise: "noise", dim: "d", inputs: "inputs", inputVariance: "input variance", labels: "labels", wrong: "wrong model", trueKernel: "true kernel", trueLengthscale: "true lengthscale", trueVariance: "true prior variance", trueNoise: "true noise" };

/** In what a kept problem differs. @param {State} kept @param {State} now */
export function difference(kept, now) {
  const names = /** @type {(keyof typeof SHORT)[]} */ (Object.keys(SHORT)).filter((name) => kept[name] !== now[name] && (kept.wrong || now.wrong || !name.startsWith("true")) && (name !== "inputVariance" || kept.inputs === "gaussian"));
  const value = (/** @type {keyof typeof SHORT} */ name) => {
    const each = kept[name];
    return typeof each === "number" ? say(each) : typeof each === "boolean" ? (each ? "yes" : "no") : name === "kernel" || name === "trueKernel" ? KERNELS[/** @type {import("./kernels.js").KernelName} */ (each)].title : each;
  };
  return names.length === 0 ? "kept" : `kept: ${names.map((name) => `${SHORT[name]} ${value(name)}`).join(", ")}`;
}
