import { AVERAGES, STEP_RULES } from "../engine.js";
import { SEEDS, named, oneOf, whole, within } from "../ui/clean.js";
import { format } from "../ui/format.js";
import { presetPoints } from "../ui/presets.js";

export const LIMITS = { lam: [1e-5, 10], step_c: [1e-3, 100], n_iter: [1, 2000], points: 200, reach: 1000, runs: 4 };
export const STEP_TEXTS = [
  ["pegasos", "1/(λt), Pegasos"], ["weighted", "2/(λ(t+1))"], ["inverse-time", "c/t"],
  ["inverse-sqrt", "c/√t"], ["constant", "c, constant"],
];
export const AVERAGE_TEXTS = [
  ["last", "the last iterate"], ["uniform", "average of all"], ["weighted", "average weighted by t"],
  ["suffix", "average of the last half"],
];
export const SAMPLING_TEXTS = [["iid", "i.i.d., with replacement"], ["permutation", "by permutation"]];
export const VIEWS = [
  ["follow", "follow the step"], ["optimum", "around w*"], ["ball", "the ball"], ["path", "the whole path"],
];
/** What makes one run: a pinned run holds these keys. */
export const SETTINGS = ["lam", "batch_size", "step", "step_c", "project", "average", "sampling", "seed", "n_iter"];

export const DEFAULTS = {
  lam: 0.02, batch_size: 1, step: "pegasos", step_c: 1, project: true, average: "uniform", sampling: "iid",
  seed: 13, n_iter: 400, t: 4, view: "follow", runs: [], ...presetPoints("blobs", 40),
};

function cleanSettings(state, n) {
  return {
    lam: within(state.lam, LIMITS.lam, DEFAULTS.lam),
    batch_size: whole(state.batch_size, [1, n], 1),
    step: oneOf(state.step, STEP_RULES, "pegasos"),
    step_c: within(state.step_c, LIMITS.step_c, 1),
    project: Boolean(state.project),
    average: oneOf(state.average, AVERAGES, "uniform"),
    sampling: oneOf(state.sampling, named(SAMPLING_TEXTS), "iid"),
    seed: whole(state.seed, SEEDS, 1),
    n_iter: whole(state.n_iter, LIMITS.n_iter, DEFAULTS.n_iter),
  };
}

// Lists that were checked once, so that a list which did not change stays the same object.
const checked = new WeakSet();

function cleanPoints({ X, y }) {
  if (checked.has(X) && checked.has(y) && X.length === y.length) return { X, y };
  const fits = (row, label) => Array.isArray(row) && row.length === 2 && row.every((value) => Math.abs(value) <= LIMITS.reach) && Math.abs(label) === 1;
  const lists = Array.isArray(X) && Array.isArray(y);
  const kept = lists ? X.map((_, i) => i).filter((i) => fits(X[i], y[i])).slice(0, LIMITS.points) : [];
  if (kept.length === 0) return { X: DEFAULTS.X, y: DEFAULTS.y };
  const whole = kept.length === X.length && kept.length === y.length;
  const points = whole ? { X, y } : { X: kept.map((i) => X[i]), y: kept.map((i) => y[i]) };
  checked.add(points.X);
  checked.add(points.y);
  return points;
}

function cleanRuns(runs, n) {
  if (!Array.isArray(runs)) return DEFAULTS.runs;
  const cleaned = runs.filter((run) => run && typeof run === "object").slice(0, LIMITS.runs).map((run) => cleanSettings(run, n));
  return JSON.stringify(cleaned) === JSON.stringify(runs.map((run) => pick(run))) ? runs : cleaned;
}

const pick = (state) => Object.fromEntries(SETTINGS.map((key) => [key, state?.[key]]));

/** The settings of the current run of `state`. */
export const settingsOf = pick;

/** Put right what a link or a trait may hold wrongly; lists that are right stay the same objects. */
export function clean(state) {
  const { X, y } = cleanPoints(state);
  const settings = cleanSettings(state, X.length);
  return {
    ...settings,
    t: whole(state.t, [0, settings.n_iter], 0),
    view: oneOf(state.view, named(VIEWS), "follow"),
    runs: cleanRuns(state.runs, X.length),
    X, y,
  };
}

/** What sets a run apart, in one line. */
export function labelOf(settings) {
  const { lam, batch_size, step, step_c, project, average, sampling, seed, n_iter } = settings;
  const rule = { pegasos: "step 1/(λt)", weighted: "step 2/(λ(t+1))", "inverse-time": `step ${format(step_c)}/t`,
    "inverse-sqrt": `step ${format(step_c)}/√t`, constant: `step ${format(step_c)}` }[step];
  const shown = average === "last" ? "last iterate" : `${average} average`;
  return [`λ ${format(lam)}`, `k ${batch_size}`, rule, project ? "projected" : "not projected", shown,
    sampling === "iid" ? "i.i.d." : "permutation", `seed ${seed}`, `T ${n_iter}`].join(" · ");
}
