import { button, format, group, h, number, select, tasks } from "../ui.js";
import { change, gap, outcome, SEARCHES } from "./derive.js";

const OUTCOMES = {
  close: "within ε of f*", lower: "lower than it began, but not that close", higher: "no lower than it began",
};

/** Predict, then look: hides the run until the reader has said how it will come out. */
export function prediction(fig) {
  let phase = "off"; // "off", "guessing", "shown"
  let guess = "";
  let settled = "";
  const said = h("p", { class: "pf-said", role: "status" });
  const choice = select(fig, { label: "f will end", value: "", options: [["", "choose first"], ...Object.entries(OUTCOMES)],
    onChange: (value) => { guess = value; fig.redrawSoon(); } });
  const hide = button(fig, { label: "Hide the run and predict", onClick: () => {
    phase = "guessing";
    settled = "";
    said.textContent = "The run is hidden. Choose all that you like, say how it will end, then reveal.";
    fig.redrawSoon();
  } });
  const reveal = button(fig, { label: "Reveal", kind: "pf-primary", enabled: () => phase === "guessing" && guess !== "",
    onClick: () => { phase = "shown"; fig.redrawSoon(); } });
  fig.onRefresh(() => { choice.hidden = phase !== "guessing"; });
  const el = group("Predict, then look", h("div", { class: "pf-buttons is-row" }, hide, reveal), choice, said);
  return {
    el,
    get hidden() { return phase === "guessing"; },
    /** Give the verdict once, and forget it when the run is another one. */
    follow(run) {
      if (phase !== "shown") return;
      const { t, ...settings } = fig.state();
      const now = JSON.stringify(settings);
      if (!settled) {
        const truth = outcome(run, fig.get("eps"));
        said.textContent = `You said: ${OUTCOMES[guess]}. ${guess === truth ? "Right" : `It ends ${OUTCOMES[truth]}`}: `
          + `f went from ${format(run.values[0])} to ${format(run.values[run.n])}.`;
        settled = now;
      } else if (settled !== now) {
        phase = "off";
        said.textContent = "";
      }
    },
  };
}

const STALLED = 1e-3;
const STILL = 1e-6;
const FAR = 0.1;
const NEAR_LIMIT = 0.9;

/** What plain backtracking came to when it stays above the minimum, in words; else false. */
export function stall({ direction, rule }, run) {
  if (rule !== "backtracking" || direction !== "steepest" || !run.f.minimiser || run.n < 1) return false;
  const above = gap(run, run.n);
  const last = run.values[run.n - 1] - run.values[run.n];
  if (above < STALLED || (last > STILL && run.stopped !== "no decrease")) return false;
  return run.f.kinks
    ? `after ${run.n} steps no step along −g lowers f more, and f is ${format(above)} above the minimum: at a kink −g may lead up.`
    : `f fell at each of ${run.n} steps, yet only to ${format(above)} above the minimum: a decrease, however small, was enough.`;
}

/** Which side of its limit a constant step of steepest descent lies on: "over", "just under", or "". */
export function sideOfLimit({ direction, rule, c, n_iter }, run) {
  const { limit } = run.f;
  if (!limit || direction !== "steepest" || rule !== "constant" || n_iter < 20) return "";
  const [first, last] = [run.values[0], run.values[run.n]];
  if (c > limit && (last > first || run.stopped === "diverged")) return "over";
  return c >= NEAR_LIMIT * limit && c < limit && last < first ? "just under" : "";
}

/** The step after which the small-change test stops far from the minimum, or null. */
export function farStop({ direction, eps }, run, fired) {
  const t = fired.change;
  return direction === "steepest" && run.f.minimiser && t !== null && gap(run, t) > Math.max(FAR, 10 * eps) ? t : null;
}

/** The tasks of the figure; `now()` gives the run that is shown, `fired()` its stopping tests. */
export function goals(fig, { now, fired, hidden }) {
  const guesses = { stall: "", far: "" };
  const choice = (key, label, options) => select(fig, { label, value: "", options: [["", "choose first"], ...options],
    onChange: (value) => { guesses[key] = value; fig.redrawSoon(); } });
  const must = choice("stall", "It must reach the minimum", [["yes", "yes, as f falls at every step"], ["no", "no"]]);
  const bound = choice("far", "Then f − f* is", [["1", "at most ε"], ["10", "at most 10 ε"], ["any", "as large as it likes"]]);

  let limit = "";
  const own = { get: () => limit, set: (changes) => { limit = changes.guess; fig.redrawSoon(); }, onRefresh: fig.onRefresh };
  const entry = number(own, { key: "guess", label: "My guess of the limit", min: 1e-3, max: 10, step: "any" });
  const seen = {}; // by function: the constants over and just under its limit that were tried
  const progress = h("p", { class: "pf-help" });

  const largestStep = () => {
    if (limit === "" || hidden()) return false;
    const state = fig.state();
    const side = sideOfLimit(state, now());
    const tried = (seen[state.function] ??= {});
    if (side) tried[side] = state.c;
    progress.textContent = `On this function: to infinity ${tried.over ? `with c = ${format(tried.over)}` : "not yet"}; `
      + `still converging, near the limit ${tried["just under"] ? `with c = ${format(tried["just under"])}` : "not yet"}.`;
    return tried.over && tried["just under"]
      && `c = ${format(tried.over)} leads to infinity, c = ${format(tried["just under"])} to the minimum. The limit is 2/L = ${format(now().f.limit)}; you guessed ${format(limit)}.`;
  };

  const verdict = (key, right) => (guesses[key] === right ? "as you said" : "not as you said");
  return tasks(fig, [
    {
      id: "stall",
      text: "Make plain backtracking stall above the minimum. Before you do: f falls at every step; must it reach its minimum?",
      hint: "Take the function “Ring of false rest” and start the search from c = 1. Then look at Armijo's rule from the same start.",
      extra: must,
      check: () => {
        const sentence = guesses.stall !== "" && !hidden() && stall(fig.state(), now());
        return sentence && `${sentence} It need not reach it, ${verdict("stall", "no")}.`;
      },
    },
    {
      id: "largest-step",
      text: "On one quadratic, find a constant step for which steepest descent goes to infinity, and one that still converges and is within a tenth of the largest. Guess the limit first.",
      hint: "Along the steepest curvature L each step multiplies by 1 − cL. For the narrow valley L = 20; for the round bowl 2, for the three squares 3.",
      extra: h("div", {}, entry, progress),
      check: largestStep,
    },
    {
      id: "far-stop",
      text: "Find a start and a step rule for which the small-change test D stops steepest descent far from the minimum: f − f* above 0.1 and above 10 ε. What does ‖wₜ₊₁ − wₜ‖ ≤ ε prove?",
      hint: "The length of a step is ηₜ‖g‖. With c/t it becomes short by itself; so does any step with a small c.",
      extra: bound,
      check: () => {
        const t = guesses.far !== "" && !hidden() ? farStop(fig.state(), now(), fired()) : null;
        return t !== null && `step ${t} is ${format(change(now(), t))} long, and f is still ${format(gap(now(), t))} above the minimum, `
          + `${format(gap(now(), t) / fig.get("eps"))} times ε: the test proves nothing, ${verdict("far", "any")}.`;
      },
    },
  ]);
}

export const usesSearch = ({ direction, rule }) => direction !== "exact" && SEARCHES.includes(rule);
