// A chart of curves against numbers of examples: drawn as SVG, read by pointer and by keyboard.
import { h, svg } from "./dom.js";
import { say } from "./words.js";

/**
 * @typedef {{key: string, label: string, x: number[], y: number[], colour: string, dash?: string, width?: number,
 *   points?: boolean, joined?: boolean, error?: number[], size?: number, hidden?: boolean}} Series
 * @typedef {{label: string, low: number, high: number, log: boolean}} Axis
 * @typedef {{x: number[], low: number[], high: number[], colour: string, label?: string}} Band
 * @typedef {{x: Axis, y: Axis, series: Series[], bands?: Band[], marks?: {x: number, y: number, label: string}[], levels?: {y: number, label: string}[]}} Picture
 */

const MARGIN = { left: 72, right: 24, top: 12, bottom: 44 };

/** Round numbers for an axis. @param {Axis} axis @param {number} room how many there may be */
export function ticks({ low, high, log }, room) {
  if (log) {
    const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
    const step = Math.max(1, Math.ceil((last - first + 1) / room));
    const decades = [];
    for (let k = first; k <= last; k += step) decades.push(10 ** k);
    if (decades.length >= 3 || step > 1) return decades;
    const finer = [];
    for (let k = first - 1; k <= last; k++) for (const factor of [1, 2, 5]) finer.push(Number(`${factor}e${k}`));
    const inside = finer.filter((each) => each >= low * (1 - 1e-9) && each <= high * (1 + 1e-9));
    if (inside.length >= 3) return inside;
  }
  const rough = (high - low) / room, size = 10 ** Math.floor(Math.log10(rough));
  const step = size * ([1, 2, 5].find((factor) => size * factor >= rough) ?? 10);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

export class Chart {
  /** @param {string} name what the chart shows @param {number} [height] */
  constructor(name, height = 420) {
    this.name = name;
    this.tallest = height;
    /** @type {Picture | null} */
    this.picture = null;
    /** @type {number | null} */
    this.cursor = null; // where the pointer or the keyboard reads the curves
    /** @type {(x: number, y: number) => void} */
    this.onpick = () => {};
    this.drawing = svg("svg", { role: "img", tabindex: 0, class: "chart" });
    this.reading = h("div", { class: "reading", role: "status" });
    this.element = h("div", { class: "frame" }, this.drawing, this.reading);
    this.listen();
    new ResizeObserver(() => this.picture && this.redraw()).observe(this.element);
  }

  listen() {
    this.drawing.addEventListener("pointermove", (event) => this.read(this.toX(this.inside(event)[0])));
    this.drawing.addEventListener("pointerleave", () => this.read(null));
    this.drawing.addEventListener("click", (event) => this.picture && this.onpick(this.toX(this.inside(event)[0]), this.toY(this.inside(event)[1])));
    this.drawing.addEventListener("blur", () => this.read(null));
    this.drawing.addEventListener("keydown", (event) => {
      const sizes = this.readable()[0]?.x ?? [];
      if (event.key === "Enter" && this.cursor !== null) return this.onpick(this.cursor, NaN);
      const step = { ArrowRight: 1, ArrowLeft: -1, PageUp: 10, PageDown: -10 }[event.key];
      if (step === undefined || sizes.length === 0) return;
      event.preventDefault();
      const at = this.cursor === null ? Math.floor(sizes.length / 2) : sizes.findIndex((x) => x >= /** @type {number} */ (this.cursor) * (1 - 1e-9));
      this.read(sizes[Math.min(Math.max((at < 0 ? sizes.length - 1 : at) + (this.cursor === null ? 0 : step), 0), sizes.length - 1)]);
    });
  }

  /** @param {MouseEvent} event */
  inside(event) {
    const box = this.drawing.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  get height() {
    return this.width < 400 ? Math.min(this.tallest, 270) : this.tallest; // a telephone shows the sliders as well
  }

  get width() {
    return Math.max(260, this.element.clientWidth || 640);
  }

  /** @param {Axis} axis @param {number} value @returns {number} between 0 and 1 inside the axis */
  static share({ low, high, log }, value) {
    return log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  }

  /** @param {number} value */
  px(value) {
    const { x } = /** @type {Picture} */ (this.picture);
    return MARGIN.left + (this.width - MARGIN.left - MARGIN.right) * Chart.share(x, value);
  }

  /** @param {number} value */
  py(value) {
    const { y } = /** @type {Picture} */ (this.picture);
    return this.height - MARGIN.bottom - (this.height - MARGIN.top - MARGIN.bottom) * Chart.share(y, value);
  }

  /** @param {Axis} axis @param {number} share */
  static value({ low, high, log }, share) {
    const inside = Math.min(Math.max(share, 0), 1);
    return log ? low * (high / low) ** inside : low + (high - low) * inside;
  }

  /** @param {number} pixel */
  toX(pixel) {
    return this.picture ? Chart.value(this.picture.x, (pixel - MARGIN.left) / (this.width - MARGIN.left - MARGIN.right)) : 0;
  }

  /** @param {number} pixel */
  toY(pixel) {
    return this.picture ? Chart.value(this.picture.y, (this.height - MARGIN.bottom - pixel) / (this.height - MARGIN.top - MARGIN.bottom)) : 0;
  }

  /** @param {Picture} picture */
  draw(picture) {
    this.picture = picture;
    this.redraw();
  }

  redraw() {
    const picture = /** @type {Picture} */ (this.picture), { width, height } = this, id = `clip-${this.name.replace(/\W+/g, "-")}`;
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.drawing.setAttribute("height", String(height));
    this.drawing.setAttribute("width", String(width));
    const named = picture.series.filter((each) => !each.hidden).map((each) => each.label);
    this.drawing.setAttribute("aria-label", `${this.name}. ${picture.y.label} against ${picture.x.label}: ${named.join(", ")}. Arrow keys read the curves.`);
    const box = { x: MARGIN.left, y: MARGIN.top, width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
    const inside = svg("g", { "clip-path": `url(#${id})` });
    for (const band of picture.bands ?? []) inside.append(this.area(band));
    for (const level of picture.levels ?? []) inside.append(this.level(level.y, box));
    for (const series of picture.series) if (!series.hidden) inside.append(...this.marks(series));
    inside.append(...this.levelLabels(picture.levels ?? [], box));
    for (const mark of picture.marks ?? []) inside.append(...this.mark(mark));
    const clip = svg("defs", {}, svg("clipPath", { id }, svg("rect", box)));
    this.drawing.replaceChildren(clip, ...this.axes(box), inside, svg("g", { class: "cursor" }));
    this.read(this.cursor);
  }

  /** What a legend of this picture has. @returns {import("./elements.js").Key[]} */
  get keys() {
    return (this.picture?.series ?? []).filter(({ hidden }) => !hidden).map(({ label, colour, dash, points, joined }) => ({ label, colour, dash, points: points && !joined }));
  }

  /** @param {{x: number, y: number, width: number, height: number}} box */
  axes(box) {
    const { x, y } = /** @type {Picture} */ (this.picture), parts = [], bottom = box.y + box.height;
    for (const value of ticks(x, box.width / 90)) {
      const at = this.px(value);
      parts.push(svg("line", { x1: at, x2: at, y1: box.y, y2: bottom }), svg("text", { x: at, y: bottom + 18, "text-anchor": "middle" }, say(value)));
    }
    for (const value of ticks(y, box.height / 45)) {
      const at = this.py(value);
      parts.push(svg("line", { x1: box.x, x2: box.x + box.width, y1: at, y2: at }), svg("text", { x: box.x - 7, y: at + 4, "text-anchor": "end" }, say(value)));
    }
    parts.push(svg("text", { x: box.x + box.width / 2, y: this.height - 6, "text-anchor": "middle" }, x.label));
    const middle = box.y + box.height / 2;
    parts.push(svg("text", { x: 13, y: middle, "text-anchor": "middle", transform: `rotate(-90 13 ${middle})` }, y.label));
    return [svg("g", { class: "axis" }, ...parts)];
  }

  /** @param {Band} band */
  area({ x, low, high, colour, label }) {
    const { y } = /** @type {Picture} */ (this.picture);
    const clamp = (/** @type {number} */ value) => (y.log ? Math.min(Math.max(value, y.low / 100), y.high * 100) : value);
    const there = x.map((value, i) => `${this.px(value).toFixed(1)},${this.py(clamp(high[i])).toFixed(1)}`);
    const back = x.map((value, i) => `${this.px(value).toFixed(1)},${this.py(clamp(low[i])).toFixed(1)}`).reverse();
    return svg("polygon", { points: [...there, ...back].join(" "), style: `fill: ${colour}`, class: "band" }, svg("title", {}, label ?? ""));
  }

  /** @param {Series} series */
  marks({ x, y, colour, dash, width, points, joined, error, size, key }) {
    const usable = x.map((_, i) => i).filter((i) => Number.isFinite(y[i]) && (y[i] > 0 || !this.picture?.y.log));
    const parts = [];
    if (!points || joined) {
      const path = usable.map((i, k) => `${k === 0 ? "M" : "L"}${this.px(x[i]).toFixed(1)},${this.py(y[i]).toFixed(1)}`).join("");
      parts.push(svg("path", { d: path, "data-series": key, fill: "none", style: `stroke: ${colour}`, "stroke-width": width ?? 2, "stroke-dasharray": dash ?? "", "stroke-linejoin": "round" }));
    }
    for (const i of points ? usable : []) {
      if (error && Number.isFinite(error[i])) {
        const [from, to] = [this.py(Math.max(y[i] - error[i], this.picture?.y.log ? y[i] / 50 : -Infinity)), this.py(y[i] + error[i])];
        parts.push(svg("line", { x1: this.px(x[i]), x2: this.px(x[i]), y1: from, y2: to, style: `stroke: ${colour}`, "stroke-width": 1.5 }));
      }
      parts.push(svg("circle", { cx: this.px(x[i]), cy: this.py(y[i]), r: size ?? 3.5, "data-series": key, style: `fill: ${colour}` }));
    }
    return parts;
  }

  /** @param {{x: number, y: number, label: string}} mark */
  mark({ x, y, label }) {
    const [cx, cy] = [this.px(x), this.py(y)], right = cx + 7.5 * label.length + 14 > this.width - MARGIN.right; // curves fall: above and to the right there is room
    return [
      svg("circle", { cx, cy, r: 6, style: "fill: none; stroke: var(--accent)", "stroke-width": 2.5 }),
      svg("text", { x: cx + (right ? -10 : 10), y: cy - 9, "text-anchor": right ? "end" : "start", class: "strong" }, label),
    ];
  }

  /** @param {number} y @param {{x: number, width: number}} box */
  level(y, box) {
    const at = this.py(y);
    return svg("line", { x1: box.x, x2: box.x + box.width, y1: at, y2: at, style: "stroke: var(--accent)", "stroke-width": 1.5, "stroke-dasharray": "2 4" });
  }

  /** Labels above their lines, the lower one of two that are close below its own. @param {{y: number, label: string}[]} levels @param {{x: number, width: number}} box */
  levelLabels(levels, box) {
    let last = -Infinity;
    return [...levels].sort((one, two) => two.y - one.y).map(({ y, label }) => {
      const at = this.py(y), above = at - 5 > last + 18;
      last = above ? at - 5 : at + 17;
      return svg("text", { x: box.x + box.width - 6, y: last, "text-anchor": "end", class: "strong" }, label);
    });
  }

  readable() {
    return (this.picture?.series ?? []).filter((each) => !each.hidden && each.x.length > 0);
  }

  /** Show the values of all curves at a place. @param {number | null} place */
  read(place) {
    const layer = this.drawing.querySelector(".cursor");
    this.cursor = place;
    if (!layer || !this.picture) return;
    if (place === null) {
      layer.replaceChildren();
      this.reading.textContent = "";
      return;
    }
    const main = this.readable()[0];
    if (main === undefined) return;
    const nearest = main.x.reduce((best, x) => (Math.abs(this.px(x) - this.px(place)) < Math.abs(this.px(best) - this.px(place)) ? x : best), main.x[0]);
    layer.replaceChildren(svg("line", { x1: this.px(nearest), x2: this.px(nearest), y1: MARGIN.top, y2: this.height - MARGIN.bottom, style: "stroke: var(--quiet)" }));
    const values = this.readable()
      .map((each) => [each, each.x.indexOf(nearest)])
      .filter(([, i]) => /** @type {number} */ (i) >= 0)
      .map(([each, i]) => {
        const { label, y, colour } = /** @type {Series} */ (each);
        return h("span", {}, h("i", { style: `background: ${colour}` }), `${label} ${say(y[/** @type {number} */ (i)])}`);
      });
    this.reading.replaceChildren(h("b", {}, `${this.picture.x.label.split(" ").pop()} = ${say(nearest)}`), ...values);
  }
}

/** Buttons that show and hide curves. @param {(key: string) => void} toggleSeries */
export function makeLegend(toggleSeries) {
  const element = h("div", { class: "legend", role: "group", "aria-label": "Curves to show" });
  /** @param {(Series & {title?: string})[]} series */
  const show = (series) => {
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.key;
    element.replaceChildren(
      ...series.map(({ key, label, colour, dash, points, hidden, title, width = 2.5 }) => {
        const sample = points && !dash ? svg("circle", { cx: 13, cy: 6, r: 4, style: `fill: ${colour}` }) : svg("line", { x1: 0, x2: 26, y1: 6, y2: 6, style: `stroke: ${colour}`, "stroke-width": width, "stroke-dasharray": dash ?? "" });
        const one = h("button", { type: "button", "aria-pressed": String(!hidden), "data-key": key, title: title ?? label, onclick: () => toggleSeries(key) });
        one.append(svg("svg", { width: 26, height: 12, "aria-hidden": "true" }, sample), label);
        return one;
      }),
    );
    if (focused) /** @type {HTMLElement | null} */ (element.querySelector(`[data-key="${focused}"]`))?.focus();
  };
  return { element, show };
}
