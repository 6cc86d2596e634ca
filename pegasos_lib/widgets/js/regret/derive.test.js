import assert from "node:assert/strict";
import { test } from "node:test";
import * as engine from "../engine.js";
import { DEFAULTS, TASKS, boundOf, clean, crossover, leastLambda, logBound, play, rootBound, sizes, worst } from "./derive.js";

const state = (changes = {}) => clean({ ...DEFAULTS, ...changes });
const reached = (current, guess) => {
  const run = play(current);
  return TASKS.filter((task) => task.check(current, run, guess ?? null)).map((task) => task.id);
};

test("what is wrong in a state is put right, and what is right stays the same object", () => {
  assert.deepEqual(clean(DEFAULTS), DEFAULTS);
  const picks = [0, 11, 0];
  assert.equal(clean({ ...DEFAULTS, stream: "you", picks, t: 500 }).picks, picks);
  assert.equal(clean({ ...DEFAULTS, stream: "you", picks, t: 500 }).t, 3);
  const odd = clean({ X: [[1, 2], [3]], y: [1, 1], lam: NaN, stream: "me", rule: "?", n_iter: 1e9, seed: -1, picks: [0, 12, -1, 0.5, NaN], t: NaN, view: "" });
  assert.deepEqual(odd, { ...DEFAULTS, n_iter: 2000, seed: 0, picks: [0], t: 0 });
});

test("the regret is the sum of what was paid, less the least sum of any point", () => {
  for (const stream of ["iid", "cyclic", "adversary"]) {
    const current = state({ stream, lam: 0.05, n_iter: 60 });
    const { regretAt, W, draws, problem } = play(current);
    const f = (t, u, v) => 0.025 * (u * u + v * v) + Math.max(0, 1 - problem.Z[2 * draws[t]] * u - problem.Z[2 * draws[t] + 1] * v);
    const sum = (g) => Array.from({ length: 60 }, (_, t) => g(t)).reduce((a, b) => a + b, 0);
    const paid = sum((t) => f(t, W[2 * t], W[2 * t + 1]));
    let least = Infinity; // over a grid, which lies a little above the minimum
    for (let u = -2; u <= 2; u += 0.04) for (let v = -2; v <= 2; v += 0.04) least = Math.min(least, sum((t) => f(t, u, v)));
    const regret = regretAt(60);
    assert.ok(regret >= paid - least - 1e-9 && regret <= paid - least + 60 * 0.06, `${stream}: ${regret} against ${paid - least}`);
  }
});

test("no rule's regret passes its bound, at any step of any stream", () => {
  for (const stream of ["iid", "cyclic", "adversary"]) {
    for (const rule of ["pegasos", "inverse-sqrt", "constant", "printed"]) {
      for (const lam of [1e-4, 0.03, 10]) {
        const { grid, regrets, besides, bound } = play(state({ stream, rule, lam, n_iter: 100 }));
        grid.forEach((t, i) => {
          assert.ok(regrets[i] <= bound(t) * (1 + 1e-12), `${stream} ${rule} ${lam} ${t}: ${regrets[i]} > ${bound(t)}`);
          assert.ok(besides[i] <= regrets[i] + 1e-9, "the best point in hindsight is the hardest to compare with");
        });
      }
    }
  }
});

test("a constant step's bound is GD√T at its horizon", () => {
  const size = sizes(0.1, 2);
  const at = (t) => boundOf({ rule: "constant", lam: 0.1, n_iter: 400 }, size, t);
  assert.ok(Math.abs(at(400) - size.G * size.D * 20) < 1e-9);
  assert.ok(at(100) > size.G * size.D * 10);
});

test("from the crossing on the logarithmic bound is the smaller one, and one step before it is not", () => {
  for (const [lam, R] of [[1e-4, 2.4], [0.002, 2.4], [0.05, 2.4], [0.1, 10], [1e-4, 10], [0.3, 100]]) {
    const size = sizes(lam, R);
    const T = crossover(lam, size);
    assert.ok(logBound(T, lam, size) <= rootBound(T, size) && logBound(T - 1, lam, size) > rootBound(T - 1, size), `${lam} ${R} ${T}`);
  }
  assert.equal(crossover(1, sizes(1, 2)), 1);
  const least = leastLambda(5000, 2.4);
  assert.ok(crossover(least * 1.0001, sizes(least * 1.0001, 2.4)) <= 5000 && crossover(least * 0.999, sizes(least * 0.999, 2.4)) > 5000);
});

test("the adversary takes the largest loss, among equals the longest, then the first", () => {
  const of = (X, y) => engine.makeProblem(X, y, 1);
  assert.equal(worst(of([[1, 0], [0, 2], [2, 0], [0.5, 0]], [1, 1, 1, 1]), [0, 0]), 1);
  assert.equal(worst(of([[1, 0], [0, 2], [2, 0]], [1, 1, -1]), [1, 0]), 2);
  assert.equal(worst(of([[1, 0], [2, 0]], [1, 1]), [5, 0]), 1); // no loss at all
});

test("before the reader has sent anything there is no regret", () => {
  const { T, regretAt, grid, iterate } = play(state({ stream: "you" }));
  assert.deepEqual([T, regretAt(0), grid.length, ...iterate(0)], [0, 0, 0, 0, 0]);
});

test("each task is reached by what it asks for and by nothing less", () => {
  for (const guess of [null, 1, "adversary"]) assert.deepEqual(reached(state(), guess), []);
  assert.deepEqual(reached(state({ lam: 0.01 })), []);
  assert.deepEqual(reached(state({ lam: 0.01 }), 0.1), ["crossover"]);
  assert.deepEqual(reached(state({ lam: 0.003 }), 0.1), []);
  const adversary = { stream: "adversary", n_iter: 2000 };
  assert.deepEqual(reached(state({ ...adversary, n_iter: 500 }), "you"), []);
  assert.deepEqual(reached(state(adversary), "you"), ["tight"]);
  assert.deepEqual(reached(state(adversary)), []);
  assert.deepEqual(reached(state({ ...adversary, rule: "inverse-sqrt" }), "you"), []);
  for (const stream of ["iid", "cyclic"]) {
    for (const lam of [1e-4, 0.05, 10]) assert.ok(!reached(state({ stream, lam }), "you").includes("tight"));
  }
  const byTurns = { stream: "you", picks: Array.from({ length: 500 }, (_, t) => 11 * (t % 2)), lam: 0.2 };
  assert.ok(reached(state(byTurns), "you").includes("tight"));
  assert.ok(!reached(state({ ...byTurns, picks: byTurns.picks.slice(0, 199) }), "you").includes("tight"));
  assert.deepEqual(reached(state({ rule: "printed" }), "small"), []);
  assert.ok(reached(state({ rule: "printed", lam: 10 }), "large").includes("printed"));
  assert.ok(!reached(state({ rule: "printed", lam: 10 })).includes("printed"));
  assert.ok(!reached(state({ rule: "printed", lam: 10, n_iter: 49 }), "large").includes("printed"));
  assert.ok(!reached(state({ rule: "inverse-sqrt", lam: 10 }), "large").includes("printed"));
});
