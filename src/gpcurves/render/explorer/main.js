// The page: tabs, the link that holds every state, and one change at a time per frame.
import { button, h } from "./dom.js";
import { DEFAULTS, fromHash, toHash } from "./state.js";
import { learnTab } from "./tab_learn.js";
import { networkTab } from "./tab_network.js";
import { planTab } from "./tab_plan.js";
import { theoryTab } from "./tab_theory.js";
import { serve } from "./worker.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./tab_theory.js").Tab} Tab
 * @typedef {import("./words.js").Package & {state: Partial<State>, plan: string | null}} About
 */

/** @type {Record<State["tab"], string>} */
const TITLES = { theory: "Theory", learn: "See it learn", network: "Network", plan: "Plan" };

/** @param {About} about */
function open(about) {
  const base = { ...DEFAULTS, ...about.state };
  let state = fromHash(location.hash, base), waiting = 0;
  const change = (/** @type {Partial<State>} */ part) => {
    state = { ...state, ...part };
    waiting ||= requestAnimationFrame(show);
  };
  /** @type {Partial<Record<State["tab"], Tab>>} */
  const made = {};
  /** @type {Record<State["tab"], () => Tab>} */
  const makers = { theory: () => theoryTab(change, about), learn: () => learnTab(change), network: () => networkTab(change), plan: () => planTab(change, about.plan) };
  const names = /** @type {State["tab"][]} */ (Object.keys(TITLES));
  const tabs = names.map((name) =>
    h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "panel", onclick: () => change({ tab: name }) }, TITLES[name]),
  );
  const list = h("div", { role: "tablist", "aria-label": "Views" }, ...tabs);
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = tabs[(names.indexOf(state.tab) + step + names.length) % names.length];
    next.focus();
    next.click();
  });
  const root = document.documentElement, prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const paint = (/** @type {boolean} */ dark) => (root.dataset.theme = dark ? "dark" : "light");
  paint(prefersDark.matches);
  prefersDark.addEventListener("change", (event) => paint(event.matches));
  const theme = button("Theme", () => paint(root.dataset.theme !== "dark"));
  theme.title = "Light or dark";
  const said = h("span", { role: "status", class: "said" });
  const link = button("Copy link", async () => {
    await navigator.clipboard.writeText(location.href).then(
      () => (said.textContent = "Copied."),
      () => (said.textContent = "The address of this page is the link."),
    );
    setTimeout(() => (said.textContent = ""), 2500);
  });
  const panel = h("div", { id: "panel", role: "tabpanel" });
  document.body.append(
    h("header", {}, h("h1", {}, "gpcurves explorer", h("small", {}, "How fast does a Gaussian process learn?")), list, h("span", { class: "grow" }), said, link, theme),
    h("main", {}, panel),
    h("footer", {}, `Computed in this page by gpcurves ${about.version}; nothing is sent anywhere.`),
  );

  function show() {
    waiting = 0;
    tabs.forEach((tab, i) => {
      const chosen = names[i] === state.tab;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    });
    const tab = (made[state.tab] ??= makers[state.tab]());
    panel.setAttribute("aria-labelledby", `tab-${state.tab}`);
    if (panel.firstChild !== tab.panel) panel.replaceChildren(tab.panel);
    const began = performance.now();
    tab.show(state);
    root.dataset.took = (performance.now() - began).toFixed(1); // read by the tests of how long a slider takes
    const hash = toHash(state, base);
    if (hash !== location.hash) history.replaceState(null, "", hash);
  }

  addEventListener("hashchange", () => {
    state = fromHash(location.hash, base);
    show();
  });
  show();
}

if (typeof document === "undefined") serve();
else open(JSON.parse(/** @type {HTMLElement} */ (document.getElementById("about")).textContent ?? "{}"));
