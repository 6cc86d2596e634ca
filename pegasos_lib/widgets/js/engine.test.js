// The engine against the library's golden vectors, and facts that need no reference.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as engine from "./engine.js";

const golden = (name) => JSON.parse(readFileSync(new URL(`../../../tests/golden/${name}.json`, import.meta.url), "utf8"));
const problemOf = ({ X, y, lam, constant = 0 }) => engine.makeProblem(X, y, lam, { constant });

// Equal to `tolerance` times the largest number of the array: an average of large iterates that cancel
// is known no better.
function assertClose(actual, expected, message, tolerance = 1e-10) {
  const a = typeof actual === "number" ? [actual] : Array.from(actual);
  const b = [expected].flat(Infinity);
  const size = b.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
  assert.equal(a.length, b.length, `${message}: length`);
  a.forEach((value, i) => {
    const error = Math.abs(value - b[i]) / size;
    assert.ok(error <= tolerance, `${message}[${i}]: ${value}, library ${b[i]}, error ${error}`);
  });
}

for (const c of golden("problems")) {
  test(`problem: ${c.name}`, () => {
    const problem = problemOf(c);
    const W = Float64Array.from(c.w.flat());
    const e = c.expected;
    assertClose(problem.R, e.R, "R");
    assertClose(problem.C, e.C, "C");
    assertClose(engine.objectives(problem, W), e.objective, "objectives");
    c.w.forEach((w, s) => {
      assertClose(engine.objective(problem, w), e.objective[s], "objective");
      assertClose(engine.margins(problem, w), e.margins[s], "margins");
      assertClose(engine.losses(engine.margins(problem, w)), e.losses[s], "losses");
      assertClose(engine.subgradient(problem, w), e.subgradient[s], "subgradient");
      const { norm, hinge } = engine.terms(problem, w);
      assertClose(norm + hinge, e.objective[s], "sum of the two terms");
    });
    assertClose(engine.weights(problem, c.alpha), e.weights, "w(alpha)");
    assertClose(engine.dualObjective(problem, c.alpha), e.dual_objective, "D(alpha)");
  });
}

for (const c of golden("steps")) {
  test(`step rule: ${c.name}, lam = ${c.lam}`, () => {
    assertClose(c.t.map((t) => engine.stepSize(c.step, t, c.lam, c.c)), c.expected.eta, "eta");
  });
}

for (const c of golden("runs")) {
  test(`run: ${c.name}`, () => {
    const problem = problemOf(c);
    const W = engine.sgd(problem, {
      draws: Int32Array.from(c.draws.flat()), batchSize: c.batch_size, step: c.step, c: c.c, project: c.project,
    });
    assertClose(W, c.expected.w, "iterates");
    assertClose(engine.objectives(problem, W), c.expected.objective, "objective");
    for (const kind of ["uniform", "weighted", "suffix"]) {
      const A = engine.averages(W, problem.d, kind);
      assertClose(A, c.expected[kind], kind);
      assertClose(engine.objectives(problem, A), c.expected[`objective_${kind}`], `objective, ${kind}`);
    }
    assert.equal(engine.averages(W, problem.d, "last"), W);
  });
}

for (const c of golden("outliers")) {
  test(`outliers: ${c.name}`, () => {
    const problem = problemOf(c);
    const { undo, two_out, probability, p_min, importance_weights, test: watched, project, w0 } = c.options;
    const options = {
      draws: Int32Array.from(c.draws.flat()), batchSize: c.batch_size, undo, twoOut: two_out, gamma: probability, pMin: p_min,
      weighted: importance_weights, test: watched, project, start: w0,
    };
    const run = engine.outlierPegasos(problem, options);
    const e = c.expected;
    assertClose(run.W, e.w, "w");
    assert.deepEqual([...run.rose].map(Boolean), e.rose, "rose");
    assert.deepEqual([...run.flags], e.flags, "flags");
    assertClose(run.p, e.p, "p");
    assert.deepEqual([...run.removedAt].map((t) => (t === Infinity ? 0 : t)), e.removed_at, "removed at");
    assert.deepEqual([...run.work], e.work, "work");
    assert.deepEqual(new Set(run.removed), new Set(e.removed_at.flatMap((t, i) => (t > 0 ? [i] : []))), "removed");
  });
}

