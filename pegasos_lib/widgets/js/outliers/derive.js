// What the outliers figure shows, as numbers: pure functions of its state.
import * as engine from "../engine.js";
import { SEEDS, named, oneOf, rightPoints, whole, within } from "../ui/clean.js";
import { format } from "../ui/format.js";

export const LIMITS = {
  share: [0, 0.5], lam: [1e-4, 10], threshold: [2, 6], gamma: [0.1, 0.9], n_iter: [1, 2000], points: 120, start: [-1000, 1000],
};
export const KIND_TEXTS = [["flipped", "a wrong label"], ["far", "far on the other side"]];
export const TEST_TEXTS = [
  ["full", "P of all examples"], ["alive", "P of those not removed"], ["instantaneous", "the loss of this batch"],
];
export const AXIS_TEXTS = [["steps", "steps"], ["work", "work: evaluations of an example"]];
export const MEASURE_TEXTS = [["all", "P of all examples"], ["clean", "P of the clean ones"]];
export const DEFAULTS = {
  X: [
    [2.22, -0.75], [-0.87, -0.97], [0.85, 0.54], [-2.21, -0.79], [0.62, 2.49], [-0.98, -0.85], [0.95, 0.29], [-1.68, -0.87], [1.37, 0.53], [-0.57, -0.77],
    [1.11, 1.51], [-0.8, -0.94], [1, 0.96], [-0.04, -0.81], [0.97, 1.21], [-1.59, -0.82], [1.59, 0.98], [-1.05, -0.29], [-0.46, 1.22], [-1.63, -1.58],
    [1.25, 1.05], [-1.34, -1.25], [1.11, 0.63], [-0.33, -0.25], [1.21, 1.27], [-1.21, -1.17], [1.42, 0.98], [-1.22, -1.09], [1.23, -0.71], [-0.72, -0.39],
    [0.2, 0.69], [-1.63, -0.24], [-0.02, 0.16], [-0.71, -0.02], [-0.09, 0.39], [-0.92, -1], [1.97, 0], [-0.91, -1.24], [1.87, 0.65], [-1.3, -1.61],
    [2.03, 1.07], [-0.69, -0.03], [1.29, 0.31], [-1.54, -1.1], [1.85, -0.14], [-1.43, -0.84], [1.22, 0.98], [-1.79, -1.61], [1.1, 1.33], [-0.68, -0.54],
    [0.93, 0.82], [-1.23, -0.21], [0.66, 0.73], [-1.16, -0.36], [1.22, 2.06], [-0.28, 0.16], [-0.02, 0.47], [-1.43, -0.37], [-0.15, 1.31], [-0.51, -1.38],
  ],
  y: Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? 1 : -1)),
  share: 0.2, outliers: "flipped", lam: 0.01, batch_size: 1, undo: false, two_out: true, threshold: 2, probability: false, gamma: 0.5,
  importance_weights: false, test: "full", start: [0, 0], seed: 1, n_iter: 1000, t: 200, axis: "steps", measure: "all",
};
/** What makes undo refuse every step for ever: one example, and w_1 = (1, 1) on its margin line (E001-09). */
export const KINK = { X: [[1, 0]], y: [1], share: 0, lam: 0.1, batch_size: 1, undo: true, two_out: false, probability: false, test: "full", start: [1, 1] };
const FAR = -2; // what a far point is multiplied by
const DOUBT = 0.5; // an example of lower weight than this is doubted
const P_MIN = 0.01;

// ------------------------------------------------------------------------------------ the state

/** Put right what a link or a trait may hold wrongly; lists that are right stay the same objects. */
export function clean(state) {
  const { X, y } = rightPoints(state, DEFAULTS, LIMITS.points);
  const n_iter = whole(state.n_iter, LIMITS.n_iter, DEFAULTS.n_iter);
  const right = state.start.length === 2 && state.start.every((value) => Math.abs(value) <= LIMITS.start[1]);
  return {
    X, y, n_iter,
    share: within(state.share, LIMITS.share, DEFAULTS.share),
    outliers: oneOf(state.outliers, named(KIND_TEXTS), DEFAULTS.outliers),
    lam: within(state.lam, LIMITS.lam, DEFAULTS.lam),
    batch_size: whole(state.batch_size, [1, X.length], 1),
    undo: Boolean(state.undo),
    two_out: Boolean(state.two_out),
    threshold: whole(state.threshold, LIMITS.threshold, DEFAULTS.threshold),
    probability: Boolean(state.probability),
    gamma: within(state.gamma, LIMITS.gamma, DEFAULTS.gamma),
    importance_weights: Boolean(state.importance_weights),
    test: oneOf(state.test, named(TEST_TEXTS), DEFAULTS.test),
    start: right ? state.start : DEFAULTS.start,
    seed: whole(state.seed, SEEDS, DEFAULTS.seed),
    t: whole(state.t, [0, n_iter], n_iter),
    axis: oneOf(state.axis, named(AXIS_TEXTS), DEFAULTS.axis),
    measure: oneOf(state.measure, named(MEASURE_TEXTS), DEFAULTS.measure),
  };
}

