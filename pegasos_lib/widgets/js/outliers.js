// The outliers figure: outliers to put among points, a variant to choose; who is suspected, and what it gains, to see.
import { objectivePanel, suspicionPanel } from "./outliers/curves.js";
import {
  AXIS_TEXTS, clean, DEFAULTS, KIND_TEXTS, KINK, laboratory, LIMITS, MEASURE_TEXTS, percent, refusedInARow, TASKS, TEST_TEXTS,
} from "./outliers/derive.js";
import { scenePanel } from "./outliers/scene.js";
import css from "./outliers/style.css";
import { button, createFigure, format, group, h, KEYS, number, playback, readout, select, signed, slider, tasks, toggle } from "./ui.js";

export const kind = "outliers";

const whole = (value) => value.toLocaleString("en");

export function render({ model, el }) {
  const runOf = laboratory();
  let run = null;
  const guesses = { stall: "", clean: null, precision: "" };
  const fig = createFigure({
    model, el, kind, css, defaults: DEFAULTS, clean, draw,
    title: "Outliers, and who gets the blame",
    lead: "Pegasos takes steps; a watch tests each of them. When a step raises the objective, undo refuses it, two-out gives its examples a flag "
      + "and removes those with enough of them, probability makes them rarer. Do the outliers go, or others too?",
  });

  const scene = scenePanel(fig);
  const curve = objectivePanel(fig, { onStep: (t) => fig.set({ t }) });
  const suspicion = suspicionPanel(fig, { onStep: (t) => fig.set({ t }) });
  const numbers = readout("What is shown, in numbers");
  fig.panels.classList.add("ou-panels");
  for (const [key, label, options] of [["measure", "of", MEASURE_TEXTS], ["axis", "against", AXIS_TEXTS]]) {
    curve.el.insertBefore(select(fig, { key, label, options }), curve.el.querySelector(".pf-legend"));
  }

  const body = h("tbody", {});
  const columns = ["example", "label", "outlier", "flags", "weight", "removed in step"].map((text) => h("th", { scope: "col", text }));
  const table = h("details", { on: { toggle: () => fig.redrawSoon() } }, h("summary", { text: "Every example in numbers" }),
    h("div", { class: "ou-table", tabindex: 0, ...KEYS, role: "group", "aria-label": "Table of the examples" },
      h("table", {}, h("thead", {}, h("tr", {}, ...columns)), body)));

  fig.panels.append(scene.el, curve.el, suspicion.el);
  fig.playback.append(playback(fig, { key: "t", max: () => fig.get("n_iter"), label: "Step t" }));
  fig.summary.append(numbers.el);
  fig.controls.append(dataControls(fig), learnerControls(fig), watchControls(fig));
  fig.notes.append(table, goals());

  function goals() {
    const take = (id) => (value) => {
      guesses[id] = value;
      fig.redrawSoon();
    };
    const own = { get: () => guesses.clean ?? "", set: ({ guess }) => take("clean")(guess), onRefresh: fig.onRefresh };
    const choice = (id, label, options) =>
      select(fig, { label, value: "", options: [["", "choose first"], ...options.map((text) => [text, text])], onChange: take(id) });
    const extras = {
      stall: choice("stall", "my guess: λ", ["small", "large"]),
      clean: number(own, { key: "guess", label: "my guess: removed =", min: 0, max: LIMITS.points }),
      precision: choice("precision", "my guess: it will", ["rise", "fall"]),
    };
    return tasks(fig, TASKS.map(({ check, ...task }) =>
      ({ ...task, extra: extras[task.id], check: () => check(fig.state(), run, guesses[task.id]) })));
  }

  function fillTable(t) {
    if (!table.open) return;
    body.replaceChildren(...run.y.map((label, i) => h("tr", {}, ...[
      i + 1, signed(label), run.isOutlier[i] ? "yes" : "no", run.flagsAt(i, t), format(run.weightAt(i, t)),
      run.isAt("removed", i, t) ? run.removedAt(i) : "–",
    ].map((text) => h("td", { text: String(text) })))));
  }

  function draw(changed) {
    const state = fig.state();
    const { t } = state;
    run = runOf(state);
    const resized = changed === null;
    scene.draw(state, run, t, resized);
    curve.draw(state, run, t, resized);
    suspicion.draw(state, run, t, resized);
    numbers.update(numbersOf(state, run, t));
    fillTable(t);
    fig.announce(sentenceOf(state, run, t));
    fig.checkTasks();
  }

  return fig.start();
}

function dataControls(fig) {
  const said = h("p", { class: "pf-help" });
  fig.onRefresh(() => {
    const { X, share, start } = fig.state();
    said.textContent = start.some((value) => value !== 0)
      ? `w₁ = (${start.map(format).join(", ")}), on ${X.length === 1 ? "one example" : `${X.length} examples`}. Reset brings the points back.`
      : `${Math.floor(share * X.length + 1e-9)} of ${X.length} points are made outliers; the squares tell you, not the method.`;
  });
  return group("The data",
    select(fig, { key: "outliers", label: "an outlier has", options: KIND_TEXTS }),
    slider(fig, { key: "share", label: "share", min: LIMITS.share[0], max: LIMITS.share[1], step: 0.05, spoken: percent, title: "The share of outliers" }),
    h("div", { class: "pf-buttons" },
      button(fig, { label: "One example, E001-09", title: "The example (1, 0) of class +1, λ = 1/10, and undo from w₁ = (1, 1)", onClick: () => fig.set(KINK) })),
    said);
}

