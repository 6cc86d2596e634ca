import { contours } from "../d3.js";
import { attr, format, h, handle, plane, s, STAR, uid } from "../ui.js";
import { LIMITS } from "./state.js";

const CELLS = 61; // odd, so that the axes, where some functions have kinks, run through the samples
const LEVELS = 8;
const round = (x) => Math.round(x * 100) / 100;

/** The contours of f with the path, the current step as an arrow, and the start to move. */
export function contourPanel(fig) {
  const p = plane(fig, { title: "Iterates on the contours of f", xLabel: "a, first component of w", yLabel: "b, second component of w", role: "group" });
  const marker = uid();
  p.svg.querySelector("defs").append(s("marker", { id: marker, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8,
    markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, s("path", { d: "M0,0.5L8,4L0,7.5Z", class: "pf-arrowhead" })));
  // What lies over the plane lets presses through to it.
  const bands = p.layer("bands").style("pointer-events", "none");
  const over = p.layer("over").style("pointer-events", "none").attr("aria-hidden", "true").node();
  const add = (tag, attributes) => {
    const node = s(tag, attributes);
    over.append(node);
    return node;
  };
  const star = add("path", { class: "pf-mark pf-star", d: STAR });
  const path = add("path", { class: "pf-line pf-path" });
  const dots = add("path", { class: "pd-dots" });
  const arrow = add("path", { class: "pf-arrow pd-step", "marker-end": `url(#${marker})` });
  const now = add("circle", { class: "pf-mark pf-new", r: 5 });
  const move = (a, b) => fig.set({ start: [round(a), round(b)] });
  const start = handle(p, { shape: s("rect", { class: "pd-start", x: -6, y: -6, width: 12, height: 12, rx: 2 }), set: move });
  p.onPress(move);
  const key = h("ul", { class: "pf-legend" }, ...[
    ["start w₁", s("rect", { class: "pd-start", x: -5, y: -5, width: 10, height: 10, rx: 2 })],
    ["path", s("path", { class: "pf-line pf-path", d: "M-10,0H10" })],
    ["this step", s("path", { class: "pf-arrow pd-step", d: "M-10,0H10" })],
    ["wₜ₊₁", s("circle", { class: "pf-mark pf-new", r: 5 })],
    ["minimiser", s("path", { class: "pf-mark pf-star", d: STAR })],
  ].map(([text, shape]) => h("li", {}, s("svg", { width: 24, height: 16, viewBox: "-12 -8 24 16", "aria-hidden": "true" }, shape), h("span", { text }))));
  p.el.append(key);

  let drawn = "";
  // Levels at equal ratios above the infimum.
  function drawContours(f, name) {
    const wanted = `${name} ${p.width}`;
    if (wanted === drawn) return;
    drawn = wanted;
    const [low] = p.x.domain();
    const cell = (p.x.domain()[1] - low) / (CELLS - 2);
    const heights = Array.from({ length: CELLS * CELLS }, (_, i) =>
      f.value([low + ((i % CELLS) - 0.5) * cell, low + (Math.floor(i / CELLS) - 0.5) * cell]));
    const range = heights.reduce((a, b) => Math.max(a, b)) - f.infimum;
    const levels = Array.from({ length: LEVELS }, (_, j) => -(f.infimum + range * 0.5 ** (j + 0.7))).sort((a, b) => a - b);
    // Negated, so that a band is where f is at most its level.
    const shapes = contours().size([CELLS, CELLS]).thresholds(levels)(heights.map((value) => -value));
    const at = ([a, b]) => `${p.x(low + (a - 1) * cell).toFixed(1)},${p.y(low + (b - 1) * cell).toFixed(1)}`;
    // Beside a kink that runs across the cells, rings of a few points are the grid's doing.
    const outline = ({ coordinates }) => coordinates.flat().filter((ring) => ring.length > 8).map((ring) => `M${ring.map(at).join("L")}Z`).join("");
    bands.selectAll("path").data(shapes).join("path").attr("class", "pd-band").attr("d", outline);
  }

  // Far outside points are brought near, because browsers draw huge coordinates wrongly.
  const near = (value) => Math.min(5000, Math.max(-5000, value)).toFixed(1);
  const spot = ([a, b]) => `${near(p.x(a))},${near(p.y(b))}`;
  const seen = ([a, b]) => Math.max(Math.abs(a), Math.abs(b)) <= LIMITS.reach;

  return {
    el: p.el,
    draw(run, t, hidden, resized) {
      if (resized) p.resize();
      p.view([-LIMITS.reach, LIMITS.reach], [-LIMITS.reach, LIMITS.reach]);
      drawContours(run.f, fig.get("function"));
      const shown = run.path.slice(0, hidden ? 1 : t + 1).filter((w) => w.every(Number.isFinite));
      const [before, w] = [shown[shown.length - 2], shown[shown.length - 1]];
      attr(path, "d", `M${shown.map(spot).join("L")}`);
      attr(dots, "d", shown.filter(seen).map((at) => `M${spot(at)}m-2.2,0a2.2,2.2 0 1,0 4.4,0a2.2,2.2 0 1,0 -4.4,0`).join(""));
      const stepped = before && Math.hypot(p.x(w[0]) - p.x(before[0]), p.y(w[1]) - p.y(before[1])) > 3;
      attr(arrow, "d", stepped ? `M${spot(before)}L${spot(w)}` : "");
      attr(now, "transform", `translate(${spot(w)})`);
      now.style.display = hidden ? "none" : "";
      star.style.display = run.f.minimiser ? "" : "none";
      key.lastElementChild.hidden = !run.f.minimiser;
      if (run.f.minimiser) attr(star, "transform", `translate(${spot(run.f.minimiser)})`);
      const [a, b] = fig.get("start");
      start.update(a, b, `Start w₁ at ${format(a)}, ${format(b)}. Arrow keys move it, with Shift further; or press where it should go.`);
      p.note(!hidden && !seen(w) ? `wₜ₊₁ = (${w.map(format).join(", ")}) lies outside this view.`
        : "Drag the square, the start w₁, or press where it should go. Keys: arrows.");
      p.describe(hidden ? "the path is hidden until you reveal it." : `after step ${t} w is ${w.map(format).join(", ")}.`);
    },
  };
}