/** The points with outliers among them: {X, y, isOutlier}; a larger share keeps the outliers of a smaller one. */
export function contaminated({ X, y, share, outliers }) {
  const n = X.length;
  // A product like 0.29 * 100 may lie just below the whole number that is meant.
  const count = Math.floor(share * n + 1e-9);
  const chosen = new Set(engine.drawBatches(0, { n, nIter: n, sampling: "permutation" }).subarray(0, count));
  const isOutlier = X.map((_, i) => chosen.has(i));
  return {
    isOutlier,
    X: outliers === "far" ? X.map((row, i) => (isOutlier[i] ? row.map((value) => FAR * value) : row)) : X,
    y: outliers === "flipped" ? y.map((label, i) => (isOutlier[i] ? -label : label)) : y,
  };
}

// --------------------------------------------------------------------------------------- the run

/** Run the variant of a state, and plain Pegasos from the same seed. */
export function play(state) {
  const { lam, seed, n_iter: T, batch_size: batchSize, start } = state;
  const { X, y, isOutlier } = contaminated(state);
  const problem = engine.makeProblem(X, y, lam);
  const { n } = problem;
  const kept = (list) => list.filter((_, i) => !isOutlier[i]);
  const problems = { all: problem, clean: engine.makeProblem(kept(X), kept(y), lam) };
  const draws = engine.drawBatches(seed, { n, nIter: T, batchSize });
  const next = engine.mulberry32(seed + 2 ** 31); // a stream of its own: seeds lie below 2^31
  const run = engine.outlierPegasos(problem, {
    draws, batchSize, uniform: () => next() / 2 ** 32, start, pMin: P_MIN, test: state.test, undo: state.undo, weighted: state.importance_weights,
    twoOut: state.two_out ? state.threshold : null, gamma: state.probability ? state.gamma : null,
  });
  const plain = engine.sgd(problem, { draws, batchSize, start, project: true });
  const values = (W) => ({ all: engine.objectives(problems.all, W), clean: engine.objectives(problems.clean, W) });
  const batchAt = (t) => run.draws.subarray((t - 1) * batchSize, t * batchSize);

  // The steps at which each example was in the batch of a rise.
  const blamed = X.map(() => []);
  for (let t = 1; t <= T; t++) if (run.rose[t - 1]) for (const i of new Set(batchAt(t))) blamed[i].push(t);
  const timesAt = (i, t) => {
    let count = 0;
    while (count < blamed[i].length && blamed[i][count] <= t) count++;
    return count;
  };
  const weightOf = (times) => {
    let p = 1;
    if (state.probability) for (let s = 0; s < times && p > P_MIN; s++) p = Math.max(P_MIN, state.gamma * p);
    return p;
  };
  // How many rises it takes until an example is doubted.
  let patience = 0;
  while (weightOf(patience) >= DOUBT && patience < 100) patience++;
  const doubtedAt = blamed.map((steps) => (state.probability ? steps[patience - 1] ?? Infinity : Infinity));
  const flaggedAt = blamed.map((steps) => (state.two_out ? steps[0] ?? Infinity : Infinity));
  const since = { removed: [...run.removedAt], doubted: doubtedAt, flagged: flaggedAt };
  const outliers = isOutlier.filter(Boolean).length;
  const who = state.two_out ? "removed" : state.probability ? "doubted" : null;

  // Suspects, outliers among them and rises until each step.
  const [suspects, caught, rises] = [new Int32Array(T + 1), new Int32Array(T + 1), new Int32Array(T + 1)];
  if (who) {
    since[who].forEach((t, i) => {
      if (t === Infinity) return;
      suspects[t]++;
      if (isOutlier[i]) caught[t]++;
    });
  }
  for (let t = 1; t <= T; t++) {
    suspects[t] += suspects[t - 1];
    caught[t] += caught[t - 1];
    rises[t] = rises[t - 1] + run.rose[t - 1];
  }
  return {
    problem, problems, X, y, isOutlier, outliers, draws, run, plain, T, who, suspects, caught, rises, batchAt,
    best: { all: engine.optimum(problems.all), clean: engine.optimum(problems.clean) },
    values: values(run.W), plainValues: values(plain),
    plainWorkAt: (t) => batchSize * t,
    wAt: (t) => [run.W[2 * t], run.W[2 * t + 1]],
    candidateAt: (t) => [run.candidates[2 * t - 2], run.candidates[2 * t - 1]],
    refusedAt: (t) => t > 0 && state.undo && run.rose[t - 1] === 1,
    flagsAt: (i, t) => (state.two_out ? timesAt(i, t) : 0),
    weightAt: (i, t) => weightOf(timesAt(i, t)),
    isAt: (what, i, t) => since[what][i] <= t,
    countAt: (what, t) => since[what].filter((s) => s <= t).length,
    removedAt: (i) => run.removedAt[i],
    /** {precision, recall} of the suspects after t steps; null where there is nothing to divide by. */
    scoreAt: (t) => ({
      precision: suspects[t] > 0 ? caught[t] / suspects[t] : null, recall: who && outliers > 0 ? caught[t] / outliers : null,
    }),
  };
}

