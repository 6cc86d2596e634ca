// The points with the line of w(alpha), where support vectors are marked by their case.
import { attr, editablePoints, h, lineOf, plane, s } from "../ui.js";
import { CASES, LIMITS } from "./derive.js";

const CROWD = 20; // with more points their numbers would hide them
const CIRCLE = "M-4.7,0a4.7,4.7 0 1,0 9.4,0a4.7,4.7 0 1,0 -9.4,0";
const DIAMOND = "M0,-5.6L5.6,0L0,5.6L-5.6,0Z";
const RING = "M-7.5,0a7.5,7.5 0 1,0 15,0a7.5,7.5 0 1,0 -15,0";

// Where the number of each point stands: at the corner that is farthest from other points and their numbers.
function placesOf(p, X) {
  const centres = X.map(([a, b]) => [p.x(a), p.y(b)]);
  const taken = [];
  centres.forEach(([x, y], i) => {
    const others = [...centres.filter((_, j) => j !== i), ...taken];
    const corners = [[15, -10], [-15, -10], [15, 11], [-15, 11]].map(([u, v]) => [x + u, y + v])
      .filter(([u, v]) => u > 8 && u < p.width - 8 && v > 6 && v < p.height - 6);
    const room = ([u, v]) => Math.min(40, ...others.map(([a, b]) => Math.hypot(a - u, b - v)));
    taken.push(corners.reduce((best, corner) => (room(corner) > room(best) ? corner : best), corners[0] ?? [x, y]));
  });
  return taken;
}

/** The panel; `describe(i)` adds to what a screen reader says of a point, `onSelect(i)` is told of the chosen one. */
export function scenePanel(fig, { describe, onSelect }) {
  const p = plane(fig, { title: "Data and w(α)", xLabel: "x₁", yLabel: "x₂", role: "group" });
  const under = p.layer("under").attr("aria-hidden", "true").style("pointer-events", "none");
  const path = (name) => under.append("path").attr("class", `pf-line ${name}`).node();
  const [before, ...margins] = [path("du-before"), path("du-margin"), path("du-margin")];
  const now = path("du-line");
  const points = editablePoints(fig, p, { limit: LIMITS.points, describe });
  const labels = p.layer("labels").attr("aria-hidden", "true").style("pointer-events", "none");
  const key = (text, ...shapes) => h("li", {}, s("svg", { width: 20, height: 18, viewBox: "-10 -9 20 18", "aria-hidden": "true" }, ...shapes), text);
  const dot = (name, d = CIRCLE) => s("path", { class: `du-key ${name}`, d });
  const beforeKey = key("before this step", s("path", { class: "pf-line du-before", d: "M-9,0H9" }));
  p.el.append(h("ul", { class: "pf-legend" },
    key("+1", dot("")), key("−1", dot("is-minus", DIAMOND)), key("α = 0", dot("is-zero")),
    key("α inside", dot(""), s("path", { class: "du-ring is-inside", d: RING })), key("α = 1", dot(""), s("path", { class: "du-ring is-one", d: RING })),
    key("chosen", dot(""), s("circle", { class: "du-picked", r: 8 })), beforeKey), points.toolbar);

  const follow = () => {
    const i = points.chosen();
    if (i !== null && i < fig.get("y").length) onSelect(i);
  };
  for (const type of ["focusin", "pointerup", "keyup"]) p.el.addEventListener(type, follow);

  return {
    el: p.el,
    /** `cases[i]` is 0, 1, 2 or null; `old` is w before the step, or null. */
    draw({ X }, { w, old, cases, selected, isBest, resized }) {
      if (resized) p.resize();
      const far = Math.ceil(2.3 * Math.max(1, ...X.flat().map(Math.abs))) / 2;
      p.view([-far, far], [-far, far]);
      attr(now, "d", lineOf(p, w, 0));
      margins.forEach((node, j) => attr(node, "d", lineOf(p, w, 2 * j - 1)));
      attr(before, "d", old ? lineOf(p, old, 0) : "");
      beforeKey.hidden = !old;
      points.toolbar.hidden = isBest; // the bars that are to be guessed come nearer on a phone
      points.update((i) => `${cases[i] === null ? "" : `is-${CASES[cases[i]].name}`}${i === selected ? " is-picked" : ""}`);
      const at = placesOf(p, X);
      labels.selectAll("text").data(at).join("text").attr("class", "pf-mark-label").attr("text-anchor", "middle").attr("dy", "0.35em")
        .text((_, i) => (X.length <= CROWD || i === selected ? i + 1 : "")).attr("x", ([x]) => x).attr("y", ([, y]) => y);
      const zero = Math.hypot(...w) < 1e-9;
      const of = (which) => cases.filter((value) => value === which).length;
      p.describe(`${isBest ? "the line of w*" : zero ? "w is 0" : "the line of w(α)"} and its margins; ${of(2)} examples with α = 1, ${of(1)} inside`);
      p.note(isBest ? "This is the line of w*, with its margin lines."
        : zero ? "α = 0, so w = 0: no line, every margin 0, gap 1." : `${of(1) + of(2)} support vectors carry w(α): those with a ring.`);
    },
  };
}
