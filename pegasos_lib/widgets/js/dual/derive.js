// What the dual figure shows, as numbers: pure functions of its state.
import * as engine from "../engine.js";
import { SEEDS, named, oneOf, rightPoints, whole, within } from "../ui/clean.js";
import { format } from "../ui/format.js";

export const LIMITS = { lam: [1e-3, 10], n_epochs: [1, 50], moves: 2000, points: 40 };
export const ORDER_TEXTS = [
  ["permutation", "shuffled each epoch"], ["random", "drawn at random"], ["you", "you choose"],
];
export const START_TEXTS = [["zero", "α = 0"], ["sgd", "after one SGD pass"]];
export const VIEW_TEXTS = [["gap", "the gap, both axes logarithmic"], ["values", "primal and dual, epochs logarithmic"]];
export const DEFAULTS = {
  X: [[0.2, -0.5], [-0.5, -1.3], [1.4, 1], [2.4, 1], [-0.5, -0.7], [1.4, 0.3], [-1.4, -1], [0, 0.6], [-1.5, 0.2],
    [-1.5, -0.5], [-1, 2], [-0.9, -1]],
  y: [1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1],
  lam: 0.1, order: "permutation", start: "zero", n_epochs: 10, seed: 1, picks: [], values: [], printed: false, t: 12, view: "gap",
};
export const EXACT = -1; // in `values`: the step is the exact one

// ------------------------------------------------------------------------------------ the state

/** Put right what a link or a trait may hold wrongly; lists that are right stay the same objects. */
export function clean(state) {
  const { X, y } = rightPoints(state, DEFAULTS, LIMITS.points);
  const known = (i) => Number.isInteger(i) && i >= 0 && i < X.length;
  const value = (v) => v === EXACT || (v >= 0 && v <= 1);
  const { picks, values } = state.picks.length <= LIMITS.moves && state.picks.every(known)
    && state.values.length <= LIMITS.moves && state.values.every(value) ? state : mended(state, known, value);
  const n_epochs = whole(state.n_epochs, LIMITS.n_epochs, DEFAULTS.n_epochs);
  const order = oneOf(state.order, named(ORDER_TEXTS), DEFAULTS.order);
  return {
    X, y, order, n_epochs, picks, values,
    lam: within(state.lam, LIMITS.lam, DEFAULTS.lam),
    start: oneOf(state.start, named(START_TEXTS), DEFAULTS.start),
    seed: whole(state.seed, SEEDS, DEFAULTS.seed),
    printed: Boolean(state.printed),
    t: whole(state.t, [0, lengthOf({ y, order, n_epochs, picks })], 0),
    view: oneOf(state.view, named(VIEW_TEXTS), DEFAULTS.view),
  };
}

// Moves whose example is not there are left out, with what they set.
function mended({ picks, values }, known, value) {
  const kept = picks.map((i, k) => [i, value(values[k]) ? values[k] : EXACT]).filter(([i]) => known(i)).slice(0, LIMITS.moves);
  return { picks: kept.map(([i]) => i), values: kept.map(([, v]) => v) };
}

/** How many steps there are. */
export const lengthOf = ({ y, order, n_epochs, picks }) => (order === "you" ? picks.length : n_epochs * y.length);

/** The state with one move more after the step that is shown: to `value`, or by EXACT to the maximiser. */
export function withMove(state, draws, i, value = EXACT) {
  const picks = [...draws.slice(0, state.t)];
  const values = picks.map((_, k) => (state.order === "you" ? state.values[k] ?? EXACT : EXACT));
  // A bar that is dragged is set many times: that is one move.
  const again = value !== EXACT && picks.length > 0 && picks.at(-1) === i && values.at(-1) !== EXACT;
  if (again) values[values.length - 1] = value;
  else if (picks.length < LIMITS.moves) {
    picks.push(i);
    values.push(value);
  }
  return { order: "you", picks, values: values.every((v) => v === EXACT) ? [] : values, t: picks.length };
}

// ----------------------------------------------------------------------------------------- steps

const clip = (value) => Math.min(1, Math.max(0, value));

/** Where a step would put alpha_i: the maximiser of the dual in that coordinate, or what document 004 prints. */
export function target({ Z, y, n, lam }, alpha, [u, v], i, printed = false) {
  const [a, b] = [Z[2 * i], Z[2 * i + 1]];
  const square = a * a + b * b;
  const margin = a * u + b * v;
  // <w, x_i> = y_i m_i: the printed y_i (1 - <w, x_i>) is y_i - m_i.
  const slack = printed ? y[i] - margin : 1 - margin;
  return square > 0 ? clip(alpha[i] + (lam * n * slack) / square) : 1;
}

