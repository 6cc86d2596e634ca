// The numerical twin of pegasos_lib for problems of the size of a figure: pure functions over flat
// typed arrays, no DOM. tests/golden/*.json, exported from the library, prove it equal to 1e-10.
//
// Notation of the book: P(w) = lam/2 |w|^2 + (1/n) sum_i max(0, 1 - m_i(w)), m_i(w) = y_i <w, x_i>;
// w_1 = 0, steps t = 1..T; the subgradient counts a point when its margin is `< 1`.
// A matrix is row-major: iterate number s (s = 0 is w_1) of a run is W[s*d .. s*d + d - 1].

export const STEP_RULES = ["pegasos", "weighted", "inverse-time", "inverse-sqrt", "constant"];
export const AVERAGES = ["last", "uniform", "weighted", "suffix"];

// ---------------------------------------------------------------------------------- problem

/**
 * Hold rows X (list of n lists of d numbers), labels y (-1 or +1) and lam > 0.
 * `constant` other than 0 appends that constant as one more feature of every row (d grows by 1).
 * Z holds the signed rows y_i x_i, which is all that the objective needs.
 */
export function makeProblem(X, y, lam, { constant = 0 } = {}) {
  const n = X.length;
  if (n === 0 || y.length !== n) throw new Error("X and y must hold the same number of points, at least 1");
  if (!(lam > 0)) throw new Error("lam must be positive");
  const extra = constant === 0 ? 0 : 1;
  const d = X[0].length + extra;
  const Z = new Float64Array(n * d);
  let R2 = 0;
  for (let i = 0; i < n; i++) {
    let norm2 = 0;
    for (let j = 0; j < d; j++) {
      const x = j < d - extra ? X[i][j] : constant;
      Z[i * d + j] = y[i] * x;
      norm2 += x * x;
    }
    R2 = Math.max(R2, norm2);
  }
  return { Z, y: Float64Array.from(y), n, d, lam, R: Math.sqrt(R2), C: 1 / (lam * n) };
}

export const withLam = (problem, lam) => ({ ...problem, lam, C: 1 / (lam * problem.n) });

function dot(A, a, B, b, d) {
  let s = 0;
  for (let j = 0; j < d; j++) s += A[a + j] * B[b + j];
  return s;
}

/** The n margins of w. */
export function margins({ Z, n, d }, w, out = new Float64Array(n)) {
  for (let i = 0; i < n; i++) out[i] = dot(Z, i * d, w, 0, d);
  return out;
}

/** The n hinge losses that belong to these margins. */
export const losses = (m) => m.map((value) => Math.max(0, 1 - value));

/** P at each of the m iterates of W (m*d numbers), in one pass. */
export function objectives({ Z, n, d, lam }, W, m = W.length / d, out = new Float64Array(m)) {
  for (let s = 0; s < m; s++) {
    let loss = 0;
    let norm2 = 0;
    if (d === 2) {
      const a = W[2 * s];
      const b = W[2 * s + 1];
      norm2 = a * a + b * b;
      for (let i = 0; i < 2 * n; i += 2) {
        const h = 1 - (a * Z[i] + b * Z[i + 1]);
        if (h > 0) loss += h;
      }
    } else {
      norm2 = dot(W, s * d, W, s * d, d);
      for (let i = 0; i < n; i++) {
        const h = 1 - dot(Z, i * d, W, s * d, d);
        if (h > 0) loss += h;
      }
    }
    out[s] = (lam / 2) * norm2 + loss / n;
  }
  return out;
}

export const objective = (problem, w) => objectives(problem, w, 1)[0];

/** The two terms of P(w): {norm: lam/2 |w|^2, hinge: mean loss}. */
export function terms(problem, w) {
  const norm = (problem.lam / 2) * dot(w, 0, w, 0, problem.d);
  let hinge = 0;
  for (const loss of losses(margins(problem, w))) hinge += loss;
  return { norm, hinge: hinge / problem.n };
}

