// The dual figure: coordinates to step in, or to leave to SDCA; α as bars, w(α), the gap closing and its cases to see.
import { barsPanel } from "./dual/bars.js";
import { curvesPanel } from "./dual/curves.js";
import {
  besideOf, caseAtBest, CASES, caseOf, clean, coordinateGap, DEFAULTS, EXACT, gapText, label, laboratory, lengthOf, LIMITS, ORDER_TEXTS, START_TEXTS,
  TASKS, VIEW_TEXTS, wish, withMove,
} from "./dual/derive.js";
import { scenePanel } from "./dual/scene.js";
import css from "./dual/style.css";
import { button, clamp, createFigure, format, group, h, KEYS, number, playback, readout, select, slider, tasks, toggle } from "./ui.js";

export const kind = "dual";

/** What the shared controls take for a figure, over values that are computed from its state. */
const virtual = (fig, values) => ({
  get: (key) => values[key].get(),
  set: (changes) => Object.entries(changes).forEach(([key, value]) => values[key].set(value)),
  onRefresh: fig.onRefresh,
});

export function render({ model, el }) {
  const [runOf, otherOf] = [laboratory(), laboratory()];
  let selected = 0;
  let quiz = null; // {guesses, said, done} while the reader guesses the cases at w*
  let checked = null; // the guesses that the reader asked to check
  const guesses = { gap: null, printed: "" };
  const fig = createFigure({
    model, el, kind, css, defaults: DEFAULTS, clean, draw,
    title: "The dual, one α at a time",
    lead: "Every example has a dual variable α between 0 and 1, and together they make w(α). A step takes one α to the best value for it, "
      + "with the others fixed. The gap between primal and dual bounds how far w(α) is from the best w.",
  });
  const count = () => fig.get("y").length;
  const now = () => runOf(fig.state());
  const alphaOf = (i) => now().alphaAt(fig.get("t"))[i];
  // While the reader guesses, and after, the bars are not those of a step.
  const move = (i, value = EXACT) => { if (!quiz) fig.set(withMove(fig.state(), now().draws, i, value)); };
  const reset = fig.reset;
  fig.reset = () => {
    [selected, quiz] = [0, null];
    reset();
    fig.redrawSoon();
  };
  const choose = (i) => {
    if (i === selected) return;
    selected = i;
    fig.redrawSoon();
  };

  const scene = scenePanel(fig, {
    onSelect: choose,
    describe: (i) => (quiz ? "" : `, α ${format(alphaOf(i))}, margin ${format(now().marginsAt(fig.get("t"))[i])}`),
  });
  const bars = barsPanel(fig, {
    alphaOf, answers: answerControls(), onSelect: choose, onStep: move, onSet: move,
    onGuess: (i, which) => {
      quiz.guesses[i] = which;
      quiz.said = "";
      fig.redrawSoon();
    },
  });
  const curves = curvesPanel(fig, { onStep: (t) => fig.set({ t }) });
  const numbers = readout("What is shown, in numbers");
  curves.el.insertBefore(select(fig, { key: "view", label: "show", options: VIEW_TEXTS }), curves.el.querySelector(".pf-legend"));

  const body = h("tbody", {});
  const columns = ["example", "label", "α", "margin", "must be", "holds", "part of the gap"].map((text) => h("th", { scope: "col", text }));
  const table = h("details", { on: { toggle: () => fig.redrawSoon() } }, h("summary", { text: "Every example in numbers" }),
    h("div", { class: "du-table", tabindex: 0, ...KEYS, role: "group", "aria-label": "Table of the examples" },
      h("table", {}, h("thead", {}, h("tr", {}, ...columns)), body)));

  fig.panels.classList.add("du-panels");
  curves.el.classList.add("is-wide");
  fig.panels.append(scene.el, bars.el, curves.el);
  fig.playback.append(playback(fig, { key: "t", max: () => lengthOf(fig.state()), label: "Step t" }));
  fig.summary.append(numbers.el);
  fig.controls.classList.add("du-controls");
  fig.controls.append(methodControls(), handControls());
  fig.notes.append(table, goals());

  function methodControls() {
    // Steps of the reader's are shown up to their last.
    const own = { ...fig, set: ({ order }) => fig.set(order === "you" ? { order, t: fig.get("picks").length } : { order }) };
    const epochs = slider(fig, { key: "n_epochs", label: "epochs", min: LIMITS.n_epochs[0], max: LIMITS.n_epochs[1], spoken: String });
    const seed = h("span", { class: "pf-help-inline" });
    const draws = h("div", { class: "pf-buttons" },
      button(fig, { label: "New order", title: "The same with other random numbers", onClick: () => fig.set({ seed: (fig.get("seed") + 1) % 2 ** 31 }) }), seed);
    fig.onRefresh(() => {
      const { order, start, seed: of } = fig.state();
      epochs.hidden = order === "you";
      draws.hidden = order === "you" && start === "zero";
      seed.textContent = `seed ${of}`;
    });
    return group("The method", select(own, { key: "order", label: "next α", options: ORDER_TEXTS }),
      select(fig, { key: "start", label: "start", options: START_TEXTS }),
      slider(fig, { key: "lam", label: "λ", min: LIMITS.lam[0], max: LIMITS.lam[1], log: true, title: "The weight of the norm in P" }),
      epochs, draws);
  }

  function handControls() {
    const also = virtual(fig, {
      example: { get: () => selected + 1, set: (value) => { selected = clamp(Math.round(value), 1, count()) - 1; fig.redrawSoon(); } },
      alpha: { get: () => Number(alphaOf(selected).toPrecision(4)), set: (value) => move(selected, value) },
    });
    const room = () => fig.get("t") < LIMITS.moves;
    const some = () => fig.get("order") === "you" && fig.get("picks").length > 0;
    const step = button(fig, { label: "Take its step", title: "The step of the chosen example", enabled: room, onClick: () => move(selected) });
    const value = number(also, { key: "alpha", label: "set its α", min: 0, max: 1, step: "any" });
    const said = h("p", { class: "pf-help" });
    fig.onRefresh(() => {
      const { order, picks, printed } = fig.state();
      for (const node of [step, value]) node.hidden = quiz !== null;
      said.textContent = printed ? "As printed: α + λn yᵢ(1 − ⟨w, xᵢ⟩)/‖xᵢ‖², clipped to [0, 1]. Right: (1 − yᵢ⟨w, xᵢ⟩)."
        : order === "you" ? `You took ${picks.length} steps; an epoch has ${count()}.` : "A step of yours goes on from the step that is shown; the order is then yours.";
    });
    return group("By hand", number(also, { key: "example", label: "example", min: 1, max: LIMITS.points }), value,
      h("div", { class: "pf-buttons" }, step,
        button(fig, { label: "Take back", title: "Take your last step back", enabled: some,
          onClick: () => fig.set({ picks: fig.get("picks").slice(0, -1), values: fig.get("values").slice(0, fig.get("picks").length - 1), t: fig.get("picks").length - 1 }) }),
        button(fig, { label: "Begin again", title: "Choose the steps yourself, from the start", onClick: () => fig.set({ order: "you", picks: [], values: [], t: 0 }) })),
      toggle(fig, { key: "printed", label: "steps as document 004 prints them", title: "A misplaced parenthesis (E004-01)" }), said);
  }

  function answerControls() {
    const said = h("span", { class: "pf-said", role: "status" });
    const check = () => {
      const cases = now().bestMargins.map(caseAtBest);
      const right = quiz.guesses.filter((value, i) => value === cases[i]).length;
      quiz.done = right === cases.length;
      checked = quiz.guesses.slice();
      quiz.said = `${right} of ${cases.length} are right.`;
      fig.redrawSoon();
    };
    const leave = () => {
      quiz = null;
      fig.redrawSoon();
      bars.focus();
    };
    fig.onRefresh(() => { said.textContent = quiz ? quiz.said : ""; });
    return h("div", { class: "pf-buttons" }, button(fig, { label: "Check", title: "How many of your guesses are right", onClick: check }),
      button(fig, { label: "Back to the steps", title: "The plane and the bars show the steps again", onClick: leave }), said);
  }

  function goals() {
    const own = virtual(fig, { guess: { get: () => guesses.gap ?? "", set: (value) => { guesses.gap = value; fig.redrawSoon(); } } });
    // The plane and the bars are far above the task: the reader is taken there.
    const guessing = button(fig, { label: "Guess at w*", title: "The plane shows the line of w*, the bars are your guesses", enabled: () => quiz === null, onClick: () => {
      quiz = { guesses: new Array(count()).fill(null), said: "", done: false };
      fig.redrawSoon();
      bars.focus();
      scene.el.scrollIntoView({ block: "start" });
    } });
    const extras = {
      gap: number(own, { key: "guess", label: "my guess: steps =", min: 1, max: 9999 }),
      slack: h("div", { class: "pf-buttons" }, guessing),
      printed: select(fig, { label: "my guess: label", value: "", options: [["", "choose first"], ["+1", "+1"], ["−1", "−1"], ["either", "either"]],
        onChange: (value) => { guesses.printed = value; fig.redrawSoon(); } }),
    };
    const guessOf = (id) => (id === "slack" ? checked : guesses[id]);
    return tasks(fig, TASKS.map(({ check: reached, ...task }) =>
      ({ ...task, extra: extras[task.id], check: () => reached(fig.state(), now(), guessOf(task.id)) })));
  }

  function fillTable({ y }, run, t) {
    if (!table.open) return;
    const hidden = quiz && !quiz.done;
    const [alpha, margins] = quiz ? [run.best.alpha, run.bestMargins] : [run.alphaAt(t), run.marginsAt(t)];
    body.replaceChildren(...y.map((of, i) => {
      const which = quiz ? caseAtBest(margins[i]) : caseOf(alpha[i]);
      const go = quiz ? 0 : wish(alpha[i], margins[i]);
      const cells = hidden ? [i + 1, label(of), "?", "?", "?", "?", "?"]
        : [i + 1, label(of), format(quiz && which !== 1 ? which / 2 : alpha[i]), format(margins[i]), CASES[which].needs,
          go === 0 ? "yes" : go > 0 ? "no, α ↑" : "no, α ↓", gapText(quiz ? 0 : coordinateGap(alpha[i], margins[i]) / y.length)];
      return h("tr", {}, ...cells.map((text) => h("td", { text: String(text) })));
    }));
  }

  function draw(changed) {
    const state = fig.state();
    const { t } = state;
    const n = state.y.length;
    const run = runOf(state);
    const beside = besideOf(state);
    selected = Math.min(selected, n - 1);
    // Other points or another λ have another w*: the guesses were for the old one.
    if (changed && ["X", "y", "lam"].some((key) => changed.has(key))) {
      checked = null;
      if (quiz) quiz = { guesses: new Array(n).fill(null), said: "", done: false };
    }
    const resized = changed === null;
    const cases = quiz ? quiz.guesses : [...run.alphaAt(t)].map(caseOf);
    fig.playback.hidden = quiz !== null;
    scene.draw(state, { w: quiz ? run.best.w : run.wAt(t), old: t > 0 && !quiz ? run.wAt(t - 1) : null, cases, selected, isBest: quiz !== null, resized });
    bars.draw(state, run, t, { resized, selected, guesses: quiz?.guesses ?? null, done: quiz?.done });
    curves.draw(state, run, beside && otherOf(beside), t, resized);
    numbers.update(numbersOf(run, t, n, selected, quiz !== null));
    fillTable(state, run, t);
    if (quiz) {
      const guess = quiz.guesses[selected];
      fig.announce(quiz.said || `Example ${selected + 1}: ${guess === null ? "no guess yet" : CASES[guess].text}.`);
    } else fig.announce(sentenceOf(run, t, n));
    fig.checkTasks();
  }

  return fig.start();
}

