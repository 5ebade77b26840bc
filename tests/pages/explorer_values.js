// Answers requests about the explorer's numbers: JSON on stdin, JSON on stdout.
import { readFileSync } from "node:fs";
import { torusCovariance } from "../../src/gpcurves/render/explorer/covariance.js";
import * as formulas from "../../src/gpcurves/render/explorer/formulas.js";
import { gaussianSpectrum } from "../../src/gpcurves/render/explorer/gaussian.js";
import * as graphs from "../../src/gpcurves/render/explorer/graph.js";
import { gridError } from "../../src/gpcurves/render/explorer/grid.js";
import { plainCovariance } from "../../src/gpcurves/render/explorer/covariance.js";
import { chosenInputs, drawTruth, learn, makeModel } from "../../src/gpcurves/render/explorer/gp.js";
import { makeRandom } from "../../src/gpcurves/render/explorer/random.js";
import { drawer } from "../../src/gpcurves/render/explorer/worker.js";
import { DEFAULTS } from "../../src/gpcurves/render/explorer/state.js";
import { Average, oneDataSet } from "../../src/gpcurves/render/explorer/simulate.js";
import { torusSpectrum } from "../../src/gpcurves/render/explorer/spectrum.js";

const spectrumOf = ({ kernel, dim, gaussian = null, teacher = null }) =>
  gaussian === null ? torusSpectrum(kernel, dim, teacher) : gaussianSpectrum(kernel, dim, gaussian, teacher);

const answers = {
  /** Curves of a problem with Gaussian noise. */
  curves({ problem, n, methods }) {
    const s = spectrumOf(problem), most = Math.max(...n);
    return Object.fromEntries(methods.map((name) => [name, n.map((size) => formulas[name](s, problem.noise, size, most))]));
  },
  misspecified({ problem, n }) {
    const s = spectrumOf(problem);
    return n.map((size) => formulas.lcMisspecified(s, problem.noise, problem.trueNoise, size));
  },
  classes({ problem, n }) {
    const s = spectrumOf(problem), variance = formulas.probitVariance(problem.noise, s.trace);
    const lc = n.map((size) => formulas.lcAnyLabel(s, variance, size)), uc = formulas.ucAnyLabel(s, variance, n);
    const rate = lc.map((error) => formulas.labelErrorRate(error, problem.noise, s.trace));
    return { lc, uc, rate, signs: lc.map((error) => formulas.signErrorRate(error, s.trace)) };
  },
  grid: ({ problem, points }) => points.map((each) => gridError(problem.kernel, problem.dim, problem.noise, each)),
  required({ problem, errors }) {
    const s = spectrumOf(problem);
    return errors.map((error) => {
      const n = formulas.lcExamples(s, (each) => problem.noise + each, error);
      return [n, formulas.lcNoise(s, n, error)];
    });
  },
  covariance({ kernel, dim, X }) {
    const covariance = torusCovariance(kernel, dim), points = Float64Array.from(X.flat());
    return X.map((_, i) => X.map((_, j) => covariance(points, i, points, j)));
  },
  simulation({ problem, sizes, datasets }) {
    const make = problem.gaussian == null ? torusCovariance : plainCovariance;
    const teacher = problem.teacher ? { covariance: make(problem.teacher, problem.dim), noise: problem.trueNoise } : null;
    const student = { covariance: make(problem.kernel, problem.dim), noise: problem.noise };
    const random = makeRandom(1), average = new Average(sizes.length);
    for (let i = 0; i < datasets; i++) average.add(oneDataSet({ dim: problem.dim, gaussian: problem.gaussian ?? null, student, teacher, sizes }, random));
    return { mean: Array.from(average.mean), stderr: average.stderr };
  },
  learnt({ kernel, noise, x, seed }) {
    const model = makeModel(torusCovariance(kernel, 1), noise), truth = drawTruth(model, seed);
    const { y, mean, variance, expected, found } = learn(model, truth, x, seed);
    const chosen = chosenInputs(model, 8, x[0]), lists = { grid: model.grid, truth, y, mean, variance };
    const plain = Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, Array.from(list)]));
    return { ...plain, expected, found, chosen, chosenError: learn(model, truth, chosen, seed).expected[8] };
  },
  /** What the page's worker draws in a state. */
  drawn({ state, sizes, datasets }) {
    const draw = drawer({ state: { ...DEFAULTS, ...state }, sizes }), average = new Average(sizes.length);
    for (let i = 0; i < datasets; i++) average.add(draw());
    return { mean: Array.from(average.mean), stderr: average.stderr };
  },
  graph({ edges, walk, noise, labels, datasets, sizes }) {
    const graph = graphs.readEdges(edges), n = graph.vertices, C = graphs.walkCovariance(graph, walk);
    const { mean, variance } = graphs.posterior(C, n, noise, labels);
    const random = makeRandom(2), average = new Average(sizes.length);
    for (let i = 0; i < datasets; i++) average.add(graphs.oneLabelling(C, n, noise, sizes, random));
    return {
      names: graph.names,
      mean: Array.from(mean),
      variance: Array.from(variance),
      eigenvalues: Array.from(graphs.graphEigenvalues(C, n)).sort((a, b) => b - a),
      curve: Array.from(average.mean),
      stderr: average.stderr,
    };
  },
  ensemble({ kind, vertices, numbers, seed }) {
    const { edges } = graphs[kind](vertices, ...numbers, makeRandom(seed));
    return edges.map(([i, j]) => [i, j]);
  },
};

const requests = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(requests.map(({ what, ...rest }) => answers[what](rest))));
