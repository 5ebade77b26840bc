// Graphs of some hundred vertices: random ones, those of edge lists, random walk kernels, and posteriors by dense algebra.
import { cholesky, eigenvalues, solveLower, solveUpper } from "./linear.js";

/**
 * @typedef {import("./random.js").Random} Random
 * @typedef {{vertices: number, edges: [number, number, number][], names: string[]}} Graph edges have both ends and a weight
 * @typedef {{p: number, a: number, normalise: "local" | "global"}} Walk
 */

export const MOST_VERTICES = 1000;
const ATTEMPTS = 200;

/** @param {number} vertices @param {[number, number][]} pairs @returns {Graph} */
function plainGraph(vertices, pairs) {
  return { vertices, edges: pairs.map(([i, j]) => [i, j, 1]), names: Array.from({ length: vertices }, (_, i) => String(i)) };
}

/** Every pair is joined with the same probability. @param {number} vertices @param {number} mean @param {Random} random */
export function erdosRenyi(vertices, mean, random) {
  /** @type {[number, number][]} */
  const pairs = [];
  for (let i = 0; i < vertices; i++) {
    for (let j = 0; j < i; j++) if (random.uniform() < mean / (vertices - 1)) pairs.push([i, j]);
  }
  return plainGraph(vertices, pairs);
}

/** @param {number} vertices @param {number} degree @param {Random} random */
export const randomRegular = (vertices, degree, random) =>
  withDegrees(Array(vertices - ((vertices * degree) % 2)).fill(degree), random);

/** Poisson degrees with Pareto distributed means. @param {number} vertices @param {number} alpha @param {number} cutoff @param {Random} random */
export function powerLaw(vertices, alpha, cutoff, random) {
  for (;;) {
    const degrees = Array.from({ length: vertices }, () =>
      random.poisson(Math.min(cutoff * (1 - random.uniform()) ** (-1 / alpha), vertices / 2)),
    );
    if (degrees.reduce((sum, each) => sum + each, 0) % 2 === 0 && Math.max(...degrees) < vertices / 2) return withDegrees(degrees, random);
  }
}

/** A random pairing of edge ends; swaps remove loops and repeats. @param {number[]} degrees @param {Random} random */
function withDegrees(degrees, random) {
  const ends = degrees.flatMap((degree, vertex) => Array(degree).fill(vertex));
  for (let i = ends.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [ends[i], ends[j]] = [ends[j], ends[i]];
  }
  const key = (/** @type {number} */ at) => Math.min(ends[at], ends[at + 1]) * degrees.length + Math.max(ends[at], ends[at + 1]);
  for (let round = 0; round < ATTEMPTS; round++) {
    const seen = new Set(), bad = [];
    for (let at = 0; at < ends.length; at += 2) {
      if (ends[at] === ends[at + 1] || seen.has(key(at))) bad.push(at);
      seen.add(key(at));
    }
    if (bad.length === 0) break;
    for (const at of bad) {
      const other = random.below(ends.length);
      [ends[at + 1], ends[other]] = [ends[other], ends[at + 1]];
    }
  }
  /** @type {Map<number, [number, number]>} */
  const pairs = new Map(); // what swaps could not mend is left out
  for (let at = 0; at < ends.length; at += 2) if (ends[at] !== ends[at + 1]) pairs.set(key(at), [ends[at], ends[at + 1]]);
  return plainGraph(degrees.length, [...pairs.values()]);
}

/**
 * Read an edge list: two names per line, perhaps a weight, separated by commas, blanks or tabs; # begins a comment.
 * @param {string} text @returns {Graph}
 */
export function readEdges(text) {
  /** @type {Map<string, number>} */
  const numbers = new Map();
  /** @type {Map<string, [number, number, number]>} */
  const edges = new Map();
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/).map((line) => line.split("#")[0].trim());
  const rows = lines.map((line) => line.split(/[,;\t]| +/).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"))).filter((row) => row[0] !== "");
  if (rows.length > 0 && isHeader(rows)) rows.shift();
  for (const [place, row] of rows.entries()) {
    if (row.length < 2 || row[1] === "") throw new Error(`edge ${place + 1} of the list must name two vertices, got "${row.join(" ").slice(0, 40)}"`);
    const weight = row.length > 2 && row[2] !== "" ? Number(row[2]) : 1;
    if (!(weight > 0 && weight < Infinity)) throw new Error(`the weight of edge ${place + 1} must be a positive number, got "${row[2].slice(0, 40)}"`);
    const [i, j] = row.slice(0, 2).map((name) => {
      if (!numbers.has(name)) numbers.set(name, numbers.size);
      return /** @type {number} */ (numbers.get(name));
    });
    if (numbers.size > MOST_VERTICES) throw new Error(`the list has more than ${MOST_VERTICES} vertices: use "gpcurves graph --edges", which has no such limit`);
    if (i !== j) edges.set(`${Math.min(i, j)}-${Math.max(i, j)}`, [i, j, weight]);
  }
  if (edges.size === 0) throw new Error("the file has no edges: it must have two vertices per line");
  return { vertices: numbers.size, edges: [...edges.values()], names: [...numbers.keys()] };
}

