// The plan tab: a forecast from the user's own rows, saved or served, and what a goal needs.
import { Chart, makeLegend } from "./chart.js";
import { button, copyable, downloadCsv, downloadPicture, fileDrop, h, table } from "./dom.js";
import { assurance, bandAt, needed, readForecast } from "./forecast.js";
import { normalCdf } from "./special.js";
import { say } from "./words.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./dom.js").Change} Change
 * @typedef {import("./tab_theory.js").Tab} Tab
 * @typedef {import("./forecast.js").Forecast} Forecast
 */

const MOST_FILE = 2e7, STEPS = 400;
const UNREACHED = "not within a thousand times your rows";

/** @param {Change} change @param {string | null} address where a forecast is served @returns {Tab} */
export function planTab(change, address) {
  let state = /** @type {State} */ ({}), forecast = /** @type {Forecast | null} */ (null), from = 0, to = 1;
  const waiting = h("p", { role: "status" });
  const drop = fileDrop("Choose or drop a saved forecast (forecast.json). This command makes one: gpcurves plan DATA.csv --target y --out forecast.json. The file does not leave this page.", take, MOST_FILE);
  const range = h("input", { type: "range", min: 0, max: STEPS, "aria-label": "Goal", id: "goal-range", "data-name": "target" }), number = h("input", { class: "number", id: "goal", inputmode: "decimal" });
  range.addEventListener("input", () => change({ target: Number((to * (from / to) ** (Number(range.value) / STEPS)).toPrecision(3)) }));
  number.addEventListener("change", () => Number(number.value) > 0 && change({ target: Number(number.value) }));
  const caption = h("label", { for: "goal" }, "Goal");
  const goal = h("div", { class: "control" }, caption, number, range);
  const chart = new Chart("Forecast"), legend = makeLegend((key) => {
    const hidden = new Set(state.hide.split(",").filter(Boolean));
    if (!hidden.delete(key)) hidden.add(key);
    change({ hide: [...hidden].join(",") });
  });
  const answer = h("p", { class: "answer", role: "status" }), more = h("div", {}), verdict = h("div", {});
  const python = copyable("Python", pythonText), command = copyable("Command line", commandText);
  const shown = h(
    "div",
    { class: "columns" },
    h("form", { class: "controls", "aria-label": "Goal", onsubmit: (/** @type {Event} */ event) => event.preventDefault() }, h("h2", {}, "Move the goal"), goal, verdict),
    h(
      "div",
      { class: "main" },
      h("div", { class: "sticky first" }, chart.element),
      h("div", { class: "first" }, legend.element),
      answer,
      h("section", { class: "card" }, more),
      h("div", { class: "tools" }, button("Picture", () => downloadPicture("gpcurves-plan.png", chart.drawing, chart.keys)), button("CSV", () => downloadCsv("gpcurves-plan.csv", rows()))),
      h("details", {}, h("summary", {}, "How it is computed"), h("ul", {}, h("li", {}, "The forecast averages learning curves of the models that your rows support, and its interval is calibrated on tables of other people; see gpcurves plan."), h("li", {}, "Rows for a goal are read off the estimate, the ends of its 90 % interval, and the curve below which the error stays with 80 % probability."), h("li", {}, "The assurance at n rows takes the logarithm of the error as normal on either side of the estimate."))),
      h("details", { open: true }, h("summary", {}, "The same numbers elsewhere"), python.element, command.element),
    ),
  );
  const panel = h("div", { class: "main" }, waiting, drop, shown);
  shown.hidden = true;
  if (address !== null) load(address);

  const unit = () => forecast?.counted ?? "rows";
  const measure = () => (forecast?.measure === "error_rate" ? "error rate" : "RMSE");

  /** @param {string} where */
  async function load(where) {
    waiting.textContent = "Loading your plan …";
    drop.hidden = true;
    try {
      const response = await fetch(where);
      if (!response.ok) throw new Error(`the server answered ${response.status}`);
      take("", await response.text());
      waiting.textContent = "";
    } catch (error) {
      drop.hidden = false;
      waiting.textContent = `Your plan could not be loaded: ${error instanceof Error ? error.message : error}. Is the command still running?`;
    }
  }

  /** @param {string} _ @param {string} text */
  function take(_, text) {
    forecast = readForecast(text);
    const now = bandAt(forecast.band, forecast.rows), end = bandAt(forecast.band, 1000 * forecast.rows);
    to = now.high;
    from = Math.min(end.low, now.low) * 0.98;
    const start = forecast.goal ?? Math.sqrt(now.estimate * Math.max(end.estimate, 1e-300));
    change({ target: state.target >= from && state.target <= to ? state.target : Number(start.toPrecision(3)) });
  }

  function pythonText() {
    return `import gpcurves as gpc\n\nforecast = gpc.load("forecast.json")\nprint(forecast.required_n(${forecast?.measure === "error_rate" ? "error_rate" : "rmse"}=${state.target}))`;
  }

  function commandText() {
    const data = forecast?.vertices == null ? `DATA.csv --target "${forecast?.target ?? "y"}"` : "--edges EDGES.csv --labels LABELS.csv";
    return `gpcurves plan ${data} --goal-${forecast?.measure === "error_rate" ? "error-rate" : "rmse"} ${state.target} --report plan.html`;
  }

  function sizes() {
    const { rows: count, vertices } = /** @type {Forecast} */ (forecast), most = Math.min(vertices ?? Infinity, 1000 * count);
    const first = Math.max(2, Math.floor(count / 10));
    const all = Array.from({ length: 80 }, (_, i) => Math.round(first * (most / first) ** (i / 79)));
    return [...new Set([...all, count])].sort((a, b) => a - b);
  }

  const rows = () => [["n", measure(), "low", "high", "assured_80"], ...sizes().map((n) => {
    const at = bandAt(/** @type {Forecast} */ (forecast).band, n);
    return [n, at.estimate, at.low, at.high, at.assured];
  })];

  function draw() {
    if (forecast === null) return;
    const { band, seen, floor, target } = forecast, hidden = state.hide.split(","), aim = state.target;
    const n = sizes(), at = n.map((each) => bandAt(band, each)), need = needed(forecast, aim);
    const series = [
      { key: "estimate", label: "estimate", x: n, y: at.map((each) => each.estimate), colour: "var(--c1)", width: 3 },
      { key: "assured", label: "80 % assurance", x: n, y: at.map((each) => each.assured), colour: "var(--c2)", dash: "6 3" },
      { key: "seen", label: "cross-validated", x: seen.map((each) => each.n), y: seen.map((each) => each.value), error: seen.map((each) => each.stderr), colour: "var(--ink)", points: true },
    ].map((each) => ({ ...each, hidden: hidden.includes(each.key) }));
    const marks = need.estimate !== null && need.estimate <= n[n.length - 1] && need.estimate >= n[0] ? [{ x: need.estimate, y: aim, label: `${need.estimate.toLocaleString("en")} ${unit()}` }] : [];
    const ends = [...at.map((each) => each.low), ...at.map((each) => each.high), ...seen.map((each) => each.value)].filter((each) => each > 0);
    chart.draw({
      x: { label: `number of ${unit()} n`, low: n[0], high: n[n.length - 1], log: true },
      y: { label: `${measure()} of ${target}`, low: Math.min(...ends) / 1.1, high: Math.max(...ends) * 1.05, log: true },
      series,
      bands: [{ x: n, low: at.map((each) => each.low), high: at.map((each) => each.high), colour: "var(--region)", label: "90 % interval" }],
      levels: [{ y: aim, label: `goal ${say(aim)}` }, ...(floor > 0 ? [{ y: floor, label: `noise floor ${say(floor)}` }] : [])],
      marks,
    });
    legend.show(series);
    tell(need);
  }

  /** @param {import("./forecast.js").Needed} need */
  function tell(need) {
    const { rows: count, band } = /** @type {Forecast} */ (forecast), aim = state.target, words = unit();
    const say80 = need.assured === null ? `No number of ${words} up to a thousand times yours gives an 80 % chance of reaching it.` : `To have an 80 % chance of reaching it${need.high === null ? ", if the goal can be reached at all" : ""}, plan for ${need.assured.toLocaleString("en")}.`;
    const noun = measure() === "RMSE" ? "an RMSE" : "an error rate";
    answer.textContent =
      need.estimate === null
        ? `${noun[0].toUpperCase()}${noun.slice(1)} of ${say(aim)} is not expected at any number of ${words} looked at.`
        : need.estimate <= count
          ? `You probably have ${noun} of ${say(aim)} already, with ${count.toLocaleString("en")} ${words}. ${say80}`
          : `You will probably need about ${need.estimate.toLocaleString("en")} ${words} (${(need.estimate - count).toLocaleString("en")} more) for ${noun} of ${say(aim)}. ${say80}`;
    const steps = [1, 2, 4, 8, 16].map((factor) => factor * count);
    const entry = (/** @type {number | null} */ value) => (value === null ? UNREACHED : value.toLocaleString("en"));
    more.replaceChildren(
      h("h2", {}, `${words} needed for a goal of ${say(aim)}`),
      table("How many, from optimistic to pessimistic", ["answer", words], [["optimistic end of the 90 % interval", entry(need.low)], ["estimate", entry(need.estimate)], ["for an 80 % chance", entry(need.assured)], ["pessimistic end of the 90 % interval", entry(need.high)]]),
      table("Chance that the goal is reached, allowing for one that is out of reach", ["n", measure(), "90 % interval", "chance"], steps.map((n) => {
        const at = bandAt(band, n);
        return [n.toLocaleString("en"), say(at.estimate), `${say(at.low)} to ${say(at.high)}`, `${(100 * assurance(band, n, aim, normalCdf)).toFixed(0)} %`];
      })),
    );
  }

  return {
    panel,
    show(next) {
      state = next;
      shown.hidden = forecast === null;
      if (forecast === null) return;
      caption.textContent = `Goal: ${measure()} of ${forecast.target}`;
      number.value = String(state.target);
      range.value = String(Math.round((STEPS * Math.log(state.target / to)) / Math.log(from / to)));
      range.setAttribute("aria-valuetext", say(state.target));
      verdict.replaceChildren(h("h2", {}, forecast.verdict), ...forecast.sentences.map((each) => h("p", {}, each)), ...forecast.notes.map((each) => h("p", {}, `Note: ${each}`)));
      draw();
      python.show();
      command.show();
    },
  };
}
