// The two panels of curves, with their bands and the marker that goes through both.
import { drag, select } from "../d3.js";
import { attr, plane, s } from "../ui.js";
import { FLOOR, OPTIMIZERS } from "./derive.js";

const X_LABELS = { iterations: "iterations", passes: "passes over the data", time: "seconds" };
const classOf = (name) => `ra-${OPTIMIZERS.indexOf(name)}`;
const LEAST_SHOWN = 0.8; // accuracies below this say little
const decade = (value, round) => 10 ** round(Math.log10(value));

/** A plane with curves of {median, low, high}; `draw` gives what is seen of y. */
function curvesPanel(fig, { onPlace, ...options }) {
  const p = plane(fig, { equal: false, aspect: 0.8, xLabel: X_LABELS.iterations, ...options });
  const layer = (name) => p.layer(name).attr("aria-hidden", "true").style("pointer-events", "none");
  const [bands, lines, dots] = [layer("bands"), layer("lines"), layer("dots")];
  const line = layer("marker").append("line").attr("class", "pf-now-mark").node();
  // The grip takes the mouse and the finger; keys have the slider below the panels.
  const grip = s("g", { class: "pf-handle ra-grip", "aria-hidden": "true" }, s("circle", { class: "pf-hit" }),
    s("path", { class: "ra-thumb", d: "M0,-8L6,0L0,8L-6,0Z" }));
  p.inner.append(grip);
  select(grip).call(drag().container(p.inner).on("drag", ({ x }) => onPlace(p.x.invert(Math.min(p.width, Math.max(0, x))))));
  p.onPress((x) => onPlace(x));
  const xLabel = [...p.inner.querySelectorAll(".pf-axis-label")][0];

  p.curves = ({ curves, x, rows }, { axis }, resized, { of, yView, floor = -Infinity }) => {
    if (resized) p.resize();
    xLabel.textContent = X_LABELS[axis];
    const grids = curves.flatMap((curve) => [curve.x[0], curve.x.at(-1)]);
    p.view([Math.min(...grids), Math.max(...grids)], yView);
    const at = (curve, values) => values.map((value, i) => `${p.x(curve.x[i]).toFixed(1)},${p.y(Math.max(value, floor)).toFixed(1)}`);
    const outline = (curve) => {
      const { low, high } = of(curve.run);
      return String(low) === String(high) ? "" : `M${[...at(curve, high), ...at(curve, low).reverse()].join("L")}Z`;
    };
    bands.selectAll("path").data(curves).join("path").attr("class", (curve) => `ra-band pf-band ${classOf(curve.name)}`).attr("d", outline);
    lines.selectAll("path").data(curves).join("path").attr("class", (curve) => `pf-line ${classOf(curve.name)}`)
      .attr("d", (curve) => `M${at(curve, of(curve.run).median).join("L")}`);
    for (const [name, value] of [["x1", p.x(x)], ["x2", p.x(x)], ["y1", 0], ["y2", p.height]]) attr(line, name, value);
    attr(grip, "transform", `translate(${p.x(x)},${p.height})`);
    return (valueOf) => dots.selectAll("circle").data(rows.filter(({ when }) => when === "running")).join("circle")
      .attr("class", (row) => `ra-dot ${classOf(row.name)}`).attr("r", 3.6)
      .attr("cx", p.x(x)).attr("cy", (row) => p.y(Math.max(valueOf(row), floor)));
  };
  return p;
}

/** How far P is above the least value that each optimizer can reach. */
export function objectivePanel(fig, { onPlace }) {
  const p = curvesPanel(fig, { onPlace, title: "How far P is above its least value", yLabel: "P(w) − least P", log: true });
  return {
    el: p.el,
    draw(now, state, resized) {
      const all = now.curves.flatMap(({ run }) => [...run.suboptimality.low, ...run.suboptimality.high]).map((value) => Math.max(value, FLOOR));
      const dots = p.curves(now, state, resized, {
        of: (run) => run.suboptimality, floor: FLOOR,
        yView: [decade(Math.min(...all), Math.floor), decade(1.01 * Math.max(...all), Math.ceil)],
      });
      dots(({ sub }) => sub.median);
      const best = now.rows.reduce((a, b) => (b.sub.median < a.sub.median ? b : a));
      p.describe(`${now.curves.length} curves; at the marker ${best.name} is the lowest`);
      p.note(now.curves.some(({ least }) => least !== now.optimum.free.P)
        ? "Measured from the best point of the set that each is kept in: in the l1 ball that is not w*." : "Measured from P(w*), for each of them.");
    },
  };
}

/** The share of the test images that is classified rightly, beside the share of the larger class. */
export function accuracyPanel(fig, { onPlace }) {
  const p = curvesPanel(fig, { onPlace, title: "Test accuracy", yLabel: "accuracy", log: "x" });
  const layer = p.layer("baseline").attr("aria-hidden", "true").style("pointer-events", "none");
  const line = layer.append("line").attr("class", "ra-baseline").node();
  const label = layer.append("text").attr("class", "pf-mark-label").node();
  return {
    el: p.el,
    draw(now, state, resized) {
      const dots = p.curves(now, state, resized, { of: (run) => run.accuracy, yView: [LEAST_SHOWN, 1] });
      dots(({ acc }) => acc.median);
      const y = p.y(now.baseline);
      for (const [name, value] of [["x1", 0], ["x2", p.width], ["y1", y], ["y2", y]]) attr(line, name, value);
      for (const [name, value] of [["x", 6], ["y", y - 5]]) attr(label, name, value);
      label.textContent = `always +1: ${now.baseline.toFixed(4)}`;
      const under = now.rows.filter(({ acc }) => acc.median <= now.baseline + now.halfAnImage).length;
      p.describe(`the dashed line is ${now.baseline.toFixed(4)}; at the marker ${under} of ${now.rows.length} are no better`);
      const above = now.rows.length - under;
      const who = above === 0 ? "none is" : under === 0 ? "every one is" : `${above} of ${now.rows.length} ${above === 1 ? "is" : "are"}`;
      p.note(`At the marker ${who} above the dashed line, which asks for no learning.`
        + (now.curves.some(({ run }) => Math.min(...run.accuracy.low) < LEAST_SHOWN) ? ` Dips below ${LEAST_SHOWN} leave the view.` : ""));
    },
  };
}
