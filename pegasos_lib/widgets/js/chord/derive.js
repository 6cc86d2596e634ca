// What the chord figure shows, as numbers: pure functions of its state.
import * as engine from "../engine.js";

export const SHOWN = [-2, 2];
const LOG_FROM = 0.02; // where the interval starts for a function that holds a logarithm
export const Q = [-3, 3];
export const MU = [0, 4];
const SAMPLES = 400;
const ROUNDING = 1e-9; // a gap above minus this is not below 0

// Chapter 1's four examples in one dimension.
const FOUR = engine.makeProblem([[2], [1], [0.6], [-0.8]], [1, 1, 1, 1], 0.1);

/** The functions of one number: [formula, rule]. */
export const FUNCTIONS = {
  square: ["x²", (x) => x * x],
  abs: ["|x|", Math.abs],
  hinge: ["max(0, 1 − x)", (x) => Math.max(0, 1 - x)],
  logistic: ["log(1 + e⁻ˣ)", (x) => Math.log1p(Math.exp(-x))],
  exp: ["eˣ", Math.exp],
  quartic: ["x⁴", (x) => x ** 4],
  svm: ["P(x), four examples", (x) => engine.objective(FOUR, [x])],
  line: ["x", (x) => x],
  log: ["log x, for x > 0", Math.log],
  well: ["(x² − 1)²", (x) => (x * x - 1) ** 2],
  cosine: ["cos 2x", (x) => Math.cos(2 * x)],
};

/** How f is made of φ and ψ: [formula, rule, uses ψ, uses q]. */
export const RULES = {
  phi: ["φ", (phi) => phi, false, false],
  sum: ["φ + qψ", (phi, psi, q) => (x) => phi(x) + q * psi(x), true, true],
  scale: ["qφ", (phi, psi, q) => (x) => q * phi(x), false, true],
  max: ["max(φ, ψ)", (phi, psi) => (x) => Math.max(phi(x), psi(x)), true, false],
  min: ["min(φ, ψ)", (phi, psi) => (x) => Math.min(phi(x), psi(x)), true, false],
  product: ["φ · ψ", (phi, psi) => (x) => phi(x) * psi(x), true, false],
  difference: ["φ − ψ", (phi, psi) => (x) => phi(x) - psi(x), true, false],
  affine: ["φ(2x − 1)", (phi) => (x) => phi(2 * x - 1), false, false],
};

export const DEFAULTS = {
  phi: "well", psi: "hinge", rule: "phi", q: 1, u: -1.7, w: 1.2, theta: 0.5, mu: 0, beyond: "", guess: "",
};

const usesPsi = (rule) => RULES[rule][2];

export const functionOf = ({ phi, psi, rule, q }) => RULES[rule][1](FUNCTIONS[phi][1], FUNCTIONS[psi][1], q);

/** The interval that is shown: where f is defined. */
export function interval({ phi, psi, rule }) {
  const log = phi === "log" || (usesPsi(rule) && psi === "log");
  if (!log) return SHOWN;
  return [rule === "affine" ? (1 + LOG_FROM) / 2 : LOG_FROM, SHOWN[1]];
}

/** `count` + 1 equally spaced numbers. */
export const grid = ([low, high], count = SAMPLES) => Array.from({ length: count + 1 }, (_, i) => low + ((high - low) * i) / count);

/** What f is on the interval shown, by the chords over every three neighbours of a grid. */
export function kindOf(state) {
  const f = functionOf(state);
  const x = grid(interval(state), 2 * SAMPLES);
  const y = x.map(f);
  const h = x[1] - x[0];
  const scale = Math.max(1, ...y.map(Math.abs));
  let least = Infinity;
  let most = -Infinity;
  for (let i = 1; i < x.length - 1; i++) {
    const bend = y[i - 1] - 2 * y[i] + y[i + 1];
    least = Math.min(least, bend);
    most = Math.max(most, bend);
  }
  const zero = 1e-14 * scale;
  return {
    convex: least >= -zero, strict: least > zero, concave: most <= zero,
    strong: least / (h * h) > 1e-3, // x⁴ gives 2h² at its flat point
  };
}

