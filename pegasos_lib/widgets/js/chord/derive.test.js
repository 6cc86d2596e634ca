import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULTS, FUNCTIONS, RULES, TASKS, derive, functionOf, interval, kindOf, remember } from "./derive.js";

const state = (changes) => ({ ...DEFAULTS, ...changes });
const reached = (current, seen = {}) => TASKS.filter(({ check }) => check(current, derive(current), seen)).map(({ id }) => id);
const CONVEX = ["square", "abs", "hinge", "logistic", "exp", "quartic", "svm", "line"];

test("the verdict is the truth for every function of the list", () => {
  for (const phi of Object.keys(FUNCTIONS)) assert.equal(kindOf(state({ phi })).convex, CONVEX.includes(phi), phi);
  const named = (key) => Object.keys(FUNCTIONS).filter((phi) => kindOf(state({ phi }))[key]);
  assert.deepEqual(named("strict"), ["square", "logistic", "exp", "quartic", "svm"]);
  assert.deepEqual(named("strong"), ["square", "logistic", "exp", "svm"]);
  assert.deepEqual(named("concave"), ["line", "log"]);
});

test("sums, maxima and affine arguments of all convex functions are convex; the other rules lose it", () => {
  const lost = new Set();
  for (const rule of Object.keys(RULES)) {
    for (const phi of CONVEX) {
      for (const psi of CONVEX) if (!kindOf(state({ rule, phi, psi, q: 0.7 })).convex) lost.add(rule);
    }
  }
  assert.deepEqual([...lost].sort(), ["difference", "min", "product"]);
  assert.ok(!kindOf(state({ rule: "sum", phi: "line", psi: "square", q: -0.5 })).convex);
  assert.ok(kindOf(state({ rule: "scale", phi: "log", q: -1 })).convex);
});

test("the interval ends where f does", () => {
  assert.deepEqual(interval(state({ phi: "log" })), [0.02, 2]);
  assert.deepEqual(interval(state({ phi: "log", rule: "affine" })), [0.51, 2]);
  assert.deepEqual(interval(state({ phi: "square", psi: "log" })), [-2, 2]);
  assert.deepEqual(interval(state({ phi: "square", psi: "log", rule: "max" })), [0.02, 2]);
  assert.ok(Number.isFinite(functionOf(state({ phi: "log", rule: "affine" }))(0.51)));
});

test("the gap of x² is θ(1 − θ)(u − w)², and μ takes its share", () => {
  const now = derive(state({ phi: "square", u: -1, w: 2, theta: 0.25, mu: 1 }));
  assert.ok(Math.abs(now.point.gap - (3 / 16) * 9) < 1e-14);
  for (const { theta, gap, corrected } of now.samples) {
    assert.ok(Math.abs(gap - theta * (1 - theta) * 9) < 1e-12);
    assert.ok(Math.abs(corrected - gap / 2) < 1e-12);
  }
});

test("rounding is no failure: chords on straight pieces hold, and so does a chord of length 0", () => {
  for (const [u, w] of [[-1.9, -0.3], [0.1, 1.7], [1, 1], [-2, 2]]) {
    for (const phi of ["abs", "hinge", "line"]) assert.ok(!derive(state({ phi, u, w })).fails, `${phi} ${u} ${w}`);
  }
});

test("each task is reached by what it asks for and by nothing less", () => {
  assert.deepEqual(reached(state({})), []);
  assert.deepEqual(reached(state({ u: -1, w: 1 })), ["not-convex"]);
  assert.deepEqual(reached(state({ u: -1, w: 1, phi: "cosine" })), []);
  const line = { phi: "square", u: -1, w: 1 };
  assert.deepEqual(reached(state(line)), []);
  assert.deepEqual(reached(state({ ...line, beyond: "above" })), ["beyond"]);
  assert.deepEqual(reached(state({ ...line, u: -2, beyond: "below" })), []); // one side only is seen
  assert.deepEqual(reached(state({ phi: "abs", u: 0.5, w: 1.5, beyond: "below" })), []); // on the graph
  const least = { rule: "min", phi: "square", psi: "hinge", u: 0.2, w: 1.3 };
  assert.deepEqual(reached(state(least)), ["minimum"]);
  assert.deepEqual(reached(state({ ...least, w: 0.5 })), []);
  assert.deepEqual(reached(state({ ...least, psi: "cosine", u: -1, w: 2 })), []);
  const iterates = { phi: "svm", u: 0, w: 2 };
  assert.deepEqual(reached(state(iterates)), ["average"]);
  assert.deepEqual(reached(state({ ...iterates, theta: 0.6 })), []);
  assert.deepEqual(reached(state({ ...iterates, u: -1.7, w: 1.2 })), []); // w is better than the average
  assert.deepEqual(reached(state({ ...iterates, w: 1 })), []);
  assert.deepEqual(reached(state({ ...iterates, u: 0.8, w: 1.2 })), []); // better than both by too little
  assert.deepEqual(reached(state({ ...iterates, phi: "square", u: -1, w: 1 })), []);
});

test("the largest μ asks for a failure first, then for the largest that holds", () => {
  const at = (mu) => state({ phi: "square", u: -1, w: 1, mu });
  const look = (seen, mu) => remember(seen, at(mu), derive(at(mu)));
  assert.deepEqual(reached(at(2), look({}, 2)), []);
  const seen = look({}, 2.5);
  assert.deepEqual(seen, { failed: 2.5 });
  assert.deepEqual(reached(at(2.5), seen), []);
  assert.deepEqual(reached(at(1.9), seen), []);
  assert.deepEqual(reached(at(2), seen), ["largest"]);
});
