import assert from "node:assert/strict";
import { test } from "node:test";
import * as engine from "../engine.js";
import { besideOf, caseAtBest, clean, DEFAULTS, EXACT, play, target, TASKS, wish, withMove } from "./derive.js";

const state = (changes = {}) => clean({ ...DEFAULTS, ...changes });
const reached = (current, guess = null) => {
  const run = play(current);
  return TASKS.filter((task) => task.check(current, run, guess)).map((task) => task.id);
};
const you = (picks, changes) => state({ order: "you", picks, t: picks.length, ...changes });
/** The reader who takes the step of whichever alpha is farthest from where it would go. */
const farthest = (steps, changes = {}) => {
  let picks = [];
  for (let t = 0; t < steps; t++) {
    const run = play(you(picks, changes));
    const far = run.targetsAt(t).map((to, i) => Math.abs(to - run.alphaAt(t)[i]));
    picks = [...picks, far.indexOf(Math.max(...far))];
  }
  return picks;
};

test("what is wrong in a state is put right, and what is right stays the same object", () => {
  assert.deepEqual(clean(DEFAULTS), DEFAULTS);
  const [picks, values] = [[0, 11, 0], [EXACT, 0.25]];
  const right = clean({ ...DEFAULTS, order: "you", picks, values, t: 500 });
  assert.ok(right.picks === picks && right.values === values && right.t === 3);
  const odd = clean({ X: [[1, 2], [3]], y: [1, 1], lam: NaN, order: "me", start: "?", n_epochs: 1e9, seed: -1,
    picks: [0, 12, -1, 0.5, NaN, 5], values: [2, 0, 0, 0, 0, 0.5], printed: 0, t: NaN, view: "" });
  assert.deepEqual(odd, { ...DEFAULTS, n_epochs: 50, seed: 0, picks: [0, 5], values: [EXACT, 0.5], t: 0 });
});

test("an exact step maximises the dual in its coordinate, over a grid of values", () => {
  const run = play(state({ n_epochs: 3 }));
  const { problem } = run;
  for (const t of [0, 5, 17, 30]) {
    const alpha = run.alphaAt(t);
    for (let i = 0; i < problem.n; i++) {
      const dual = (value) => engine.dualObjective(problem, alpha.map((a, j) => (j === i ? value : a)));
      const best = dual(target(problem, alpha, run.wAt(t), i));
      for (let value = 0; value <= 1; value += 0.01) assert.ok(dual(value) <= best + 1e-12, `${t} ${i} ${value}`);
    }
  }
});

test("the gap is the primal less the dual, and both parts of it are at least 0", () => {
  for (const changes of [{}, { start: "sgd", lam: 1 }, { printed: true, order: "random" }, { lam: 0.002, n_epochs: 3 }]) {
    const { gaps, primals, duals, best } = play(state(changes));
    gaps.forEach((gap, t) => {
      const scale = 1e-12 * Math.max(1, primals[t]);
      assert.ok(Math.abs(gap - (primals[t] - duals[t])) < scale, `${t}: ${gap} ${primals[t] - duals[t]}`);
      assert.ok(primals[t] >= best.value - best.gap - scale && duals[t] <= best.value + scale, String(t));
    });
  }
});

test("the dual never falls by an exact step, and the gap may rise", () => {
  let rises = 0;
  for (const order of ["permutation", "random"]) {
    const { duals, gaps } = play(state({ order, n_epochs: 20 }));
    for (let t = 1; t < duals.length; t++) {
      assert.ok(duals[t] >= duals[t - 1] - 1e-15, `${order} ${t}`);
      rises += gaps[t] > gaps[t - 1] + 1e-3;
    }
  }
  assert.ok(rises > 0);
});

test("the printed step is the exact one for label +1, and too small for −1 but never outside [0, 1]", () => {
  const run = play(state({ start: "sgd", n_epochs: 2 }));
  let smaller = 0;
  for (let t = 0; t <= run.T; t++) {
    DEFAULTS.y.forEach((label, i) => {
      const [exact, printed] = [false, true].map((wrong) => target(run.problem, run.alphaAt(t), run.wAt(t), i, wrong));
      assert.ok(printed >= 0 && printed <= 1);
      if (label > 0) assert.equal(printed, exact);
      else assert.ok(printed <= exact);
      smaller += printed < exact;
    });
  }
  assert.ok(smaller > 0);
});

test("a row of zeros has its maximum at 1", () => {
  assert.equal(play(state({ X: [[0, 0], [1, 0]], y: [-1, 1], n_epochs: 1 })).alphaAt(2)[0], 1);
});

