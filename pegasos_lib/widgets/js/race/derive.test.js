import assert from "node:assert/strict";
import { test } from "node:test";
import { BATCH, DEFAULTS, FLOOR, LAMS, OPTIMIZERS, TASKS, clean, comparator, derive, levelPaths, missing, nearest, orders, pictureOf, readOff } from "./derive.js";

const state = (changes = {}) => clean({ ...DEFAULTS, ...changes });

// Results of the shape of book/_data/race.json: what each optimizer reached is c/k after k iterations.
function results({ constant = () => 1, accuracy = () => 0.95, seconds = () => 0.001, P = 0.1, testError = 0.01 } = {}) {
  const iterations = { batch: [1, 10, 100], online: [1, 10, 100, 1000, 10000] };
  const band = (values, spread) => ({ median: values, low: values.map((v) => v / spread), high: values.map((v) => v * spread) });
  const optimum = { P, test_error: testError, train_error: 0.005 };
  const runs = OPTIMIZERS.flatMap((optimizer) => LAMS.flatMap((lam) => ["l1", "own"].flatMap((set) => ["last", "average"].map((output) => {
    const grid = BATCH.includes(optimizer) ? iterations.batch : iterations.online;
    return {
      optimizer, lam, set, output, seconds: grid.map((k) => k * seconds(optimizer)),
      suboptimality: band(grid.map((k) => constant(optimizer, lam, output) / k), 2), accuracy: band(grid.map((k) => accuracy(lam, k)), 1.01),
      ...(output === "last" ? { w: btoa(String.fromCharCode(...Array.from({ length: 784 }, (_, i) => (i === 0 ? 1 : i === 1 ? 255 : 128)))), w_scale: 3 } : {}),
    };
  }))));
  return {
    n: 10000, d: 784, n_test: 3000, baseline: 0.9, lams: LAMS, iterations, runs,
    passes: { batch: iterations.batch, online: iterations.online.map((k) => k / 10000) },
    optimum: Object.fromEntries(LAMS.map((lam) => [String(lam), { free: optimum, l1: { ...optimum, P: P + 0.01 } }])),
  };
}
const reached = (changes, given = {}, guess = "0.1") => {
  const current = state(changes);
  const now = derive(results(given), current);
  return TASKS.filter((task) => task.check(current, now, guess)).map((task) => task.id);
};

test("what is wrong in a state is put right, and what is right stays the same object", () => {
  assert.deepEqual(clean(DEFAULTS), DEFAULTS);
  const optimizers = ["GD", "Pegasos"];
  assert.equal(state({ optimizers }).optimizers, optimizers);
  assert.deepEqual(state({ optimizers: ["Pegasos", "Adam", "GD", "GD"] }).optimizers, optimizers);
  assert.deepEqual(state({ optimizers: [] }).optimizers, OPTIMIZERS);
  assert.equal(state({ optimizers: ["GD", "SGD"] }).focus, "SGD", "the marker is on one that is drawn");
  assert.equal(state({ lam: "0.001" }).lam, 0.001, "a list of choices gives text");
  const odd = clean({ optimizers: ["?"], lam: 0.5, feasible: "l2", output: "", axis: "log", focus: 7, at: NaN });
  assert.deepEqual(odd, DEFAULTS);
  assert.equal(state({ at: -3 }).at, 1);
});

test("what is missing is said in a sentence", () => {
  assert.match(missing(undefined), /measured results, and here are none/);
  assert.match(missing({ runs: 3 }), /are not those of/);
  assert.equal(missing(results()), "");
});

test("each is measured from what it can reach", () => {
  for (const name of OPTIMIZERS) {
    assert.equal(comparator(name, "l1"), name === "GD" ? "free" : "l1");
    assert.equal(comparator(name, "own"), name === "SEG±" ? "l1" : "free");
  }
  const { curves } = derive(results(), state());
  assert.deepEqual(curves.map(({ least }) => least), [0.1, ...new Array(6).fill(0.11)]);
});

test("the marker stands at the measured point that is nearest, for each optimizer on its own grid", () => {
  assert.equal(nearest([1, 10, 100], 31), 1);
  assert.equal(nearest([1, 10, 100], 32), 2);
  const given = results();
  assert.equal(derive(given, state({ at: 900 })).marker.iterations, 1000);
  assert.equal(derive(given, state({ at: 900, focus: "GD" })).marker.iterations, 100);
  const now = derive(given, state({ at: 1000, axis: "passes" }));
  assert.equal(now.x, 0.1);
  assert.equal(derive(given, state({ at: 1000, axis: "time" })).x, 1);
});

