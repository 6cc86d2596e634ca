import { LIMITS } from "./state.js";
import { attr, editablePoints, format, legend, plane } from "../ui.js";

// The end points of {x : <w, x> = level} across the view, as an SVG path.
function linePath(p, [a, b], level) {
  const norm2 = a * a + b * b;
  if (norm2 < 1e-24) return "";
  const [x0, x1] = p.x.domain();
  const [y0, y1] = p.y.domain();
  const reach = 2 * (Math.hypot(x1 - x0, y1 - y0) + Math.hypot(x0 + x1, y0 + y1));
  const near = [(a * level) / norm2, (b * level) / norm2];
  if (Math.hypot(...near) > 10 * reach) return "";
  const along = [-b / Math.sqrt(norm2), a / Math.sqrt(norm2)].map((u) => u * (reach + Math.hypot(...near)));
  const point = (sign) => `${p.x(near[0] + sign * along[0]).toFixed(2)},${p.y(near[1] + sign * along[1]).toFixed(2)}`;
  return `M${point(-1)}L${point(1)}`;
}

/** The data plane: points, the line of w_t with its margins, the mini-batch and who violates. */
export function dataPanel(fig) {
  const p = plane(fig, { title: "Data", xLabel: "x₁", yLabel: "x₂", aspect: 0.94, role: "group" });
  const lines = p.layer("lines");
  const path = (name) => lines.append("path").attr("class", `pf-line pf-${name}`).node();
  const shown = { margin: [path("margin"), path("margin")], after: path("after"), average: path("mean"), now: path("now") };
  let step = null;
  const points = editablePoints(fig, p, {
    limit: LIMITS.points,
    describe: (i) => (step ? `, margin ${format(step.margins[i])}${step.margins[i] < 1 ? ", a violator" : ""}${
      step.batch.includes(i) ? ", in the batch" : ""}` : ""),
  });
  p.el.append(legend([
    ["pf-now", "line of wₜ, margins beside it"], ["pf-after", "of wₜ₊₁, after the step"], ["pf-mean", "of the output, if averaged"],
    ["is-plus", "+1"], ["is-minus", "−1"], ["is-drawn", "in the batch"], ["is-hit", "margin under 1: violator"],
  ]), points.toolbar);

  return {
    el: p.el,
    draw(run, t, resized) {
      if (resized) p.resize();
      let far = 2;
      for (const [a, b] of fig.get("X")) far = Math.max(far, Math.abs(a), Math.abs(b));
      // Whole steps, so that the view holds still while a point moves inside it.
      const half = Math.ceil(far * 1.08 * 2) / 2;
      p.view([-half, half], [-half, half]);
      step = t > 0 ? run.stepAt(t) : null;
      const before = step ? step.before : [0, 0];
      const set = (node, w, level) => attr(node, "d", linePath(p, w, level));
      set(shown.now, before, 0);
      set(shown.margin[0], before, 1);
      set(shown.margin[1], before, -1);
      set(shown.after, step ? step.after : before, 0);
      set(shown.average, run.settings.average === "last" ? [0, 0] : run.averaged(t), 0);
      const drawn = new Set(step ? step.batch : []);
      points.update((i) => `${drawn.has(i) ? "is-drawn " : ""}${step && step.margins[i] < 1 ? "is-hit" : ""}`);
      const violators = step ? step.margins.reduce((sum, m) => sum + (m < 1), 0) : fig.get("X").length;
      p.note(t === 0 || Math.hypot(...before) === 0
        ? "w₁ = 0 has no line yet: every margin is 0, so every point violates."
        : `At wₜ, ${violators} of ${fig.get("X").length} points have a margin under 1.`);
    },
  };
}
