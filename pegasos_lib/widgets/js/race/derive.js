// What the race figure shows, as numbers: pure functions of its state and of the results of benchmarks/race.py.
import { named, oneOf } from "../ui/clean.js";
import { format } from "../ui/format.js";

export const OPTIMIZERS = ["GD", "projected GD", "SGD", "SMD", "SEG±", "AdaGrad", "Pegasos"];
export const BATCH = ["GD", "projected GD"];
export const LAMS = [0.001, 0.01, 0.1, 1, 10];
export const SET_TEXTS = [["l1", "the l1 ball, but for GD"], ["own", "each its own"]];
export const OUTPUT_TEXTS = [["last", "the last iterate"], ["average", "the mean of all"]];
export const AXIS_TEXTS = [["iterations", "iterations"], ["passes", "passes over the data"], ["time", "seconds"]];
export const DEFAULTS = {
  optimizers: OPTIMIZERS, lam: 0.01, feasible: "l1", output: "last", axis: "iterations", focus: "Pegasos", at: 10000,
};
export const TITLES = {
  GD: "batch subgradient descent, steps 1/(λt)",
  "projected GD": "the same, projected onto a set",
  SGD: "stochastic subgradient descent, steps 1/√t",
  SMD: "stochastic mirror descent, lazy, with a constant step",
  "SEG±": "stochastic exponentiated gradient, with a constant step",
  AdaGrad: "a step size of its own for each pixel",
  Pegasos: "stochastic subgradient descent, steps 1/(λt)",
};
const START = 1; // P(0): every hinge loss is 1 there
// What lies lower is drawn on the lowest line: the minima are known to about this.
export const FLOOR = 1e-5;

// ------------------------------------------------------------------------------------ the state

/** Put right what a link or a trait may hold wrongly; a list that is right stays the same object. */
export function clean(state) {
  const given = state.optimizers;
  const known = OPTIMIZERS.filter((name) => given.includes(name));
  const kept = known.length > 0 ? known : DEFAULTS.optimizers;
  const optimizers = String(kept) === String(given) ? given : kept;
  return {
    optimizers,
    lam: oneOf(Number(state.lam), LAMS, DEFAULTS.lam),
    feasible: oneOf(state.feasible, named(SET_TEXTS), DEFAULTS.feasible),
    output: oneOf(state.output, named(OUTPUT_TEXTS), DEFAULTS.output),
    axis: oneOf(state.axis, named(AXIS_TEXTS), DEFAULTS.axis),
    focus: oneOf(state.focus, optimizers, optimizers.at(-1)),
    at: Number.isFinite(state.at) ? Math.max(1, Math.round(state.at)) : DEFAULTS.at,
  };
}

// ---------------------------------------------------------------------------------- the results

export const kindOf = (name) => (BATCH.includes(name) ? "batch" : "online");
/** Which minimiser an optimizer can reach. */
export const comparator = (name, feasible) => (name === "SEG±" || (feasible === "l1" && name !== "GD") ? "l1" : "free");

/** A sentence on what is missing for the figure, or "". */
export function missing(results) {
  if (!results) {
    return "This figure shows measured results, and here are none: in a notebook give it those of `python -m benchmarks.race`, "
      + "RaceExplorer(\"_data/race.json\") in the folder of the chapters.";
  }
  return Array.isArray(results.runs) && results.iterations && results.passes && results.optimum ? ""
    : "The results that this figure was given are not those of `python -m benchmarks.race`: it cannot draw them.";
}

/** The run that was measured in a setting; GD has only its own set, SEG± only the l1 ball. */
function runOf(results, { lam, feasible, output }, name) {
  const set = comparator(name, feasible) === "l1" ? "l1" : "own";
  const run = results.runs.find((r) => r.optimizer === name && r.lam === lam && r.set === set && r.output === output);
  if (!run) throw new Error(`the results hold no run of ${name} at λ = ${lam}`);
  return run;
}
const optimumOf = (results, lam) => Object.entries(results.optimum).find(([key]) => Number(key) === lam)[1];

/** The number of the entry of `list` that is nearest to `value`, by ratio. */
export function nearest(list, value) {
  const off = (entry) => Math.abs(Math.log(entry / value));
  return list.reduce((best, entry, i) => (off(entry) < off(list[best]) ? i : best), 0);
}