test("without a variant the watch changes nothing", () => {
  const [c] = golden("outliers");
  const problem = problemOf(c);
  const draws = engine.drawBatches(3, { n: 20, nIter: 50, batchSize: 2 });
  const never = () => assert.fail("nothing is to be replaced");
  const { W, work } = engine.outlierPegasos(problem, { draws, batchSize: 2, uniform: never });
  assertClose(W, [...engine.sgd(problem, { draws, batchSize: 2, project: true })], "w");
  assert.ok(work[50] > 100 && (work[50] - 100) % 20 === 0);
});

for (const c of golden("optima")) {
  test(`optimum: ${c.name}`, () => {
    const { value, gap } = engine.optimum(problemOf(c));
    const { lower, upper } = c.expected;
    assert.ok(gap <= 1e-10, `own certificate ${gap}`);
    assert.ok(value >= lower - 1e-10 && value <= upper + 1e-10, `${value} outside [${lower}, ${upper}]`);
  });
}

for (const c of golden("draws")) {
  test(`draws: ${c.name}`, () => {
    const draws = engine.drawBatches(c.seed, {
      n: c.n, nIter: c.n_iter, batchSize: c.batch_size, replace: c.replace, sampling: c.sampling,
    });
    assert.deepEqual(Array.from(draws), c.expected.draws);
  });
}

// ------------------------------------------------------------------- facts without a reference

const uniform = (seed) => {
  const next = engine.mulberry32(seed);
  return () => next() / 2 ** 32;
};
function randomProblem(k, u) {
  const normal = () => Math.sqrt(-2 * Math.log(1 - u())) * Math.cos(2 * Math.PI * u());
  const n = 1 + Math.floor(200 * u());
  const X = [];
  const y = [];
  for (let i = 0; i < n; i++) {
    y.push(k % 7 === 1 || u() < 0.5 ? 1 : -1);
    let x = [normal() + y[i] * (k % 3), normal()];
    if (k % 5 === 2) x = x.map(Math.round);
    if (k % 5 === 3 && i > 0 && u() < 0.5) x = X[i - 1];
    if (k % 5 === 4 && u() < 0.3) x = [0, 0];
    X.push(x);
  }
  return engine.makeProblem(X, y, 10 ** (-5 + 6 * u()), { constant: k % 2 });
}

test("optimum carries a certificate of 1e-10 on 1,000 problems, and no neighbour is lower", () => {
  const u = uniform(11);
  for (let k = 0; k < 1000; k++) {
    const problem = randomProblem(k, u);
    const { w, value, gap, alpha } = engine.optimum(problem);
    assert.ok(gap <= 1e-10, `problem ${k}: gap ${gap}`);
    assert.ok(alpha.every((a) => a >= 0 && a <= 1), `problem ${k}: alpha outside [0, 1]`);
    assertClose(value - engine.dualObjective(problem, alpha), gap, `problem ${k}: gap`);
    for (let a = 0; a < 4; a++) {
      const near = w.map((x) => x + 1e-3 * (u() - 0.5));
      assert.ok(engine.objective(problem, near) >= value - 1e-10, `problem ${k}: a neighbour is lower`);
    }
  }
});

test("the minimiser obeys |w*| <= min(1/sqrt(lam), R/lam)", () => {
  const u = uniform(12);
  for (let k = 0; k < 300; k++) {
    const problem = randomProblem(k, u);
    const { w } = engine.optimum(problem);
    const limit = Math.min(1 / Math.sqrt(problem.lam), problem.R / problem.lam);
    assert.ok(Math.hypot(...w) <= limit * (1 + 1e-6), `problem ${k}: ${Math.hypot(...w)} > ${limit}`);
  }
});

test("a margin of exactly 1 is no hit", () => {
  const problem = engine.makeProblem([[1, 0]], [1], 0.5);
  assert.deepEqual(Array.from(engine.subgradient(problem, [1, 0])), [0.5, 0]);
  assert.deepEqual(Array.from(engine.subgradient(problem, [1 - 1e-12, 0])), [0.5 * (1 - 1e-12) - 1, 0]);
  assert.deepEqual(Array.from(engine.subgradient(problem, [1 - 1e-12, 0], 1e-9)), [0.5 * (1 - 1e-12), 0]);
});

test("a step from a margin of exactly 1 only shrinks", () => {
  const problem = engine.makeProblem([[1, 0]], [1], 1);
  assert.deepEqual(Array.from(engine.sgd(problem, { draws: [0, 0] })), [0, 0, 1, 0, 0.5, 0]);
});