test("between two points a curve is read as it is drawn, before the first it is at w = 0, after the last it has ended", () => {
  const { curves } = derive(results({ accuracy: (_, k) => 0.9 + 0.01 * Math.log10(k) }), state());
  const [gd, , , , , , pegasos] = curves;
  const between = readOff(pegasos, "iterations", 10 ** 1.5);
  assert.equal(between.when, "running");
  assert.ok(Math.abs(between.sub.median * 10 ** 1.5 - 1) < 1e-12);
  assert.ok(Math.abs(between.sub.high * 10 ** 1.5 - 2) < 1e-12);
  assert.ok(Math.abs(between.acc.median - 0.915) < 1e-12);
  assert.equal(readOff(pegasos, "iterations", 100).sub.median, 0.01);
  const ended = readOff(gd, "iterations", 1000);
  assert.deepEqual([ended.when, ended.sub.median, ended.iterations, ended.time], ["ended", 0.01, 100, 0.1]);
  const before = readOff(gd, "time", 1e-4);
  assert.deepEqual([before.when, before.sub.median, before.acc.median], ["before", 0.9, 0]);
  assert.equal(readOff(gd, "time", 1e-3).when, "running");
  assert.equal(readOff(gd, "iterations", 100).when, "running");
});

test("a suboptimality of 0 or below is read at the floor", () => {
  const { curves } = derive(results({ constant: () => -1e-9 }), state());
  const { sub } = readOff(curves[6], "iterations", 50);
  assert.ok(Math.abs(sub.median - FLOOR) < 1e-18);
});

test("w is a picture with its largest entry 1, in paths of one colour each", () => {
  const w = pictureOf(results(), state({ output: "average" }), "SEG±");
  assert.equal(w.length, 784);
  assert.deepEqual(w.slice(0, 3), [-1, 1, 0]);
  const paths = levelPaths(w);
  assert.deepEqual([paths[0], paths.at(-1)], ["M0,0h1v1h-1z", "M1,0h1v1h-1z"]);
  assert.ok(paths.slice(1, -1).every((d) => d === ""), "what is 0 stays the ground");
  assert.equal(levelPaths(new Array(784).fill(0.5))[15], Array.from({ length: 28 }, (_, row) => `M0,${row}h28v1h-28z`).join(""));
});

test("the first task asks for a low objective and no accuracy", () => {
  const useless = { accuracy: (lam) => (lam === 10 ? 0.9001 : 0.95) };
  assert.deepEqual(reached({ lam: 10, at: 1000 }, useless), ["baseline"], "0.9001 is 0.9 to half an image");
  assert.deepEqual(reached({ lam: 10, at: 1000 }, useless, ""), [], "the guess comes first");
  assert.deepEqual(reached({ lam: 10, at: 10 }, useless), [], "a tenth of 0.89 is left at most");
  assert.deepEqual(reached({ lam: 1, at: 1000 }, useless), []);
});

test("the second task asks for an end far above a least value that is good", () => {
  const slow = { constant: (name, lam) => (lam === 0.001 ? 2400 : 2) };
  assert.deepEqual(reached({ lam: 0.001 }, slow), ["under"], "0.24 is more than twice 0.11");
  assert.deepEqual(reached({ lam: 0.001 }, slow, ""), []);
  assert.deepEqual(reached({ lam: 0.001, at: 1000 }, slow), [], "not at the end");
  assert.deepEqual(reached({ lam: 0.001, focus: "SGD" }, slow), []);
  assert.deepEqual(reached({ lam: 0.01 }, slow), []);
  assert.deepEqual(reached({ lam: 0.001 }, { ...slow, testError: 0.05 }), [], "w* itself is bad");
});

test("the third task asks for two alone, whose order the clock turns round", () => {
  // GD is ten times lower at the same iteration, and an iteration of it takes a thousand times as long.
  const given = { constant: (name) => (name === "GD" ? 1 : 10), seconds: (name) => (name === "GD" ? 1 : 0.001) };
  const two = { optimizers: ["GD", "Pegasos"], focus: "GD", at: 10, axis: "time" };
  assert.deepEqual(reached(two, given), ["clock"]);
  assert.deepEqual(reached(two, given, ""), []);
  assert.deepEqual(reached({ ...two, axis: "iterations" }, given), [], "it is seen against seconds");
  assert.deepEqual(reached({ ...two, optimizers: ["GD", "SGD", "Pegasos"] }, given), []);
  assert.deepEqual(reached(two, { ...given, seconds: () => 1 }), [], "the same order by the clock");
  assert.deepEqual(reached(two, { ...given, constant: (name) => (name === "GD" ? 1 : 1.2) }), [], "too near");
  assert.deepEqual(reached({ ...two, focus: "Pegasos", at: 100 }, given), ["clock"], "GD has not made one step yet");
  assert.deepEqual(reached({ ...two, focus: "Pegasos", at: 1000 }, given), [], "GD makes no 1000 iterations");
});

test("orders compares at the same iterations and at the same time", () => {
  const { curves, marker } = derive(results({ seconds: (name) => (name === "GD" ? 1 : 0.01) }), state({ optimizers: ["GD", "Pegasos"], focus: "GD", at: 10 }));
  const found = orders(curves[0], curves[1], marker);
  assert.deepEqual(found.byStep, [0.1, 0.1]);
  assert.deepEqual(found.byClock.map((value) => Number(value.toPrecision(12))), [0.1, 0.001]);
});