/** The longest stretch of refused steps, in which P stays at least `least` above P*: {from, to}, or null. */
export function longestStall({ undo }, { run, values, best, T }, least = 0) {
  if (!undo) return null;
  let longest = null;
  for (let t = 1; t <= T; t++) {
    if (!run.rose[t - 1] || values.all[t] - best.all.value < least) continue;
    const from = t;
    while (t < T && run.rose[t]) t++;
    if (!longest || t - from > longest.to - longest.from) longest = { from, to: t };
  }
  return longest;
}

/** How many steps in a row, the last one being t, were refused. */
export function refusedInARow({ undo }, { run }, t) {
  let from = t;
  while (undo && from > 0 && run.rose[from - 1]) from--;
  return t - from;
}

/** Makes `run(state)`, which keeps the last run while nothing that it hangs on changes. */
export function laboratory() {
  let kept = { key: "" };
  return (state) => {
    const key = JSON.stringify({ ...state, t: 0, axis: "", measure: "" });
    if (kept.key !== key) kept = { key, run: play(state) };
    return kept.run;
  };
}

// ----------------------------------------------------------------------------------------- tasks

export const GOALS = {
  stall: 300, above: 0.04, clean: 30, threshold: 4, caught: 8, precision: 0.75, share: 0.2, other: 8,
};
export const percent = (value) => (value === null ? "none" : `${Math.round(100 * value)} %`);

/** `check(state, run, guess)`: whether a task is reached, and what is then said; the guess comes first. */
export const TASKS = [
  {
    id: "stall",
    text: `Make undo stall: at least ${GOALS.stall} steps in a row refused, while P stays ${GOALS.above} or more above its least value. `
      + "Say first whether that takes a small or a large λ.",
    hint: "From w = 0, where P = 1, the first candidates are as long as 1/(λt). Until when is P higher there than 1? "
      + "Or look at the one example of E001-09, where the reason is another.",
    check: (state, run, guess) => {
      const stall = guess && longestStall(state, run, GOALS.above);
      if (!stall || stall.to - stall.from + 1 < GOALS.stall) return false;
      const { values, best, T } = run;
      const at = values.all[stall.to];
      return `with λ = ${format(state.lam)} all steps from ${stall.from} to ${stall.to}${stall.to === T ? ", the last one," : ""} were refused, at `
        + `P = ${format(at)}, ${format(at - best.all.value)} above the least value. You guessed a ${guess} λ.`;
    },
  },
  {
    id: "clean",
    text: `Without a single outlier, make two-out remove ${GOALS.clean} points or more in spite of a threshold of ${GOALS.threshold} flags or more. `
      + "Say first how many it will remove.",
    hint: "Flags are never taken back. What does a longer run do, and what a larger batch, all of which is flagged at a rise?",
    check: ({ share, X, two_out, threshold }, { outliers, suspects, T }, guess) => guess !== null && share === 0 && outliers === 0 && two_out
      && threshold >= GOALS.threshold && suspects[T] >= GOALS.clean
      && `${suspects[T]} of ${X.length} clean points were removed in ${T} steps, ${X.length - suspects[T]} left. Your guess was ${guess}.`,
  },
  {
    id: "precision",
    text: `With at most ${GOALS.share * 100} % outliers, find a step at which two-out has removed ${GOALS.caught} examples or more, and ${percent(GOALS.precision)} `
      + "or more of them are outliers. Say first whether larger batches make the precision rise or fall.",
    hint: "Who is removed early is removed for a reason; later everybody collects flags by and by. The third panel shows where the precision is high. "
      + "A smaller λ and a higher threshold help.",
    check: (state, run, guess) => {
      const { t, batch_size, two_out, share, X } = state;
      const { precision, recall } = run.scoreAt(t);
      if (!guess || !two_out || share > GOALS.share || run.suspects[t] < GOALS.caught || precision < GOALS.precision) return false;
      const k = batch_size < GOALS.other ? Math.min(GOALS.other, X.length) : 1;
      const other = play({ ...state, batch_size: k, n_iter: Math.max(t, 1) });
      return `after ${t} steps ${run.suspects[t]} are removed, ${percent(precision)} of them outliers, ${percent(recall)} of all outliers. `
        + `With k = ${k} in place of ${batch_size} it would be ${other.suspects[t]}, ${percent(other.scoreAt(t).precision)} of them outliers. `
        + `You guessed that larger batches make it ${guess}.`;
    },
  },
];
