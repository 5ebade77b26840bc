// The report in a browser: the goal moves with a slider and a field, and everything that depends on it follows.
import { button, download, downloadCsv, downloadPicture } from "../explorer/elements.js";
import { answer, fromError, group, phrase, require, rounded, toError, write, writeGoal } from "./headline.js";
import { moveGoal, rowsAt, showCursor } from "./marks.js";

/**
 * @typedef {import("./headline.js").Band} Band
 * @typedef {{band: Band, outlook: import("./headline.js").Outlook, measure: import("./headline.js").Measure, goal: number | null,
 *   start: number, goals: [number, number], words: Record<string, string>, labels: Record<string, string>, noun: string, name: string,
 *   charts: import("./marks.js").Frame[], answers: Record<string, any>}} Plan
 */

const STEPS = 400;

/** @template {HTMLElement} T @param {string} id @returns {T} */
const byId = (id) => /** @type {T} */ (document.getElementById(id));

/** @param {Plan} plan */
function open(plan) {
  const { band, outlook, measure, words, labels } = plan;
  const field = /** @type {HTMLInputElement} */ (byId("goal")), range = /** @type {HTMLInputElement} */ (byId("goal-range")), back = byId("back");
  const drawings = /** @type {SVGElement[]} */ (["wide", "narrow"].map((name) => document.querySelector(`svg.${name}`)));
  const first = byId("headline").textContent, question = byId("to").textContent;
  const [low, high] = measure.rises ? [plan.goals[1], plan.goals[0]] : plan.goals; // errors at both ends of the slider
  const toPlace = (/** @type {number} */ error) => Math.round((STEPS * Math.log(error / low)) / Math.log(high / low));

  /** Answer for a goal; null is the plan as it was made. @param {number | null} moved */
  function show(moved) {
    const goal = moved ?? plan.goal ?? plan.start, needed = require(band, goal, outlook), asked = moved !== null || plan.goal !== null;
    byId("headline").textContent = moved === null ? first : answer(words, outlook, goal, needed, phrase(measure, goal));
    byId("to").textContent = moved === null ? question : ` with ${phrase(measure, goal)}`;
    byId("verdict").hidden = moved !== null;
    byId("asked").hidden = !asked;
    back.hidden = moved === null;
    range.value = String(toPlace(goal));
    range.setAttribute("aria-valuetext", writeGoal(measure, goal));
    if (document.activeElement !== field) field.value = String(Number(fromError(measure, goal).toPrecision(measure.rises ? 6 : 4)));
    tile("estimate", needed.estimate === null ? "none" : rounded(needed.estimate)).dataset.n = String(needed.estimate ?? "");
    tile("assured", needed.assured === null ? "none" : rounded(needed.assured)).dataset.n = String(needed.assured ?? "");
    const span = tile("span", needed.low === null ? "none" : `${rounded(needed.low)} to ${needed.high === null ? "no limit" : rounded(needed.high)}`);
    Object.assign(span.dataset, { low: String(needed.low ?? ""), high: String(needed.high ?? "") });
    if (asked) drawings.forEach((drawing, k) => moveGoal(drawing, plan.charts[k], goal, needed, `${measure.prefix}${writeGoal(measure, goal)}`, labels));
  }

  /** @param {string} name @param {string} text */
  function tile(name, text) {
    const element = byId(`tile-${name}`);
    /** @type {HTMLElement} */ (element.querySelector("dd")).textContent = text;
    return element;
  }

  range.addEventListener("input", () => {
    // three digits are enough for a hand, and round numbers read better
    const value = Number(fromError(measure, low * (high / low) ** (Number(range.value) / STEPS)).toPrecision(3));
    show(toError(measure, value));
    field.value = String(value);
  });
  field.addEventListener("input", () => {
    const value = Number(field.value.replace(/,/g, "")), fine = measure.rises ? value < 1 : value > 0;
    field.setAttribute("aria-invalid", String(!fine || field.value.trim() === ""));
    if (fine && field.value.trim() !== "" && Number.isFinite(value)) show(toError(measure, value));
  });
  byId("goal-form").addEventListener("submit", (event) => event.preventDefault());
  back.addEventListener("click", () => {
    show(null);
    if (plan.goal === null) drawings.forEach((drawing) => drawing.querySelectorAll("[data-part]").forEach((each) => each.setAttribute("display", "none")));
    range.focus();
  });
  drawings.forEach((drawing, k) => listen(plan, drawing, k));
  offer(plan, drawings);
  byId("goal-form").hidden = false;
  show(null);
}

/** Read the curve by pointer and by keyboard. @param {Plan} plan @param {SVGElement} drawing @param {number} k */
function listen({ band, charts, measure, noun }, drawing, k) {
  const frame = charts[k], reading = byId("reading");
  const inside = band.n.map((_, i) => i).filter((i) => band.n[i] >= frame.x[0] && band.n[i] <= frame.x[1]);
  let at = -1;
  const read = (/** @type {number} */ place) => {
    at = place;
    const i = inside[at];
    showCursor(drawing, frame, i === undefined ? null : band.n[i]);
    const ends = i === undefined ? [] : [band.low[i], band.high[i]].map((error) => write(measure, error)), [from, to] = measure.rises ? ends.reverse() : ends;
    reading.textContent = i === undefined ? "" : `${group(band.n[i])} ${noun}: ${measure.short} ${write(measure, band.estimate[i])}, 90 % interval ${from} to ${to}`;
  };
  drawing.setAttribute("tabindex", "0");
  drawing.addEventListener("pointermove", (event) => {
    const box = drawing.getBoundingClientRect(), n = rowsAt(frame, ((event.clientX - box.left) * frame.width) / box.width);
    read(inside.reduce((best, i, place) => (Math.abs(Math.log(band.n[i] / n)) < Math.abs(Math.log(band.n[inside[best]] / n)) ? place : best), 0));
  });
  drawing.addEventListener("pointerleave", () => read(-1));
  drawing.addEventListener("blur", () => read(-1));
  drawing.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    read(at < 0 ? Math.floor(inside.length / 2) : Math.min(Math.max(at + step, 0), inside.length - 1));
  });
}

/** Offer the curve and the answers as files. @param {Plan} plan @param {SVGElement[]} drawings */
function offer({ band, charts, name, answers }, drawings) {
  const place = byId("downloads"), { x } = charts[0];
  const rows = () => band.n.map((n, i) => [n, band.estimate[i], band.low[i], band.high[i], band.assured[i]]).filter(([n]) => n >= x[0] && n <= x[1]);
  place.append(
    button("CSV", () => downloadCsv(`${name}.csv`, [["n", answers.quantity, "low", "high", "assured_80"], ...rows()])),
    button("JSON", () => download(`${name}.json`, new Blob([JSON.stringify(answers, null, 1)], { type: "application/json" }))),
    button("PNG", () => downloadPicture(`${name}.png`, drawings.find((drawing) => drawing.getBoundingClientRect().width > 0) ?? drawings[0])),
  );
  place.hidden = false;
}

open(JSON.parse(byId("plan").textContent ?? "{}"));
