// The regret figure: a stream, λ and a step rule to choose; regret under its bound, and the crossing of two bounds to see.
import { boundsPanel, regretPanel } from "./regret/curves.js";
import { clean, DEFAULTS, laboratory, lengthOf, LIMITS, percent, RULE_TEXTS, STREAM_TEXTS, TASKS, VIEW_TEXTS, worst } from "./regret/derive.js";
import { poolPanel } from "./regret/pool.js";
import css from "./regret/style.css";
import { button, createFigure, format, group, h, number, playback, readout, select, slider, tasks } from "./ui.js";

export const kind = "regret";

const whole = (value) => value.toLocaleString("en");

/** The state as a control sees it, where a set of one key may bring others. */
const through = (fig, set) => ({ get: fig.get, set, onRefresh: fig.onRefresh });

export function render({ model, el }) {
  const runOf = laboratory();
  let run = null;
  const guesses = { crossover: null, tight: "", printed: "" };
  const fig = createFigure({
    model, el, kind, css, defaults: DEFAULTS, clean, draw,
    title: "Regret, and what bounds it",
    lead: "At each step an example comes, the learner pays its loss at the present w, and only then takes a step. Its regret is what "
      + "it paid more than the best fixed w, chosen when all is over, would have paid.",
  });

  const send = (i) => {
    const { picks, n_iter } = fig.state();
    if (picks.length >= n_iter) return;
    fig.set({ picks: [...picks, i], t: picks.length + 1 });
  };
  const pool = poolPanel(fig, { onSend: send });
  const curve = regretPanel(fig, { onStep: (t) => fig.set({ t }) });
  const bounds = boundsPanel(fig);
  const numbers = readout("What is shown, in numbers");

  fig.panels.classList.add("rg-panels");
  curve.el.insertBefore(select(fig, { key: "view", label: "show", options: VIEW_TEXTS }), curve.el.querySelector(".pf-legend"));
  fig.panels.append(pool.el, curve.el, bounds.el);
  fig.playback.append(playback(fig, { key: "t", max: () => lengthOf(fig.state()), label: "Step t" }));
  fig.summary.append(numbers.el);
  fig.controls.classList.add("rg-controls");
  fig.controls.append(streamControls(fig, { send, run: () => run }), learnerControls(fig));
  fig.notes.append(goals());

  function goals() {
    const take = (id) => (value) => {
      guesses[id] = value;
      fig.redrawSoon();
    };
    const own = { get: () => guesses.crossover ?? "", set: ({ guess }) => take("crossover")(guess), onRefresh: fig.onRefresh };
    const first = ["", "choose first"];
    const extras = {
      crossover: number(own, { key: "guess", label: "my guess: λ =", min: LIMITS.lam[0], max: LIMITS.lam[1], step: "any" }),
      tight: select(fig, { label: "my guess: stream", value: "", options: [first, ...STREAM_TEXTS], onChange: take("tight") }),
      printed: select(fig, { label: "my guess: λ", value: "", options: [first, ...["small", "large"].map((text) => [text, text])],
        onChange: take("printed") }),
    };
    return tasks(fig, TASKS.map(({ check, ...task }) =>
      ({ ...task, extra: extras[task.id], check: () => check(fig.state(), run, guesses[task.id]) })));
  }

  function draw(changed) {
    const state = fig.state();
    const { t } = state;
    run = runOf(state);
    const resized = changed === null;
    pool.draw(state, run, t, resized);
    curve.draw(state, run, t, resized);
    bounds.draw(state, run, resized);
    numbers.update(numbersOf(run, t));
    fig.announce(sentenceOf(run, t));
    fig.checkTasks();
  }

  return fig.start();
}