function numbersOf(run, t, n, i, hidden) {
  const [alpha, margins] = [run.alphaAt(t), run.marginsAt(t)];
  const held = run.wishAt(t).filter((value) => value === 0).length;
  const own = (text) => (hidden ? "hidden" : text);
  return [
    ["steps t", String(t)],
    ["primal P(w(α))", format(run.primals[t])],
    ["dual D(α)", format(run.duals[t])],
    ["gap", gapText(run.gaps[t])],
    ["optimum P* = D*", format(run.best.value)],
    ["w(α)", `(${run.wAt(t).map(format).join(", ")})`],
    ["support vectors", own(`${[...alpha].filter((a) => caseOf(a) > 0).length} of ${n}`)],
    ["as their margin needs", own(`${held} of ${n}`)],
    ["chosen example", String(i + 1)],
    ["its α", own(format(alpha[i]))],
    ["its margin", own(format(margins[i]))],
    ["its step would go to", own(format(run.targetsAt(t)[i]))],
  ];
}

function sentenceOf(run, t, n) {
  const held = run.wishAt(t).filter((value) => value === 0).length;
  const state = `Primal ${format(run.primals[t])}, dual ${format(run.duals[t])}, gap ${gapText(run.gaps[t])}. ${held} of ${n} have the α that their margin needs.`;
  if (t === 0) return `No step is taken. ${state}`;
  const i = run.draws[t - 1];
  return `Step ${t}: α of example ${i + 1} went from ${format(run.alphaAt(t - 1)[i])} to ${format(run.alphaAt(t)[i])}. ${state}`;
}
