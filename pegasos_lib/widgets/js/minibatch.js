// The mini-batch figure: w, the batch size and the way of drawing to choose; the noise of the subgradient to see.
import { DRAWS, LIMIT, REACH, TASKS, laboratory, minimum, share } from "./minibatch/derive.js";
import { cloudPanel } from "./minibatch/cloud.js";
import css from "./minibatch/style.css";
import {
  button, clamp, createFigure, format, group, h, handle, number, plane, presetPoints, PRESETS, readout,
  rightPoints, s, SEEDS, select, slider, tasks, toggle, virtual, whole, within,
} from "./ui.js";

export const kind = "minibatch";

const MANY = 20;
const OWN = "own";
const DATA_NAMES = [...PRESETS.filter(([name]) => name !== "arcs"), [OWN, "Your own"]];
const sameData = new Map(DATA_NAMES.slice(0, -1).map(([name]) => {
  const { X, y } = presetPoints(name, MANY);
  return [JSON.stringify([X, y]), name];
}));
const TOPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

const defaults = { ...presetPoints("blobs", MANY), lam: 0.1, w: [0.6, 0.4], batch_size: 2, replace: true, seed: 1 };

const tidy = (value) => Math.round(value * 1e3) / 1e3;

function clean(state) {
  const { X, y } = rightPoints(state, defaults, LIMIT, 100);
  const fits = state.w.length === 2 && state.w.every((value) => Math.abs(value) <= REACH);
  return {
    X, y,
    lam: within(state.lam, [1e-3, 10], defaults.lam),
    w: fits ? state.w : [0, 1].map((j) => within(state.w[j], [-REACH, REACH], 0)),
    batch_size: whole(state.batch_size, [1, y.length], 1),
    replace: Boolean(state.replace),
    seed: whole(state.seed, SEEDS, 1),
  };
}

