// The subgradient figure: a point and a slope to move; supporting lines, the subdifferential, and a step that ascends.
import { contours } from "./d3.js";
import {
  ETA, LINES, PLANES, SLOPE_REACH, W_REACH, X_REACH, line, slopes, step, value,
} from "./subgradient/derive.js";
import css from "./subgradient/style.css";
import {
  attr, clamp, createFigure, format, group, h, handle, legend, oneOf, plane, readout, s, select, slider, STAR,
  tasks, toggle, within,
} from "./ui.js";

export const kind = "subgradient";

const SIDE = 2.5; // panels 1 and 2 show x from -SIDE to SIDE
const CELLS = 60;
const defaults = {
  function: "abs", x: 1, slope: 0.5, curve: true, function2: "valley", w: [1, 0.5], theta: 1, eta: 0.1, guess: "",
};

const tidy = (x) => Math.round(x * 20) / 20 || 0; // kinks lie on multiples of 1/20, so they can be hit
// Without the points that lie on the line through the last kept one and the next: most graphs here are made of few lines.
const straightened = (points) => points.reduce((kept, p, i) => {
  const [a, b] = [kept[kept.length - 1], points[i + 1]];
  const length = a && b ? Math.hypot(b[0] - a[0], b[1] - a[1]) : 0;
  const off = length > 0 ? Math.abs((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])) / length : 1;
  if (off > 0.15) kept.push(p);
  return kept;
}, []);
const known = (table, key, fallback) => (Object.hasOwn(table, key) ? key : fallback);

function clean(state) {
  const w = state.w.length === 2 ? state.w : defaults.w;
  const tame = w.map((x, j) => within(x, [-W_REACH, W_REACH], defaults.w[j]));
  return {
    function: known(LINES, state.function, defaults.function),
    x: within(state.x, [-X_REACH, X_REACH], defaults.x),
    slope: within(state.slope, [-SLOPE_REACH, SLOPE_REACH], defaults.slope),
    curve: Boolean(state.curve),
    function2: known(PLANES, state.function2, defaults.function2),
    w: tame.every((x, j) => x === state.w[j]) && w === state.w ? state.w : tame,
    theta: within(state.theta, [0, 1], defaults.theta),
    eta: within(state.eta, [ETA.min, ETA.max], defaults.eta),
    guess: oneOf(state.guess, ["up", "down"], ""),
  };
}