/** The subgradient lam w - (1/n) sum over the points with margin < 1 - `tolerance` of y_i x_i. */
export function subgradient({ Z, n, d, lam }, w, tolerance = 0) {
  const g = new Float64Array(d);
  for (let i = 0; i < n; i++) {
    if (dot(Z, i * d, w, 0, d) < 1 - tolerance) for (let j = 0; j < d; j++) g[j] -= Z[i * d + j];
  }
  for (let j = 0; j < d; j++) g[j] = lam * w[j] + g[j] / n;
  return g;
}

// ------------------------------------------------------------------------------------- dual

/** w(alpha) = (1/(lam n)) sum_i alpha_i y_i x_i. */
export function weights({ Z, n, d, lam }, alpha) {
  const w = new Float64Array(d);
  for (let i = 0; i < n; i++) for (let j = 0; j < d; j++) w[j] += alpha[i] * Z[i * d + j];
  for (let j = 0; j < d; j++) w[j] /= lam * n;
  return w;
}

/** D(alpha) = mean(alpha) - lam/2 |w(alpha)|^2, for alpha in [0, 1]^n. */
export function dualObjective(problem, alpha) {
  const w = weights(problem, alpha);
  let sum = 0;
  for (const a of alpha) sum += a;
  return sum / problem.n - (problem.lam / 2) * dot(w, 0, w, 0, problem.d);
}

// ------------------------------------------------------------------------ steps and projection

/** eta_t of the rule `step`, t >= 1. */
export function stepSize(step, t, lam, c = 1) {
  switch (step) {
    case "pegasos": return 1 / (lam * t);
    case "weighted": return 2 / (lam * (t + 1));
    case "inverse-time": return c / t;
    case "inverse-sqrt": return c / Math.sqrt(t);
    case "constant": return c;
    default: throw new Error(`unknown step rule ${step}`);
  }
}

/** Project d numbers of w from `at` on, in place, on the l2 ball of that radius; 0 stays 0. */
export function projectBall(w, radius, at = 0, d = w.length) {
  const norm = Math.sqrt(dot(w, at, w, at, d));
  if (norm > radius) for (let j = 0; j < d; j++) w[at + j] *= radius / norm;
  return w;
}

// ------------------------------------------------------------------------------------ draws

/**
 * Tommy Ettinger's mulberry32: a 32-bit counter and a mixing step. Given a seed (an integer, taken
 * modulo 2^32) it returns a function that gives the next unsigned 32-bit integer.
 */
export function mulberry32(seed) {
  let state = seed;
  return () => {
    state = (state + INCREMENT) | 0;
    return scramble(state) >>> 0;
  };
}

const INCREMENT = 0x6d2b79f5;

function scramble(state) {
  let z = Math.imul(state ^ (state >>> 15), state | 1);
  z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
  return z ^ (z >>> 14);
}

/** A function that gives unbiased integers 0 <= r < bound: what would favour small r is drawn again. */
export function boundedIntegers(seed) {
  const next = mulberry32(seed);
  let [last, limit] = [0, 0];
  return (bound) => {
    if (bound !== last) [last, limit] = [bound, 2 ** 32 - (2 ** 32 % bound)];
    let r = next();
    while (r >= limit) r = next();
    return remainder(r, bound);
  };
}

// r % bound for 32-bit integers, exact: the quotient is known to 53 bits. The operator itself takes
// four times as long in a browser.
const remainder = (r, bound) => r - Math.floor(r / bound) * bound;

// Fills `draws` as boundedIntegers(seed) would, in one loop: a batch of 200 asks for 400,000 numbers.
function fill(draws, seed, bound) {
  const limit = 2 ** 32 - (2 ** 32 % bound);
  let state = seed;
  for (let a = 0; a < draws.length;) {
    state = (state + INCREMENT) | 0;
    const r = scramble(state) >>> 0;
    if (r < limit) draws[a++] = remainder(r, bound);
  }
  return draws;
}

function shuffleFirst(pool, k, below) {
  for (let a = 0; a < k; a++) {
    const b = a + below(pool.length - a);
    [pool[a], pool[b]] = [pool[b], pool[a]];
  }
}

/**
 * nIter mini-batches of `batchSize` indices in 0..n-1, one after the other in one Int32Array.
 * iid: uniform, with or without replacement inside a batch (between batches always with).
 * permutation: random permutations of 0..n-1 one after the other, cut into batches.
 */
