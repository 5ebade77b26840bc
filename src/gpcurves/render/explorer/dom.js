// Elements of the explorer: sliders, choices, copying and files, beside those of any page.
import { button, h, unique } from "./elements.js";
import { FIELDS, within } from "./state.js";
import { say } from "./words.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./state.js").NumberField} NumberField
 * @typedef {{element: HTMLElement, show: (state: State) => void}} Control
 * @typedef {(change: Partial<State>) => void} Change
 */

export { button, download, downloadCsv, downloadPicture, h, standalone, svg, table, unique } from "./elements.js";

const STEPS = 400; // of a slider

/**
 * A slider and a field for the same number.
 * @param {keyof State} name @param {string} label @param {Change} change @param {string} [hint] @returns {Control}
 */
export function slider(name, label, change, hint = "") {
  const field = /** @type {NumberField} */ (FIELDS[name]);
  const id = unique(), [low, high] = field.log ? [Math.log(field.low), Math.log(field.high)] : [field.low, field.high];
  const few = !field.log && field.integer, steps = few ? field.high - field.low : STEPS;
  const toValue = (/** @type {number} */ place) => {
    const at = low + ((high - low) * place) / steps;
    // three digits are enough for a hand, and round numbers read better
    return within(field, Number((field.log ? Math.exp(at) : at).toPrecision(3)));
  };
  const toPlace = (/** @type {number} */ value) => Math.round((steps * ((field.log ? Math.log(value) : value) - low)) / (high - low));
  const number = h("input", { id, class: "number", inputmode: "decimal", autocomplete: "off", "aria-describedby": hint ? `${id}h` : null });
  const range = h("input", { type: "range", min: 0, max: steps, step: 1, "aria-label": label, "data-name": name });
  range.addEventListener("input", () => change({ [name]: toValue(Number(range.value)) }));
  number.addEventListener("change", () => {
    const value = Number(number.value.replace(/,/g, ""));
    change(number.value.trim() === "" || Number.isNaN(value) ? {} : { [name]: within(field, value) });
  });
  const element = h("div", { class: "control" }, h("label", { for: id }, label), number, range, hint ? h("small", { id: `${id}h` }, hint) : null);
  return {
    element,
    show(state) {
      const value = /** @type {number} */ (state[name]);
      range.value = String(toPlace(value));
      range.setAttribute("aria-valuetext", say(value));
      const text = field.integer ? String(value) : String(Number(value.toPrecision(4)));
      if (document.activeElement !== number || Number(number.value) !== value) number.value = text;
    },
  };
}

/**
 * A few choices beside each other, of which one is taken.
 * @param {keyof State} name @param {string} label @param {Record<string, string>} options @param {Change} change @returns {Control}
 */
export function choices(name, label, options, change) {
  const group = unique();
  const inputs = Object.keys(options).map((value) => h("input", { type: "radio", name: group, value, onchange: () => change({ [name]: value }) }));
  const labels = inputs.map((input) => h("label", {}, input, h("span", {}, options[input.value])));
  const element = h("fieldset", { class: "choices" }, h("legend", {}, label), h("div", {}, ...labels));
  return { element, show: (state) => inputs.forEach((input) => (input.checked = input.value === state[name])) };
}

/** A switch. @param {keyof State} name @param {string} label @param {Change} change @returns {Control} */
export function toggle(name, label, change) {
  const input = h("input", { type: "checkbox", role: "switch" });
  input.addEventListener("change", () => change({ [name]: input.checked }));
  return { element: h("label", { class: "switch" }, input, h("span", {}, label)), show: (state) => (input.checked = Boolean(state[name])) };
}

/** A text with a button that copies it. @param {string} label @param {() => string} text */
export function copyable(label, text) {
  const code = h("code", {}), said = h("span", { role: "status", class: "said" });
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(text());
      said.textContent = "Copied.";
    } catch {
      // pages from disk may not be allowed to: what is selected can be copied by hand
      getSelection()?.selectAllChildren(code);
      said.textContent = "Selected: press Ctrl-C.";
    }
    setTimeout(() => (said.textContent = ""), 2500);
  });
  copy.setAttribute("aria-label", `Copy ${label}`);
  const element = h("figure", { class: "code" }, h("figcaption", {}, label, said, copy), h("pre", { tabindex: 0, "aria-label": label }, code));
  return { element, show: () => (code.textContent = text()) };
}

/** A place for files: a button to choose one, and where one may be dropped. @param {string} label @param {(name: string, text: string) => void} read @param {number} most bytes */
export function fileDrop(label, read, most) {
  const said = h("p", { role: "alert", class: "complaint" });
  const take = async (/** @type {File | undefined} */ file) => {
    if (file === undefined) return;
    said.textContent = "";
    try {
      if (file.size > most) throw new Error(`${file.name} has ${say(file.size / 1e6)} MB, and at most ${say(most / 1e6)} MB are read here`);
      read(file.name, await file.text());
    } catch (error) {
      said.textContent = error instanceof Error ? error.message : String(error);
    }
    input.value = ""; // so that the same file can be chosen again after it was mended
  };
  const input = h("input", { type: "file", "aria-label": label, onchange: () => take(input.files?.[0]) });
  const element = h("div", { class: "drop" }, h("p", {}, label), input, said);
  element.addEventListener("dragover", (event) => {
    event.preventDefault();
    element.classList.add("over");
  });
  element.addEventListener("dragleave", () => element.classList.remove("over"));
  element.addEventListener("drop", (event) => {
    event.preventDefault();
    element.classList.remove("over");
    take(event.dataTransfer?.files[0]);
  });
  return element;
}