test("a move goes on from the step that is shown, and a dragged bar is one move", () => {
  const before = state({ t: 5 });
  const { draws } = play(before);
  const once = withMove(before, draws, 3);
  assert.deepEqual(once, { order: "you", picks: [...draws.slice(0, 5), 3], values: [], t: 6 });
  let now = { ...before, ...withMove(before, draws, 2, 0.3) };
  now = { ...now, ...withMove(now, now.picks, 2, 0.7) };
  assert.deepEqual([now.t, now.picks.at(-1), now.values.at(-1)], [6, 2, 0.7]);
  assert.ok(Math.abs(play(now).alphaAt(6)[2] - 0.7) < 1e-15);
  const both = withMove(now, now.picks, 5, 0.1);
  assert.deepEqual([both.t, both.values.slice(-2)], [7, [0.7, 0.1]], "another bar is another move");
  now = { ...now, ...withMove(now, now.picks, 2) };
  assert.deepEqual([now.t, now.values.at(-1)], [7, EXACT]);
  now = { ...now, ...withMove({ ...now, t: 0 }, now.picks, 4) };
  assert.deepEqual([now.picks, now.values], [[4], []]);
  const full = you(new Array(2000).fill(0));
  assert.equal(withMove(full, full.picks, 1).picks.length, 2000);
});

test("a case holds where the margin agrees with alpha", () => {
  for (const [alpha, margin, wanted] of [[0, 1.2, 0], [0, 0.9, 1], [1, 0.9, 0], [1, 1.2, -1], [0.5, 1, 0], [0.5, 0.9, 1], [0.5, 1.1, -1]]) {
    assert.equal(wish(alpha, margin), wanted, `${alpha} ${margin}`);
  }
  const { best, bestMargins } = play(state());
  bestMargins.forEach((margin, i) => {
    const a = best.alpha[i];
    assert.equal(caseAtBest(margin), a < 1e-6 ? 0 : a > 1 - 1e-6 ? 2 : 1, `${i}: ${a} at ${margin}`);
  });
});

test("steps are compared with the right ones, or with a random order", () => {
  assert.equal(besideOf(state()), null);
  assert.equal(besideOf(state({ printed: true })).printed, false);
  assert.equal(besideOf(you([1])).order, "permutation");
});

test("each task is reached by what it asks for and by nothing less", () => {
  for (const guess of [null, 30, "either"]) assert.deepEqual(reached(state(), guess), []);
  const nine = farthest(9);
  assert.deepEqual(reached(you(nine), 30), ["gap"]);
  assert.deepEqual(reached(you(nine)), []);
  assert.deepEqual(reached(you(nine.slice(0, 8)), 30), []);
  assert.deepEqual(reached(you([...new Array(4).fill(nine[0]), ...nine]), 30), [], "13 steps");
  const easy = { lam: 0.2 };
  assert.deepEqual(reached(you(farthest(12, easy), easy), 30), []);
  assert.deepEqual(reached(you(nine, { values: [1] }), 30), [], "set by hand");
  assert.deepEqual(reached(you(nine, { start: "sgd" }), 30), []);
  for (const seed of [1, 2, 3, 4, 5]) assert.deepEqual(reached(you([...play(state({ seed })).draws.slice(0, 12)]), 30), []);

  const cases = play(state()).bestMargins.map(caseAtBest);
  assert.deepEqual(reached(state(), cases), ["slack"]);
  assert.deepEqual(reached(state(), cases.map((value, i) => (i === 4 ? 0 : value))), []);
  assert.deepEqual(reached(state(), cases.slice(1)), []);

  const lowered = state({ printed: true, start: "sgd", t: 1 });
  assert.deepEqual(reached(lowered, "−1"), ["printed"]);
  assert.deepEqual(reached(lowered, ""), []);
  assert.deepEqual(reached({ ...lowered, printed: false }, "−1"), []);
  assert.deepEqual(reached({ ...lowered, t: 0 }, "−1"), []);
  assert.deepEqual(reached(you([8, 8], { values: [1, 0], printed: true }), "−1"), [], "the reader's own doing");
  assert.deepEqual(reached(you([8, 8], { values: [0.5], printed: true }), "−1"), ["printed"]);
});

test("a printed step that lowers the dual has label −1 and comes in every first epoch after an SGD pass", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { duals, draws } = play(state({ printed: true, start: "sgd", seed, n_epochs: 5 }));
    const falls = [...draws].map((_, t) => t + 1).filter((t) => duals[t] < duals[t - 1] - 1e-9);
    assert.ok(falls[0] <= 12, `seed ${seed}: ${falls[0]}`);
    for (const t of falls) assert.equal(DEFAULTS.y[draws[t - 1]], -1);
  }
});
