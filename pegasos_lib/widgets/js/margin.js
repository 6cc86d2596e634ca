// The margin figure: points, w and lambda to move; margins, hinge losses and the two terms to see.
import { objectiveBar } from "./margin/bar.js";
import {
  DATA, LAM, REACH, TASKS, derive, minimum, nearestKink, snapToKink, stepDown, tiny,
} from "./margin/derive.js";
import { hingePanel } from "./margin/hinge.js";
import { scene } from "./margin/scene.js";
import css from "./margin/style.css";
import {
  button, clamp, createFigure, editablePoints, format, group, h, handle, KEYS, number, oneOf, plane, presetPoints,
  PRESETS, readout, reducedMotion, rightPoints, s, select, signed, slider, tasks, toggle, virtual, whole, within,
} from "./ui.js";

export const kind = "margin";

const EXTENTS = [2, 4, 8, 16];
const OWN = "own";
const MANY = 40;
const POINTS = 200; // at most
const DATA_NAMES = [
  ["separable", "Separable"], ["narrow-gap", "Separable, narrow gap"], ["overlapping", "Not separable"],
  ["off-origin", "Away from the origin"], ["nine-and-one", "Nine and one"],
  ...PRESETS.filter(([name]) => !DATA[name]).map(([name, text]) => [name, `${text} (${MANY} points)`]),
  [OWN, "Your own"],
];
const dataSet = (name) => DATA[name] ?? { ...presetPoints(name, MANY), extent: 4 };
const sameData = new Map(); // from the points as text to the name of the data set
for (const [name] of DATA_NAMES.slice(0, -1)) {
  const { X, y } = dataSet(name);
  sameData.set(JSON.stringify([X, y]), name);
}

const defaults = {
  X: DATA.separable.X, y: DATA.separable.y, lam: 0.1, w: [0.3, 0.7], constant: false, selected: 0, extent: 4, reveal: false,
};

const tidy = (value) => Math.round(value * 1e4) / 1e4;

function clean(state) {
  const { X, y } = rightPoints(state, defaults, POINTS);
  const d = state.constant ? 3 : 2;
  const fits = state.w.length === d && state.w.every((x) => Math.abs(x) <= REACH);
  return {
    X, y,
    lam: within(state.lam, [LAM.min, LAM.max], defaults.lam),
    w: fits ? state.w : Array.from({ length: d }, (_, j) => within(state.w[j], [-REACH, REACH], 0)),
    constant: Boolean(state.constant),
    selected: whole(state.selected, [0, y.length - 1], 0),
    extent: oneOf(state.extent, EXTENTS, defaults.extent),
    reveal: Boolean(state.reveal),
  };
}

