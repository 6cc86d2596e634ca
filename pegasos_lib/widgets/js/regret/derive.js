// What the regret figure shows, as numbers: pure functions of its state.
import * as engine from "../engine.js";
import { SEEDS, named, oneOf, rightPoints, whole, within } from "../ui/clean.js";
import { format, logSpaced } from "../ui/format.js";

export const LIMITS = { lam: [1e-4, 10], n_iter: [1, 2000], points: 40 };
export const STREAM_TEXTS = [
  ["iid", "random: independent draws"], ["cyclic", "in turn: 1, 2, 3, …"], ["adversary", "an adversary"], ["you", "you choose each one"],
];
export const RULE_TEXTS = [
  ["pegasos", "1/(λt)"], ["inverse-sqrt", "D/(G√t)"], ["constant", "D/(G√T), constant"], ["printed", "G/√t, a misprint"],
];
export const VIEW_TEXTS = [
  ["loglog", "regret, both axes logarithmic"], ["log", "regret, t logarithmic"], ["linear", "regret, linear axes"],
  ["average", "regret/t, both logarithmic"],
];
export const DEFAULTS = {
  X: [[2.2, 1], [1.4, -0.6], [0.4, 1.9], [2.3, -0.1], [0.9, 0.5], [-0.5, 0.9], [-2, -1.1], [-1.5, 0.4], [-0.4, -1.9],
    [-2.3, -0.3], [-1, -0.7], [1.7, 1.7]],
  y: [1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1],
  lam: 0.002, stream: "iid", rule: "pegasos", n_iter: 500, seed: 1, picks: [], t: 500, view: "loglog",
};
// Losses that differ by less are equal for the adversary: rounding must not choose for it.
const TIE = 1e-9;

// ------------------------------------------------------------------------------------ the state

/** Put right what a link or a trait may hold wrongly; lists that are right stay the same objects. */
export function clean(state) {
  const { X, y } = rightPoints(state, DEFAULTS, LIMITS.points);
  const known = (i) => Number.isInteger(i) && i >= 0 && i < X.length;
  const picks = state.picks.length <= LIMITS.n_iter[1] && state.picks.every(known)
    ? state.picks : state.picks.filter(known).slice(0, LIMITS.n_iter[1]);
  const n_iter = whole(state.n_iter, LIMITS.n_iter, DEFAULTS.n_iter);
  const stream = oneOf(state.stream, named(STREAM_TEXTS), DEFAULTS.stream);
  return {
    X, y, stream, n_iter, picks,
    lam: within(state.lam, LIMITS.lam, DEFAULTS.lam),
    rule: oneOf(state.rule, named(RULE_TEXTS), DEFAULTS.rule),
    seed: whole(state.seed, SEEDS, DEFAULTS.seed),
    t: whole(state.t, [0, lengthOf({ stream, n_iter, picks })], 0),
    view: oneOf(state.view, named(VIEW_TEXTS), DEFAULTS.view),
  };
}

/** How many steps the run has: as many as asked for, or as the reader has made. */
export const lengthOf = ({ stream, n_iter, picks }) => (stream === "you" ? Math.min(picks.length, n_iter) : n_iter);

// ------------------------------------------------------------------------------- rules and bounds

/** G, D and the radius of the ball that w is kept in. */
export function sizes(lam, R) {
  const radius = 1 / Math.sqrt(lam);
  return { radius, D: 2 * radius, G: lam * radius + R };
}

/** The rule as engine.js takes it: {step, c}. */
export function stepOf({ rule, n_iter }, { G, D }) {
  if (rule === "pegasos") return { step: "pegasos", c: 1 };
  if (rule === "constant") return { step: "constant", c: D / G / Math.sqrt(n_iter) };
  return { step: "inverse-sqrt", c: rule === "printed" ? G : D / G };
}

export const logBound = (T, lam, { G }) => (G * G * (1 + Math.log(T))) / (2 * lam);
export const rootBound = (T, { G, D }) => 1.5 * G * D * Math.sqrt(T);

/** The bound of the rule's own theorem after t steps. */
export function boundOf({ rule, lam, n_iter }, size, t) {
  const { G, D } = size;
  if (rule === "pegasos") return logBound(t, lam, size);
  if (rule === "inverse-sqrt") return rootBound(t, size);
  if (rule === "printed") return ((D * D) / (2 * G) + G ** 3) * Math.sqrt(t);
  const eta = D / G / Math.sqrt(n_iter);
  return (D * D) / (2 * eta) + (eta * G * G * t) / 2;
}

