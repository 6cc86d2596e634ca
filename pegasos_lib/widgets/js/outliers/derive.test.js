import assert from "node:assert/strict";
import { test } from "node:test";
import { clean, contaminated, DEFAULTS, GOALS, KINK, longestStall, play, refusedInARow, TASKS } from "./derive.js";

const state = (changes = {}) => clean({ ...DEFAULTS, ...changes });
const reached = (current, guess = null) => {
  const run = play(current);
  return TASKS.filter((task) => task.check(current, run, guess)).map((task) => task.id);
};

test("what is wrong in a state is put right, and what is right stays the same object", () => {
  assert.deepEqual(clean(DEFAULTS), DEFAULTS);
  assert.equal(clean(DEFAULTS).X, DEFAULTS.X);
  const odd = clean({
    X: [[1, 2], [3]], y: [1, 1], share: 2, outliers: "?", lam: NaN, batch_size: 99, undo: 1, two_out: 0, threshold: 99, probability: "",
    gamma: -1, importance_weights: 1, test: "best", start: [NaN, 1], seed: -1, n_iter: 1e9, t: NaN, axis: "", measure: "",
  });
  assert.deepEqual(odd, {
    ...DEFAULTS, share: 0.5, batch_size: 60, undo: true, two_out: false, threshold: 6, gamma: 0.1, importance_weights: true, seed: 0,
    n_iter: 2000, t: 2000,
  });
  assert.equal(clean({ ...DEFAULTS, X: [[1, 0]], y: [1], batch_size: 3, n_iter: 10 }).batch_size, 1);
});

test("a larger share keeps the outliers of a smaller one, flipped or thrown far", () => {
  let before = [];
  for (const share of [0, 0.05, 0.2, 0.35, 0.5]) {
    const { X, y, isOutlier } = contaminated(state({ share }));
    assert.equal(isOutlier.filter(Boolean).length, Math.round(60 * share));
    assert.ok(before.every((was, i) => !was || isOutlier[i]));
    assert.deepEqual(X, DEFAULTS.X);
    assert.deepEqual(y, DEFAULTS.y.map((label, i) => (isOutlier[i] ? -label : label)));
    const far = contaminated(state({ share, outliers: "far" }));
    assert.deepEqual(far.y, DEFAULTS.y);
    assert.deepEqual(far.X, DEFAULTS.X.map(([a, b], i) => (isOutlier[i] ? [-2 * a, -2 * b] : [a, b])));
    before = isOutlier;
  }
  const hundred = Array.from({ length: 100 }, () => [1, 1]);
  const { isOutlier } = contaminated({ X: hundred, y: hundred.map(() => 1), share: 0.29, outliers: "far" });
  assert.equal(isOutlier.filter(Boolean).length, 29, "0.29 * 100 lies below 29");
});

test("counts and flags along the run end where the run ends", () => {
  for (const changes of [{}, { batch_size: 5, threshold: 3 }, { probability: true, two_out: false, gamma: 0.8 }, { probability: true, undo: true }]) {
    const current = state(changes);
    const run = play(current);
    const { T, run: end, isOutlier } = run;
    run.X.forEach((_, i) => {
      assert.equal(run.flagsAt(i, T), end.flags[i]);
      assert.ok(Math.abs(run.weightAt(i, T) - end.p[i]) < 1e-15);
    });
    const last = run.X.map((_, i) => (current.two_out ? end.removedAt[i] <= T : end.p[i] < 0.5));
    assert.equal(run.suspects[T], last.filter(Boolean).length);
    assert.equal(run.caught[T], last.filter((is, i) => is && isOutlier[i]).length);
    assert.equal(run.countAt(run.who, T), run.suspects[T]);
    assert.equal(run.rises[T], end.rose.reduce((a, b) => a + b, 0));
    // At a step before the end they are what a shorter run has.
    const short = play({ ...current, n_iter: 150 });
    assert.deepEqual([...short.suspects], [...run.suspects.subarray(0, 151)]);
    run.X.forEach((_, i) => assert.equal(run.flagsAt(i, 150), short.run.flags[i]));
    run.X.forEach((_, i) => assert.ok(Math.abs(run.weightAt(i, 150) - short.run.p[i]) < 1e-15));
  }
});

test("without a variant, and with undo alone, nobody is suspected", () => {
  for (const undo of [false, true]) {
    const run = play(state({ two_out: false, undo }));
    assert.equal(run.who, null);
    assert.deepEqual(run.scoreAt(500), { precision: null, recall: null });
    assert.equal(run.countAt("flagged", 500), 0);
    if (!undo) run.plain.forEach((value, j) => assert.ok(Math.abs(value - run.run.W[j]) < 1e-12));
  }
});

test("stalls are the stretches of refused steps far from the least value", () => {
  const current = state({ undo: true, two_out: false });
  const run = play(current);
  const all = longestStall(current, run);
  const far = longestStall(current, run, 0.04);
  for (const { from, to } of [all, far]) {
    for (let t = from; t <= to; t++) assert.ok(run.refusedAt(t));
    assert.equal(refusedInARow(current, run, to), to - from + 1);
  }
  assert.ok(!run.refusedAt(all.from - 1) && all.to - all.from > far.to - far.from, "near the minimum most steps are refused");
  assert.equal(longestStall(state(), play(state())), null);
  assert.equal(refusedInARow(state(), play(state()), 200), 0);
});

test("one example on its margin line is never left", () => {
  const current = state({ ...KINK, n_iter: 2000 });
  const run = play(current);
  assert.deepEqual(longestStall(current, run, GOALS.above), { from: 1, to: 2000 });
  assert.deepEqual(run.wAt(2000), [1, 1]);
  assert.ok(Math.abs(run.values.all[2000] - 0.1) < 1e-15 && Math.abs(run.best.all.value - 0.05) < 1e-12);
  assert.ok(run.plainValues.all[2000] < 0.051);
});

test("each task is reached by what it asks for and by nothing less", () => {
  for (const guess of [null, "small", 20, "fall"]) assert.deepEqual(reached(state(), guess), []);
  const stall = { undo: true, two_out: false, lam: 1e-4 };
  assert.deepEqual(reached(state(stall), "small"), ["stall"]);
  assert.deepEqual(reached(state(stall)), []);
  for (const changes of [{ undo: false }, { lam: 0.01 }, { n_iter: 299 }]) assert.deepEqual(reached(state({ ...stall, ...changes }), "small"), []);
  assert.deepEqual(reached(state({ ...KINK }), "large"), ["stall"]);

  const spoilt = { share: 0, threshold: 4 };
  assert.deepEqual(reached(state(spoilt), 5), ["clean"]);
  assert.deepEqual(reached(state(spoilt)), []);
  for (const changes of [{ threshold: 3 }, { share: 0.05 }, { two_out: false }, { n_iter: 100 }]) assert.deepEqual(reached(state({ ...spoilt, ...changes }), 5), []);

  const best = state({ lam: 5e-4, threshold: 4 });
  const run = play(best);
  const t = run.suspects.findIndex((m, s) => m >= GOALS.caught && run.caught[s] >= GOALS.precision * m);
  assert.ok(t > 0);
  assert.deepEqual(reached({ ...best, t }, "fall"), ["precision"]);
  assert.deepEqual(reached({ ...best, t }), []);
  assert.deepEqual(reached({ ...best, t: t - 1 }, "fall"), []);
  assert.deepEqual(reached({ ...best, t: 1000 }, "fall"), [], "clean points follow");
  assert.deepEqual(reached({ ...best, t, share: 0.25 }, "fall"), []);
});