/** A first line of words before numbers, or one that names its columns. @param {string[][]} rows */
function isHeader(rows) {
  const words = rows[0].slice(0, 3).map((each) => each.toLowerCase());
  if (["source", "from", "target", "to", "node1", "u"].includes(words[0])) return true;
  return rows.length > 1 && words.every((each) => Number.isNaN(Number(each))) && rows[1].slice(0, 2).every((each) => !Number.isNaN(Number(each)));
}

/** Lists of neighbours with the entries of T = D^-1/2 A D^-1/2. @param {Graph} graph */
function steps({ vertices, edges }) {
  const strength = new Float64Array(vertices);
  for (const [i, j, weight] of edges) {
    strength[i] += weight;
    strength[j] += weight;
  }
  /** @type {{to: number, by: number}[][]} */
  const next = Array.from({ length: vertices }, () => []);
  for (const [i, j, weight] of edges) {
    const by = weight / Math.sqrt(strength[i] * strength[j]);
    next[i].push({ to: j, by });
    next[j].push({ to: i, by });
  }
  return next;
}

/** Covariances between all vertices: ((1-1/a)I + T/a)^p, normalised. @param {Graph} graph @param {Walk} walk */
export function walkCovariance(graph, { p, a, normalise }) {
  const n = graph.vertices, next = steps(graph), stay = 1 - 1 / a;
  let C = new Float64Array(n * n), longer = new Float64Array(n * n);
  for (let i = 0; i < n; i++) C[i * n + i] = 1;
  for (let step = 0; step < p; step++) {
    for (let i = 0; i < n; i++) {
      const row = i * n;
      for (let j = 0; j < n; j++) longer[row + j] = stay * C[row + j];
      for (const { to, by } of next[i]) {
        const factor = by / a, other = to * n;
        for (let j = 0; j < n; j++) longer[row + j] += factor * C[other + j];
      }
    }
    [C, longer] = [longer, C];
  }
  const diagonal = Float64Array.from({ length: n }, (_, i) => C[i * n + i]);
  const mean = diagonal.reduce((sum, each) => sum + each, 0) / n;
  const scale = diagonal.map((each) => 1 / Math.sqrt(normalise === "global" ? mean : each));
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) C[i * n + j] *= scale[i] * scale[j];
  return C;
}

/**
 * Posterior means and variances at all vertices; several labels at a vertex count with their mean.
 * @param {Float64Array} C @param {number} n @param {number} noise @param {{vertex: number, value: number}[]} labels
 */
export function posterior(C, n, noise, labels) {
  /** @type {Map<number, number[]>} */
  const at = new Map();
  for (const { vertex, value } of labels) at.set(vertex, [...(at.get(vertex) ?? []), value]);
  const where = [...at.keys()], count = where.length;
  const K = new Float64Array(count * count), W = new Float64Array(count * n), alpha = new Float64Array(count);
  where.forEach((i, row) => {
    const values = at.get(i) ?? [];
    where.forEach((j, column) => (K[row * count + column] = C[i * n + j]));
    K[row * count + row] += noise / values.length;
    W.set(C.subarray(i * n, i * n + n), row * n);
    alpha[row] = values.reduce((sum, each) => sum + each, 0) / values.length;
  });
  const variance = Float64Array.from({ length: n }, (_, i) => C[i * n + i]), mean = new Float64Array(n);
  const L = cholesky(K, count);
  solveUpper(L, count, solveLower(L, count, alpha, 1));
  for (let row = 0; row < count; row++) for (let j = 0; j < n; j++) mean[j] += alpha[row] * W[row * n + j];
  solveLower(L, count, W, n);
  for (let row = 0; row < count; row++) for (let j = 0; j < n; j++) variance[j] -= W[row * n + j] ** 2;
  return { mean, variance };
}

