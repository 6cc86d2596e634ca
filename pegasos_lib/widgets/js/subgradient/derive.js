// What the subgradient figure shows, as numbers. Every function is q/2 |w|^2 plus a sum of maxima of affine functions: a
// term is a list of rows [a_1, ..., a_d, b], and stands for the largest of <a, w> + b.

export const X_REACH = 2;
export const SLOPE_REACH = 4;
export const W_REACH = 2;
export const ETA = { min: 0.01, max: 2 };
// Pieces this near to the largest count as equal to it: the coordinates that a reader sets are far coarser.
const TIE = 1e-9;

/** Functions of one variable. */
export const LINES = {
  abs: { text: "|x|", q: 0, terms: [[[-1, 0], [1, 0]]] },
  hinge: { text: "hinge: max(0, 1 − x)", q: 0, terms: [[[-1, 1], [0, 0]]] },
  three: { text: "largest of three lines", q: 0, terms: [[[-1, -1], [0.5, 0.5], [2, -1]]] },
  square: { text: "x²", q: 2, terms: [] },
  bent: { text: "|x| + x²/2", q: 1, terms: [[[-1, 0], [1, 0]]] },
  svm: {
    text: "SVM objective of three points", q: 1 / 6,
    terms: [1, 2, -1].map((a) => [[-a / 3, 1 / 3], [0, 0]]),
  },
};

/** Functions of two variables, with a minimiser. */
export const PLANES = {
  valley: { text: "|u| + 3|v|", q: 0, terms: [[[-1, 0, 0], [1, 0, 0]], [[0, -3, 0], [0, 3, 0]]], best: [0, 0] },
  hinge: { text: "SVM objective of one point", q: 0.2, terms: [[[-1, 0, 1], [0, 0, 0]]], best: [1, 0] },
};

const at = (row, w) => row[w.length] + w.reduce((sum, x, j) => sum + row[j] * x, 0);

/** The value of f at w, an array. */
export const value = (f, w) => f.terms.reduce((sum, term) => sum + Math.max(...term.map((row) => at(row, w))),
  (f.q / 2) * w.reduce((sum, x) => sum + x * x, 0));

/** For each term the slopes of its largest pieces: the first and the last of those that tie. */
function ends(f, w) {
  return f.terms.map((term) => {
    const values = term.map((row) => at(row, w));
    const most = Math.max(...values);
    const active = term.filter((_, j) => values[j] >= most - TIE).map((row) => row.slice(0, w.length));
    return [active[0], active[active.length - 1]];
  });
}

/** [f'(x-), f'(x+)], the ends of the subdifferential at the number x. */
export function slopes(f, x) {
  return [Math.min, Math.max].map((pick) => ends(f, [x]).reduce((sum, [a, b]) => sum + pick(a[0], b[0]), f.q * x));
}

/** The subgradient at w that takes the weight theta of the last tied piece and 1 - theta of the first, in every term. */
export function subgradient(f, w, theta) {
  return w.map((x, j) => ends(f, w).reduce((sum, [a, b]) => sum + (1 - theta) * a[j] + theta * b[j], f.q * x));
}

/** The corners of the subdifferential at w in the plane: one, two or four. */
export function corners(f, w) {
  return ends(f, w).reduce((set, [a, b]) => {
    const moved = (by) => set.map((g) => g.map((x, j) => x + by[j]));
    return a === b ? moved(a) : [...moved(a), ...moved(b).reverse()];
  }, [w.map((x) => f.q * x)]);
}

/** The line of a slope through the graph at x: whether it supports f, and if not where on [-reach, reach] it is most above. */
export function line(f, x, slope, reach = 2.5) {
  const [low, high] = slopes(f, x);
  const y = value(f, [x]);
  const supports = slope >= low - TIE && slope <= high + TIE;
  let worst = { x, by: 0 };
  for (let i = 0; i <= 500 && !supports; i++) {
    const u = -reach + (2 * reach * i) / 500;
    const by = y + slope * (u - x) - value(f, [u]);
    if (by > worst.by) worst = { x: u, by };
  }
  return { y, low, high, kink: high - low > 1e-6, supports, worst, optimal: low <= TIE && high >= -TIE };
}

/** The step w - eta g: the values of f and the distances to the minimiser, before and after. */
export function step(f, w, theta, eta) {
  const g = subgradient(f, w, theta);
  const next = w.map((x, j) => x - eta * g[j]);
  const distance = (v) => Math.hypot(...v.map((x, j) => x - f.best[j]));
  const squared = g.reduce((sum, x) => sum + x * x, 0);
  const gap = value(f, w) - value(f, f.best);
  return {
    g, next, before: value(f, w), after: value(f, next), far: distance(w), near: distance(next), gap,
    limit: squared > 0 ? (2 * gap) / squared : Infinity, corners: corners(f, w),
  };
}
