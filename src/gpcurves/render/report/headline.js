// The answer in one sentence for any goal: the same choice as gpcurves/forecasting/headline.py makes, with its words.
import { firstAt, planAhead } from "../explorer/forecast.js";

/**
 * @typedef {{n: number[], estimate: number[], low: number[], high: number[], assured: number[]}} Band
 * @typedef {{estimate: number | null, low: number | null, high: number | null, assured: number | null}} Needed
 * @typedef {{have: number, high: number, assured: number, outliers: boolean, open: boolean, flat: boolean, total: number | null, limit: number | null}} Outlook
 * @typedef {{factor: number, rises: boolean, noun: string, short: string, prefix: string, unit: string, after: string}} Measure
 */

/** How many rows an error needs; null if it is never reached. @param {Band} band @param {number} goal @param {Outlook} outlook @returns {Needed} */
export function require(band, goal, { have, limit, flat }) {
  const find = (/** @type {number[]} */ curve) => firstAt(band.n, curve, goal);
  return planAhead({ estimate: find(band.estimate), low: find(band.low), high: find(band.high), assured: find(band.assured) }, have, limit, flat);
}

/** Which sentence answers. @param {Outlook} outlook @param {number} goal @param {Needed} needed */
export function choose({ have, high, assured, outliers, open, flat, total }, goal, needed) {
  if (outliers && high > goal) return "outliers";
  if (high <= goal) return "reached";
  if (needed.low === null) return "never";
  if (assured <= goal) return "reached, 80 % sure";
  if (needed.estimate === null) return needed.low > have ? "doubtful" : "doubtful, perhaps reached";
  if (open) return total === null ? "open, guess" : "open";
  if (needed.estimate <= have) return needed.assured === null ? "likely, never sure" : "likely";
  if (needed.assured === null) return flat ? "perhaps" : "number, never sure";
  return needed.high === null ? "number, if at all" : "number";
}

/** Fill the places of a sentence that are in braces. @param {string} words @param {Record<string, string>} values */
export const fill = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name]);

/** The sentence. @param {Record<string, string>} words @param {Outlook} outlook @param {number} goal @param {Needed} needed @param {string} phrase */
export function answer(words, outlook, goal, needed, phrase) {
  const most = outlook.limit ?? Infinity, count = Math.min(roundUp(needed.estimate ?? 0), most), total = outlook.total ?? 0;
  return fill(words[choose(outlook, goal, needed)], {
    have: group(outlook.have),
    goal: phrase,
    least: group(Math.min(roundUp(needed.low ?? 0), most)),
    count: outlook.limit === null ? group(count) : `${group(count)} of ${group(outlook.limit)} possible`,
    more: group(count - outlook.have),
    assured: group(Math.min(roundUp(needed.assured ?? 0), most)),
    collect: rounded(total - outlook.have),
    total: group(total),
  });
}

/** A number of rows rounded up to two digits. @param {number} n */
export function roundUp(n) {
  const step = 10 ** Math.max(0, String(n).length - 2);
  return Math.ceil(n / step) * step;
}

/** A whole number as people write it. @param {number} n */
export const group = (n) => n.toLocaleString("en-GB");

/** @param {number} n */
export const rounded = (n) => group(roundUp(n));

/** The error at which a measure has a value. @param {Measure} measure @param {number} value */
export const toError = ({ factor, rises }, value) => (rises ? Math.sqrt(1 - value) : value) / factor;

/** The value of a measure at an error. @param {Measure} measure @param {number} error */
export const fromError = ({ factor, rises }, error) => (rises ? 1 - (factor * error) ** 2 : factor * error);

/** A number with so many digits: 0.200, 12,300, or 4.07e-05 if it is very small or large. @param {number} value @param {number} digits */
export function significant(value, digits) {
  if (value === 0) return "0";
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e"), power = Number(exponent);
  if (power < -4 || power >= 6) return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  const places = digits - 1 - power, options = { minimumFractionDigits: Math.max(0, places), maximumFractionDigits: Math.max(0, places) };
  return Number(`${mantissa}e${power}`).toLocaleString("en-GB", options);
}

/** An error in a measure, as Python writes it. @param {Measure} measure @param {number} error @param {number} [digits] */
export function write(measure, error, digits = 3) {
  const value = fromError(measure, error);
  if (!measure.rises) return `${significant(value, digits)}${measure.unit}`;
  const places = digits - 1 - Math.floor(Math.log10(Math.max(1 - value, 1e-300)));
  return value.toFixed(Math.min(Math.max(places, digits - 1), 9));
}

/** A goal as a person writes it, without zeros at the end. @param {Measure} measure @param {number} error */
export function writeGoal(measure, error) {
  const text = write(measure, error, 4).slice(0, -measure.unit.length || undefined), [number, power] = text.split("e");
  const short = number.includes(".") ? number.replace(/0+$/, "").replace(/\.$/, "") : number;
  return `${short}${power === undefined ? "" : `e${power}`}${measure.unit}`;
}

/** A goal with its measure: "an RMSE of 0.3". @param {Measure} measure @param {number} error */
export const phrase = (measure, error) => `${measure.noun} of ${writeGoal(measure, error)}${measure.after}`;
