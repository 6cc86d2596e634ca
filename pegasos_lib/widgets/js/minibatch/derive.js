// What the mini-batch figure shows, as numbers: pure functions of its state {X, y, lam, w, batch_size, replace, seed}.
import * as engine from "../engine.js";

export const REACH = 4; // |w_j| stays at most this
export const LIMIT = 60; // points
export const DRAWS = 200; // mini-batches that are drawn at each k
// Variances below this are rounding: the squared distances of the figure are of the order 1.
const ROUNDING = 1e-20;

/** Variance of the mean of k of n single subgradients, in units of sigma^2. */
export const share = (n, k, replace) => {
  if (replace) return 1 / k;
  return n === 1 ? 0 : (n - k) / (k * (n - 1));
};

/** The indices of the mini-batches of size k, one after the other; a stream of its own for each k. */
export const drawsOf = ({ y, seed, replace }, k) =>
  engine.drawBatches(1009 * seed + k, { n: y.length, nIter: DRAWS, batchSize: k, replace });

const drop = (value) => (value < ROUNDING ? 0 : value);

/** The means of the single subgradients `G` over the batches of `draws`, and their mean squared distance to `mean`. */
function batchMeans(G, mean, draws, k) {
  const cloud = [];
  let squares = 0;
  for (let b = 0; b < draws.length; b += k) {
    let [u, v] = [0, 0];
    for (let a = b; a < b + k; a++) {
      u += G[draws[a]][0];
      v += G[draws[a]][1];
    }
    cloud.push([u / k, v / k]);
    squares += (u / k - mean[0]) ** 2 + (v / k - mean[1]) ** 2;
  }
  return { cloud, measured: drop(squares / cloud.length) };
}

/** Half axes and angle (in radians, of the longer axis) of {x : x' S^-1 x = 1} for S = [[a, b], [b, c]]. */
export function ellipse([a, b, c]) {
  const [middle, spread] = [(a + c) / 2, Math.hypot((a - c) / 2, b)];
  return {
    axes: [Math.sqrt(drop(middle + spread)), Math.sqrt(drop(middle - spread))],
    angle: Math.atan2(2 * b, a - c) / 2,
  };
}

/** Makes `derive(state)`, which keeps the draws while they stay the same. */
export function laboratory() {
  let kept = { key: "" };
  const draws = (state, k) => {
    const key = `${state.seed} ${state.replace} ${state.y.length}`;
    if (kept.key !== key) kept = { key, of: new Map() };
    if (!kept.of.has(k)) kept.of.set(k, drawsOf(state, k));
    return kept.of.get(k);
  };

  return (state) => {
    const { X, y, lam, w, batch_size: k, replace } = state;
    const n = y.length;
    const problem = engine.makeProblem(X, y, lam);
    const margins = engine.margins(problem, w);
    const pushes = Array.from(margins, (m) => m < 1);
    const singles = X.map((x, i) => x.map((value, j) => lam * w[j] - (pushes[i] ? y[i] * value : 0)));
    const mean = [0, 1].map((j) => singles.reduce((sum, g) => sum + g[j], 0) / n);
    const moment = (i, j) => singles.reduce((sum, g) => sum + (g[i] - mean[i]) * (g[j] - mean[j]), 0) / n;
    const covariance = [moment(0, 0), moment(0, 1), moment(1, 1)];
    const sigma2 = drop(covariance[0] + covariance[2]);
    const sizes = Array.from({ length: n }, (_, i) => i + 1);
    const sampled = sizes.map((size) => batchMeans(singles, mean, draws(state, size), size));
    const part = share(n, k, replace);
    return {
      problem, margins, pushes, singles, mean, covariance, sigma2, sizes,
      cloud: sampled[k - 1].cloud,
      measured: sampled.map((sample) => sample.measured),
      share: part,
      variance: sigma2 * part,
      ellipse: ellipse(covariance.map((value) => value * part)),
    };
  };
}

/** The minimiser of P to three decimals: there no margin is 1 by rounding alone. */
export const minimum = ({ X, y, lam }) =>
  Array.from(engine.optimum(engine.makeProblem(X, y, lam)).w, (value) => Math.round(1000 * value) / 1000);

export const TASKS = [
  {
    id: "halve",
    text: "Halve the standard deviation of one example by the smallest batch that does it. Say first which k that will be.",
    hint: "The standard deviation is the root of the variance. With replacement the variance at k is σ²/k. Write your guess "
      + "into the field, then move k from 1 on and read off the share of the standard deviation.",
    check: ({ batch_size: k, replace, y }, now, guess) => {
      const n = y.length;
      const enough = (size) => share(n, size, replace) <= 0.25;
      if (guess === null || now.sigma2 === 0 || k === 1 || !enough(k) || enough(k - 1)) return false;
      return `at k = ${k} ${replace ? "with" : "without"} replacement; your guess was ${guess}.`
        + (replace ? " Four times the work for half the deviation." : "");
    },
  },
  {
    id: "vanish",
    text: "Make the noise of the batch vanish, at a w where single examples do have noise.",
    hint: "With replacement σ²/k is never 0. Without replacement the factor n − k can be.",
    check: ({ batch_size: k, y }, now) =>
      now.sigma2 > 0 && now.variance === 0 && `all ${y.length} examples, each once: with k = ${k} = n the batch is the whole average.`,
  },
  {
    id: "quiet",
    text: "Find data and a w at which there is no noise at all, at any k, with or without replacement.",
    hint: "All single subgradients must be equal. An example with margin at least 1 has the subgradient λw. Can all have that? "
      + "Not for every data set.",
    check: ({ y }, now) => now.sigma2 === 0 && y.length > 1
      && (now.pushes.some(Boolean) ? "all examples push alike here." : "no example pushes here, so every one has the subgradient λw."),
  },
];
