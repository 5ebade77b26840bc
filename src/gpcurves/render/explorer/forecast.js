// A saved forecast: its band at any number of rows, and how many rows a goal needs (gpcurves/forecasting/intervals.py).

/**
 * @typedef {{n: number[], estimate: number[], low: number[], high: number[], assured: number[]}} Band
 * @typedef {{target: string, rows: number, vertices: number | null, counted: string, band: Band, floor: number, measure: "rmse" | "error_rate",
 *   seen: {n: number, value: number, stderr: number}[], verdict: string, sentences: string[], goal: number | null, notes: string[]}} Forecast
 * @typedef {{estimate: number | null, low: number | null, high: number | null, assured: number | null}} Needed
 */

const HORIZON = 1000, GOALS = 400, FAR = 16, NOTICEABLE = 0.1, AMPLE = 6, SIGHT = 0.8;
const CURVES = /** @type {const} */ (["estimate", "low", "high", "assured"]);

/** Read what `gpcurves plan --out forecast.json` wrote. @param {string} text @returns {Forecast} */
export function readForecast(text) {
  let data;
  try {
    data = JSON.parse(text);
  } catch {
    throw new Error("this is not a JSON file: save a forecast with gpcurves plan DATA.csv --target y --out forecast.json");
  }
  if (data?.package !== "gpcurves" || !Array.isArray(data.forecast)) throw new Error("this is not a forecast of gpcurves: save one with gpcurves plan DATA.csv --target y --out forecast.json");
  const band = data.record?.band;
  if (!band || !["n", ...CURVES].every((name) => isCurve(band[name], band.n?.length))) {
    throw new Error("this forecast has no band: save it with --out forecast.json or --report, because --json leaves the band out");
  }
  const measure = data.forecast.length > 0 && "error_rate" in data.forecast[0] ? "error_rate" : "rmse";
  const seen = (Array.isArray(data.cross_validation) ? data.cross_validation : []).map((/** @type {any} */ each) => ({ n: Number(each.n), value: Number(each[measure]), stderr: Number(each.stderr) }));
  return {
    target: String(data.target ?? "the target"),
    rows: Number(data.rows),
    vertices: data.vertices ?? null,
    counted: data.counted ?? (data.vertices == null ? "rows" : "labels"),
    band,
    floor: Number(data.noise_rmse ?? data.floor_error_rate ?? NaN),
    measure,
    seen,
    verdict: String(data.verdict ?? ""),
    sentences: (data.sentences ?? []).map(String),
    goal: typeof data.goal_rmse === "number" ? data.goal_rmse : null,
    notes: (data.notes ?? []).map(String),
  };
}

/** @param {unknown} list @param {unknown} length */
const isCurve = (list, length) => Array.isArray(list) && list.length === length && list.length > 1 && list.every((each) => typeof each === "number");

/** The curves of a band at a number of rows; logarithms are interpolated. @param {Band} band @param {number} n */
export function bandAt(band, n) {
  const wanted = Math.log1p(n), knots = band.n;
  let high = knots.findIndex((each) => each >= n);
  if (high < 0) high = knots.length - 1;
  const low = Math.max(high - 1, 0), [from, to] = [Math.log1p(knots[low]), Math.log1p(knots[high])];
  const share = to > from ? Math.min(Math.max((wanted - from) / (to - from), 0), 1) : 0;
  const at = (/** @type {number[]} */ curve) => Math.exp(Math.log(curve[low]) + share * (Math.log(curve[high]) - Math.log(curve[low])));
  return { estimate: at(band.estimate), low: at(band.low), high: at(band.high), assured: at(band.assured) };
}

/** Numbers of rows at which goals are looked for. @param {number} rows */
export function goalGrid(rows) {
  const grid = new Set();
  for (let i = 0; i < GOALS; i++) {
    const exact = (HORIZON * rows) ** (i / (GOALS - 1)), down = Math.floor(exact);
    const half = exact - down === 0.5; // Python rounds halves to even
    grid.add(half ? down + (down % 2) : Math.round(exact));
  }
  return grid;
}

/** How many rows a goal needs; null if it is never reached. @param {Forecast} forecast @param {number} goal @returns {Needed} */
export function needed({ band, rows, vertices }, goal) {
  const grid = goalGrid(rows), marked = band.n.map((_, i) => i).filter((i) => grid.has(band.n[i]));
  const n = marked.map((i) => band.n[i]);
  const find = (/** @type {number[]} */ curve) => firstAt(n, marked.map((i) => curve[i]), goal);
  const far = Math.max(rows, Math.min(FAR * rows, sight(vertices)));
  const flat = 1 - bandAt(band, far).estimate / bandAt(band, rows).estimate < NOTICEABLE;
  return planAhead({ estimate: find(band.estimate), low: find(band.low), high: find(band.high), assured: find(band.assured) }, rows, vertices, flat);
}

/** The largest number of labels that leaves something to predict. @param {number | null} vertices */
const sight = (vertices) => (vertices === null ? Infinity : Math.max(1, Math.floor(SIGHT * vertices)));

/**
 * For an 80 % chance at most so many times the estimate are needed, if more rows change the error (gpcurves/forecasting/verdict.py).
 * @param {Needed} needed @param {number} rows @param {number | null} limit @param {boolean} flat @returns {Needed}
 */
export function planAhead(needed, rows, limit, flat) {
  const { estimate, assured } = needed;
  if (estimate === null || estimate <= rows || flat) return needed;
  const ample = AMPLE * estimate;
  return ample > sight(limit) ? needed : { ...needed, assured: Math.min(assured ?? Infinity, ample) };
}

/** The smallest n at which a falling curve is at the goal; null if it never is. @param {number[]} n @param {number[]} curve @param {number} goal */
export function firstAt(n, curve, goal) {
  const i = curve.findIndex((error) => error <= goal);
  if (i < 0) return null;
  if (i === 0) return Math.trunc(n[0]);
  const share = Math.log(curve[i - 1] / goal) / Math.log(curve[i - 1] / curve[i]);
  return Math.ceil(n[i - 1] * (n[i] / n[i - 1]) ** share - 1e-9);
}

/** The probability that the goal is reached with n rows, from normal errors of the logarithm on each side. @param {Band} band @param {number} n @param {number} goal @param {(z: number) => number} cdf */
export function assurance(band, n, goal, cdf) {
  const { estimate, low, high } = bandAt(band, n), away = Math.log(goal / estimate);
  const half = away > 0 ? Math.log(high / estimate) : Math.log(estimate / low);
  return half > 0 ? cdf((1.645 * away) / half) : away >= 0 ? 1 : 0;
}
