import assert from "node:assert/strict";
import { test } from "node:test";
import { change, descend, firstFires, gap, outcome } from "./derive.js";
import { FUNCTIONS } from "./functions.js";
import { clean, DEFAULTS } from "./state.js";

const of = (changes) => ({ ...DEFAULTS, start: FUNCTIONS[changes.function ?? DEFAULTS.function].start, ...changes });

test("the printed test fires at the first decrease, the corrected one near the minimum", () => {
  // E002-08: x^2 from 10 with step 0.1 shrinks by 0.8 a step.
  const state = of({ function: "bowl", start: [4, 0], c: 0.1, eps: 1e-6 });
  const run = descend(state);
  const fired = firstFires(run, state);
  assert.equal(fired.increase, 1);
  assert.ok(Math.abs(gap(run, 1) - 10.24) < 1e-12);
  assert.ok(fired.decrease > 30 && gap(run, fired.decrease) < 1e-5);
});

test("a test that fires first after step t does not hold before, and one that never fires gives null", () => {
  const state = of({ function: "hinge", rule: "inverse-time", c: 1 });
  const run = descend(state);
  const { change: t, gradient } = firstFires(run, state);
  for (let s = 1; s < t; s++) assert.ok(change(run, s) > state.eps);
  assert.ok(change(run, t) <= state.eps);
  assert.equal(gradient, null);
});

test("outcomes tell close, lower and higher", () => {
  const [close, lower, higher] = [0.09, 0.001, 0.101].map((c) => descend(of({ c })));
  assert.deepEqual([close, lower, higher].map((run) => outcome(run, 0.01)), ["close", "lower", "higher"]);
});

test("a run beyond the finite numbers ends, and so does one whose search cannot", () => {
  assert.equal(descend(of({ c: 10, n_iter: 200 })).stopped, "diverged");
  const still = descend(of({ function: "bowl", start: [0, 0], rule: "backtracking" }));
  assert.deepEqual([still.n, still.stopped], [0, "no decrease"]);
});

test("along one coordinate only that one moves, in turn", () => {
  const { path } = descend(of({ function: "squares", direction: "coordinate", n_iter: 6 }));
  for (let t = 1; t <= 6; t++) {
    assert.equal(path[t][t % 2], path[t - 1][t % 2]);
    assert.notEqual(path[t][1 - (t % 2)], path[t - 1][1 - (t % 2)]);
  }
});

test("clean puts right what a link may hold", () => {
  const odd = clean({ function: "cube", start: [9, Number.NaN], direction: "up", rule: "", c: -1, gamma: 7, eps: 0, n_iter: 1e9, t: -4, seed: 0.4 });
  assert.deepEqual(odd, { ...DEFAULTS, c: 0.001, gamma: 0.95, eps: 1e-6, n_iter: 200, t: 0, seed: 0 });
  assert.deepEqual(clean({ ...DEFAULTS, start: [9, -9] }).start, [4, -4]);
  assert.equal(clean({ ...DEFAULTS, direction: "sampled" }).direction, "steepest");
  assert.equal(clean(DEFAULTS).start, DEFAULTS.start);
});