/** The T from which on the logarithmic bound is at most the other: with s = √T they meet where cs = 1 + 2 ln s. */
export function crossover(lam, { G, D }) {
  const c = (3 * lam * D) / G;
  if (c >= 2 / Math.sqrt(Math.E)) return 1;
  // 1 + 2 ln s - cs is concave with its top at 2/c: from the right, Newton's method descends to the later root.
  let s = 4 / c;
  while (1 + 2 * Math.log(s) > c * s) s *= 2;
  for (let i = 0; i < 50; i++) s -= (1 + 2 * Math.log(s) - c * s) / (2 / s - c);
  return Math.ceil(s * s);
}

/** The least λ whose bounds cross at T or before. */
export function leastLambda(T, R) {
  const c = (1 + Math.log(T)) / Math.sqrt(T); // = 3λD/G = 6√λ/(√λ + R)
  return ((c * R) / (6 - c)) ** 2;
}

// ------------------------------------------------------------------------------------ the stream

/** The adversary's choice at w: the largest loss, among equals the longest, then the first. */
export function worst({ Z, n }, [u, v]) {
  const losses = Array.from({ length: n }, (_, i) => Math.max(0, 1 - (Z[2 * i] * u + Z[2 * i + 1] * v)));
  const most = Math.max(...losses) - TIE;
  const square = (i) => Z[2 * i] * Z[2 * i] + Z[2 * i + 1] * Z[2 * i + 1];
  let best = -1;
  for (let i = 0; i < n; i++) if (losses[i] >= most && (best < 0 || square(i) > square(best))) best = i;
  return best;
}

function adversaryDraws(problem, { step, c }, radius, T) {
  const { Z, lam } = problem;
  const draws = new Int32Array(T);
  const w = [0, 0];
  for (let t = 1; t <= T; t++) {
    const i = worst(problem, w);
    draws[t - 1] = i;
    const eta = engine.stepSize(step, t, lam, c);
    const push = Z[2 * i] * w[0] + Z[2 * i + 1] * w[1] < 1 ? eta : 0;
    for (let j = 0; j < 2; j++) w[j] = (1 - eta * lam) * w[j] + push * Z[2 * i + j];
    engine.projectBall(w, radius);
  }
  return draws;
}

function drawsOf(state, problem, size) {
  const { stream, seed, picks, n_iter: nIter } = state;
  const n = problem.n;
  if (stream === "iid") return engine.drawBatches(seed, { n, nIter });
  if (stream === "cyclic") return Int32Array.from({ length: nIter }, (_, t) => t % n);
  if (stream === "you") return Int32Array.from(picks.slice(0, nIter));
  return adversaryDraws(problem, stepOf(state, size), size.radius, nIter);
}

// --------------------------------------------------------------------------------------- the run

/** The best point in hindsight for examples that came counts[i] times: {w, value}, value the mean of their f. */
function hindsight({ X, y, lam }, counts) {
  const came = X.map((_, i) => i).filter((i) => counts[i] > 0);
  const of = (list) => came.map((i) => list[i]);
  return engine.optimum(engine.makeProblem(of(X), of(y), lam), { counts: of(counts), tolerance: 1e-11 });
}

// Step counts at which the regret is measured, each of which costs an optimum: enough for linear and logarithmic axes.
function gridOf(T) {
  if (T === 0) return [];
  const evenly = Array.from({ length: 40 }, (_, i) => Math.ceil(((i + 1) * T) / 40));
  return [...new Set([...logSpaced(T, 50), ...evenly])].sort((a, b) => a - b);
}

