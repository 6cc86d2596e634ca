// What the margin figure shows, as numbers: pure functions of its state {X, y, lam, w, constant, ...}.
import * as engine from "../engine.js";

export const LAM = { min: 1e-5, max: 10 };
export const REACH = 100; // |w_j| stays below this
// Margins this near to 1 count as lying on the kink. Coordinates and w set by hand are rounded so much
// coarser that for them this means exactly; the minimiser is exact to a few digits less than a double.
const KINK = 1e-6;

const NINE_AND_ONE = {
  X: [...Array.from({ length: 9 }, () => [1, 0]), [-0.9, 0.3]],
  y: Array(10).fill(1),
};

export const DATA = {
  separable: {
    X: [[2, -0.5], [1.5, 0.5], [1.2, 2], [2.5, 1.5], [-1.5, -1], [-1, -2], [-2, 1], [-2.5, -0.5]],
    y: [1, 1, 1, 1, -1, -1, -1, -1],
    extent: 4,
  },
  "narrow-gap": {
    X: [[1.5, 0.5], [2, -0.5], [1.2, 2], [-0.8, 0.6], [2.5, 1.5], [-1.5, -1], [-1, -2], [-2, 1], [0.7, -0.9], [-2.5, -0.5]],
    y: [1, 1, 1, 1, 1, -1, -1, -1, -1, -1],
    extent: 4,
  },
  overlapping: {
    X: [[1.5, 0.5], [2, -0.5], [1.2, 2], [-1.2, -0.4], [2.5, 1.5], [-1.5, -1], [-1, -2], [-2, 1], [0.7, 0.9], [-2.5, -0.5]],
    y: [1, 1, 1, 1, 1, -1, -1, -1, -1, -1],
    extent: 4,
  },
  "off-origin": {
    X: [[2, 2.5], [2.6, 1.6], [3, 2.8], [1.8, 3.2], [0.6, 1], [1.2, 0.3], [0.2, 1.6], [0.9, 0.8]],
    y: [1, 1, 1, 1, -1, -1, -1, -1],
    extent: 4,
  },
  "nine-and-one": { ...NINE_AND_ONE, extent: 8 },
};

/** 0 where only rounding speaks. */
export const tiny = (value) => (Math.abs(value) < 1e-9 ? 0 : value);

const norm = (w) => Math.hypot(...w);
export const problemOf = ({ X, y, lam, constant }) => engine.makeProblem(X, y, lam, { constant: constant ? 1 : 0 });

/**
 * Everything at the current w. `errors` counts margins <= 0, as the library's accuracy does; the
 * subgradient follows the convention `< 1`: a point on its kink counts as no hit.
 */
export function derive(state) {
  const problem = problemOf(state);
  const { w } = state;
  const margins = engine.margins(problem, w);
  const terms = engine.terms(problem, w);
  const kinks = [];
  let errors = 0;
  margins.forEach((m, i) => {
    if (m <= 0) errors++;
    if (Math.abs(m - 1) <= KINK) kinks.push(i);
  });
  return {
    problem, margins, terms, kinks, errors,
    losses: engine.losses(margins),
    value: terms.norm + terms.hinge,
    norm: norm(w),
    angle: (Math.atan2(w[1], w[0]) * 180) / Math.PI,
    subgradient: engine.subgradient(problem, w, KINK),
  };
}

const remembered = new Map();
function remember(name, key, compute) {
  const id = JSON.stringify(key);
  if (remembered.get(name)?.id !== id) remembered.set(name, { id, value: compute() });
  return remembered.get(name).value;
}

/** The certified minimum, with how many points its w gets wrong. */
export function minimum({ X, y, lam, constant }) {
  // The two problems are remembered apart: the task on the constant feature compares them.
  return remember(constant ? "minimum with constant" : "minimum", [X, y, lam], () => {
    const problem = problemOf({ X, y, lam, constant });
    const best = engine.optimum(problem);
    const errors = engine.margins(problem, best.w).filter((m) => m <= 0).length;
    return { ...best, norm: norm(best.w), errors };
  });
}

/**
 * The shortest w without any hinge loss, or null where none exists: the limit lam -> 0, which a small
 * enough lam reaches exactly.
 */
export function hardMargin({ X, y, constant }) {
  return remember("hardMargin", [X, y, constant], () => {
    const problem = problemOf({ X, y, lam: 1e-8, constant });
    const { w } = engine.optimum(problem);
    return engine.terms(problem, w).hinge < 1e-6 ? { w, norm: norm(w) } : null;
  });
}

