// Elements of any page: builders, tables and downloads.

/**
 * @typedef {Record<string, any>} Attributes
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an element; attributes that begin with "on" are listeners, and true and false set or leave out an attribute.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Attributes} [attributes] @param {...(Node | string | null)} children @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  apply(element, attributes);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Make an element of a drawing. @param {string} tag @param {Attributes} [attributes] @param {...(Node | string)} children @returns {SVGElement} */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  apply(element, attributes);
  element.append(...children);
  return element;
}

/** @param {Element} element @param {Attributes} attributes */
function apply(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
}

let made = 0;
/** A name that no other element has. */
export const unique = () => `e${++made}`;

/** A button. @param {string} label @param {() => void} act @param {string} [kind] */
export const button = (label, act, kind = "") => h("button", { type: "button", class: kind, onclick: act }, label);

/** Let the browser save a file. @param {string} name @param {Blob} blob */
export function download(name, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Save rows as CSV. @param {string} name @param {(string | number)[][]} rows */
export function downloadCsv(name, rows) {
  const cell = (/** @type {string | number} */ value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  download(name, new Blob([rows.map((row) => row.map(cell).join(",")).join("\n") + "\n"], { type: "text/csv" }));
}

/** @typedef {{label: string, colour: string, dash?: string, points?: boolean}} Key an entry of a legend */

/** A drawing as a file of its own, with the colours of the page and a legend below. @param {SVGElement} drawing @param {Key[]} [keys] */
export function standalone(drawing, keys = []) {
  const style = getComputedStyle(document.documentElement), copy = /** @type {SVGElement} */ (drawing.cloneNode(true));
  const { width, height } = drawing.getBoundingClientRect();
  let x = 14, y = height + 10;
  for (const { label, colour, dash = "", points = false } of keys) {
    const room = 48 + 7.2 * label.length;
    if (x > 14 && x + room > width) [x, y] = [14, y + 22];
    copy.append(points ? svg("circle", { cx: x + 13, cy: y, r: 4, style: `fill: ${colour}` }) : svg("line", { x1: x, x2: x + 26, y1: y, y2: y, style: `stroke: ${colour}`, "stroke-width": 3, "stroke-dasharray": dash }));
    copy.append(svg("text", { x: x + 33, y: y + 4 }, label));
    x += room;
  }
  if (keys.length > 0) {
    copy.setAttribute("viewBox", `0 0 ${width} ${y + 16}`);
    copy.setAttribute("width", String(width));
    copy.setAttribute("height", String(y + 16));
  }
  copy.setAttribute("xmlns", SVG);
  copy.querySelectorAll(".cursor").forEach((each) => each.remove());
  copy.prepend(svg("rect", { width: "100%", height: "100%", style: "fill: var(--paper)" }));
  const look = "text { font: 13px system-ui, sans-serif; fill: var(--ink); } .axis line, .axis path { stroke: var(--line); } .strong { font-weight: 600; paint-order: stroke; stroke: var(--paper); stroke-width: 4px; }";
  copy.prepend(svg("style", {}, look));
  return new XMLSerializer().serializeToString(copy).replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
}

/** Save a drawing as a picture of twice its size. @param {string} name @param {SVGElement} drawing @param {Key[]} [keys] */
export async function downloadPicture(name, drawing, keys = []) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(drawing, keys))}`;
  await image.decode();
  const box = keys.length > 0 ? image : drawing.getBoundingClientRect();
  const canvas = h("canvas", { width: Math.round(2 * box.width), height: Math.round(2 * box.height) });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => blob && download(name, blob), "image/png");
}

/** A table of numbers. @param {string} caption @param {string[]} head @param {string[][]} rows */
export function table(caption, head, rows) {
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, ...head.map((cell) => h("th", { scope: "col" }, cell)))),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((cell, i) => h(i === 0 ? "th" : "td", i === 0 ? { scope: "row" } : {}, cell))))),
    ),
  );
}
