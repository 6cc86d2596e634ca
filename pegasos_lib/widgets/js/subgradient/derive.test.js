import assert from "node:assert/strict";
import { test } from "node:test";
import { LINES, PLANES, corners, line, slopes, step, subgradient, value } from "./derive.js";

const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-12, `${a} is not ${b}`);

test("the slopes at the kinks are the one-sided ones", () => {
  for (const [name, x, low, high] of [["abs", 0, -1, 1], ["hinge", 1, -1, 0], ["three", -1, -1, 0.5], ["three", 1, 0.5, 2],
    ["square", 1, 2, 2], ["bent", 0, -1, 1], ["svm", 0.5, 1 / 12 - 2 / 3, 1 / 12], ["svm", -1, -1 / 6 - 1, -1 / 6 - 2 / 3]]) {
    const [a, b] = slopes(LINES[name], x);
    near(a, low);
    near(b, high);
  }
});

test("a line supports exactly if no point of the graph is below it", () => {
  for (const f of Object.values(LINES)) {
    for (let x = -2; x <= 2; x += 0.5) {
      for (let slope = -4; slope <= 4; slope += 0.5) {
        const found = line(f, x, slope, 8);
        if (!found.supports) assert.ok(found.worst.by >= 0);
        const below = [-8, -2, -0.5, 0.5, 2, 8].some((h) => value(f, [x + h]) < found.y + slope * h - 1e-9);
        if (found.supports) assert.ok(!below);
      }
    }
  }
});

test("a subgradient of the valley ascends while its step comes nearer", () => {
  const now = step(PLANES.valley, [1, 0], 1, 0.15);
  assert.deepEqual(now.g, [1, 3]);
  near(now.limit, 0.2);
  assert.ok(now.after > now.before && now.near < now.far);
  assert.ok(step(PLANES.valley, [1, 0], 1, 0.25).near > 1);
});

test("the corners span the set of all subgradients", () => {
  assert.deepEqual(corners(PLANES.valley, [1, 0]), [[1, -3], [1, 3]]);
  assert.equal(corners(PLANES.valley, [0, 0]).length, 4);
  assert.equal(corners(PLANES.valley, [1, 1]).length, 1);
  assert.deepEqual(subgradient(PLANES.hinge, [1, 1], 1), [0.2, 0.2]);
});
