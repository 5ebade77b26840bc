// The marks of the goal in a drawing that the package made, moved to where another goal has them, and readings along the curve.
import { svg } from "../explorer/elements.js";
import { fill, rounded } from "./headline.js";

/**
 * @typedef {import("./headline.js").Needed} Needed
 * @typedef {{width: number, height: number, margins: [number, number, number, number], x: [number, number], y: [number, number]}} Frame
 */

const LETTER = 6.7, LINE = 16; // width of an average letter and height of a line, in pixels

/** @param {[number, number]} axis @param {number} value */
const share = ([low, high], value) => Math.log(value / low) / Math.log(high / low);

/** @param {Frame} frame @param {number} n */
export const placeX = ({ width, margins: [left, right], x }, n) => left + (width - left - right) * share(x, n);

/** @param {Frame} frame @param {number} error */
export const placeY = ({ height, margins: [, , top, bottom], y }, error) => height - bottom - (height - top - bottom) * share(y, error);

/** The number of rows at a place of a drawing. @param {Frame} frame @param {number} pixel */
export const rowsAt = ({ width, margins: [left, right], x: [low, high] }, pixel) => low * (high / low) ** Math.min(Math.max((pixel - left) / (width - left - right), 0), 1);

/**
 * Move the marks of the goal.
 * @param {SVGElement} drawing @param {Frame} frame @param {number} goal @param {Needed} needed @param {string} called
 * @param {Record<string, string>} labels
 */
export function moveGoal(drawing, frame, goal, needed, called, labels) {
  const part = (/** @type {string} */ name) => /** @type {SVGElement} */ (drawing.querySelector(`[data-part="${name}"]`));
  const set = (/** @type {string} */ name, /** @type {Record<string, number | string> | null} */ attributes) => {
    const element = part(name);
    element.setAttribute("display", attributes === null ? "none" : "inline");
    for (const [key, value] of Object.entries(attributes ?? {})) element.setAttribute(key, typeof value === "number" ? value.toFixed(1) : value);
  };
  const say = (/** @type {string} */ name, /** @type {string} */ text, /** @type {Record<string, number | string>} */ attributes = {}) => {
    set(`${name}-text`, text === "" ? null : attributes);
    part(`${name}-text`).textContent = text;
  };
  const [left, right, , bottom] = frame.margins, [low, high] = frame.x, end = frame.width - right, base = frame.height - bottom;
  const seen = goal >= frame.y[0] && goal <= frame.y[1], y = seen ? placeY(frame, goal) : 0;
  set("line", seen ? { y1: y, y2: y } : null);
  say("goal", seen ? fill(labels.goal, { goal: called }) : "", { y: y - 6 });
  say("outside", seen ? "" : labels[goal < frame.y[0] ? "below" : "above"]);
  const starts = seen && needed.low !== null && needed.low <= high;
  const ends = needed.high === null || needed.high > high ? end : placeX(frame, Math.max(needed.high, low));
  set("span", starts ? { x1: placeX(frame, Math.max(/** @type {number} */ (needed.low), low)), x2: ends, y1: y, y2: y } : null);
  for (const [k, name] of /** @type {const} */ (["estimate", "assured"]).entries()) {
    const n = needed[name];
    if (!seen || n === null || n < low || n > high) {
      set(name, null);
      set(`${name}-drop`, null);
      say(name, "");
      continue;
    }
    const x = placeX(frame, n), text = fill(labels[name], { count: rounded(n) }), fits = x + 8 + LETTER * text.length < end;
    set(name, { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` });
    set(`${name}-drop`, { x1: x, x2: x, y1: y, y2: base });
    say(name, text, { x: fits ? x + 6 : x - 6, y: base - 7 - LINE * k, "text-anchor": fits ? "start" : "end" });
  }
  part("goal-text").setAttribute("x", String(left + 6));
}

/** Draw a line where the curve is read. @param {SVGElement} drawing @param {Frame} frame @param {number | null} n */
export function showCursor(drawing, frame, n) {
  const layer = /** @type {SVGElement} */ (drawing.querySelector(".cursor"));
  if (n === null) return layer.replaceChildren();
  const x = placeX(frame, n), [, , top, bottom] = frame.margins;
  layer.replaceChildren(svg("line", { x1: x, x2: x, y1: top, y2: frame.height - bottom, style: "stroke: var(--quiet)" }));
}