function startOf({ start, seed }, { Z, n, lam }) {
  const alpha = new Float64Array(n);
  if (start === "zero") return alpha;
  // A stream of its own: the seeds of the orders lie below 2^31.
  const order = engine.drawBatches(seed + 2 ** 31, { n, nIter: n, sampling: "permutation" });
  const v = [0, 0]; // the sum of alpha_j y_j x_j so far
  order.forEach((i, k) => {
    const [a, b] = [Z[2 * i], Z[2 * i + 1]];
    const square = a * a + b * b;
    alpha[i] = square > 0 ? clip((lam * (k + 1) - (a * v[0] + b * v[1])) / square) : 1;
    v[0] += alpha[i] * a;
    v[1] += alpha[i] * b;
  });
  return alpha;
}

function drawsOf({ order, seed, n_epochs, picks }, n) {
  if (order === "you") return Int32Array.from(picks);
  return engine.drawBatches(seed, { n, nIter: n_epochs * n, sampling: order === "random" ? "iid" : order });
}

/** How far each example is from its case: (1 - alpha_i)(1 - m_i)_+ + alpha_i (m_i - 1)_+; their mean is the gap. */
export const coordinateGap = (alpha, margin) => (margin < 1 ? (1 - alpha) * (1 - margin) : alpha * (margin - 1));

// ------------------------------------------------------------------------------------------- cases

const TOLERANCE = 1e-3;
const END = 1e-12; // as near to 0 or 1 is rounding
export const CASES = [
  { name: "zero", text: "α = 0", needs: "margin ≥ 1" }, { name: "inside", text: "0 < α < 1", needs: "margin = 1" }, { name: "one", text: "α = 1", needs: "margin ≤ 1" },
];

/** Which of the cases alpha is in: 0, 1 (inside) or 2. */
export const caseOf = (alpha) => (alpha <= END ? 0 : alpha >= 1 - END ? 2 : 1);

/** Where alpha wants to go: 1 up, -1 down, 0 where its case holds, to a thousandth in the margin. */
export function wish(alpha, margin) {
  if (margin < 1 - TOLERANCE && alpha < 1 - END) return 1;
  return margin > 1 + TOLERANCE && alpha > END ? -1 : 0;
}

/** The case at w*, by the margin there. */
export const caseAtBest = (margin) => (Math.abs(margin - 1) < 1e-6 ? 1 : margin > 1 ? 0 : 2);

// --------------------------------------------------------------------------------------- the run

/** Take a state's steps: dual points, w, primal, dual and gap after each. */
export function play(state) {
  const { X, y, lam, values } = state;
  const problem = engine.makeProblem(X, y, lam);
  const { Z, n } = problem;
  const draws = drawsOf(state, n);
  const T = draws.length;
  const given = state.order === "you" ? values : [];
  const A = new Float64Array((T + 1) * n);
  const W = new Float64Array((T + 1) * 2);
  const [duals, gaps] = [new Float64Array(T + 1), new Float64Array(T + 1)];
  const alpha = startOf(state, problem);
  for (let t = 0; t <= T; t++) {
    if (t > 0) {
      const i = draws[t - 1];
      const value = given[t - 1] ?? EXACT;
      alpha[i] = value === EXACT ? target(problem, alpha, [W[2 * t - 2], W[2 * t - 1]], i, state.printed) : value;
    }
    const w = engine.weights(problem, alpha);
    A.set(alpha, t * n);
    W.set(w, 2 * t);
    let [sum, gap] = [0, 0];
    for (let i = 0; i < n; i++) {
      sum += alpha[i];
      gap += coordinateGap(alpha[i], Z[2 * i] * w[0] + Z[2 * i + 1] * w[1]);
    }
    duals[t] = sum / n - (lam / 2) * (w[0] * w[0] + w[1] * w[1]);
    gaps[t] = gap / n;
  }
  const best = engine.optimum(problem);
  const alphaAt = (t) => A.subarray(t * n, (t + 1) * n);
  const wAt = (t) => [W[2 * t], W[2 * t + 1]];
  return {
    problem, draws, T, W, best, duals, gaps, primals: engine.objectives(problem, W),
    bestMargins: [...engine.margins(problem, best.w)],
    alphaAt, wAt,
    setAt: (t) => given[t - 1] ?? EXACT,
    marginsAt: (t) => [...engine.margins(problem, wAt(t))],
    wishAt: (t) => X.map((_, i) => wish(alphaAt(t)[i], Z[2 * i] * W[2 * t] + Z[2 * i + 1] * W[2 * t + 1])),
    targetsAt: (t) => X.map((_, i) => target(problem, alphaAt(t), wAt(t), i, state.printed)),
    /** The first number of steps after which the gap is at most `level`, or Infinity. */
    reaches: (level) => {
      const t = gaps.findIndex((gap) => gap <= level);
      return t < 0 ? Infinity : t;
    },
  };
}

