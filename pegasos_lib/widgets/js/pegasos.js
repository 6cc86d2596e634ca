import { button, createFigure, format, group, h, playback, PRESETS, presetPoints, readout, select, slider, toggle }
  from "./ui.js";
import css from "./pegasos/style.css";
import { curvesPanel, pinList } from "./pegasos/curves.js";
import { dataPanel } from "./pegasos/data.js";
import { goals, prediction } from "./pegasos/goals.js";
import { laboratory } from "./pegasos/runs.js";
import { AVERAGE_TEXTS, clean, DEFAULTS, labelOf, LIMITS, SAMPLING_TEXTS, settingsOf, STEP_TEXTS }
  from "./pegasos/state.js";
import { weightsPanel } from "./pegasos/weights.js";

export const kind = "pegasos";

const usesC = (step) => step === "inverse-time" || step === "inverse-sqrt" || step === "constant";

/** Pegasos and its relatives on points of the plane, step by step. */
export function render({ model, el }) {
  const lab = laboratory();
  let current = null;
  let pinned = [];
  const fig = createFigure({
    model, el, kind, css, defaults: DEFAULTS, clean, draw,
    title: "Pegasos, step by step",
    lead: "Each step draws a mini-batch, shrinks w, pushes it towards the points of the batch whose margin is under 1, "
      + "and projects it back on the ball.",
  });

  const guess = prediction(fig);
  const data = dataPanel(fig);
  const weights = weightsPanel(fig);
  const curves = curvesPanel(fig, { onGuess: guess.take, onStep: (t) => fig.set({ t }) });
  const pins = pinList(fig, {
    onRemove: (i) => fig.set({ runs: fig.get("runs").filter((_, j) => j !== i) }),
    onLoad: (settings) => fig.set(settings),
  });
  const numbers = readout("What is shown");
  const play = playback(fig, { key: "t", max: () => fig.get("n_iter"), label: "Step t" });

  fig.panels.append(data.el, weights.el, curves.el);
  fig.playback.append(play);
  fig.summary.append(numbers.el);
  fig.controls.append(problemControls(fig), stepControls(fig), sampleControls(fig));
  fig.notes.append(comparison(), guess.el,
    goals(fig, { current: () => current, pinned: () => pinned, hidden: () => guess.hidden }));

  function comparison() {
    const settings = () => settingsOf(fig.state());
    const known = () => fig.get("runs").some((run) => labelOf(run) === labelOf(settings()));
    const pin = button(fig, {
      label: "Pin this run", title: "Keep this run's curve beside the next ones",
      enabled: () => fig.get("runs").length < LIMITS.runs && !known(),
      onClick: () => fig.set({ runs: [...fig.get("runs"), settings()] }),
    });
    const clear = button(fig, { label: "Remove all", enabled: () => fig.get("runs").length > 0, onClick: () => fig.set({ runs: [] }) });
    const box = group("Runs side by side (up to four)", h("div", { class: "pf-buttons is-row" }, pin, clear), pins.el);
    box.classList.add("is-half");
    return box;
  }

  function draw(changed) {
    const resized = changed === null;
    const [X, y, t] = [fig.get("X"), fig.get("y"), fig.get("t")];
    current = lab.run(settingsOf(fig.state()), X, y);
    pinned = fig.get("runs").map((run) => lab.run(settingsOf(run), X, y));
    guess.follow(current);
    data.draw(current, t, resized);
    weights.draw(current, t, resized);
    curves.draw(current, pinned, t, guess, resized);
    pins.draw(pinned);
    numbers.update(numbersOf(current, t, guess.hidden));
    fig.announce(sentenceOf(current, t, guess.hidden));
    fig.checkTasks();
  }

  return fig.start();
}

