// The functions of two variables on which the figure descends. Each has its formula, `value` and `gradient` (a
// subgradient at kinks, where the sign of 0 is 0), `along(w, j)`: where f is least along coordinate j (null: nowhere),
// `infimum`, `minimiser` (null: none), the first `start`, `limit`: the constant steps of steepest descent that converge
// lie below it, whether it has `kinks`, and, where f is an average, `terms`: the (sub)gradients of what is averaged.
import { makeProblem, margins, objective, optimum, subgradient } from "../engine.js";

// On a kink up to rounding the sign is 0.
const sign = (x) => (Math.abs(x) <= 1e-12 ? 0 : Math.sign(x));
const replaced = ([a, b], j, x) => (j === 0 ? [x, b] : [a, x]);

// The average of half the squares of <a_i, w> - b_i.
const SQUARES = [[2, 1, 1], [1, 2, -1], [1, -1, -1]];
const residual = ([a, b], [p, q, target]) => p * a + q * b - target;

// E002-07's slope 2r up to r = 1 and (3r + 1)/2 beyond it, for r = |w|.
const ring = (r) => (r <= 1 ? r * r : 0.75 * r * r + 0.5 * r - 0.25);
const slopeOverRadius = (r) => (r <= 1 ? 2 : 1.5 + 0.5 / r);

/** The points and the lambda of the hinge objective. */
export const HINGE = {
  X: [[2.1, 0.6], [0.7, 1.3], [1.2, -0.8], [-1.1, -1.4], [-1.9, 0.5], [0.3, -1.7]],
  y: [1, 1, 1, -1, -1, -1],
  lam: 0.1,
};
const problem = makeProblem(HINGE.X, HINGE.y, HINGE.lam);
const best = optimum(problem);

// Along a coordinate P is a parabola between two of its kinks: its least is a kink, or where one parabola is least.
function hingeAlong(w, j) {
  const { Z, n, lam } = problem;
  const m = margins(problem, replaced(w, j, 0));
  const z = Array.from({ length: n }, (_, i) => Z[2 * i + j]);
  const kinks = z.map((slope, i) => (1 - m[i]) / slope).sort((a, b) => a - b);
  const between = [kinks[0] - 1, ...kinks.map((kink, i) => (i + 1 < n ? (kink + kinks[i + 1]) / 2 : kink + 1))];
  const lowest = between.map((x) => z.reduce((sum, slope, i) => sum + (m[i] + slope * x < 1 ? slope : 0), 0) / (lam * n));
  const at = (x) => objective(problem, replaced(w, j, x));
  return [...kinks, ...lowest].reduce((least, x) => (at(x) < at(least) ? x : least));
}

export const FUNCTIONS = {
  bowl: {
    name: "Round bowl",
    formula: "a² + b²",
    value: ([a, b]) => a * a + b * b,
    gradient: ([a, b]) => [2 * a, 2 * b],
    along: () => 0,
    infimum: 0, minimiser: [0, 0], start: [3, 1.5], limit: 1,
  },
  squares: {
    name: "Average of three squares",
    formula: "average of ½(2a + b − 1)², ½(a + 2b + 1)² and ½(a − b + 1)², which is a² + ab + b² + ½",
    value: (w) => SQUARES.reduce((sum, row) => sum + 0.5 * residual(w, row) ** 2, 0) / 3,
    gradient: ([a, b]) => [2 * a + b, a + 2 * b],
    along: (w, j) => -0.5 * w[1 - j],
    terms: SQUARES.map((row) => (w) => [row[0] * residual(w, row), row[1] * residual(w, row)]),
    infimum: 0.5, minimiser: [0, 0], start: [3, 1], limit: 2 / 3,
  },
  valley: {
    name: "Narrow valley",
    formula: "½(a² + 20b²)",
    value: ([a, b]) => 0.5 * (a * a + 20 * b * b),
    gradient: ([a, b]) => [a, 20 * b],
    along: () => 0,
    infimum: 0, minimiser: [0, 0], start: [3.5, 1.5], limit: 0.1,
  },
  ring: {
    name: "Ring of false rest",
    formula: "r² up to r = 1, ¾r² + ½r − ¼ beyond it, where r = √(a² + b²)",
    value: ([a, b]) => ring(Math.sqrt(a * a + b * b)),
    gradient: ([a, b]) => {
      const slope = slopeOverRadius(Math.sqrt(a * a + b * b));
      return [slope * a, slope * b];
    },
    along: () => 0,
    infimum: 0, minimiser: [0, 0], start: [2, 0],
  },
  trap: {
    name: "Trap for coordinates",
    formula: "|a − b| + 0.1(a + b) + 0.05(a² + b²)",
    value: ([a, b]) => Math.abs(a - b) + 0.1 * (a + b) + 0.05 * (a * a + b * b),
    gradient: ([a, b]) => [sign(a - b) + 0.1 + 0.1 * a, 0.1 + 0.1 * b - sign(a - b)],
    along: (w, j) => Math.max(-11, Math.min(9, w[1 - j])),
    infimum: -0.1, minimiser: [-1, -1], start: [2, 0], kinks: true,
  },
  hinge: {
    name: "SVM objective of six points",
    formula: "P(w) of six points, λ = 0.1: 0.05(a² + b²) + the mean of their hinge losses",
    value: (w) => objective(problem, w),
    gradient: (w) => Array.from(subgradient(problem, w)),
    along: hingeAlong,
    terms: HINGE.X.map((x, i) => (w) => {
      const push = HINGE.y[i] * (x[0] * w[0] + x[1] * w[1]) < 1 ? HINGE.y[i] : 0;
      return [HINGE.lam * w[0] - push * x[0], HINGE.lam * w[1] - push * x[1]];
    }),
    infimum: best.value, minimiser: Array.from(best.w), start: [-2, 2.5], kinks: true,
  },
  exp: {
    name: "No minimum",
    formula: "eᵃ + b²",
    value: ([a, b]) => Math.exp(a) + b * b,
    gradient: ([a, b]) => [Math.exp(a), 2 * b],
    along: (w, j) => (j === 0 ? null : 0),
    infimum: 0, minimiser: null, start: [1, 2],
  },
  corner: {
    name: "Corner",
    formula: "|a| + |b|",
    value: ([a, b]) => Math.abs(a) + Math.abs(b),
    gradient: ([a, b]) => [sign(a), sign(b)],
    along: () => 0,
    infimum: 0, minimiser: [0, 0], start: [2.5, 1.5], kinks: true,
  },
};
