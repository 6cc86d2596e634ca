// The chord figure: two ends of a chord to move under a graph, and what the chord says about convexity.
import {
  DEFAULTS, FUNCTIONS, MU, Q, RULES, TASKS, derive, grid, interval, kindOf, remember,
} from "./chord/derive.js";
import css from "./chord/style.css";
import {
  clamp, createFigure, format, group, h, handle, oneOf, plane, readout, s, select, slider, tasks, within,
} from "./ui.js";

export const kind = "chord";

const tidy = (value) => Math.round(value * 1e4) / 1e4;

function clean(state) {
  const chosen = {
    phi: oneOf(state.phi, Object.keys(FUNCTIONS), DEFAULTS.phi),
    psi: oneOf(state.psi, Object.keys(FUNCTIONS), DEFAULTS.psi),
    rule: oneOf(state.rule, Object.keys(RULES), DEFAULTS.rule),
    q: within(state.q, Q, DEFAULTS.q),
  };
  const ends = interval(chosen);
  return {
    ...chosen,
    u: within(state.u, ends, DEFAULTS.u),
    w: within(state.w, ends, DEFAULTS.w),
    theta: within(state.theta, [0, 1], DEFAULTS.theta),
    mu: within(state.mu, MU, DEFAULTS.mu),
    beyond: oneOf(state.beyond, ["", "above", "below"], ""),
    guess: oneOf(state.guess, ["", "convex", "not"], ""),
  };
}

// All of f, unless a steep end would press the rest flat; then that end, too, if the chord stands on it.
function heights(y, ends, correction) {
  const sorted = [...y].sort((a, b) => a - b);
  const [low, high] = [sorted[0], sorted[sorted.length - 1]];
  const [first, third] = [0.25, 0.75].map((part) => sorted[Math.round(part * (sorted.length - 1))]);
  const reach = 1.5 * (third - first) + 1;
  let bottom = Math.max(low, first - reach);
  let top = Math.min(high, third + reach);
  if (Math.min(...ends) < bottom) bottom = low;
  if (Math.max(...ends) > top) top = high;
  bottom = Math.min(bottom, correction);
  const room = 0.07 * Math.max(top - bottom, 0.5);
  return [bottom - room, top + room];
}

const swatch = (text, shape) => h("li", {}, s("svg", { width: 26, height: 14, viewBox: "-13 -7 26 14", "aria-hidden": "true" }, shape), h("span", { text }));

