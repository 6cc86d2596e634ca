import assert from "node:assert/strict";
import { test } from "node:test";
import { margins, objective } from "../engine.js";
import { DATA, TASKS, derive, hardMargin, isMinimum, minimum, nearestKink, snapToKink, stepDown } from "./derive.js";

const state = (data, w, { lam = 0.1, constant = false } = {}) => ({ ...DATA[data], lam, w, constant });
const reached = (current) => TASKS.filter((task) => task.check(current, derive(current))).map((task) => task.id);

test("the two terms sum to P, and errors count a margin of 0 as wrong", () => {
  const now = derive(state("separable", [0.4, 0.8]));
  assert.ok(Math.abs(now.value - objective(now.problem, [0.4, 0.8])) < 1e-15);
  assert.ok(Math.abs(now.terms.norm - 0.05 * 0.8) < 1e-15);
  assert.equal(derive(state("separable", [0, 0])).errors, 8);
});

test("the shortest separating w of the first data is (0.6, 0.2); overlapping data has none", () => {
  const { w, norm } = hardMargin(state("separable", [0, 0]));
  assert.ok(Math.hypot(w[0] - 0.6, w[1] - 0.2) < 1e-4, `${w}`);
  assert.ok(Math.abs(norm - Math.sqrt(0.4)) < 1e-4);
  assert.equal(hardMargin(state("overlapping", [0, 0])), null);
});

test("the constant feature separates what no line through the origin does", () => {
  assert.equal(hardMargin(state("off-origin", [0, 0])), null);
  assert.ok(hardMargin(state("off-origin", [0, 0, 0], { constant: true })).norm > 2);
});

test("E000-03: the minimiser misclassifies one of nine-and-one at 1, 0.1 and 0.01, none at 0.001", () => {
  const errors = [1, 0.1, 0.01, 0.001].map((lam) => minimum(state("nine-and-one", [0, 0], { lam })).errors);
  assert.deepEqual(errors, [1, 1, 1, 0]);
});

test("snapping puts every point of every data set on its kink, never below it", () => {
  for (const name of Object.keys(DATA)) {
    for (const constant of [false, true]) {
      const w = constant ? [0.3, -0.7, 0.2] : [0.3, -0.7];
      const now = derive(state(name, w, { constant }));
      for (let i = 0; i < DATA[name].y.length; i++) {
        const snapped = snapToKink(now, w, i);
        const m = margins(now.problem, snapped)[i];
        assert.ok(m >= 1 && m < 1 + 1e-12, `${name}, point ${i}: margin ${m}`);
      }
    }
  }
  const zero = derive({ X: [[0, 0]], y: [1], lam: 1, w: [1, 1], constant: false });
  assert.equal(snapToKink(zero, [1, 1], 0), null);
  assert.equal(nearestKink(zero), -1);
});

test("the subgradient at a kink counts the point as no hit, also where rounding leaves it under 1", () => {
  const one = (w) => derive({ X: [[1, 0]], y: [1], lam: 0.5, w, constant: false });
  assert.deepEqual(Array.from(one([1 - 1e-10, 0]).subgradient), [0.5 * (1 - 1e-10), 0]);
  assert.deepEqual(Array.from(one([0.5, 0]).subgradient), [0.25 - 1, 0]);
  assert.deepEqual(one([1 - 1e-10, 0]).kinks, [0]);
});

test("a step down lowers P until there is nothing to gain", () => {
  let current = state("overlapping", [-1, 1]);
  const start = derive(current).value;
  for (let k = 0; k < 200; k++) {
    const now = derive(current);
    const step = stepDown(now, current.w);
    if (!step) break;
    current = { ...current, w: step.w };
    assert.ok(derive(current).value < now.value);
  }
  assert.ok(derive(current).value < start / 2);
  const best = { ...current, w: Array.from(minimum(current).w) };
  assert.ok(isMinimum(best, derive(best)));
});

test("each task is reached by what it asks for and by nothing less", () => {
  assert.deepEqual(reached(state("separable", [0.41, 0.83])), []);
  assert.deepEqual(reached(state("separable", [0.25, 0.05])), ["barely-right"]);
  assert.deepEqual(reached(state("separable", [0.61, 0.21])), ["shortest"]);
  assert.deepEqual(reached(state("separable", [0.7, 0.3])), []);
  assert.deepEqual(reached(state("separable", [0.5, 0])), ["barely-right", "kink"]);
  const over = state("nine-and-one", null, { lam: 0.1 });
  assert.ok(reached({ ...over, w: Array.from(minimum(over).w) }).includes("over-regularised"));
  const right = state("nine-and-one", null, { lam: 1e-4 });
  assert.ok(!reached({ ...right, w: Array.from(minimum(right).w) }).includes("over-regularised"));
  const lost = state("overlapping", null);
  assert.ok(!reached({ ...lost, w: Array.from(minimum(lost).w) }).includes("over-regularised"));
});

test("the task on C asks for the number of points", () => {
  const asked = (data, lam) => reached(state(data, [0.41, 0.83], { lam })).includes("exact-C");
  assert.ok(asked("separable", 0.0625));
  assert.ok(asked("nine-and-one", 0.05));
  for (const lam of [0.05, 0.1, 0.125, 0.062, 0.063, 2]) assert.ok(!asked("separable", lam), `${lam}`);
  for (const data of Object.keys(DATA)) assert.ok(!asked(data, 0.1), `${data} has it from the start`);
});

test("the task on the intercept asks for the minimum with the constant feature, where it matters", () => {
  const best = (data, constant) => {
    const start = state(data, null, { constant });
    return { ...start, w: Array.from(minimum(start).w) };
  };
  const shown = best("off-origin", true);
  assert.ok(reached(shown).includes("intercept"));
  assert.ok(!reached({ ...shown, w: shown.w.map((x) => 2 * x) }).includes("intercept")); // no error, not the minimum
  assert.ok(!reached(best("off-origin", false)).includes("intercept"));
  assert.ok(!reached(best("separable", true)).includes("intercept"));
  assert.ok(!reached(best("overlapping", true)).includes("intercept"));
  const task = TASKS.find(({ id }) => id === "intercept");
  assert.equal(task.check(shown, derive(shown)),
    "the minimum is 0.293, without an error. Without the constant feature it is 0.686, with 4.");
});