export function render({ model, el }) {
  let now = null; // the line's numbers
  let moved = null; // those of the step
  let supporting = { at: "", low: Infinity, high: -Infinity }; // supporting slopes seen at one kink
  const fig = createFigure({
    model, el, kind, css, defaults, clean, draw,
    title: "Supporting lines, all subgradients, and a step against one",
    lead: "Drag the point along the graph, and the end of its line. A line that is nowhere above the graph supports it: its slope is a subgradient.",
  });
  const setX = (x) => fig.set({ x: tidy(x) });
  const setSlope = (a, b) => {
    const x = fig.get("x");
    if (Math.abs(a - x) >= 0.1) fig.set({ slope: tidy((b - value(LINES[fig.get("function")], [x])) / (a - x)) });
  };
  const setPair = (x, slope) => fig.set({ x: tidy(x), slope: tidy(slope) });
  const setW = (u, v) => fig.set({ w: [tidy(u), tidy(v)] });
  const dot = () => s("circle", { class: "ps-dot", r: 6 });

  const graph = plane(fig, { title: "1 · The graph and a line", xLabel: "x", yLabel: "f(x)", aspect: 0.9, equal: false, role: "group" });
  const all = plane(fig, { title: "2 · All subgradients at every x", xLabel: "x", yLabel: "slope", aspect: 0.9, equal: false, role: "group" });
  const map = plane(fig, { title: "3 · A step in the plane", xLabel: "u", yLabel: "v", aspect: 0.9, role: "group" });
  map.el.classList.add("ps-third");
  const add = (panel, tag, name, attributes = {}) => {
    const node = s(tag, { class: name, ...attributes });
    panel.layer("under").attr("aria-hidden", "true").style("pointer-events", "none").node().append(node);
    return node;
  };
  const fan = add(graph, "path", "ps-fan");
  const curve = add(graph, "path", "ps-graph");
  const drawnLine = add(graph, "path", "ps-line");
  const gap = add(graph, "path", "ps-gap");
  const zero = add(all, "path", "ps-zero");
  const steps = add(all, "path", "ps-graph");
  const jump = add(all, "path", "ps-jump");
  const rings = add(map, "g", "ps-contours");
  const circle = add(map, "path", "ps-circle");
  const set = add(map, "path", "ps-set");
  const arrow = add(map, "path", "ps-arrow");
  const star = add(map, "path", "pf-mark pf-star", { d: STAR });
  const end = add(map, "circle", "ps-dot", { r: 4 });
  const end1 = handle(graph, { shape: s("rect", { class: "ps-dot", x: -5, y: -5, width: 10, height: 10 }), set: setSlope });
  const point = handle(graph, { shape: dot(), set: setX });
  const pair = handle(all, { shape: dot(), set: setPair });
  const start = handle(map, { shape: dot(), set: setW });
  graph.onPress(setX);
  all.onPress(setPair);
  map.onPress(setW);

  const said = h("p", { class: "ps-said" });
  const numbers = readout("The step, in numbers");
  fig.panels.append(graph.el, all.el, map.el, h("div", { class: "ps-side" }, said, numbers.el));
  graph.el.append(legend([["ps-line is-good", "supports the graph"], ["ps-line is-bad", "does not"], ["ps-jump", "all that support"]]));
  map.el.append(legend([["ps-set", "where all subgradients lead"], ["ps-arrow", "the chosen −ηg"], ["ps-circle", "as near to w* as now"], ["pf-star", "w*"]]));
  const names = (table) => Object.entries(table).map(([key, { text }]) => [key, text]);
  fig.controls.append(
    group("Panels 1 and 2: one variable",
      select(fig, { key: "function", label: "f", options: names(LINES) }),
      slider(fig, { key: "x", label: "x", min: -X_REACH, max: X_REACH, step: 0.05 }),
      slider(fig, { key: "slope", label: "slope", min: -SLOPE_REACH, max: SLOPE_REACH, step: 0.05 }),
      toggle(fig, { key: "curve", label: "Show the graph in panel 1" })),
    group("Panel 3: two variables",
      select(fig, { key: "function2", label: "f", options: names(PLANES) }),
      slider(virtual("u", 0), { key: "u", label: "u", min: -W_REACH, max: W_REACH, step: 0.05 }),
      slider(virtual("v", 1), { key: "v", label: "v", min: -W_REACH, max: W_REACH, step: 0.05 })),
    group("The step −ηg",
      slider(fig, { key: "theta", label: "θ", min: 0, max: 1, step: 0.05, title: "Which subgradient at a kink: from one end of the set to the other" }),
      slider(fig, { key: "eta", label: "η", ...ETA, log: true, title: "The step size" }),
      select(fig, { key: "guess", label: "Your guess", options: [["", "f will …"], ["up", "f will rise"], ["down", "f will not rise"]] })),
  );
  function virtual(key, j) {
    return {
      get: () => fig.get("w")[j],
      set: (change) => fig.set({ w: fig.get("w").map((old, k) => (k === j ? change[key] : old)) }),
      onRefresh: fig.onRefresh,
    };
  }

  const goals = tasks(fig, [
    { id: "two-lines", text: "At a kink, find two different supporting lines.",
      hint: "Put x where the graph bends, and give the line one slope between the two sides, then another.",
      check: () => supporting.high - supporting.low >= 0.2
        && `at this x the slopes ${format(supporting.low)} and ${format(supporting.high)} both support, and so does all between.` },
    { id: "fermat", text: "Take the SVM objective, hide its graph, and find the minimiser: the x where 0 is a subgradient.",
      hint: "Panel 2: where does the staircase cross the height 0? Put x there, and the slope at 0.",
      check: () => fig.get("function") === "svm" && !fig.get("curve") && fig.get("slope") === 0 && now.supports
        && `0 lies between ${format(now.low)} and ${format(now.high)}, so x = ${format(fig.get("x"))} is the minimiser.` },
    { id: "ascend", text: "Guess, then find a subgradient whose step raises f and yet brings you nearer to w*.",
      hint: "Stand on a kink that does not hold w*, take θ at an end, and a small η.",
      check: () => fig.get("guess") !== "" && moved.after > moved.before + 1e-9 && moved.near < moved.far - 1e-9
        && `f rose from ${format(moved.before)} to ${format(moved.after)}, the distance fell from ${format(moved.far)} to ${format(moved.near)}.` },
  ]);
  fig.notes.append(goals);

  const path = (panel, points) => `M${straightened(points.map(([a, b]) => [panel.x(a), clamp(panel.y(b), -2000, 2000)]))
    .map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join("L")}`;
  const grid = (n) => Array.from({ length: n + 1 }, (_, i) => -SIDE + (2 * SIDE * i) / n);

  function drawLine(state) {
    const f = LINES[state.function];
    const { x, slope } = state;
    now = line(f, x, slope, SIDE);
    graph.view([-SIDE, SIDE], [-1.5, 5]);
    all.view([-SIDE, SIDE], [-4.5, 4.5]);
    const through = (a) => [[-SIDE, now.y + a * (-SIDE - x)], [SIDE, now.y + a * (SIDE - x)]];
    attr(curve, "d", state.curve ? path(graph, grid(100).map((u) => [u, value(f, [u])])) : "");
    const [[l0, l1], [h0, h1]] = [through(now.low), through(now.high)];
    attr(fan, "d", now.kink ? `${path(graph, [[x, now.y], l0, h0])}Z${path(graph, [[x, now.y], l1, h1])}Z` : "");
    attr(drawnLine, "d", path(graph, through(slope)));
    attr(drawnLine, "class", `ps-line ${now.supports ? "is-good" : "is-bad"}`);
    const bad = now.worst;
    attr(gap, "d", !now.supports && bad.by > 0 && state.curve ? path(graph, [[bad.x, value(f, [bad.x])], [bad.x, value(f, [bad.x]) + bad.by]]) : "");
    point.update(x, now.y, `The point at x = ${format(x)}. Left and right arrows move it.`);
    const side = x > 0 ? -1 : 1;
    const room = slope * side > 0 ? 4.7 - now.y : now.y + 1.2;
    const t = side * Math.min(1, room / Math.max(Math.abs(slope), 1e-9));
    end1.update(x + t, now.y + slope * t, `The end of the line, slope ${format(slope)}. Up and down arrows turn it.`);
    attr(zero, "d", path(all, [[-SIDE, 0], [SIDE, 0]]));
    // Between the kinks the slope is q x plus a constant: a fine grid, with both ends at every x.
    attr(steps, "d", path(all, grid(100).flatMap((u) => slopes(f, Math.round(u * 1e6) / 1e6).map((a) => [u, a]))));
    attr(jump, "d", now.kink ? path(all, [[x, now.low], [x, now.high]]) : "");
    pair.update(x, slope, `x = ${format(x)} and slope ${format(slope)}. Arrow keys move both.`);
    const which = now.kink ? `all slopes from ${format(now.low)} to ${format(now.high)}` : `only ${format(now.low)}`;
    graph.note(now.supports ? "The line supports the graph." : bad.by > 0
      ? `The line is above the graph, most on view at x = ${format(bad.x)}, by ${format(bad.by)}.` : "The line is above the graph close to the point.");
    all.note(`Subgradients at x = ${format(x)}: ${which}.`);
    said.textContent = `${now.supports ? `The slope ${format(slope)} is a subgradient` : `The slope ${format(slope)} is no subgradient`} at x = ${format(x)}; `
      + `the subgradients there are ${which}. ${now.optimal ? "0 is one of them: this x is a minimiser." : "0 is not one of them: this x is no minimiser."}`;
    graph.describe(said.textContent);
    all.describe(all.el.querySelector(".pf-panel-note").textContent);
    if (now.kink && now.supports) {
      const at = `${state.function} ${x}`;
      if (supporting.at !== at) supporting = { at, low: slope, high: slope };
      supporting.low = Math.min(supporting.low, slope);
      supporting.high = Math.max(supporting.high, slope);
    }
  }

  function drawContours(f) {
    const [[x0, x1], [y0, y1]] = [map.x.domain(), map.y.domain()];
    const [dx, dy] = [(x1 - x0) / (CELLS - 1), (y1 - y0) / (CELLS - 1)];
    const heights = Array.from({ length: CELLS * CELLS }, (_, i) => value(f, [x0 + (i % CELLS) * dx, y0 + Math.floor(i / CELLS) * dy]));
    const [low, high] = [Math.min(...heights), Math.max(...heights)];
    const levels = Array.from({ length: 10 }, (_, i) => low + (high - low) * ((i + 0.7) / 10) ** 1.4);
    const shapes = contours().size([CELLS, CELLS]).thresholds(levels)(heights);
    rings.replaceChildren(...shapes.map(({ coordinates }) => s("path", { class: "ps-contour", d: coordinates.flat().map((ring) =>
      path(map, ring.map(([u, v]) => [x0 + (u - 0.5) * dx, y0 + (v - 0.5) * dy]))).join("") })));
  }

  function drawStep(state, anew) {
    const f = PLANES[state.function2];
    moved = step(f, state.w, state.theta, state.eta);
    map.view([-2.2, 2.2], [-2.2, 2.2]);
    if (anew) drawContours(f);
    const reach = (g) => state.w.map((x, j) => x - state.eta * g[j]);
    attr(set, "d", moved.corners.length > 1 ? `${path(map, moved.corners.map(reach))}Z` : "");
    attr(arrow, "d", path(map, [state.w, moved.next]));
    const round = Array.from({ length: 73 }, (_, i) => [Math.cos((i * Math.PI) / 36), Math.sin((i * Math.PI) / 36)]);
    attr(circle, "d", path(map, round.map(([a, b]) => [f.best[0] + moved.far * a, f.best[1] + moved.far * b])));
    for (const [node, [a, b]] of [[star, f.best], [end, moved.next]]) attr(node, "transform", `translate(${map.x(a)},${map.y(b)})`);
    start.update(...state.w, `w at ${state.w.map(format).join(", ")}. Arrow keys move it.`);
    const told = state.guess !== "";
    const rises = moved.after > moved.before + 1e-12;
    const set2 = ["one subgradient", "one subgradient", "a segment of subgradients", "", "a box of subgradients (θ runs along its diagonal)"][moved.corners.length];
    map.note(`At w: ${set2}. ${told ? `f ${rises ? "rises" : "does not rise"}: you guessed ${rises === (state.guess === "up") ? "right" : "wrong"}.` : "Guess below what the step does to f."}`);
    map.describe(`w at ${state.w.map(format).join(", ")}, ${set2}`);
    numbers.update([
      ["g", `(${moved.g.map(format).join(", ")})`],
      ["f before", format(moved.before)], ["f after", told ? format(moved.after) : "guess first"],
      ["distance to w* before", format(moved.far)], ["distance after", told ? format(moved.near) : "guess first"],
      ["nearer for every η below", format(moved.limit)],
    ]);
  }

  function draw(changed) {
    const state = fig.state();
    if (changed === null) for (const panel of [graph, all, map]) panel.resize();
    drawLine(state);
    drawStep(state, changed === null || changed.has("function2"));
    fig.announce(said.textContent);
    fig.checkTasks();
  }

  return fig.start();
}