function streamControls(fig, { send, run }) {
  const steps = (changes) => lengthOf({ ...fig.state(), ...changes });
  // Another stream or another T shows its end.
  const own = through(fig, (changes) => fig.set({ ...changes, t: steps(changes) }));
  const seed = h("span", { class: "pf-help-inline" });
  const draws = h("div", { class: "pf-buttons" },
    button(fig, { label: "New draws", title: "The same with other random draws", onClick: () => fig.set({ seed: (fig.get("seed") + 1) % 2 ** 31 }) }),
    seed);
  const some = () => fig.get("picks").length > 0;
  const room = () => fig.get("picks").length < fig.get("n_iter");
  const last = () => run().iterate(run().T);
  const fill = () => {
    const { picks, n_iter } = fig.state();
    fig.set({ picks: Array.from({ length: n_iter }, (_, t) => picks[t % picks.length]), t: n_iter });
  };
  const yours = h("div", { class: "pf-buttons" },
    button(fig, { label: "Take back", title: "Take the last example back", enabled: some,
      onClick: () => fig.set({ picks: fig.get("picks").slice(0, -1), t: steps({ picks: fig.get("picks").slice(0, -1) }) }) }),
    button(fig, { label: "As the adversary", title: "Send the example that the adversary would send now", enabled: room,
      onClick: () => send(worst(run().problem, last())) }),
    button(fig, { label: "Repeat up to T", title: "Send what you sent again and again, until T steps are full", enabled: () => some() && room(), onClick: fill }),
    button(fig, { label: "Begin again", title: "Take all examples back", enabled: some, onClick: () => fig.set({ picks: [], t: 0 }) }));
  const said = h("p", { class: "pf-help" });
  fig.onRefresh(() => {
    const { stream, seed: of, picks, n_iter } = fig.state();
    draws.hidden = stream !== "iid";
    yours.hidden = stream !== "you";
    seed.textContent = `seed ${of}`;
    said.textContent = {
      iid: "Every example is as likely as any other, whatever came before.",
      cyclic: "The examples come in their order, again and again.",
      adversary: "It looks at w and sends the example with the largest loss there; among equals the longest.",
      you: picks.length >= n_iter ? `All ${n_iter} steps are taken: raise T to send more.`
        : `You sent ${picks.length} of at most ${n_iter}. Press an example in the pool to send it.`,
    }[stream];
  });
  return group("The stream", select(own, { key: "stream", label: "examples", options: STREAM_TEXTS }),
    slider(own, { key: "n_iter", label: "steps T", min: LIMITS.n_iter[0], max: LIMITS.n_iter[1], spoken: String }), draws, yours, said);
}

function learnerControls(fig) {
  const said = h("p", { class: "pf-help" });
  fig.onRefresh(() => {
    said.textContent = {
      pegasos: "Pegasos' step, for λ-strongly convex fₜ.",
      "inverse-sqrt": "For any convex fₜ: D is the diameter of the ball, G bounds all subgradients.",
      constant: "One step size, chosen for the last step T.",
      printed: "Document 000 prints G/√t for D/(G√t): see what it costs.",
    }[fig.get("rule")];
  });
  return group("The learner",
    select(fig, { key: "rule", label: "step ηₜ", options: RULE_TEXTS }),
    slider(fig, { key: "lam", label: "λ", min: LIMITS.lam[0], max: LIMITS.lam[1], log: true, title: "The weight of the norm in fₜ; w is kept in the ball of radius 1/√λ" }),
    said);
}

function numbersOf(run, t) {
  const [regret, bound] = t > 0 ? [run.regretAt(t), run.bound(t)] : [0, 0];
  const none = "none yet";
  return [
    ["steps t", whole(t)],
    ["regret", t > 0 ? format(regret) : none],
    ["its bound", t > 0 ? format(bound) : none],
    ["share of the bound", t > 0 ? percent(regret / bound) : none],
    ["regret/t", t > 0 ? format(regret / t) : none],
    ["regret against w*", t > 0 ? format(run.besideAt(t)) : none],
    ["paid in step t", t > 0 ? format(run.paid[t - 1]) : none],
    ["step ηₜ", t > 0 ? format(run.etaAt(t)) : none],
    ["wₜ₊₁", `(${run.iterate(t).map(format).join(", ")})`],
    ["G = √λ + R", format(run.size.G)],
    ["D = 2/√λ", format(run.size.D)],
    ["bounds cross at T", run.crossing > 1 ? whole(run.crossing) : "nowhere"],
  ];
}

function sentenceOf(run, t) {
  const crossing = run.crossing > 1 ? `The two bounds cross at T = ${whole(run.crossing)}.`
    : "The logarithmic bound is the smaller one at every T.";
  if (t === 0) return `No step is taken: w is 0. ${crossing}`;
  const [regret, bound] = [run.regretAt(t), run.bound(t)];
  return `Step ${t}: example ${run.draws[t - 1] + 1} came and cost ${format(run.paid[t - 1])}. The regret is ${format(regret)}, `
    + `${percent(regret / bound)} of its bound ${format(bound)}. ${crossing}`;
}