/** Play a state's stream to the learner, and measure its regret. */
export function play(state) {
  const { X, y, lam } = state;
  const problem = engine.makeProblem(X, y, lam);
  const size = sizes(lam, problem.R);
  const draws = drawsOf(state, problem, size);
  const T = draws.length;
  const { step, c } = stepOf(state, size);
  const W = engine.sgd(problem, { draws, nIter: T, step, c, project: true });
  const best = engine.optimum(problem);
  const lossOf = (i, [u, v]) => Math.max(0, 1 - (problem.Z[2 * i] * u + problem.Z[2 * i + 1] * v));
  const pays = (i, w) => (lam / 2) * (w[0] * w[0] + w[1] * w[1]) + lossOf(i, w);

  const paid = new Float64Array(T); // f_t(w_t)
  const total = new Float64Array(T + 1); // their sum after t steps
  const beside = new Float64Array(T + 1); // the sum less that of f_t(w*)
  for (let t = 1; t <= T; t++) {
    paid[t - 1] = pays(draws[t - 1], [W[2 * t - 2], W[2 * t - 1]]);
    total[t] = total[t - 1] + paid[t - 1];
    beside[t] = beside[t - 1] + paid[t - 1] - pays(draws[t - 1], best.w);
  }
  const countsAt = (t) => {
    const counts = new Array(problem.n).fill(0);
    for (let s = 0; s < t; s++) counts[draws[s]]++;
    return counts;
  };
  const known = new Map();
  const inHindsight = (t, counts = countsAt(t)) => {
    if (!known.has(t)) known.set(t, hindsight(state, counts));
    return known.get(t);
  };
  const regretAt = (t, counts) => (t === 0 ? 0 : total[t] - t * inHindsight(t, counts).value);

  const grid = gridOf(T);
  const counts = new Array(problem.n).fill(0);
  let done = 0;
  const regrets = grid.map((t) => {
    for (; done < t; done++) counts[draws[done]]++;
    return regretAt(t, counts);
  });
  return {
    problem, size, draws, T, W, best, paid, grid, regrets, regretAt, inHindsight, countsAt,
    besides: grid.map((t) => beside[t]),
    besideAt: (t) => beside[t],
    iterate: (t) => [W[2 * t], W[2 * t + 1]],
    lossesAt: (t) => X.map((_, i) => lossOf(i, [W[2 * t], W[2 * t + 1]])),
    etaAt: (t) => engine.stepSize(step, t, lam, c),
    bound: (t) => boundOf(state, size, t),
    crossing: crossover(lam, size),
  };
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

export const GOALS = { crossover: 5000, share: 0.5, steps: 200, few: 50 };
export const percent = (share) => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`.replace("-", "−");

/** `check(state, run, guess)`: whether a task is reached, and what is then said; the guess comes first. */
export const TASKS = [
  {
    id: "crossover",
    text: `Find a λ at which the logarithmic bound is the smaller one from some T ≤ ${GOALS.crossover.toLocaleString("en")} on. `
      + "Say first how small λ can be for that.",
    hint: "The right panel marks where the two bounds cross. A larger λ makes the logarithmic bound smaller as 1/λ, "
      + "the other one through D as 1/√λ only. Write your guess into the field, then move λ.",
    check: ({ lam }, { crossing, problem }, guess) => guess !== null && crossing <= GOALS.crossover
      && `with λ = ${format(lam)} from T = ${crossing.toLocaleString("en")} on. The smallest λ that does it here is `
        + `${format(leastLambda(GOALS.crossover, problem.R))}; your guess was ${format(guess)}.${crossing > 1 ? " Just before that T the √T bound promises more." : ""}`,
  },
  {
    id: "tight",
    text: `Make the regret of the steps 1/(λt) reach half of its bound after ${GOALS.steps} steps or more. Say first which stream it takes.`,
    hint: "A random stream pays a tenth. Examples 1 and 12 are neighbours and disagree: who would send them by turns? "
      + "Then look for the λ and the T at which the share is largest.",
    check: ({ rule }, { T, regretAt, bound }, guess) => Boolean(guess) && rule === "pegasos" && T >= GOALS.steps
      && regretAt(T) >= GOALS.share * bound(T)
      && `${percent(regretAt(T) / bound(T))} of the bound after ${T} steps; you guessed “${Object.fromEntries(STREAM_TEXTS)[guess]}”. `
        + "No bound that holds for every stream can be less than this here.",
  },
  {
    id: "printed",
    text: `Make the misprinted step G/√t pay more, after ${GOALS.few} steps or more, than the bound (3/2)GD√T of the step D/(G√t). `
      + "Say first whether that takes a small or a large λ.",
    hint: "The two steps differ by the factor G²/D, with G = √λ + R and D = 2/√λ. For which λ is the printed step far too long?",
    check: ({ rule, lam }, { T, regretAt, size }, guess) => Boolean(guess) && rule === "printed" && T >= GOALS.few
      && regretAt(T) > rootBound(T, size)
      && `with λ = ${format(lam)} the printed step is ${format(size.G ** 2 / size.D)} times as long as the right one, and its regret `
        + `${format(regretAt(T) / rootBound(T, size))} times the bound of the right one. You guessed a ${guess} λ.`,
  },
];