function problemControls(fig) {
  const local = { preset: "blobs", n: 40, seed: 1 };
  const fill = () => fig.set(presetPoints(local.preset, local.n, local.seed));
  const own = {
    get: (key) => local[key],
    set: (changes) => { Object.assign(local, changes); fill(); },
    onRefresh: fig.onRefresh,
  };
  return group("Problem",
    slider(fig, { key: "lam", label: "λ", min: LIMITS.lam[0], max: LIMITS.lam[1], log: true, title: "The weight of the norm in P" }),
    select(fig, { label: "Toy data", options: PRESETS, value: local.preset, onChange: (preset) => own.set({ preset }) }),
    slider(own, { key: "n", label: "points n", min: 2, max: LIMITS.points, step: 2, spoken: String }),
    h("div", { class: "pf-buttons" }, button(fig, { label: "New points", title: "Draw other points of this kind",
      onClick: () => own.set({ seed: local.seed + 1 }) })));
}

function stepControls(fig) {
  const c = slider(fig, { key: "step_c", label: "c", min: LIMITS.step_c[0], max: LIMITS.step_c[1], log: true });
  fig.onRefresh(() => { c.hidden = !usesC(fig.get("step")); });
  return group("Method",
    select(fig, { key: "step", label: "step ηₜ", options: STEP_TEXTS }), c,
    toggle(fig, { key: "project", label: "project on the ball of radius 1/√λ" }),
    select(fig, { key: "average", label: "output", options: AVERAGE_TEXTS }));
}

function sampleControls(fig) {
  const draws = group("Draws",
    slider(fig, { key: "batch_size", label: "batch size k", min: 1, max: () => fig.get("X").length, spoken: String }),
    select(fig, { key: "sampling", label: "sampling", options: SAMPLING_TEXTS }),
    slider(fig, { key: "n_iter", label: "steps T", min: LIMITS.n_iter[0], max: LIMITS.n_iter[1], spoken: String }),
    h("div", { class: "pf-buttons" },
      button(fig, { label: "New draw", title: "The same run with other random draws", onClick: () => fig.set({ seed: fig.get("seed") + 1 }) }),
      seedText(fig)));
  draws.classList.add("is-wide");
  return draws;
}

function seedText(fig) {
  const text = h("span", { class: "pf-help-inline" });
  fig.onRefresh(() => { text.textContent = `seed ${fig.get("seed")}`; });
  return text;
}

const pair = (w) => `(${format(w[0])}, ${format(w[1])})`;

function batchText(step) {
  const drawn = [...step.batch].slice(0, 8).map((i) => i + 1).join(", ");
  return `${step.batch.length > 8 ? `${drawn}, …` : drawn}`;
}

function numbersOf(run, t, hidden) {
  const w = run.iterate(t);
  const output = run.averaged(t);
  const step = t > 0 ? run.stepAt(t) : null;
  const far = Math.hypot(output[0] - run.best.w[0], output[1] - run.best.w[1]);
  const secret = (value) => (hidden ? "hidden" : format(value));
  return [
    ["steps t", `${t}`],
    ["wₜ₊₁", pair(w)],
    ["output", pair(output)],
    ["w*", pair(run.best.w)],
    ["P(output)", secret(run.best.value + run.gapOf(output))],
    ["P* = P(w*)", format(run.best.value)],
    ["P(output) − P*", secret(run.gapOf(output))],
    ["|output − w*|", secret(far)],
    ["step ηₜ", step ? format(step.eta) : "none yet"],
    ["batch", step ? batchText(step) : "none yet"],
    ["hits in the batch", step ? `${step.hits} of ${step.batch.length}` : "none yet"],
    ["C = 1/(λn)", format(run.problem.C)],
  ];
}

function sentenceOf(run, t, hidden) {
  if (t === 0) return "No step taken: w is 0.";
  const step = run.stepAt(t);
  const gap = hidden ? "" : ` P minus P* of the output is ${format(run.gapOf(run.averaged(t)))}.`;
  return `Step ${t} of ${run.settings.n_iter}: ${step.hits} of ${step.batch.length} drawn points had a margin under 1; `
    + `w is ${pair(run.iterate(t))}${step.projected ? ", projected" : ""}.${gap}`;
}