export function render({ model, el }) {
  const derive = laboratory();
  let now = null;
  let guess = null; // the reader's k for the first task

  const fig = createFigure({
    model, el, kind, css, defaults, clean, draw,
    title: "The noise of a mini-batch",
    lead: "Drag the tip of w. Every example has a subgradient of its own; a mini-batch takes the mean of k of them. "
      + "How far does that mean lie from the mean of all?",
  });
  const setW = (a, b) => fig.set({ w: [a, b].map((value) => clamp(tidy(value), -REACH, REACH)) });

  // --- the data plane
  const data = plane(fig, { title: "Data and w", xLabel: "x₁ and w₁", yLabel: "x₂ and w₂", role: "group" });
  const under = data.layer("under").attr("aria-hidden", "true").style("pointer-events", "none");
  const lines = [-1, 1, 0].map((level) => ({ level, node: under.append("path").attr("class", level ? "pf-line mb-margin" : "pf-line").node() }));
  const dots = data.layer("dots").attr("aria-hidden", "true").style("pointer-events", "none");
  const arrow = data.layer("arrow").attr("aria-hidden", "true").style("pointer-events", "none").append("path").attr("class", "mb-arrow").node();
  const wLabel = data.layer("arrow").append("text").attr("class", "pf-mark-label mb-w-label").attr("text-anchor", "middle").text("w").node();
  const tip = handle(data, { shape: s("circle", { class: "mb-tip", r: 6 }), set: setW });
  data.onPress(setW);

  // --- the other panels
  const cloud = cloudPanel(fig);
  const curve = plane(fig, { title: "Variance against batch size", xLabel: "batch size k", yLabel: "variance of the batch mean", equal: false, aspect: 0.8 });
  const curves = curve.layer("curves");
  const path = (name) => curves.append("path").attr("class", name).node();
  const [withLine, withoutLine, here] = [path("pf-line mb-with"), path("pf-line mb-without"), path("pf-line pf-now-mark")];
  const measured = curve.layer("measured");
  const ring = curve.layer("measured").append("circle").attr("class", "mb-here").attr("r", 6).node();
  const numbers = readout("What is shown, in numbers");

  // --- controls
  let dataSeen = {};
  const nameOfData = () => {
    const { X, y } = fig.state();
    if (X !== dataSeen.X || y !== dataSeen.y) dataSeen = { X, y, name: sameData.get(JSON.stringify([X, y])) ?? OWN };
    return dataSeen.name;
  };
  const coordinate = (j) => ({
    get: () => tidy(fig.get("w")[j]),
    set: (value) => fig.set({ w: fig.get("w").map((old, i) => (i === j ? value : old)) }),
  });
  const also = virtual(fig, {
    w1: coordinate(0), w2: coordinate(1),
    data: { get: nameOfData, set: (name) => (name === OWN ? fig.redraw() : fig.set(presetPoints(name, MANY))) },
  });
  fig.controls.classList.add("mb-controls");
  fig.controls.append(
    group("The batch",
      slider(fig, { key: "batch_size", label: "size k", min: 1, max: () => fig.get("y").length }),
      toggle(fig, { key: "replace", label: "with replacement", title: "An example may come twice into one batch" }),
      h("div", { class: "pf-buttons" }, button(fig, {
        label: "New draws", title: `Draw ${DRAWS} other mini-batches`, onClick: () => fig.set({ seed: (fig.get("seed") + 1) % 2 ** 31 }),
      }))),
    group("Where it is looked at",
      select(also, { key: "data", label: "Data", options: DATA_NAMES }),
      number(also, { key: "w1", label: "w₁", min: -REACH, max: REACH, step: "any" }),
      number(also, { key: "w2", label: "w₂", min: -REACH, max: REACH, step: "any" }),
      h("div", { class: "pf-buttons" }, button(fig, {
        label: "Go to the minimum", title: "Move w to the minimiser of P, to three decimals", onClick: () => setW(...minimum(fig.state())),
      }))),
  );

  const own = { get: () => guess ?? "", set: (changes) => { guess = changes.guess; fig.redrawSoon(); }, onRefresh: fig.onRefresh };
  const extras = { halve: number(own, { key: "guess", label: "my guess: k =", min: 1, max: 999 }) };
  const goals = tasks(fig, TASKS.map(({ check, ...task }) => ({ ...task, extra: extras[task.id], check: () => check(fig.state(), now, guess) })));

  const key = (text, shape) => h("li", {}, s("svg", { width: 18, height: 14, viewBox: "-9 -7 18 14", "aria-hidden": "true" }, shape), text);
  const legends = [
    [["pushes: margin below 1", s("circle", { class: "mb-example", r: 4.5 })],
      ["does not push", s("circle", { class: "mb-example is-idle", r: 4.5 })],
      ["label −1", s("path", { class: "mb-example is-minus", d: "M0,-5.4L5.4,0L0,5.4L-5.4,0Z" })]],
    [["one example", s("circle", { class: "mb-example", r: 4.5 })], ["mean of a batch", s("circle", { class: "mb-mean", r: 2.5 })],
      ["mean of all, g", s("path", { class: "mb-centre", d: "M-6,0H6M0,-6V6" })],
      ["one standard deviation", s("path", { class: "mb-ellipse", d: "M-8,0H8" })]],
    [["with replacement, σ²/k", s("path", { class: "pf-line mb-with", d: "M-9,0H9" })],
      ["without", s("path", { class: "pf-line mb-without", d: "M-9,0H9" })],
      [`measured on ${DRAWS} batches`, s("circle", { class: "mb-measured", r: 3.2 })]],
  ].map((pairs) => h("ul", { class: "pf-legend" }, ...pairs.map(([text, shape]) => key(text, shape))));
  const column = (...parts) => h("div", { class: "mb-column" }, ...parts);
  fig.panels.append(column(data.el, legends[0]), column(cloud.el, legends[1]), column(curve.el, h("div", { class: "mb-column" }, legends[2], numbers.el)));
  fig.panels.classList.add("mb-panels");
  fig.notes.append(goals);

  // --- drawing
  function drawData({ X, y, w }) {
    const reach = Math.max(REACH, ...X.flat().map(Math.abs));
    data.view([-reach, reach], [-reach, reach]);
    const norm = Math.hypot(...w);
    for (const { level, node } of lines) {
      const [a, b] = norm > 0 ? w.map((value) => value / norm) : [0, 0];
      const [far, off] = [4 * reach, norm > 0 ? level / norm : 0];
      node.setAttribute("d", norm < 1e-9 || Math.abs(off) > far ? ""
        : `M${data.x(off * a - far * b)},${data.y(off * b + far * a)}L${data.x(off * a + far * b)},${data.y(off * b - far * a)}`);
    }
    dots.selectAll("path").data(X).join("path")
      .attr("class", (_, i) => `mb-example ${y[i] > 0 ? "" : "is-minus"} ${now.pushes[i] ? "" : "is-idle"}`)
      .attr("d", (_, i) => (y[i] > 0 ? "M-4.5,0a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0" : "M0,-5.4L5.4,0L0,5.4L-5.4,0Z"))
      .attr("transform", (x) => `translate(${data.x(x[0]).toFixed(2)},${data.y(x[1]).toFixed(2)})`);
    const [x0, y0, x1, y1] = [data.x(0), data.y(0), data.x(w[0]), data.y(w[1])];
    arrow.setAttribute("d", `M${x0},${y0}L${x1},${y1}`);
    const out = 20 / (Math.hypot(x1 - x0, y1 - y0) || 1);
    wLabel.setAttribute("x", norm > 0 ? x1 + out * (x1 - x0) : x1 + 18);
    wLabel.setAttribute("y", (norm > 0 ? y1 + out * (y1 - y0) : y1) + 5);
    tip.update(w[0], w[1], `Tip of w at ${w.map(format).join(", ")}. Arrow keys move it, with Shift further; or press where it should go.`);
    const pushing = now.pushes.filter(Boolean).length;
    data.describe(`${pushing} of ${y.length} examples push`);
    data.note(pushing === 0 ? "No example pushes: every margin is at least 1." : `${pushing} of ${y.length} examples have a margin below 1 and push.`);
  }

  function drawCurve({ y, batch_size: k, replace }) {
    const n = y.length;
    const top = TOPS.find((value) => value >= 1.04 * now.sigma2) ?? 1.04 * now.sigma2;
    curve.view([0, n + 1], [-0.04 * top, top]);
    const line = (f) => `M${now.sizes.map((size) => `${curve.x(size).toFixed(2)},${curve.y(now.sigma2 * f(size)).toFixed(2)}`).join("L")}`;
    withLine.setAttribute("d", line((size) => share(n, size, true)));
    withoutLine.setAttribute("d", line((size) => share(n, size, false)));
    here.setAttribute("d", `M${curve.x(k)},0V${curve.height}`);
    measured.selectAll("circle.mb-measured").data(now.measured).join("circle").attr("class", "mb-measured").attr("r", 3.2)
      .attr("cx", (_, i) => curve.x(i + 1)).attr("cy", (value) => curve.y(value));
    ring.setAttribute("cx", curve.x(k));
    ring.setAttribute("cy", curve.y(now.variance));
    const how = replace ? "with replacement" : "without replacement";
    curve.describe(`${how}, at k = ${k} the formula gives ${format(now.variance)}, ${DRAWS} batches gave ${format(now.measured[k - 1])}`);
    curve.note(`The points are measured ${how}.${replace ? "" : " At k = n nothing is left."}`);
  }

  function draw(changed) {
    const state = fig.state();
    now = derive(state);
    if (changed === null) {
      data.resize();
      curve.resize();
    }
    drawData(state);
    cloud.update(state, now, changed === null);
    drawCurve(state);
    const k = state.batch_size;
    numbers.update([
      ["σ², one example", format(now.sigma2)],
      [state.replace ? "σ²/k" : "σ²/k · (n−k)/(n−1)", format(now.variance)],
      ["measured", format(now.measured[k - 1])],
      ["standard deviation", format(Math.sqrt(now.variance))],
      ["share of k = 1", now.sigma2 === 0 ? "no noise" : `${(100 * Math.sqrt(now.share)).toFixed(1)} %`],
      ["g, mean of all", `(${now.mean.map((value) => format(Math.abs(value) < 1e-12 ? 0 : value)).join(", ")})`],
    ]);
    fig.announce(`k is ${k}, ${state.replace ? "with" : "without"} replacement: variance ${format(now.variance)} by the formula, `
      + `${format(now.measured[k - 1])} measured.`);
    fig.checkTasks();
  }

  return fig.start();
}
