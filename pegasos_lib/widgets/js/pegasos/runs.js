import { averages, bound, drawBatches, makeProblem, margins, objective, objectives, optimum, sgd, stepSize, withLam }
  from "../engine.js";
import { logSpaced } from "../ui/format.js";

/**
 * Runs settings on the points, remembering what need not be computed again: the optimum of each
 * lambda and every finished run, until a point changes.
 */
export function laboratory() {
  let points = null;
  let base = null;
  const optima = new Map();
  const finished = new Map();
  const drawn = new Map();

  const remember = (store, key, make, most) => {
    if (!store.has(key)) {
      if (store.size >= most) store.delete(store.keys().next().value);
      store.set(key, make());
    }
    return store.get(key);
  };

  function take(X, y) {
    if (points && points.X === X && points.y === y) return;
    points = { X, y };
    base = makeProblem(X, y, 1);
    optima.clear();
    finished.clear();
  }

  function simulate(settings) {
    const { lam, batch_size: batchSize, step, step_c: c, project, average, sampling, seed, n_iter: nIter } = settings;
    const { problem, best } = remember(optima, lam, () => {
      const made = withLam(base, lam);
      return { problem: made, best: optimum(made) };
    }, 32);
    // A longer run begins with the draws of a shorter one: so they are drawn for a power of two of steps.
    const length = 2 ** Math.ceil(Math.log2(nIter));
    const all = remember(drawn, `${seed} ${sampling} ${base.n} ${length} ${batchSize}`,
      () => drawBatches(seed, { n: base.n, nIter: length, batchSize, sampling }), 8);
    const draws = all.subarray(0, nIter * batchSize);
    const W = sgd(problem, { draws, batchSize, nIter, step, c, project });
    const A = averages(W, 2, average);
    const grid = logSpaced(nIter);
    const rows = new Float64Array(2 * grid.length);
    grid.forEach((t, row) => rows.set(A.subarray(2 * t, 2 * t + 2), 2 * row));
    const gaps = objectives(problem, rows).map((value) => Math.max(value - best.value, 0));
    const at = (list, t) => list.subarray(2 * t, 2 * t + 2);
    return {
      settings, problem, best, draws, W, A, grid, gaps,
      iterate: (t) => at(W, t),
      averaged: (t) => at(A, t),
      gapOf: (w) => Math.max(objective(problem, w) - best.value, 0),
      finalGap: gaps[gaps.length - 1],
      bound: (T) => bound({ lam, R: problem.R, T, project }),
      stepAt: (t) => stepOf(problem, { before: at(W, t - 1), after: at(W, t), eta: stepSize(step, t, lam, c),
        batch: draws.subarray((t - 1) * batchSize, t * batchSize) }),
    };
  }

  return {
    /** The finished run of `settings` on the points X, y. */
    run(settings, X, y) {
      take(X, y);
      return remember(finished, JSON.stringify(settings), () => simulate(settings), 12);
    },
  };
}

// The parts of one step: w_t, its shrunk and its pushed form, and w_{t+1} after the projection.
function stepOf(problem, { before, after, eta, batch }) {
  const m = margins(problem, before);
  const push = [0, 0];
  let hits = 0;
  for (const i of batch) {
    if (m[i] >= 1) continue;
    hits += 1;
    push[0] += problem.Z[2 * i];
    push[1] += problem.Z[2 * i + 1];
  }
  const keep = 1 - eta * problem.lam;
  const shrunk = [keep * before[0], keep * before[1]];
  const pushed = shrunk.map((value, j) => value + (eta / batch.length) * push[j]);
  const projected = Math.hypot(pushed[0] - after[0], pushed[1] - after[1]) > 1e-9 * Math.hypot(...pushed);
  return { before, shrunk, pushed, after, eta, batch, hits, margins: m, projected };
}