export function drawBatches(seed, { n, nIter, batchSize = 1, replace = true, sampling = "iid" }) {
  if (batchSize > n && (sampling === "permutation" || !replace)) {
    throw new Error("without replacement a batch holds at most n points");
  }
  const below = boundedIntegers(seed);
  const draws = new Int32Array(nIter * batchSize);
  if (sampling === "iid" && (replace || batchSize === 1)) return fill(draws, seed, n);
  const pool = Int32Array.from({ length: n }, (_, i) => i);
  if (sampling === "permutation") {
    for (let a = 0; a < draws.length; a++) {
      if (a % n === 0) shuffleFirst(pool, n - 1, below);
      draws[a] = pool[a % n];
    }
    return draws;
  }
  for (let t = 0; t < nIter; t++) {
    shuffleFirst(pool, batchSize, below);
    draws.set(pool.subarray(0, batchSize), t * batchSize);
  }
  return draws;
}

// ---------------------------------------------------------------------------------- solvers

/** The radius that `project` stands for: true is 1/sqrt(lam), a number is itself, false is none. */
export function radiusOf(project, lam) {
  if (project === true) return 1 / Math.sqrt(lam);
  return project === false || project == null ? Infinity : project;
}

/**
 * Stochastic subgradient steps along the given `draws` (nIter*batchSize indices). Returns all
 * nIter + 1 iterates, w_1 first (0, or `start`), w_{nIter+1} last. Pegasos is step = "pegasos".
 */
export function sgd(problem, {
  draws, batchSize = 1, nIter = draws.length / batchSize, step = "pegasos", c = 1, project = false, start = null,
}) {
  const { Z, d, lam } = problem;
  const radius = radiusOf(project, lam);
  const W = new Float64Array((nIter + 1) * d);
  if (start) W.set(start);
  const v = new Float64Array(d);
  for (let t = 1; t <= nIter; t++) {
    const now = (t - 1) * d;
    const eta = stepSize(step, t, lam, c);
    v.fill(0);
    if (d === 2) {
      const [w0, w1] = [W[now], W[now + 1]];
      let [v0, v1] = [0, 0];
      for (let a = (t - 1) * batchSize; a < t * batchSize; a++) {
        const i = 2 * draws[a];
        if (Z[i] * w0 + Z[i + 1] * w1 < 1) {
          v0 += Z[i];
          v1 += Z[i + 1];
        }
      }
      v[0] = v0;
      v[1] = v1;
    } else {
      for (let a = (t - 1) * batchSize; a < t * batchSize; a++) {
        const i = draws[a] * d;
        if (dot(Z, i, W, now, d) < 1) for (let j = 0; j < d; j++) v[j] += Z[i + j];
      }
    }
    for (let j = 0; j < d; j++) W[now + d + j] = (1 - eta * lam) * W[now + j] + (eta / batchSize) * v[j];
    if (radius !== Infinity) projectBall(W, radius, now + d, d);
  }
  return W;
}

/**
 * Pegasos that watches the objective, with what it may do at a rise: pegasos_lib.outlier_pegasos.
 *
 * `uniform()` gives numbers in [0, 1): an example of `draws` that was removed, or whose weight fell,
 * gives way to another one by it. Without it the draws are taken as they are. `twoOut` is the number
 * of flags at which an example goes, `gamma` the factor of the weights; null leaves that part out.
 *
 * Returns all nIter + 1 iterates W, the candidates (row t - 1: that of step t), which steps `rose`,
 * the `draws` that were used, `flags`, weights `p`, `removedAt` and `removed` (a step for each
 * example, Infinity where it lives; the examples in order), and `work`, in evaluations of an example
 * until each iterate.
 */