export function render({ model, el }) {
  let now = null;
  let guess = null; // {w, problem} of the reader when the minimum was asked for
  let moving = 0; // the frame that the gliding w waits for
  const said = h("span", { class: "pf-said", role: "status" });

  const fig = createFigure({
    model, el, kind, css, defaults, clean, draw,
    title: "Margins, hinge losses and the SVM objective",
    lead: "Drag the points or the tip of w. The thick line from a point is its hinge loss: how far it still is from its "
      + "own margin line, in units of 1/\u2060‖w‖.",
  });
  const w = () => fig.get("w");
  const setW = (next) => {
    cancelAnimationFrame(moving);
    moving = 0;
    said.textContent = "";
    fig.set({ w: Array.from(next) });
  };

  // --- the data plane
  const data = plane(fig, { title: "Data, decision line and margins", xLabel: "x₁ and w₁", yLabel: "x₂ and w₂", role: "group" });
  const drawScene = scene(data);
  const under = data.layer("under").attr("aria-hidden", "true").style("pointer-events", "none").node();
  const ghost = s("path", { class: "pm-guess" });
  const arrow = s("path", { class: "pm-arrow" });
  under.append(ghost, arrow);
  const points = editablePoints(fig, data, {
    limit: POINTS,
    describe: (i) => `, margin ${format(derive(fig.state()).margins[i])}`,
  });
  const marks = data.layer("marks").attr("aria-hidden", "true").style("pointer-events", "none").node();
  const best = s("path", { class: "pm-best", d: "M-8,0L8,0M0,-8L0,8M-6,-6L6,6M-6,6L6,-6" });
  const bestLabel = s("text", { class: "pf-mark-label pm-best-label", text: "w*" });
  const wLabel = s("text", { class: "pf-mark-label pm-w-label", text: "w", "text-anchor": "middle" });
  marks.append(best, bestLabel, wLabel);
  const head = s("path", { class: "pm-tip", d: "M3,0L-12,-7L-9,0L-12,7Z" });
  const tip = handle(data, { shape: head, set: (a, b) => setW([tidy(a), tidy(b), ...w().slice(2)]) });

  // A press on the plane moves what was selected last: a point (editablePoints does that) or w.
  let armed = false;
  const arm = (on) => {
    armed = on;
    tip.node.classList.toggle("is-armed", on);
  };
  tip.node.addEventListener("focus", () => arm(true));
  tip.node.addEventListener("pointerdown", () => {
    const i = points.chosen();
    if (i !== null) data.el.querySelectorAll(".pf-point")[i].dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
    tip.node.focus({ preventScroll: true });
  });
  tip.node.addEventListener("keydown", (event) => { if (event.key === "Escape") arm(false); });
  data.onPress((a, b) => { if (armed && points.chosen() === null) setW([tidy(a), tidy(b), ...w().slice(2)]); });
  const follow = () => {
    const i = points.chosen();
    if (i === null) return;
    arm(false);
    if (i !== fig.get("selected")) fig.set({ selected: i });
  };
  for (const type of ["focusin", "pointerup", "keyup", "click"]) {
    data.el.addEventListener(type, follow);
    points.toolbar.addEventListener(type, follow);
  }

  const legend = h("ul", { class: "pf-legend" }, ...[
    ["label +1", s("circle", { class: "pm-dot", r: 4 })],
    ["label −1", s("path", { class: "pm-dot is-minus", d: "M0,-5.2L5.2,0L0,5.2L-5.2,0Z" })],
    ["hinge loss", s("path", { class: "pm-losses", d: "M-6,0H6" })],
    ["margin exactly 1", s("circle", { class: "pm-dot is-selected", r: 4 })],
  ].map(([text, shape]) => h("li", {}, s("svg", { width: 16, height: 14, viewBox: "-8 -7 16 14", "aria-hidden": "true" }, shape), text)));

  // --- the other panels
  const hinge = hingePanel(fig);
  const bar = objectiveBar();
  const numbers = readout("What is shown, in numbers");
  const kinkText = h("p", { class: "pm-kinks" });

  // --- controls
  const polar = (length, degrees) => {
    const angle = (degrees * Math.PI) / 180;
    setW([tidy(length * Math.cos(angle)), tidy(length * Math.sin(angle)), ...w().slice(2)]);
  };
  const plain = () => Math.hypot(w()[0], w()[1]);
  let heading = 0; // kept while w is 0, so that its direction is not lost
  const coordinate = (j) => ({
    get: () => tidy(w()[j] ?? 0),
    set: (value) => setW(w().map((old, k) => (k === j ? value : old))),
  });
  let dataSeen = {};
  const nameOfData = () => {
    const { X, y } = fig.state();
    if (X !== dataSeen.X || y !== dataSeen.y) dataSeen = { X, y, name: sameData.get(JSON.stringify([X, y])) ?? OWN };
    return dataSeen.name;
  };
  const row = (j) => ({
    get: () => fig.get("X")[fig.get("selected")][j],
    set: (value) => fig.set({ X: fig.get("X").map((x, i) => (i === fig.get("selected") ? x.map((old, k) => (k === j ? value : old)) : x)) }),
  });
  const also = virtual(fig, {
    C: {
      get: () => Number((1 / (fig.get("lam") * fig.get("y").length)).toPrecision(4)),
      set: (C) => fig.set({ lam: Number((1 / (C * fig.get("y").length)).toPrecision(6)) }),
    },
    angle: {
      get: () => {
        if (plain() > 0) heading = Math.round((Math.atan2(w()[1], w()[0]) * 1800) / Math.PI) / 10;
        return heading;
      },
      set: (degrees) => {
        heading = degrees;
        polar(plain(), degrees);
      },
    },
    length: { get: () => tidy(plain()), set: (length) => polar(length, also.get("angle")) },
    w1: coordinate(0), w2: coordinate(1), w3: coordinate(2), x1: row(0), x2: row(1),
  });

  const load = (name) => {
    if (name === OWN) return fig.redraw();
    const { extent, ...points } = dataSet(name);
    return fig.set({ ...points, extent, selected: 0 });
  };
  const snap = (i) => {
    const snapped = i < 0 ? null : snapToKink(derive(fig.state()), w(), i);
    if (!snapped) return fig.announce("A point at 0 has margin 0 for every w: it has no kink.");
    setW(snapped);
    return fig.announce(`w moved to the nearest place where point ${i + 1} has margin 1.`);
  };
  const glide = (to) => {
    cancelAnimationFrame(moving);
    const from = w();
    const start = performance.now();
    const move = (time) => {
      const part = reducedMotion() ? 1 : clamp((time - start) / 450, 0, 1);
      const eased = part * part * (3 - 2 * part);
      fig.set({ w: part === 1 ? Array.from(to) : from.map((x, j) => x + eased * (to[j] - x)) });
      moving = part < 1 ? requestAnimationFrame(move) : 0;
    };
    moving = requestAnimationFrame(move);
  };
  fig.onDispose(() => cancelAnimationFrame(moving));
  const descend = () => {
    const step = stepDown(derive(fig.state()), w());
    said.textContent = step ? `Step of length η = ${format(step.eta)} along −g.`
      : "No step along −g lowers P: here g is one subgradient of many, and not a way down.";
    if (step) glide(step.w);
  };
  const compare = () => {
    const on = !fig.get("reveal");
    guess = on ? { w: w().slice(), at: problemKey() } : null;
    fig.set({ reveal: on });
  };
  const problemKey = () => JSON.stringify(["X", "y", "lam", "constant"].map(fig.get));
  const compareButton = button(fig, { label: "Compare with the minimum", kind: "pf-primary", onClick: compare });

  const w3 = slider(also, { key: "w3", label: "w₃ (constant)", min: -10, max: 10, step: 0.05, title: "The weight of the constant feature" });
  const dataName = select(virtual(fig, { data: { get: nameOfData, set: load } }), { key: "data", label: "Data", options: DATA_NAMES });
  const view = select(virtual(fig, {
    extent: { get: () => String(fig.get("extent")), set: (value) => fig.set({ extent: Number(value) }) },
  }), { key: "extent", label: "View", options: EXTENTS.map((e) => [String(e), `−${e} to ${e}`]) });
  const compareBox = h("div", { class: "pf-buttons" }, compareButton,
    button(fig, { label: "Go to the minimum", title: "Move w to the minimiser of P", onClick: () => {
      fig.set({ reveal: true });
      glide(minimum(fig.state()).w);
    } }));
  const moves = h("div", { class: "pf-buttons" },
    button(fig, { label: "Step against the subgradient", title: "One step along −g, halved until P falls", onClick: descend }),
    said);
  const snaps = h("div", { class: "pf-buttons" },
    button(fig, { label: "Snap to its kink", title: "The nearest w at which the selected point has margin 1", onClick: () => snap(fig.get("selected")) }),
    button(fig, { label: "Snap to the nearest kink", title: "The nearest w at which some point has margin 1",
      onClick: () => snap(nearestKink(derive(fig.state()))) }));

  fig.controls.classList.add("pm-controls");
  fig.controls.append(
    h("div", { class: "pm-side" },
      group("Regularisation",
        slider(fig, { key: "lam", label: "λ", ...LAM, log: true, title: "The weight of the norm term" }),
        number(also, { key: "C", label: "C = 1/(λn)", min: 1e-6, max: 1e6, step: "any", title: "The same choice in the other form of the problem" }),
        toggle(fig, { key: "constant", label: "Constant feature: x₃ = 1", title: "Stands for an intercept; its weight w₃ is in the norm too" })),
      group("The data", dataName, view,
        number(also, { key: "x1", label: "selected x₁", min: -16, max: 16, step: "any" }),
        number(also, { key: "x2", label: "selected x₂", min: -16, max: 16, step: "any" }))),
    group("The weight vector w",
      slider(also, { key: "angle", label: "angle in °", min: -180, max: 180, step: 1 }),
      slider(also, { key: "length", label: "length", min: 0, max: 10, step: 0.01 }),
      number(also, { key: "w1", label: "w₁", min: -REACH, max: REACH, step: "any" }),
      number(also, { key: "w2", label: "w₂", min: -REACH, max: REACH, step: "any" }),
      w3, moves, snaps),
  );

  const body = h("tbody", {});
  const columns = ["point", "label", "x₁", "x₂", "margin", "loss"].map((text) => h("th", { scope: "col", text }));
  const table = h("details", { on: { toggle: () => fillTable() } }, h("summary", { text: "Every point in numbers" }),
    h("div", { class: "pm-table", tabindex: 0, ...KEYS, role: "group", "aria-label": "Table of the points" },
      h("table", {}, h("thead", {}, h("tr", {}, ...columns)), body)));
  function fillTable() {
    if (!table.open) return;
    const { X, y } = fig.state();
    body.replaceChildren(...X.map(([a, b], i) => h("tr", {},
      ...[i + 1, signed(y[i]), format(a), format(b), format(now.margins[i]), format(tiny(now.losses[i]))].map((text) => h("td", { text: String(text) })))));
  }
  const goals = tasks(fig, TASKS.map(({ id, text, hint, check }) => ({ id, text, hint, check: () => check(fig.state(), now) })));
  fig.panels.classList.add("pm-panels");
  fig.panels.append(
    h("div", { class: "pm-side" }, data.el, legend, points.toolbar, kinkText),
    h("div", { class: "pm-side" }, bar.el, compareBox, hinge.el, numbers.el),
  );
  fig.notes.append(table, goals);

  // --- drawing
  function placeArrow(state) {
    const [a, b] = state.w;
    const m = now.margins[state.selected];
    // A tip outside the view is drawn at its edge, on the same ray.
    const reach = 0.97 * Math.min(data.x.domain()[1] / Math.abs(a), data.y.domain()[1] / Math.abs(b));
    const far = reach < 1;
    const [u, v] = far ? [a * reach, b * reach] : [a, b];
    const [x0, y0, x1, y1] = [data.x(0), data.y(0), data.x(u), data.y(v)];
    const pixels = Math.hypot(x1 - x0, y1 - y0);
    const back = Math.max(0, pixels - 9) / (pixels || 1);
    arrow.setAttribute("d", `M${x0},${y0}L${x0 + back * (x1 - x0)},${y0 + back * (y1 - y0)}`);
    head.setAttribute("transform", `rotate(${(Math.atan2(y1 - y0, x1 - x0) * 180) / Math.PI})`);
    tip.update(u, v, `Tip of w at ${state.w.map(format).join(", ")}. Arrow keys move it, with Shift further; `
      + "or select it and press where it should go.");
    const out = 22 / (pixels || 1);
    wLabel.setAttribute("x", pixels > 1 ? x1 + out * (x1 - x0) : x1 + 22);
    wLabel.setAttribute("y", (pixels > 1 ? y1 + out * (y1 - y0) : y1) + 5);
    data.note(far ? `The tip of w lies outside the view, at (${state.w.slice(0, 2).map(format).join(", ")}): its arrow is cut.`
      : Math.hypot(a, b) < 1e-9 ? `w₁ = w₂ = 0: there is no decision line${state.constant ? "" : ", every margin is 0 and every loss 1"}.`
        : `Point ${state.selected + 1} is ${format(Math.abs(m) / Math.hypot(a, b))} from the line, on the ${m > 0 ? "right" : "wrong"} side: `
          + `times ‖w‖${state.constant ? " without w₃" : ""} = ${format(Math.hypot(a, b))}, that is its margin ${format(m)}.`);
  }

  function placeMinimum(state, least) {
    const shown = least !== null;
    const old = guess && guess.at === problemKey() ? guess : null;
    for (const node of [best, bestLabel]) node.style.display = shown ? "" : "none";
    ghost.setAttribute("d", old ? `M${data.x(0)},${data.y(0)}L${data.x(old.w[0])},${data.y(old.w[1])}` : "");
    if (shown) {
      const [x, y] = [data.x(least.w[0]), data.y(least.w[1])];
      best.setAttribute("transform", `translate(${x},${y})`);
      bestLabel.setAttribute("x", x + 10);
      bestLabel.setAttribute("y", y + 16);
    }
    return old ? derive({ ...state, w: old.w }).value : null;
  }

  const list = (indices) => indices.map((i) => i + 1).join(", ");
  function sayKinks(state, atMinimum) {
    const many = now.kinks.length > 1;
    const gradient = `(${Array.from(now.subgradient, (x) => format(tiny(x))).join(", ")})`;
    kinkText.textContent = now.kinks.length === 0
      ? `No margin equals 1: P is differentiable at this w, with gradient ${gradient}.`
      : `Point${many ? "s" : ""} ${list(now.kinks)} ${many ? "have" : "has"} margin 1: P is not differentiable at this w. `
        + `Counting margins < 1 only, one subgradient of many is ${gradient}.`
        + (atMinimum ? " Another one is 0, which is why this w is the minimiser." : "");
  }

  function draw(changed) {
    const state = fig.state();
    const resized = changed === null;
    now = derive(state);
    const least = state.reveal ? minimum(state) : null;
    if (resized) data.resize();
    data.view([-state.extent, state.extent], [-state.extent, state.extent]);
    w3.hidden = !state.constant;
    drawScene(state, now);
    placeArrow(state);
    const guessed = placeMinimum(state, least);
    points.update((i) => (Math.abs(now.margins[i] - 1) <= 1e-6 ? "is-on-kink" : ""));
    hinge.update(state, now, resized);
    bar.update(now, least, guessed);
    compareButton.textContent = state.reveal ? "Hide the minimum" : "Compare with the minimum";
    const n = state.y.length;
    const violations = Array.from(now.margins).filter((m) => m < 1).length;
    numbers.update([
      ["wrong side", `${now.errors} of ${n}`], ["with a loss", `${violations} of ${n}`],
      ["least margin", format(Math.min(...now.margins))], ["length ‖w‖", format(now.norm)],
      ["line to margin line", format(1 / Math.hypot(state.w[0], state.w[1]))],
      ["w*", least ? `(${Array.from(least.w, format).join(", ")})` : "hidden"],
    ]);
    sayKinks(state, least !== null && now.value - least.value <= 1e-9);
    fillTable();
    data.describe(`${n} points, ${now.errors} on the wrong side, ${violations} with a loss`);
    fig.announce(`P is ${format(now.value)}: norm term ${format(now.terms.norm)}, hinge term ${format(now.terms.hinge)}. `
      + `${now.errors} of ${n} points on the wrong side.`);
    if (!moving) fig.checkTasks(); // what w only passes on its way is not reached
  }

  return fig.start();
}