export function render({ model, el }) {
  let now = null;
  let seen = {};
  let armed = null;

  const fig = createFigure({
    model, el, kind, css, defaults: DEFAULTS, clean, draw,
    title: "A chord against its graph",
    lead: "Move the two ends u and w along the graph of f, and z between them. Is the chord above the graph all the way? "
      + "And for every other pair of ends?",
  });
  const onInterval = (x) => clamp(tidy(x), ...interval(fig.state()));
  const part = (x) => {
    const { u, w, theta } = fig.state();
    return u === w ? theta : clamp(tidy((x - w) / (u - w)), 0, 1);
  };

  // --- the graph and its chord
  const graph = plane(fig, { title: "Graph of f and one chord", xLabel: "x", yLabel: "f(x)", aspect: 0.72, equal: false, role: "group" });
  const under = graph.layer("curves").attr("aria-hidden", "true").style("pointer-events", "none").node();
  const draws = (layer, name) => {
    const path = s("path", { class: name });
    layer.append(path);
    return path;
  };
  const area = draws(under, "pc-area");
  const parts = draws(under, "pc-part");
  const curve = draws(under, "pf-line");
  const extension = draws(under, "pc-line");
  const chord = draws(under, "pc-chord");
  const lowered = draws(under, "pc-lowered");
  const failing = draws(under, "pc-failing");
  const drop = draws(under, "pc-drop");
  const below = s("circle", { class: "pc-value", r: 4.5 });
  under.append(below);
  const names = graph.layer("names").attr("aria-hidden", "true").style("pointer-events", "none").node();
  const label = (text) => {
    const node = s("text", { class: "pf-mark-label pc-name", "text-anchor": "middle", text });
    names.append(node);
    return node;
  };
  const labels = { u: label("u"), w: label("w"), z: label("z") };

  const HANDLES = {
    u: { shape: s("circle", { class: "pc-end", r: 6.5 }), set: (x) => fig.set({ u: onInterval(x) }) },
    w: { shape: s("path", { class: "pc-end", d: "M-6,-6H6V6H-6Z" }), set: (x) => fig.set({ w: onInterval(x) }) },
    z: { shape: s("path", { class: "pc-between", d: "M0,-7.5L7.5,0L0,7.5L-7.5,0Z" }), set: (x) => fig.set({ theta: part(x) }) },
  };
  const arm = (name) => {
    armed = name;
    for (const [other, { node }] of Object.entries(handles)) node.classList.toggle("is-armed", other === name);
  };
  const handles = {};
  for (const [name, what] of Object.entries(HANDLES)) {
    handles[name] = handle(graph, what);
    const { node } = handles[name];
    node.addEventListener("focus", () => arm(name));
    node.addEventListener("pointerdown", () => node.focus({ preventScroll: true }));
    node.addEventListener("keydown", (event) => { if (event.key === "Escape") arm(null); });
  }
  graph.onPress((x) => { if (armed) HANDLES[armed].set(x); });

  const legend = h("ul", { class: "pf-legend" },
    swatch("graph of f", s("path", { class: "pf-line", d: "M-12,0H12" })),
    swatch("chord", s("path", { class: "pc-chord", d: "M-12,0H12" })),
    swatch("chord below the graph", s("path", { class: "pc-failing", d: "M-12,0H12" })),
    swatch("gap at z", s("path", { class: "pc-drop", d: "M0,-7V7" })));
  const loweredKey = swatch("chord lowered by μ", s("path", { class: "pc-lowered", d: "M-12,0H12" }));
  const lineKey = swatch("line beyond the ends", s("path", { class: "pc-line", d: "M-12,0H12" }));
  const partsKey = swatch("φ and ψ", s("path", { class: "pc-part", d: "M-12,0H12" }));
  legend.append(loweredKey, lineKey, partsKey);

  // --- chord minus graph
  const gap = plane(fig, { title: "Chord minus graph", xLabel: "x between the ends", yLabel: "gap", aspect: 0.42, equal: false });
  const back = gap.layer("curves").node();
  const gapAbove = draws(back, "pc-gap-area");
  const gapBelow = draws(back, "pc-area");
  const zero = draws(back, "pc-zero");
  const gapCurve = draws(back, "pc-gap");
  const gapLowered = draws(back, "pc-lowered");
  const here = s("circle", { class: "pc-value", r: 4.5 });
  back.append(here);
  const verdict = h("p", { class: "pc-verdict", role: "status" });
  const numbers = readout("What is shown, in numbers");

  // --- controls; another function takes the guesses about the old one away
  const anew = { get: fig.get, onRefresh: fig.onRefresh, set: (changes) => fig.set({ ...changes, guess: "", beyond: "" }) };
  const formulas = (list) => Object.entries(list).map(([name, [formula]]) => [name, formula]);
  const psi = select(anew, { key: "psi", label: "ψ", options: formulas(FUNCTIONS) });
  const q = slider(anew, { key: "q", label: "q", min: Q[0], max: Q[1], step: 0.1 });
  // The slider's limits are those of the longest interval; `clean` keeps an end inside a shorter one.
  const end = (key, title) => slider(fig, { key, label: key, min: -2, max: 2, step: 0.01, title });
  const uField = end("u", "One end of the chord");
  const wField = end("w", "The other end of the chord");
  fig.controls.append(
    h("div", { class: "pc-side" },
      group("The function f",
        select(anew, { key: "rule", label: "f is", options: formulas(RULES) }),
        select(anew, { key: "phi", label: "φ", options: formulas(FUNCTIONS) }), psi, q),
      group("The chord", uField, wField,
        slider(fig, { key: "theta", label: "θ", min: 0, max: 1, step: 0.01, title: "The weight of u in z = θu + (1 − θ)w" }),
        slider(fig, { key: "mu", label: "μ", min: MU[0], max: MU[1], step: 0.05, title: "Lowers the chord by μ/2 · θ(1 − θ)(u − w)²" }))),
    group("Guess first, then see",
      select(fig, { key: "guess", label: "f is, I guess,", options: [["", "…"], ["convex", "convex here"], ["not", "not convex here"]] }),
      select(fig, { key: "beyond", label: "The line beyond the ends is", options: [["", "…"], ["above", "above the graph"], ["below", "below the graph"]] }),
      verdict),
  );
  fig.controls.classList.add("pc-panels");
  const goals = tasks(fig, TASKS.map(({ id, text, hint, check }) => ({ id, text, hint, check: () => check(fig.state(), now, seen) })));
  fig.panels.classList.add("pc-panels");
  fig.panels.append(
    h("div", { class: "pc-side" }, graph.el, legend),
    h("div", { class: "pc-side" }, gap.el, numbers.el),
  );
  fig.notes.append(goals);

  // --- drawing
  const pathOn = (panel) => (points) =>
    (points.length < 2 ? "" : `M${points.map(([x, y]) => `${panel.x(x).toFixed(1)},${panel.y(y).toFixed(1)}`).join("L")}`);
  const onGraph = pathOn(graph);
  const onGap = pathOn(gap);

  // Runs of samples whose `key` is on one side of 0.
  const runs = (inside) => now.samples.reduce((found, sample) => {
    if (!inside(sample)) found.push([]);
    else found[found.length - 1].push(sample);
    return found;
  }, [[]]).filter((run) => run.length > 1);
  const under0 = ({ gap: value }) => value < -now.tolerance;

  function drawGraph(state) {
    const [low, high] = interval(state);
    const x = grid([low, high]);
    const y = x.map(now.f);
    const correction = state.mu > 0 ? Math.min(...now.samples.map((sample) => sample.corrected + sample.graph)) : Infinity;
    graph.view([low, high], heights(y, [now.fu, now.fw], correction));
    const [, , usesPsi] = RULES[state.rule];
    const made = state.rule === "phi" ? [] : [state.phi, ...(usesPsi ? [state.psi] : [])];
    parts.setAttribute("d", made.map((name) => onGraph(x.map((value) => [value, FUNCTIONS[name][1](value)]).filter(([, v]) => Number.isFinite(v)))).join(""));
    curve.setAttribute("d", onGraph(x.map((value, i) => [value, y[i]])));
    chord.setAttribute("d", onGraph([[state.u, now.fu], [state.w, now.fw]]));
    const bad = runs(under0);
    failing.setAttribute("d", bad.map((run) => onGraph(run.map((sample) => [sample.z, sample.chord]))).join(""));
    area.setAttribute("d", bad.map((run) => `${onGraph([...run.map((sample) => [sample.z, sample.chord]),
      ...[...run].reverse().map((sample) => [sample.z, sample.graph])])}Z`).join(""));
    lowered.setAttribute("d", state.mu > 0 ? onGraph(now.samples.map((sample) => [sample.z, sample.corrected + sample.graph])) : "");
    const [left, right] = [Math.min(state.u, state.w), Math.max(state.u, state.w)];
    extension.setAttribute("d", state.beyond === "" || left === right ? ""
      : onGraph([[low, now.line(low)], [left, now.line(left)]]) + onGraph([[right, now.line(right)], [high, now.line(high)]]));
    drop.setAttribute("d", onGraph([[now.z, now.point.chord], [now.z, now.point.graph]]));
    below.setAttribute("cx", graph.x(now.z));
    below.setAttribute("cy", graph.y(now.point.graph));
    const places = { u: [state.u, now.fu], w: [state.w, now.fw], z: [now.z, now.point.chord] };
    const spoken = {
      u: `End u at ${format(state.u)}, f(u) = ${format(now.fu)}.`,
      w: `End w at ${format(state.w)}, f(w) = ${format(now.fw)}.`,
      z: `z at ${format(now.z)}, θ = ${format(state.theta)}, gap ${format(now.point.gap)}.`,
    };
    for (const [name, [a, b]] of Object.entries(places)) {
      handles[name].update(a, b, `${spoken[name]} Left and right arrow keys move it, with Shift further; or select it and press where it should go.`);
      labels[name].setAttribute("x", clamp(graph.x(a), 10, graph.width - 10));
      const beneath = graph.y(b) < 26 || (name === "z" && now.point.gap < 0);
      labels[name].setAttribute("y", graph.y(b) + (beneath ? 24 : -13));
    }
  }

  function drawGap(state) {
    const values = now.samples.map((sample) => sample.gap);
    const all = [0, ...values, ...(state.mu > 0 ? now.samples.map((sample) => sample.corrected) : [])];
    const [bottom, top] = [Math.min(...all), Math.max(...all)];
    const room = 0.1 * Math.max(top - bottom, 0.2);
    const [left, right] = [Math.min(state.u, state.w), Math.max(state.u, state.w)];
    gap.view(left === right ? [left - 0.05, right + 0.05] : [left, right], [bottom - room, top + room]);
    const filled = (inside) => runs(inside)
      .map((run) => `${onGap([[run[0].z, 0], ...run.map((sample) => [sample.z, sample.gap]), [run[run.length - 1].z, 0]])}Z`).join("");
    gapAbove.setAttribute("d", filled((sample) => !under0(sample)));
    gapBelow.setAttribute("d", filled(under0));
    zero.setAttribute("d", onGap([[left, 0], [right, 0]]));
    gapCurve.setAttribute("d", onGap(now.samples.map((sample) => [sample.z, sample.gap])));
    gapLowered.setAttribute("d", state.mu > 0 ? onGap(now.samples.map((sample) => [sample.z, sample.corrected])) : "");
    here.setAttribute("cx", gap.x(now.z));
    here.setAttribute("cy", gap.y(now.point.gap));
  }

  function sayVerdict(state) {
    const said = [];
    if (state.guess) {
      const is = kindOf(state);
      const right = is.convex === (state.guess === "convex");
      const grade = is.strong ? "strictly convex there, and strongly convex: with which μ?" : is.strict
        ? "strictly convex there, but not strongly convex for a μ worth the name." : "not strictly convex: some chord lies on the graph.";
      said.push(`${right ? "Right" : "Not so"}: f is ${is.convex ? "" : "not "}convex on the interval shown.`,
        is.convex ? `It is ${grade}` : is.concave ? "It is concave: every chord lies below or on the graph." : "Find a chord that proves it.");
    }
    if (state.beyond && state.u !== state.w) {
      said.push(now.belowBeyond ? `Beyond the ends the line lies below the graph${state.beyond === "above" ? ", not above" : ", as you guessed"}.`
        : "Beyond the ends this line is not below the graph on both sides.");
    }
    const text = said.join(" ") || "Choose a guess, and the figure answers it.";
    if (verdict.textContent !== text) verdict.textContent = text;
  }

  function draw(changed) {
    const state = fig.state();
    now = derive(state);
    seen = remember(seen, state, now);
    if (changed === null) {
      graph.resize();
      gap.resize();
    }
    const [, , usesPsi, usesQ] = RULES[state.rule];
    psi.hidden = !usesPsi;
    q.hidden = !usesQ;
    loweredKey.hidden = state.mu === 0;
    lineKey.hidden = state.beyond === "";
    partsKey.hidden = state.rule === "phi";
    partsKey.querySelector("span").textContent = usesPsi ? "φ and ψ" : "φ";
    drawGraph(state);
    drawGap(state);
    sayVerdict(state);
    const answer = state.u === state.w ? "The two ends coincide: this chord says nothing."
      : now.fails ? `This chord is below the graph in places: f is not convex. At worst by ${format(-now.least.gap)}, at x = ${format(now.least.z)}.`
        : "This chord is nowhere below the graph. Is that so for every chord?";
    const lowering = state.mu === 0 ? "" : now.correctedFails
      ? ` Lowered by μ = ${format(state.mu)} it is below the graph: f is not μ-strongly convex.` : ` Lowered by μ = ${format(state.mu)} it still holds.`;
    graph.note(answer + lowering);
    gap.note("Below 0 the chord is below the graph.");
    numbers.update([
      ["u, f(u)", `${format(state.u)}, ${format(now.fu)}`], ["w, f(w)", `${format(state.w)}, ${format(now.fw)}`],
      ["z = θu + (1 − θ)w", format(now.z)], ["chord at z", format(now.point.chord)], ["f(z)", format(now.point.graph)],
      ["gap at z", format(now.point.gap)], ["least gap", format(now.least.gap < -now.tolerance ? now.least.gap : 0)],
    ]);
    graph.describe(`chord from ${format(state.u)} to ${format(state.w)}, ${now.fails ? "below the graph in places" : "nowhere below the graph"}`);
    gap.describe(`from ${format(now.least.gap)} upwards`);
    fig.announce(answer + lowering);
    fig.checkTasks();
  }

  return fig.start();
}