export function outlierPegasos(problem, {
  draws: given, batchSize = 1, uniform = null, undo = false, twoOut = null, gamma = null, pMin = 0.01,
  weighted = false, test = "full", project = true, start = null,
}) {
  const { Z, n, d, lam } = problem;
  const nIter = given.length / batchSize;
  const draws = Int32Array.from(given);
  const radius = radiusOf(project, lam);
  const W = new Float64Array((nIter + 1) * d);
  const candidates = new Float64Array(nIter * d);
  const rose = new Uint8Array(nIter);
  const work = new Float64Array(nIter + 1);
  const flags = new Int32Array(n);
  const p = new Float64Array(n).fill(1);
  const removedAt = new Float64Array(n).fill(Infinity);
  const removed = [];
  const sums = new Float64Array(n); // of p over the living, up to each example
  let known = false; // whether they are those of now
  const total = () => {
    for (let i = 0, sum = 0; i < n && !known; i++) sums[i] = sum += removedAt[i] === Infinity ? p[i] : 0;
    known = true;
    return sums[n - 1];
  };
  const another = () => {
    const at = uniform() * total();
    let i = 0;
    while (!(sums[i] > at)) i++;
    return i;
  };

  // Margins are kept at w, on all examples or on the batch alone, and found anew at a candidate.
  const instantaneous = test === "instantaneous";
  const many = instantaneous ? batchSize : n;
  const evaluate = (X, row, first, out) => {
    for (let a = 0; a < many; a++) out[a] = dot(Z, (instantaneous ? draws[first + a] : a) * d, X, row * d, d);
  };
  const value = (X, row, m) => {
    let loss = 0;
    if (test === "alive") for (let i = 0; i < n; i++) loss += removedAt[i] === Infinity ? Math.max(0, 1 - m[i]) : 0;
    else for (let a = 0; a < many; a++) if (m[a] < 1) loss += 1 - m[a];
    return (lam / 2) * dot(X, row * d, X, row * d, d) + loss / (test === "alive" ? n - removed.length : many);
  };
  let [m, next] = [new Float64Array(many), new Float64Array(many)];
  if (start) W.set(start);
  let f = 0;
  let evaluations = 0;
  if (!instantaneous) {
    if (start?.some((v) => v !== 0)) evaluations = n;
    evaluate(W, 0, 0, m);
    f = value(W, 0, m);
  }
  work[0] = evaluations;

  for (let t = 1; t <= nIter; t++) {
    const now = t - 1; // the row of w_t, and of the candidate
    const first = now * batchSize;
    if (uniform) {
      for (let a = first; a < first + batchSize; a++) {
        const kept = removedAt[draws[a]] === Infinity ? p[draws[a]] : 0;
        if (kept < 1 && uniform() >= kept) draws[a] = another();
      }
    }
    if (instantaneous) {
      evaluate(W, now, first, m);
      f = value(W, now, m);
    }

    const decay = now / t;
    for (let j = now * d; j < t * d; j++) candidates[j] = decay * W[j];
    let hit = false;
    for (let a = 0; a < batchSize; a++) {
      const i = draws[first + a];
      if (!(m[instantaneous ? a : i] < 1)) continue;
      hit = true;
      const push = (weighted ? total() / (n * p[i]) : 1) / (lam * t * batchSize);
      for (let j = 0; j < d; j++) candidates[now * d + j] += push * Z[i * d + j];
    }
    const norm = Math.sqrt(dot(candidates, now * d, candidates, now * d, d));
    const shrink = norm > radius ? radius / norm : 1;
    for (let j = now * d; j < t * d; j++) candidates[j] *= shrink;

    // Without a hit the candidate is a multiple of w, and so are its margins.
    if (hit) {
      evaluate(candidates, now, first, next);
      evaluations += many;
    } else for (let a = 0; a < many; a++) next[a] = decay * shrink * m[a];
    const nextF = value(candidates, now, next);
    rose[now] = nextF > f;
    const taken = !(rose[now] && undo);
    for (let j = 0; j < d; j++) W[t * d + j] = taken ? candidates[now * d + j] : W[now * d + j];
    if (taken) [m, next, f] = [next, m, nextF];
    work[t] = batchSize * t + evaluations;
    if (!rose[now] || (twoOut === null && gamma === null)) continue;

    const examples = [...new Set(draws.subarray(first, first + batchSize))];
    const out = [];
    if (twoOut !== null) {
      for (const i of examples) if (++flags[i] >= twoOut) out.push(i);
      if (out.length === n - removed.length) out.shift(); // never all
      for (const i of out) removedAt[i] = t;
      removed.push(...out);
    }
    if (gamma !== null) for (const i of examples) p[i] = Math.max(pMin, gamma * p[i]);
    known = false;
    if (out.length > 0 && test === "alive") f = value(W, t, m);
  }
  return { W, candidates, rose, draws, flags, p, removed, removedAt, work };
}