/** All that is drawn: a curve for each optimizer, the marker, and what is read off there. */
export function derive(results, state) {
  const optimum = optimumOf(results, state.lam);
  const curves = OPTIMIZERS.filter((name) => state.optimizers.includes(name)).map((name) => {
    const run = runOf(results, state, name);
    const kind = kindOf(name);
    const xs = { iterations: results.iterations[kind], passes: results.passes[kind], time: run.seconds };
    return { name, kind, run, xs, x: xs[state.axis], least: optimum[comparator(name, state.feasible)].P };
  });
  const focus = curves.find(({ name }) => name === state.focus);
  const point = nearest(focus.xs.iterations, state.at);
  const marker = { point, iterations: focus.xs.iterations[point], passes: focus.xs.passes[point], time: focus.xs.time[point] };
  return {
    curves, focus, marker, optimum,
    x: marker[state.axis],
    rows: curves.map((curve) => ({ name: curve.name, ...readOff(curve, state.axis, marker[state.axis]) })),
    baseline: results.baseline,
    halfAnImage: 0.5 / results.n_test, // accuracies are stored to four digits
  };
}

/**
 * What a curve says at `x` of an axis: {when, sub, acc, iterations, time}, with bands {median, low, high}.
 * Between two points that were measured it is interpolated, as the line is drawn; before the first, w is still 0;
 * after the last, it is what the run ended with.
 */
export function readOff({ run, xs, least }, axis, x) {
  const grid = xs[axis];
  const last = grid.length - 1;
  const edge = 1 + 1e-9;
  if (x * edge < grid[0]) {
    const same = (value) => ({ median: value, low: value, high: value });
    return { when: "before", sub: same(START - least), acc: same(0), iterations: 0, time: 0 };
  }
  const ended = x > grid[last] * edge;
  let i = 0;
  while (i < last - 1 && grid[i + 1] < x) i++;
  const part = ended || last === 0 ? Number(ended) : Math.min(1, Math.max(0, Math.log(x / grid[i]) / Math.log(grid[i + 1] / grid[i])));
  const [from, to] = [Math.min(i, last), Math.min(i + 1, last)];
  const between = (list) => list[from] + part * (list[to] - list[from]);
  const byRatio = (list) => {
    const [a, b] = [Math.max(list[from], FLOOR), Math.max(list[to], FLOOR)];
    return part === 0 ? list[from] : part === 1 ? list[to] : a * (b / a) ** part;
  };
  const band = (values, how) => Object.fromEntries(["median", "low", "high"].map((key) => [key, how(values[key])]));
  return {
    when: ended ? "ended" : "running",
    sub: band(run.suboptimality, byRatio), acc: band(run.accuracy, between),
    iterations: Math.round(byRatio(xs.iterations)), time: byRatio(xs.time),
  };
}

/** The last iterate of an optimizer at the end of its run, as 784 numbers in [-1, 1]: w over its largest entry. */
export const pictureOf = (results, state, name) =>
  Array.from(atob(runOf(results, { ...state, output: "last" }, name).w), (c) => (c.charCodeAt(0) - 128) / 127);

export const SIDE = 28; // pixels
export const LEVELS = 10; // of each sign: one path each, so that the colours follow the theme

/** The pixels of each level, as one path of rows: index 0 is the strongest -1, the last the strongest +1. */
export function levelPaths(w) {
  const level = (value) => Math.sign(value) * Math.ceil(LEVELS * Math.abs(value) - 0.5);
  const paths = new Array(2 * LEVELS + 1).fill("");
  for (let row = 0; row < SIDE; row++) {
    for (let column = 0; column < SIDE;) {
      const here = level(w[row * SIDE + column]);
      let end = column + 1;
      while (end < SIDE && level(w[row * SIDE + end]) === here) end++;
      if (here !== 0) paths[here + LEVELS] += `M${column},${row}h${end - column}v1h${column - end}z`;
      column = end;
    }
  }
  return paths;
}

/**
 * For two curves and the marker of the first: how they stand after the same iterations, and when the first
 * has taken as long. {byStep, byClock}: [first, second] suboptimalities; null where one of them has no such iteration.
 */
export function orders(first, second, marker) {
  const byStep = [first, second].map((curve) => readOff(curve, "iterations", marker.iterations));
  const byClock = [first, second].map((curve) => readOff(curve, "time", marker.time));
  if (byStep.some(({ when }) => when !== "running")) return null;
  const medians = (pair) => pair.map(({ sub }) => sub.median);
  return { byStep: medians(byStep), byClock: medians(byClock), whens: byClock.map(({ when }) => when) };
}

// ----------------------------------------------------------------------------------------- tasks