/** A gap in words: what is smaller than rounding is not told in digits. */
export const gapText = (gap) => (gap > 0 && gap < 1e-15 ? "below 10⁻¹⁵" : format(gap));

/** What a run is compared with: right steps where they are printed ones, a random order where the reader chooses. */
export function besideOf(state) {
  if (state.printed) return { ...state, printed: false };
  return state.order === "you" ? { ...state, order: "permutation", n_epochs: 15 } : null;
}

/** Makes `run(state)`, which keeps the last run while nothing that it hangs on changes. */
export function laboratory() {
  let kept = { key: "" };
  return (state) => {
    const key = JSON.stringify({ ...state, t: 0, view: "" });
    if (kept.key !== key) kept = { key, run: play(state) };
    return kept.run;
  };
}

// ----------------------------------------------------------------------------------------- tasks

export const GOALS = { gap: 0.01, lam: 0.1 };
export const label = (y) => (y > 0 ? "+1" : "−1");
const few = (list) => (list.length > 0 ? list.map((i) => i + 1).join(", ") : "none");

/**
 * `check(state, run, guess)`: whether a task is reached, and what is then said; the guess comes first.
 * The guess of "slack" is the list of cases that the reader gives and has asked to check.
 */
export const TASKS = [
  {
    id: "gap",
    text: `From α = 0, bring the gap to ${GOALS.gap} or less with exact steps that you choose, at most n (one epoch), with λ ≤ ${GOALS.lam}. `
      + "Say first how many steps a random order takes.",
    hint: "The mark across a bar shows where the exact step would put it. A step on a bar that stands at its mark changes nothing: "
      + "which one is farthest from its mark?",
    check: (state, { T, gaps, problem, setAt }, guess) => {
      const { order, start, printed, lam } = state;
      if (guess === null || order !== "you" || start !== "zero" || printed || lam > GOALS.lam || T === 0 || T > problem.n) return false;
      for (let t = 1; t <= T; t++) if (setAt(t) !== EXACT) return false;
      if (gaps[T] > GOALS.gap) return false;
      const random = play({ ...state, order: "permutation", n_epochs: LIMITS.n_epochs[1] }).reaches(GOALS.gap);
      return `gap ${format(gaps[T])} after ${T} steps. The random order with seed ${state.seed} takes `
        + `${random === Infinity ? "more than 50 epochs" : random}; your guess was ${guess}.`;
    },
  },
  {
    id: "slack",
    text: "Which examples have α = 0 at the optimum, which 1, and which lie inside? Tell it from the line of w* and its margins alone, "
      + "until all are right.",
    hint: "Complementary slackness: beyond its margin line an example has nothing to lose, so α = 0; within or on the wrong side it pays, so α = 1; "
      + "only on its margin line may α be anything.",
    check: ({ y }, { bestMargins }, guess) => {
      const cases = bestMargins.map(caseAtBest);
      if (guess === null || guess.length !== y.length || guess.some((value, i) => value !== cases[i])) return false;
      const of = (value) => few(y.map((_, i) => i).filter((i) => cases[i] === value));
      return `margin > 1, so α = 0: ${of(0)}. Margin 1, α inside: ${of(1)}. Margin < 1, so α = 1: ${of(2)}.`;
    },
  },
  {
    id: "printed",
    text: "Take the step as document 004 prints it, and find one that makes the dual smaller. Say first which label its example has.",
    hint: "The printed step is right for one label. For the other it lowers α wherever the margin is above −1. "
      + "So it does harm where such an α is above 0: after an SGD pass, or after you set one.",
    check: ({ printed, t, y }, { duals, draws, setAt }, guess) => Boolean(guess) && printed && t > 0 && setAt(t) === EXACT
      && duals[t] < duals[t - 1] - 1e-9
      && `step ${t} on example ${draws[t - 1] + 1}, label ${label(y[draws[t - 1]])}, took the dual from ${format(duals[t - 1])} to `
        + `${format(duals[t])}. You guessed ${guess}. For the label +1 both formulas agree.`,
  },
];