/**
 * The averages of a run after s = 0..T steps, T + 1 rows; at s = 0 it is w_1, and w_{T+1} is in none.
 * uniform: (1/s) sum_{t<=s} w_t;  weighted: 2/(s(s+1)) sum t w_t;  suffix: the mean of the last half,
 * t = floor(s/2)+1 .. s.  "last" returns the iterates themselves.
 */
export function averages(W, d, kind) {
  if (kind === "last") return W;
  const T = W.length / d - 1;
  const A = new Float64Array(W.length);
  for (let j = 0; j < d; j++) {
    A[j] = W[j];
    let sum = 0;
    for (let s = 1; s <= T; s++) {
      const w = W[(s - 1) * d + j];
      if (kind === "uniform") {
        sum += w;
        A[s * d + j] = sum / s;
      } else if (kind === "weighted") {
        sum += s * w;
        A[s * d + j] = (2 * sum) / (s * (s + 1));
      } else if (kind === "suffix") {
        sum += w;
        if (s % 2 === 0) sum -= W[(s / 2 - 1) * d + j];
        A[s * d + j] = sum / Math.ceil(s / 2);
      } else throw new Error(`unknown average ${kind}`);
    }
  }
  return A;
}

/** Theorem 2's bound on the expected suboptimality of the uniform average after T steps. */
export function bound({ lam, R, T, project }) {
  const c = project ? (Math.sqrt(lam) + R) ** 2 : 4 * R * R;
  return (c * (1 + Math.log(T))) / (2 * lam * T);
}

// ---------------------------------------------------------------------------------- optimum

/**
 * The minimiser of P with a certificate: {w, value = P(w), alpha in [0,1]^n, gap = value - D(alpha)}.
 *
 * Mehrotra's predictor-corrector method on  min N/2 |w|^2 + sum xi,  Zw + xi - 1 = s >= 0, xi >= 0
 * with N = lam n: each iteration costs one d x d system, so that hundreds of points take well under
 * a millisecond. Duplicates, zero rows and one class only are no special cases here.
 *
 * `counts` weighs the rows, as if row i stood in the problem counts[i] > 0 times.
 */
