// The descent figure: a function, a start, a direction and a step rule to choose; the path and its stopping tests to see.
import { contourPanel } from "./descent/contour.js";
import { curvePanel, testTable } from "./descent/curve.js";
import { change, descend, firstFires, gap, slopeAt } from "./descent/derive.js";
import { FUNCTIONS } from "./descent/functions.js";
import { goals, prediction, usesSearch } from "./descent/goals.js";
import { clean, DEFAULTS, DIRECTION_TEXTS, FUNCTION_TEXTS, LIMITS, RULE_TEXTS } from "./descent/state.js";
import css from "./descent/style.css";
import { button, createFigure, format, group, h, number, playback, readout, select, slider } from "./ui.js";

export const kind = "descent";

const pair = (w) => `(${w.map(format).join(", ")})`;

export function render({ model, el }) {
  let run = null;
  let fired = null;
  const fig = createFigure({
    model, el, kind, css, defaults: DEFAULTS, clean, draw,
    title: "Descent, step by step",
    lead: "Choose a function, a start, a direction and how long the steps are. See where they lead, and which test would stop them, and when.",
  });
  const guess = prediction(fig);
  const contour = contourPanel(fig);
  const curve = curvePanel(fig);
  const table = testTable(fig);
  const numbers = readout("What is shown, in numbers");

  fig.panels.classList.add("pd-panels");
  fig.panels.append(h("div", { class: "pd-side" }, contour.el, numbers.el), h("div", { class: "pd-side" }, curve.el, table.el));
  fig.playback.append(playback(fig, { key: "t", max: () => fig.get("n_iter"), label: "Step t" }));
  fig.controls.classList.add("pd-controls");
  fig.controls.append(h("div", { class: "pd-side" }, functionControls(fig), guess.el), h("div", { class: "pd-side" }, stepControls(fig), testControls(fig)));
  fig.notes.classList.add("pd-notes");
  fig.notes.append(goals(fig, { now: () => run, fired: () => fired, hidden: () => guess.hidden }));

  let from = "";
  function draw(changed) {
    const state = fig.state();
    const { t, eps, ...settings } = state;
    if (from !== JSON.stringify(settings)) {
      from = JSON.stringify(settings);
      run = descend(state);
    }
    fired = firstFires(run, state);
    guess.follow(run);
    const at = guess.hidden ? 0 : Math.min(t, run.n);
    contour.draw(run, at, guess.hidden, changed === null);
    curve.draw(run, at, fired, guess.hidden, changed === null);
    table.draw(run, fired, guess.hidden);
    numbers.update(numbersOf(run, at, state, guess.hidden));
    fig.announce(sentenceOf(run, at, fired, guess.hidden));
    fig.checkTasks();
  }

  return fig.start();
}

function functionControls(fig) {
  // A function comes with a start of its own, from which its point is seen.
  const own = {
    get: fig.get,
    set: (changes) => fig.set({ ...changes, start: FUNCTIONS[changes.function].start }),
    onRefresh: fig.onRefresh,
  };
  const start = {
    get: (key) => fig.get("start")[key],
    set: (changes) => fig.set({ start: fig.get("start").map((x, j) => changes[j] ?? x) }),
    onRefresh: fig.onRefresh,
  };
  const formula = h("p", { class: "pd-formula" });
  fig.onRefresh(() => {
    const f = FUNCTIONS[fig.get("function")];
    formula.textContent = `f(a, b) = ${f.formula}. ${f.minimiser ? `Minimum ${format(f.infimum)} at ${pair(f.minimiser)}.`
      : "Above 0 everywhere, and as close to 0 as one likes: no minimum."}`;
  });
  return group("Function and start",
    select(own, { key: "function", label: "function f", options: FUNCTION_TEXTS }), formula,
    number(start, { key: 0, label: "start a", min: -LIMITS.reach, max: LIMITS.reach, step: "any" }),
    number(start, { key: 1, label: "start b", min: -LIMITS.reach, max: LIMITS.reach, step: "any" }));
}

function stepControls(fig) {
  const direction = select(fig, { key: "direction", label: "direction", options: DIRECTION_TEXTS });
  const sampled = direction.querySelector('[value="sampled"]');
  const rule = select(fig, { key: "rule", label: "step ηₜ", options: RULE_TEXTS });
  const c = slider(fig, { key: "c", label: "c", min: LIMITS.c[0], max: LIMITS.c[1], log: true, title: "The step, or where the search for it begins" });
  const gamma = slider(fig, { key: "gamma", label: "γ", min: LIMITS.gamma[0], max: LIMITS.gamma[1], step: 0.05, title: "What a step is multiplied by that the search refuses" });
  const seed = h("span", { class: "pf-help-inline" });
  const draw = h("div", { class: "pf-buttons" }, button(fig, { label: "New draw", title: "The same with other random terms",
    onClick: () => fig.set({ seed: (fig.get("seed") + 1) % 2 ** 31 }) }), seed);
  fig.onRefresh(() => {
    const state = fig.state();
    sampled.disabled = !FUNCTIONS[state.function].terms;
    rule.hidden = state.direction === "exact";
    c.hidden = state.direction === "exact";
    gamma.hidden = !usesSearch(state);
    draw.hidden = state.direction !== "sampled";
    seed.textContent = `seed ${state.seed}`;
  });
  return group("Direction and step", direction, rule, c, gamma, draw);
}

function testControls(fig) {
  return group("Stopping",
    slider(fig, { key: "eps", label: "ε", min: LIMITS.eps[0], max: LIMITS.eps[1], log: true, title: "The threshold of the tests B to E" }),
    slider(fig, { key: "n_iter", label: "steps T", min: LIMITS.n_iter[0], max: LIMITS.n_iter[1], spoken: String }));
}

function directionText({ direction }, run, t) {
  if (direction === "steepest") return "−g";
  if (direction === "sampled") return `term ${run.draws[t - 1] + 1} of ${run.f.terms.length}`;
  return `coordinate ${"ab"[(t - 1) % 2]}`;
}

function numbersOf(run, t, state, hidden) {
  const none = hidden ? "hidden" : "none yet";
  const eta = run.etas[t - 1];
  return [
    ["steps t", t < state.t && !hidden ? `${t}, where the run ends` : `${t}`],
    ["wₜ₊₁", pair(run.path[t])],
    ["f(wₜ₊₁)", format(run.values[t])],
    ["f(wₜ₊₁) − f*", format(Math.max(0, gap(run, t)))],
    ["direction", t > 0 ? directionText(state, run, t) : none],
    ["step ηₜ", t === 0 ? none : eta === null ? "to the least" : format(eta)],
    ["‖wₜ₊₁ − wₜ‖", t > 0 ? format(change(run, t)) : none],
    ["‖gₜ₊₁‖", format(slopeAt(run, t))],
  ];
}

function sentenceOf(run, t, fired, hidden) {
  if (hidden) return "The run is hidden until you reveal it.";
  const soonest = Object.entries(fired).filter(([id, at]) => at !== null && id !== "steps").map(([id, at]) => `${id} after step ${at}`);
  return `After step ${t} w is ${pair(run.path[t])} and f is ${format(run.values[t])}. `
    + `Tests that fire: ${soonest.length > 0 ? soonest.join(", ") : "none"}.`;
}