/** The chord of f from u to w, at every sampled z = θu + (1 − θ)w, and against the graph. */
export function derive(state) {
  const { u, w, theta, mu } = state;
  const f = functionOf(state);
  const [low, high] = interval(state);
  const [fu, fw] = [f(u), f(w)];
  const chordAt = (part) => part * fu + (1 - part) * fw;
  const correction = (part) => (mu / 2) * part * (1 - part) * (u - w) ** 2;
  const place = (part) => part * u + (1 - part) * w;
  const samples = grid([0, 1]).map((part) => {
    const z = place(part);
    const gap = chordAt(part) - f(z);
    return { theta: part, z, chord: chordAt(part), graph: f(z), gap, corrected: gap - correction(part) };
  });
  const least = (key) => samples.reduce((best, sample) => (sample[key] < best[key] ? sample : best));
  const tolerance = ROUNDING * Math.max(1, Math.abs(fu), Math.abs(fw));
  const slope = (fu - fw) / (u - w);
  const line = (x) => fw + slope * (x - w);
  // How far the line is above the graph at most, and at least, beyond the two ends.
  const beyond = u === w ? [] : [[low, Math.min(u, w)], [Math.max(u, w), high]]
    .map((side) => grid(side, 100).slice(1, -1).map((x) => line(x) - f(x)));
  const z = place(theta);
  return {
    f, fu, fw, z, line, samples,
    point: { chord: chordAt(theta), graph: f(z), gap: chordAt(theta) - f(z) },
    least: least("gap"),
    leastCorrected: least("corrected"),
    fails: least("gap").gap < -tolerance,
    correctedFails: least("corrected").corrected < -tolerance,
    belowBeyond: beyond.length === 2 && beyond.every((gaps) => gaps.length > 0 && gaps.every((gap) => gap <= tolerance)
      && Math.min(...gaps) < -0.01),
    tolerance,
  };
}

const short = (value) => Number(value.toPrecision(3));
const isPlain = (state, name) => state.rule === "phi" && state.phi === name;

/** The goals; `check` gives the sentence that says what was reached, or false. `seen` is what happened before. */
export const TASKS = [
  {
    id: "not-convex",
    text: "Find a chord which proves that the double well (x² − 1)² is not convex.",
    hint: "A chord proves it if some part of it runs below the graph. Where does the graph bulge upwards?",
    check: (state, now) => isPlain(state, "well") && now.fails
      && `at x = ${short(now.least.z)} the chord is ${short(-now.least.gap)} below the graph. One such chord is a proof.`,
  },
  {
    id: "beyond",
    text: "Take a convex function. Guess whether the line through its two points lies above or below the graph beyond the segment, "
      + "then let the figure show it; make it lie below on both sides.",
    hint: "Choose φ = x², both ends well inside the picture, and a guess for “The line beyond the ends is”.",
    check: (state, now) => state.beyond !== "" && !now.fails && now.belowBeyond && kindOf(state).convex
      && `between the ends the chord is above the graph, beyond them the line is below it.${state.beyond === "above" ? " Your guess was above." : ""}`,
  },
  {
    id: "minimum",
    text: "Find two convex functions the smaller of which is not convex, and a chord which proves that.",
    hint: "Choose min(φ, ψ) and look for a place where the graph changes from one function to the other.",
    check: (state, now) => state.rule === "min" && now.fails
      && ["phi", "psi"].every((key) => kindOf({ phi: state[key], psi: state[key], rule: "phi", q: 1 }).convex)
      && `both are convex, and at x = ${short(now.least.z)} the chord is ${short(-now.least.gap)} below their minimum.`,
  },
  {
    id: "largest",
    text: "Say a number first: the largest μ for which x² is μ-strongly convex. Then raise μ until the lowered chord fails, and go back to the "
      + "largest μ (within 0.05) at which it does not.",
    hint: "Compare the correction μ/2 · θ(1 − θ)(u − w)² with the gap of x², which is θ(1 − θ)(u − w)².",
    check: (state, now, seen) => seen.failed && isPlain(state, "square") && Math.abs(state.u - state.w) > 0.1
      && state.mu >= 1.95 && !now.correctedFails
      && `at μ = ${short(state.mu)} the lowered chord still holds, and it failed at ${short(seen.failed)}. The largest is 2, for every chord.`,
  },
  {
    id: "average",
    text: "Let u and w be two iterates of a method on P(x), and z at θ = 0.5 their average. Can the average be worse than both, and can it be better than both? "
      + "Guess, then make it better than both by 0.1 or more.",
    hint: "Choose φ = P(x), and put the two iterates on opposite sides of the minimum.",
    check: (state, now) => isPlain(state, "svm") && Math.abs(state.theta - 0.5) < 0.005
      && now.point.graph <= Math.min(now.fu, now.fw) - 0.1
      && `P is ${short(now.point.graph)} at the average, ${short(now.fu)} at u and ${short(now.fw)} at w. `
        + `It is never above the middle of the chord, here ${short(now.point.chord)}: the average is never worse than both.`,
  },
];

/** What task 4 has to remember: the least μ at which the lowered chord of x² was seen to fail. */
export function remember(seen, state, now) {
  const failing = isPlain(state, "square") && now.correctedFails;
  return failing ? { failed: Math.min(state.mu, seen.failed ?? Infinity) } : seen;
}
