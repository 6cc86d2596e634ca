import assert from "node:assert/strict";
import { test } from "node:test";
import { presetPoints } from "../ui/presets.js";
import { TASKS, ellipse, laboratory, minimum, share } from "./derive.js";

const state = (changes = {}) => ({
  ...presetPoints("blobs", 20), lam: 0.1, w: [0.6, 0.4], batch_size: 2, replace: true, seed: 1, ...changes,
});
const derive = laboratory();
const reached = (current, guess = null) => TASKS.filter((task) => task.check(current, derive(current), guess)).map((task) => task.id);

test("both shares agree at k = 1, and nothing is left of all without replacement", () => {
  for (const n of [1, 2, 7, 60]) {
    assert.equal(share(n, n, false), 0);
    assert.equal(share(n, n, true), 1 / n);
    if (n > 1) assert.equal(share(n, 1, false), 1);
  }
});

test("the half axes squared are the eigenvalues of the covariance", () => {
  const { axes, angle } = ellipse([2, 0.5, 1]);
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const rebuilt = [axes[0] ** 2 * c * c + axes[1] ** 2 * s * s, (axes[0] ** 2 - axes[1] ** 2) * c * s, axes[0] ** 2 * s * s + axes[1] ** 2 * c * c];
  rebuilt.forEach((value, i) => assert.ok(Math.abs(value - [2, 0.5, 1][i]) < 1e-12));
  assert.deepEqual(ellipse([0, 0, 0]).axes, [0, 0]);
});

test("what is measured lies about the formula, and is 0 where that is", () => {
  for (const replace of [true, false]) {
    const current = state({ replace });
    const { sigma2, measured, sizes } = derive(current);
    sizes.forEach((k, i) => {
      const variance = sigma2 * share(20, k, replace);
      assert.ok(Math.abs(measured[i] - variance) <= 0.35 * variance, `${replace}, k = ${k}: ${measured[i]} against ${variance}`);
    });
  }
});

test("each task is reached by what it asks for and by nothing less", () => {
  assert.deepEqual(reached(state()), []);
  assert.deepEqual(reached(state({ batch_size: 4 })), []); // no guess
  assert.deepEqual(reached(state({ batch_size: 4 }), 2), ["halve"]);
  for (const k of [1, 2, 3, 5, 20]) assert.deepEqual(reached(state({ batch_size: k }), 4), [], `${k}`);
  assert.deepEqual(reached(state({ batch_size: 4, replace: false }), 4), ["halve"]);
  assert.deepEqual(reached(state({ batch_size: 20, replace: false })), ["vanish"]);
  assert.deepEqual(reached(state({ batch_size: 20 })), []);
  const apart = state(presetPoints("separable", 20));
  assert.deepEqual(reached({ ...apart, w: [3.5, 2.1] }), ["quiet"]);
  assert.deepEqual(reached({ ...apart, w: [0.2, 0.1] }), []);
  assert.deepEqual(reached({ X: [[1, 0]], y: [1], lam: 0.1, w: [0, 0], batch_size: 1, replace: true, seed: 1 }), []);
});

test("the noise does not vanish at the minimum of points that overlap", () => {
  const current = state();
  const now = derive({ ...current, w: minimum(current) });
  assert.ok(now.sigma2 > 0.25, `${now.sigma2}`);
  assert.ok(Math.hypot(...now.mean) < 0.2, `${now.mean}`);
});