function learnerControls(fig) {
  // Another T shows its end.
  const own = { get: fig.get, set: ({ n_iter }) => fig.set({ n_iter, t: n_iter }), onRefresh: fig.onRefresh };
  const seed = h("span", { class: "pf-help-inline" });
  fig.onRefresh(() => { seed.textContent = `seed ${fig.get("seed")}`; });
  return group("Pegasos",
    slider(fig, { key: "lam", label: "λ", min: LIMITS.lam[0], max: LIMITS.lam[1], log: true, title: "The weight of the norm in P" }),
    slider(fig, { key: "batch_size", label: "batch k", min: 1, max: () => fig.get("X").length, spoken: String, title: "Examples that a step draws" }),
    slider(own, { key: "n_iter", label: "steps T", min: LIMITS.n_iter[0], max: LIMITS.n_iter[1], spoken: String }),
    h("div", { class: "pf-buttons" },
      button(fig, { label: "New draws", title: "The same with other random draws", onClick: () => fig.set({ seed: (fig.get("seed") + 1) % 2 ** 31 }) }), seed));
}

function watchControls(fig) {
  const threshold = slider(fig, { key: "threshold", label: "flags", min: LIMITS.threshold[0], max: LIMITS.threshold[1], spoken: String, title: "Flags at which an example is removed" });
  const gamma = slider(fig, { key: "gamma", label: "factor γ", min: LIMITS.gamma[0], max: LIMITS.gamma[1], step: 0.05, title: "What a rise multiplies the weight of its examples by" });
  const said = h("p", { class: "pf-help" });
  fig.onRefresh(() => {
    const { undo, two_out, probability, importance_weights } = fig.state();
    threshold.hidden = !two_out;
    gamma.hidden = !probability;
    said.textContent = !undo && !two_out && !probability ? "Without a variant the watch changes nothing: this is plain Pegasos."
      : importance_weights ? "Each example counts 1/(n qᵢ), where qᵢ is how likely it is drawn: the steps follow the loss of all that are left."
        : probability ? "Examples drawn less count less: the steps follow another problem than P, unless they are weighed by 1/(n qᵢ)." : "";
  });
  return group("The watch",
    select(fig, { key: "test", label: "may not rise:", options: TEST_TEXTS }),
    toggle(fig, { key: "undo", label: "undo: refuse the step" }),
    toggle(fig, { key: "two_out", label: "two-out: flag, and remove" }), threshold,
    toggle(fig, { key: "probability", label: "probability: draw less often" }), gamma,
    toggle(fig, { key: "importance_weights", label: "weigh by 1/(n qᵢ)", title: "Importance weights" }), said);
}

function numbersOf(state, run, t) {
  const { values, plainValues, best, rises } = run;
  const { precision, recall } = run.scoreAt(t);
  const none = "none yet";
  return [
    ["steps t", whole(t)],
    ["work, evaluations", whole(run.run.work[t])],
    ["plain Pegasos' work", whole(run.plainWorkAt(t))],
    ["P(w)", format(values.all[t])],
    ["P of plain Pegasos", format(plainValues.all[t])],
    ["least P*", format(best.all.value)],
    ["P of the clean ones", format(values.clean[t])],
    ["clean ones, plain Pegasos", format(plainValues.clean[t])],
    ["steps that rose", whole(rises[t])],
    ["steps refused", whole(state.undo ? rises[t] : 0)],
    ["refused in a row", whole(refusedInARow(state, run, t))],
    ["flagged", whole(run.countAt("flagged", t))],
    ["removed", whole(run.countAt("removed", t))],
    ["weight below ½", whole(run.countAt("doubted", t))],
    ["precision", precision === null ? none : percent(precision)],
    ["recall", recall === null ? none : percent(recall)],
  ];
}

function sentenceOf(state, run, t) {
  if (t === 0) return `No step is taken. ${run.outliers} of ${run.X.length} points are outliers.`;
  const { precision } = run.scoreAt(t);
  const fate = run.refusedAt(t) ? ", was refused" : run.run.rose[t - 1] ? ", raised the objective" : "";
  const who = [...new Set(run.batchAt(t))].map((i) => i + 1);
  const drawn = who.length > 5 ? `${who.length} examples` : `example${who.length > 1 ? "s" : ""} ${who.join(", ")}`;
  return `Step ${t} drew ${drawn}${fate}. P is ${format(run.values.all[t])}, by plain Pegasos ${format(run.plainValues.all[t])}. `
    + `${run.countAt("removed", t)} removed, ${state.undo ? run.rises[t] : 0} steps refused${precision === null ? "" : `, precision ${percent(precision)}`}.`;
}
