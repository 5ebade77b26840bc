// What runs beside the page: simulations, which report after every few data sets until they are precise enough.
import { oneClassDataSet } from "./classes.js";
import { plainCovariance, torusCovariance } from "./covariance.js";
import { oneLabelling, walkCovariance } from "./graph.js";
import { makeRandom } from "./random.js";
import { Average, oneDataSet } from "./simulate.js";
import { studentKernel, teacherKernel } from "./theory.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./graph.js").Graph} Graph
 * @typedef {{state: State, sizes: number[], graph?: Graph}} Task
 * @typedef {{count: number, sizes: number[], mean: number[], stderr: number[], precision: number, done: boolean, complaint?: string}} Report
 */

export const PRECISION = 0.02;
const FEWEST = 20, MOST = 5000, PERIOD = 120; // data sets, and milliseconds between reports

/** What draws one data set of a task. @param {Task} task @returns {() => number[]} */
export function drawer({ state, sizes, graph }) {
  const random = makeRandom(state.seed);
  if (graph !== undefined) {
    const C = walkCovariance(graph, state);
    return () => oneLabelling(C, graph.vertices, state.graphNoise, sizes, random);
  }
  const make = state.inputs === "torus" ? torusCovariance : plainCovariance, classes = state.labels === "classes";
  const student = { covariance: make(studentKernel(state), state.dim), noise: state.noise };
  const teacher = state.wrong && !classes ? { covariance: make(teacherKernel(state), state.dim), noise: state.trueNoise } : null;
  const experiment = { dim: state.dim, gaussian: state.inputs === "torus" ? null : state.inputVariance, student, teacher, sizes };
  return classes ? () => oneClassDataSet(experiment, state.quantity, random) : () => oneDataSet(experiment, random);
}

/** Work on tasks that arrive as messages. */
export function serve() {
  self.onmessage = ({ data: task }) => {
    const average = new Average(task.sizes.length);
    const report = (/** @type {boolean} */ done, complaint = "") => {
      const { count, mean, stderr, precision } = average;
      self.postMessage(/** @type {Report} */ ({ count, sizes: task.sizes, mean: Array.from(mean), stderr, precision, done, complaint }));
    };
    try {
      const draw = drawer(task);
      for (let last = performance.now(); average.count < MOST; ) {
        average.add(draw());
        if (average.count >= FEWEST && average.precision <= PRECISION) break;
        if (performance.now() - last > PERIOD) {
          report(false);
          last = performance.now();
        }
      }
      report(true);
    } catch (error) {
      report(true, error instanceof Error ? error.message : String(error));
    }
  };
}

/**
 * Start a task in a worker made from the page's own code; the function that is returned stops it.
 * @param {Task} task @param {(report: Report) => void} hear
 */
export function start(task, hear) {
  const code = /** @type {HTMLElement} */ (document.getElementById("code")).textContent ?? "";
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const worker = new Worker(address);
  const stop = () => {
    worker.terminate();
    URL.revokeObjectURL(address);
  };
  worker.onmessage = ({ data }) => {
    hear(data);
    if (data.done) stop();
  };
  worker.onerror = (event) => {
    hear({ count: 0, sizes: [], mean: [], stderr: [], precision: Infinity, done: true, complaint: event.message });
    stop();
  };
  worker.postMessage(task);
  return stop;
}