export function optimum(problem, { tolerance = 1e-13, maxIter = 80, counts = null } = {}) {
  const { Z, n, d, lam } = problem;
  const N = lam * n;
  const vec = () => new Float64Array(n);
  // The weight of each row's xi, 1 in the mean; alpha times it is what `weights` takes.
  const c = vec().fill(1);
  if (counts) {
    const mean = counts.reduce((sum, count) => sum + count, 0) / n;
    for (let i = 0; i < n; i++) c[i] = counts[i] / mean;
  }
  const weighed = (values) => values.map((value, i) => c[i] * value);
  const alpha = vec().fill(0.5);
  const w = weights(problem, weighed(alpha));
  const [s, xi, D, q, dAlpha, ds, dxi] = [vec(), vec(), vec(), vec(), vec(), vec(), vec()];
  const m = margins(problem, w);
  for (let i = 0; i < n; i++) {
    xi[i] = Math.max(1 - m[i], 0) + 1;
    s[i] = xi[i] + m[i] - 1;
  }
  const H = new Float64Array(d * d);
  const dw = new Float64Array(d);
  const rhs = new Float64Array(d);

  // Solves the Newton system for complementarity targets sigmaMu, with the second-order terms of the
  // predictor (already in dAlpha, ds, dxi) when `correct` is set.
  const direction = (sigmaMu, correct) => {
    H.fill(0);
    for (let j = 0; j < d; j++) {
      H[j * d + j] = N;
      rhs[j] = -N * w[j];
    }
    for (let i = 0; i < n; i++) {
      const u = 1 - alpha[i];
      const rs = sigmaMu - alpha[i] * s[i] - (correct ? dAlpha[i] * ds[i] : 0);
      const rx = sigmaMu - u * xi[i] + (correct ? dAlpha[i] * dxi[i] : 0);
      const rp = m[i] + xi[i] - 1 - s[i];
      D[i] = xi[i] / u + s[i] / alpha[i];
      q[i] = -rp - rx / u + rs / alpha[i];
      ds[i] = rs;
      dxi[i] = rx;
      for (let j = 0; j < d; j++) {
        const z = Z[i * d + j];
        rhs[j] += c[i] * z * (alpha[i] + q[i] / D[i]);
        for (let l = 0; l <= j; l++) H[j * d + l] += (c[i] * z * Z[i * d + l]) / D[i];
      }
    }
    choleskySolve(H, rhs, dw, d);
    for (let i = 0; i < n; i++) {
      dAlpha[i] = (q[i] - dot(Z, i * d, dw, 0, d)) / D[i];
      ds[i] = (ds[i] - s[i] * dAlpha[i]) / alpha[i];
      dxi[i] = (dxi[i] + xi[i] * dAlpha[i]) / (1 - alpha[i]);
    }
  };
  const largestStep = () => {
    let t = 1;
    for (let i = 0; i < n; i++) {
      if (dAlpha[i] < 0) t = Math.min(t, -alpha[i] / dAlpha[i]);
      if (dAlpha[i] > 0) t = Math.min(t, (1 - alpha[i]) / dAlpha[i]);
      if (ds[i] < 0) t = Math.min(t, -s[i] / ds[i]);
      if (dxi[i] < 0) t = Math.min(t, -xi[i] / dxi[i]);
    }
    return t;
  };
  const complementarity = (t) => {
    let sum = 0;
    for (let i = 0; i < n; i++) {
      sum += (alpha[i] + t * dAlpha[i]) * (s[i] + t * ds[i]);
      sum += (1 - alpha[i] - t * dAlpha[i]) * (xi[i] + t * dxi[i]);
    }
    return sum / (2 * n);
  };

  const valueAt = (at) => {
    let loss = 0;
    for (let i = 0; i < n; i++) loss += c[i] * Math.max(0, 1 - dot(Z, i * d, at, 0, d));
    return (lam / 2) * dot(at, 0, at, 0, d) + loss / n;
  };
  let best = null;
  for (let iteration = 0; iteration < maxIter; iteration++) {
    const scaled = weighed(alpha);
    const dual = dualObjective(problem, scaled);
    for (const candidate of [weights(problem, scaled), w]) {
      const value = valueAt(candidate);
      if (!best || value - dual < best.gap) {
        best = { w: candidate.slice(), value, alpha: alpha.slice(), gap: value - dual };
      }
    }
    if (best.gap <= tolerance * Math.max(1, best.value)) break;
    const mu = complementarity(0);
    direction(0, false);
    const affine = complementarity(largestStep());
    direction(mu * (affine / mu) ** 3, true);
    const t = Math.min(1, 0.99 * largestStep());
    if (!(t > 1e-12)) break;
    for (let j = 0; j < d; j++) w[j] += t * dw[j];
    for (let i = 0; i < n; i++) {
      alpha[i] += t * dAlpha[i];
      s[i] += t * ds[i];
      xi[i] += t * dxi[i];
    }
    margins(problem, w, m);
  }
  return best;
}

// Solves H x = b for symmetric positive definite H, whose lower triangle is overwritten.
function choleskySolve(H, b, x, d) {
  for (let j = 0; j < d; j++) {
    for (let l = 0; l <= j; l++) {
      let sum = H[j * d + l];
      for (let k = 0; k < l; k++) sum -= H[j * d + k] * H[l * d + k];
      H[j * d + l] = l === j ? Math.sqrt(sum) : sum / H[l * d + l];
    }
  }
  for (let j = 0; j < d; j++) {
    let sum = b[j];
    for (let k = 0; k < j; k++) sum -= H[j * d + k] * x[k];
    x[j] = sum / H[j * d + j];
  }
  for (let j = d - 1; j >= 0; j--) {
    let sum = x[j];
    for (let k = j + 1; k < d; k++) sum -= H[k * d + j] * x[k];
    x[j] = sum / H[j * d + j];
  }
}