const GOALS = { fallen: 0.9, times: 3, error: 0.02, clear: 1.25 };
/** A suboptimality in three digits, or in two for the ends of a band. */
export const subText = (value, digits = 3) => (value < FLOOR ? "less than 10⁻⁵" : format(Number(value.toPrecision(digits))));
export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;
export const whole = (value) => value.toLocaleString("en");
export const counted = (count) => `${whole(count)} iteration${count === 1 ? "" : "s"}`;

/** Whether the first of a pair is clearly the smaller: 1, the second: -1, neither: 0. */
function leads([a, b]) {
  const [u, v] = [Math.max(a, FLOOR), Math.max(b, FLOOR)];
  return v >= GOALS.clear * u ? 1 : u >= GOALS.clear * v ? -1 : 0;
}

/** `check(state, now, guess)`: whether a task is reached, and what is then said; the guess comes first. */
export const TASKS = [
  {
    id: "baseline",
    text: `Put the marker where the objective has come down ${percent(GOALS.fallen, 0)} of the way from P(0) to its least value, and yet the test `
      + "accuracy is no better than always answering +1. Say first at which λ.",
    hint: "The dashed line is the share of test images that are no 0: who answers +1 to every image gets that far. "
      + "For which λ is the least value of the objective itself that useless?",
    check: (state, { focus, rows, baseline, halfAnImage }, guess) => {
      const { sub, acc, iterations } = rows.find(({ name }) => name === focus.name);
      if (!guess || acc.median > baseline + halfAnImage) return false;
      const fallen = 1 - sub.median / (START - focus.least);
      return fallen >= GOALS.fallen
        && `after ${counted(iterations)} of ${focus.name} at λ = ${state.lam} the objective has come down ${percent(Math.min(1, fallen))} of the way, `
          + `and the test accuracy is ${percent(acc.median)}; always +1 gets ${percent(baseline)}. You guessed λ = ${guess}.`;
    },
  },
  {
    id: "under",
    text: `Find a λ at which P, where the run of Pegasos ends, is still ${GOALS.times} times its least value or more, though the minimiser w* errs on `
      + `at most ${percent(GOALS.error, 0)} of the test images. Say first at which λ.`,
    hint: "This is under-optimised, not overfitted: overfitting would show in the errors of w*. Put Pegasos in focus and the marker at the end. "
      + "The first step has length 1/λ.",
    check: (state, { focus, marker, optimum, rows }, guess) => {
      if (!guess || focus.name !== "Pegasos" || marker.point < focus.x.length - 1) return false;
      const { sub, acc } = rows.find(({ name }) => name === "Pegasos");
      const { test_error, train_error } = optimum.free;
      return test_error <= GOALS.error && sub.median >= (GOALS.times - 1) * focus.least
        && `at λ = ${state.lam} Pegasos ends with P = ${format(sub.median + focus.least)}, ${format(1 + sub.median / focus.least)} times the least value `
          + `${format(focus.least)}, and errs on ${percent(1 - acc.median)} of the test images. w* errs on ${percent(test_error, 2)} of them and on `
          + `${percent(train_error, 2)} of the training images: it does not overfit, it was not reached. You guessed λ = ${guess}.`;
    },
  },
  {
    id: "clock",
    text: "Draw two optimizers alone, and put the marker where one of them is clearly lower after the same number of iterations, the other after "
      + "the same time. Then look at both against seconds. Say first who wins by the clock.",
    hint: `“Clearly” is a factor of ${GOALS.clear}. A step of GD looks at all images, one of Pegasos at a single one: which of the two is lower after 50 `
      + "iterations each, and which when GD has made 50? Give the marker to one of the two, and move it.",
    check: (state, { curves, focus, marker }, guess) => {
      if (!guess || curves.length !== 2 || state.axis !== "time") return false;
      const other = curves.find((curve) => curve !== focus);
      const found = orders(focus, other, marker);
      if (!found) return false;
      const [step, clock] = [leads(found.byStep), leads(found.byClock)];
      if (step * clock !== -1) return false;
      const winner = clock === 1 ? focus : other;
      return `after ${counted(marker.iterations)} each, ${focus.name} is ${subText(found.byStep[0])} above its least value and `
        + `${other.name} ${subText(found.byStep[1])}. In the ${format(marker.time)} s that ${focus.name} takes for them, ${other.name} `
        + `${{ before: "has not made one step, at", ended: "ends its run, at", running: "comes to" }[found.whens[1]]} ${subText(found.byClock[1])}. By the clock the winner is of the ${winner.kind === "batch" ? "batch" : "online"} kind; you guessed ${guess}.`;
    },
  },
];