/** Eigenvalues of the covariances with respect to a uniform distribution over vertices. @param {Float64Array} C @param {number} n */
export const graphEigenvalues = (C, n) => eigenvalues(C, n).map((each) => Math.max(each, 0) / n);

/**
 * The mean posterior variance after 0, 1, 2, … labels at these vertices, from one nested factor.
 * @param {Float64Array} C @param {number} n @param {number} noise @param {number[]} where
 */
export function meanVariances(C, n, noise, where) {
  const most = where.length, K = new Float64Array(most * most), W = new Float64Array(most * n);
  where.forEach((i, row) => {
    where.forEach((j, column) => (K[row * most + column] = C[i * n + j]));
    K[row * most + row] += noise;
    W.set(C.subarray(i * n, i * n + n), row * n);
  });
  solveLower(cholesky(K, most), most, W, n);
  let error = 0;
  for (let i = 0; i < n; i++) error += C[i * n + i] / n;
  const curve = [error];
  for (let row = 0; row < most; row++) {
    for (let j = 0; j < n; j++) error -= W[row * n + j] ** 2 / n;
    curve.push(error);
  }
  return curve;
}

/**
 * The same after some numbers of labels at vertices drawn at random, one data set.
 * @param {Float64Array} C @param {number} n @param {number} noise @param {number[]} sizes ascending @param {Random} random
 */
export function oneLabelling(C, n, noise, sizes, random) {
  const where = Array.from({ length: sizes[sizes.length - 1] }, () => random.below(n)), curve = meanVariances(C, n, noise, where);
  return sizes.map((size) => curve[size]);
}

/** A function drawn from the prior. @param {Float64Array} C @param {number} n @param {Random} random */
export function drawFunction(C, n, random) {
  const K = C.slice();
  for (let i = 0; i < n; i++) K[i * n + i] += 1e-9 * C[i * n + i]; // at a = 2 some covariances are singular
  const L = cholesky(K, n), z = Float64Array.from({ length: n }, random.normal);
  return Float64Array.from({ length: n }, (_, i) => {
    let value = 0;
    for (let k = 0; k <= i; k++) value += L[i * n + k] * z[k];
    return value;
  });
}

/**
 * Places for drawing, by springs along edges and repulsion; `relax` moves them by some rounds, the first moves being large.
 * @param {Graph} graph @param {Random} random @param {number} total rounds that will be taken in all
 */
export function layOut({ vertices, edges }, random, total) {
  const x = Float64Array.from({ length: vertices }, () => random.uniform() - 0.5);
  const y = Float64Array.from({ length: vertices }, () => random.uniform() - 0.5);
  const near = 0.9 / Math.sqrt(vertices), fx = new Float64Array(vertices), fy = new Float64Array(vertices);
  let done = 0;
  const round = () => {
    fx.fill(0);
    fy.fill(0);
    for (let i = 0; i < vertices; i++) {
      for (let j = 0; j < i; j++) {
        const dx = x[i] - x[j], dy = y[i] - y[j], square = dx * dx + dy * dy;
        if (square > 25 * near * near) continue; // far vertices do not push, so that small components stay close
        const force = (near * near) / (square + 1e-6);
        fx[i] += dx * force;
        fy[i] += dy * force;
        fx[j] -= dx * force;
        fy[j] -= dy * force;
      }
      fx[i] -= 0.35 * x[i]; // keeps components together
      fy[i] -= 0.35 * y[i];
    }
    for (const [i, j] of edges) {
      const dx = x[i] - x[j], dy = y[i] - y[j], force = Math.hypot(dx, dy) / near;
      fx[i] -= dx * force;
      fy[i] -= dy * force;
      fx[j] += dx * force;
      fy[j] += dy * force;
    }
    const most = 0.1 * Math.max(0, 1 - done++ / total) + 0.002;
    for (let i = 0; i < vertices; i++) {
      const length = Math.hypot(fx[i], fy[i]) + 1e-12, move = Math.min(most, length) / length;
      x[i] += fx[i] * move;
      y[i] += fy[i] * move;
    }
  };
  const relax = (/** @type {number} */ rounds) => {
    for (let i = 0; i < rounds && done < total; i++) round();
    return done < total;
  };
  return { x, y, relax };
}
