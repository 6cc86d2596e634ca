// What the figure computes: a descent from its settings, the stopping tests that would end it, and how it came out.
import { drawBatches, stepSize } from "../engine.js";
import { FUNCTIONS } from "./functions.js";

/** The share of the promised decrease that Armijo's rule asks for, and how often a search cuts its step. */
export const SHARE = 1e-4;
const CUTS = 50;
// A decrease of f that may be rounding; plain backtracking would go on by chance from here.
const ROUNDING = 2 ** -46;

export const SEARCHES = ["backtracking", "armijo"];

/** The first of c, c gamma, ... that lowers f enough along the direction, or null. `slope` is the derivative along it. */
function search(rule, along, value, slope, c, gamma) {
  if (rule === "armijo" && slope === 0) return c;
  let eta = c;
  for (let cut = 0; cut <= CUTS; cut++, eta *= gamma) {
    if (rule === "armijo") {
      const bound = value + SHARE * eta * slope;
      if (!(bound < value)) return null;
      if (along(eta) <= bound) return eta;
    } else if (along(eta) < value) return value - along(eta) > ROUNDING * Math.max(1, Math.abs(value)) ? eta : null;
  }
  return null;
}

const moved = (w, eta, d) => [w[0] - eta * d[0], w[1] - eta * d[1]];
const only = (g, j) => (j === 0 ? [g[0], 0] : [0, g[1]]);

/**
 * Descend: `path` holds w_1..w_{n+1}, `values` f there, `etas` the n step sizes (null: the exact minimum along a line),
 * `draws` the terms that were drawn. `stopped` says what ended the run before T steps: "no decrease", "no minimum" along
 * the line, "diverged"; else it is "".
 *
 * Along one coordinate or one term a search may find no decrease where another has one: w then stays for that step.
 */
export function descend({ function: name, start, direction, rule, c, gamma, n_iter, seed }) {
  const f = FUNCTIONS[name];
  const draws = direction === "sampled" ? drawBatches(seed, { n: f.terms.length, nIter: n_iter }) : null;
  const run = { path: [start], values: [f.value(start)], etas: [], draws, stopped: "" };
  for (let t = 1; t <= n_iter && !run.stopped; t++) {
    const w = run.path[t - 1];
    const j = (t - 1) % 2;
    let [next, eta] = [null, null];
    if (direction === "exact") {
      const x = f.along(w, j);
      if (x !== null) next = j === 0 ? [x, w[1]] : [w[0], x];
      else run.stopped = "no minimum";
    } else {
      const g = f.gradient(w);
      const d = direction === "sampled" ? f.terms[draws[t - 1]](w) : direction === "coordinate" ? only(g, j) : g;
      const slope = -(g[0] * d[0] + g[1] * d[1]);
      eta = SEARCHES.includes(rule)
        ? search(rule, (size) => f.value(moved(w, size, d)), run.values[t - 1], slope, c, gamma)
        : stepSize(rule, t, 1, c);
      if (eta !== null) next = moved(w, eta, d);
      else if (direction === "steepest") run.stopped = "no decrease";
      else [next, eta] = [w, 0];
    }
    if (next === null) break;
    run.path.push(next);
    run.values.push(f.value(next));
    run.etas.push(eta);
    if (![...next, run.values[t]].every(Number.isFinite)) run.stopped = "diverged";
  }
  return { ...run, f, n: run.path.length - 1 };
}

/** ||w_{t+1} - w_t|| of step t. */
export const change = ({ path }, t) => Math.hypot(path[t][0] - path[t - 1][0], path[t][1] - path[t - 1][1]);

/** f(w_{t+1}) less the infimum of f. */
export const gap = ({ values, f }, t) => values[t] - f.infimum;

/** The length of the (sub)gradient at w_{t+1}. */
export const slopeAt = ({ path, f }, t) => Math.hypot(...f.gradient(path[t]));

/** The stopping tests, with the letter that marks them: `fires(run, t, eps)` after step t. */
export const TESTS = [
  { id: "steps", letter: "A", name: "T steps", condition: "t = T", fires: (run, t, eps, T) => t === T },
  { id: "increase", letter: "B", name: "small increase, as printed", condition: "f(wₜ₊₁) − f(wₜ) ≤ ε",
    fires: ({ values }, t, eps) => values[t] - values[t - 1] <= eps },
  { id: "decrease", letter: "C", name: "small decrease", condition: "f(wₜ) − f(wₜ₊₁) ≤ ε",
    fires: ({ values }, t, eps) => values[t - 1] - values[t] <= eps },
  { id: "change", letter: "D", name: "small change", condition: "‖wₜ₊₁ − wₜ‖ ≤ ε",
    fires: (run, t, eps) => change(run, t) <= eps },
  { id: "gradient", letter: "E", name: "small gradient", condition: "‖gₜ₊₁‖ ≤ ε",
    fires: (run, t, eps) => slopeAt(run, t) <= eps },
];

/** For each test by its id the step after which it first fires, or null. */
export function firstFires(run, { eps, n_iter }) {
  return Object.fromEntries(TESTS.map(({ id, fires }) => {
    for (let t = 1; t <= run.n; t++) if (fires(run, t, eps, n_iter)) return [id, t];
    return [id, null];
  }));
}

/** How a run came out: "close" (within eps of the infimum), "higher" (not below where it began) or "lower". */
export function outcome(run, eps) {
  const last = run.values[run.n];
  if (gap(run, run.n) <= eps) return "close";
  return last < run.values[0] ? "lower" : "higher";
}