test("counts stand for repeated rows", () => {
  const below = engine.boundedIntegers(8);
  const number = () => below(2000) / 500 - 2;
  for (let trial = 0; trial < 100; trial++) {
    const n = 1 + below(8);
    const X = Array.from({ length: n }, () => [number(), number()]);
    const y = X.map(() => 2 * below(2) - 1);
    const counts = X.map(() => 1 + below(trial % 2 ? 5 : 500));
    const rows = counts.flatMap((count, i) => new Array(count).fill(i));
    const lam = 10 ** -below(5);
    const once = engine.optimum(engine.makeProblem(X, y, lam), { counts });
    const repeated = engine.makeProblem(rows.map((i) => X[i]), rows.map((i) => y[i]), lam);
    assert.ok(once.gap <= 1e-10 * Math.max(1, once.value), `gap ${once.gap}`);
    assertClose(once.value, engine.objective(repeated, once.w), "the value is that of the repeated rows");
    assertClose(once.value, engine.optimum(repeated).value, "and the least");
  }
});

test("projection leaves 0 at 0 and the inside of the ball alone", () => {
  assert.deepEqual(Array.from(engine.projectBall(new Float64Array(2), 1)), [0, 0]);
  assert.deepEqual(Array.from(engine.projectBall(Float64Array.of(0.6, 0), 1)), [0.6, 0]);
  assertClose(engine.projectBall(Float64Array.of(3, 4), 1), [0.6, 0.8], "on the sphere");
});

test("the bound of Theorem 2 has c = (sqrt(lam) + R)^2 with projection and 4 R^2 without", () => {
  assertClose(engine.bound({ lam: 0.25, R: 2, T: 1, project: true }), 12.5, "projected");
  assertClose(engine.bound({ lam: 0.25, R: 2, T: 1, project: false }), 32, "not projected");
  assertClose(engine.bound({ lam: 1, R: 1, T: Math.E, project: false }), 4 / Math.E, "T = e");
});

test("independent draws are the bounded integers one after the other", () => {
  for (const n of [1, 2, 3, 7, 200, 255, 256, 1_500_000_000]) {
    const below = engine.boundedIntegers(n);
    const draws = engine.drawBatches(n, { n, nIter: 500, batchSize: 3 });
    assert.deepEqual([...draws], Array.from({ length: 1500 }, () => below(n)));
  }
});

test("a bound that does not divide 2^32 favours no residue", () => {
  const below = engine.boundedIntegers(4);
  let low = 0;
  for (let a = 0; a < 10000; a++) if (below(3 * 2 ** 30) < 2 ** 30) low++;
  assert.ok(Math.abs(low - 10000 / 3) < 250, `${low} of 10,000 in the lowest third`);
});

test("draws are uniform, without repeats where that is asked, and permutations use each index once", () => {
  const counts = new Array(10).fill(0);
  for (const i of engine.drawBatches(1, { n: 10, nIter: 100000 })) counts[i]++;
  const chi2 = counts.reduce((sum, c) => sum + (c - 10000) ** 2 / 10000, 0);
  assert.ok(chi2 < 33, `chi-square ${chi2} on 9 degrees of freedom`);

  const batches = engine.drawBatches(2, { n: 6, nIter: 3000, batchSize: 3, replace: false });
  const inclusion = new Array(6).fill(0);
  for (let t = 0; t < 3000; t++) {
    const batch = batches.subarray(3 * t, 3 * t + 3);
    assert.equal(new Set(batch).size, 3);
    for (const i of batch) inclusion[i]++;
  }
  for (const c of inclusion) assert.ok(Math.abs(c - 1500) < 150, `inclusion ${inclusion}`);

  const epochs = engine.drawBatches(3, { n: 8, nIter: 6, batchSize: 4, sampling: "permutation" });
  for (let e = 0; e < 3; e++) assert.equal(new Set(epochs.subarray(8 * e, 8 * e + 8)).size, 8);
  assert.throws(() => engine.drawBatches(1, { n: 2, nIter: 1, batchSize: 3, replace: false }));
});

test("bad input is refused", () => {
  assert.throws(() => engine.makeProblem([], [], 1));
  assert.throws(() => engine.makeProblem([[1, 2]], [1, 1], 1));
  assert.throws(() => engine.makeProblem([[1, 2]], [1], 0));
  assert.throws(() => engine.stepSize("newton", 1, 1));
  assert.throws(() => engine.averages(new Float64Array(4), 2, "median"));
});