/** The w nearest to the given one at which point i has margin exactly 1; null for a row of zeros. */
export function snapToKink({ problem, margins }, w, i) {
  const { Z, d } = problem;
  const z = Z.subarray(i * d, i * d + d);
  const length2 = z.reduce((sum, x) => sum + x * x, 0);
  if (length2 === 0) return null;
  let snapped = Array.from(w, (x, j) => x + ((1 - margins[i]) / length2) * z[j]);
  // Rounding must not leave the margin a hair below 1, where the convention `< 1` counts a hit.
  for (let k = 1; k < 50 && engine.margins(problem, snapped)[i] < 1; k++) {
    snapped = snapped.map((x) => x * (1 + k * Number.EPSILON));
  }
  return snapped;
}

/** The point whose kink is nearest to w, or -1. */
export function nearestKink({ problem, margins }) {
  const { Z, n, d } = problem;
  let best = -1;
  let least = Infinity;
  for (let i = 0; i < n; i++) {
    const distance = Math.abs(1 - margins[i]) / norm(Z.subarray(i * d, i * d + d));
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
}

/** One step against the subgradient, halved from 1/lam until P falls; null where no such step is found. */
export function stepDown({ problem, subgradient, value }, w) {
  for (let eta = 1 / problem.lam; eta > 1e-7; eta /= 2) {
    const next = Array.from(w, (x, j) => x - eta * subgradient[j]);
    if (engine.objective(problem, next) < value - 1e-12) return { w: next, eta };
  }
  return null;
}

/** Whether w is the minimiser, as far as P tells. */
export const isMinimum = (state, now) => now.value - minimum(state).value <= 1e-6 * Math.max(1, now.value);

const bothLabels = ({ y }) => y.includes(1) && y.includes(-1);
const short = (value) => Number(value.toPrecision(3));
const C_ASKED = 2; // no data set has it at the figure's first λ

/** The goals; `check` gives the sentence that says what was reached, or false. */
export const TASKS = [
  {
    id: "barely-right",
    text: "Classify every point correctly and still pay: no error, but a hinge term above 0.",
    hint: "Turn w until no point is on the wrong side, then shorten it: margins shrink with the length of w.",
    check: (state, now) => bothLabels(state) && now.errors === 0 && now.terms.hinge > KINK
      && `no point is on the wrong side, and the hinge term is ${short(now.terms.hinge)}, because some margin lies between 0 and 1.`,
  },
  {
    id: "shortest",
    text: "Make the hinge term exactly 0 with the shortest w you can (within 3% of the shortest there is).",
    hint: "Every margin must be at least 1. Lengthen w to get there, then turn it to where it can be shortest: "
      + "points of both labels then touch the margin lines.",
    check: (state, now) => {
      if (now.terms.hinge > 1e-9 || !bothLabels(state)) return false;
      const hard = hardMargin(state);
      return hard !== null && now.norm <= 1.03 * hard.norm
        && `the length is ${short(now.norm)}, the shortest is ${short(hard.norm)}: this is the hard-margin solution, the limit of small λ.`;
    },
  },
  {
    id: "kink",
    text: "Put a point exactly on the kink: find a w at which P has no gradient.",
    hint: "Select a point and press “Snap to its kink”, or make a margin exactly 1 by hand.",
    check: (state, now) => now.kinks.length > 0
      && `point ${now.kinks[0] + 1} has margin 1, so P is not differentiable here.`,
  },
  {
    id: "over-regularised",
    text: "Refute “the SVM makes no error on separable data”: find separable data and a λ at which the minimiser of P misclassifies a point.",
    hint: "Take the data “Nine and one”, raise λ, and go to the minimum.",
    check: (state, now) => now.errors > 0 && isMinimum(state, now) && hardMargin(state) !== null
      && `a w of length ${short(hardMargin(state).norm)} makes no error, yet the minimiser at λ = ${short(state.lam)} makes ${now.errors}.`,
  },
  {
    id: "exact-C",
    text: `Set C to exactly ${C_ASKED} by λ alone: work out the λ before you type it.`,
    hint: "C = 1/(λn) and n is the number of points, so λ = 1/(Cn). When it is reached, add a point and look at C.",
    check: ({ lam, y }) => Math.abs(1 / (lam * y.length) - C_ASKED) < 1e-3 * C_ASKED
      && `${y.length} points and λ = ${short(lam)} make C = ${C_ASKED}. With one point more it takes λ = ${short(1 / (C_ASKED * (y.length + 1)))}.`,
  },
  {
    id: "intercept",
    text: "Find data on which the minimiser makes errors without the constant feature. Then go to the minimum with it, and make none.",
    hint: "Take the data “Away from the origin” and go to the minimum. Then switch the constant feature on and go there again.",
    check: (state, now) => {
      if (!state.constant || now.errors > 0 || !isMinimum(state, now)) return false;
      const without = minimum({ ...state, constant: false });
      return without.errors > 0
        && `the minimum is ${short(now.value)}, without an error. Without the constant feature it is ${short(without.value)}, with ${without.errors}.`;
    },
  },
];
