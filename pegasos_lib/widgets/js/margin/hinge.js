// The hinge loss against the margin, with every point on the curve.
import { format, plane, s } from "../ui.js";

const RANGES = [2, 4, 8, 16, 40, 100, 1000, 1e5];
const first = (value) => RANGES.find((range) => range >= value) ?? 1e8;

export function hingePanel(fig) {
  const panel = plane(fig, {
    title: "Loss of each point against its margin", xLabel: "margin m = y⟨w, x⟩", yLabel: "loss", aspect: 0.5, equal: false,
  });
  const back = panel.layer("curves").node();
  const make = (tag, attributes) => {
    const node = s(tag, attributes);
    back.append(node);
    return node;
  };
  const zeroOne = make("path", { class: "pm-zero-one" });
  const curve = make("path", { class: "pm-hinge" });
  const kinkLine = make("path", { class: "pm-kink-line" });
  const kink = make("circle", { class: "pm-kink", r: 4.5 });
  const hingeLabel = make("text", { class: "pf-mark-label", text: "max(0, 1 − m)" });
  const zeroOneLabel = make("text", { class: "pf-mark-label", text: "0–1 loss" });
  const kinkLabel = make("text", { class: "pf-mark-label", "text-anchor": "end", text: "kink" });
  const drop = make("path", { class: "pm-drop" });
  const dots = panel.layer("dots");

  const path = (...points) => `M${points.map(([m, l]) => `${panel.x(m).toFixed(2)},${panel.y(l).toFixed(2)}`).join("L")}`;
  const put = (node, m, l, dx, dy) => {
    node.setAttribute("x", panel.x(m) + dx);
    node.setAttribute("y", panel.y(l) + dy);
  };

  return {
    el: panel.el,
    update({ y, selected }, now, resized) {
      if (resized) panel.resize();
      // Round ranges, so that the axes stand still while a point is dragged.
      const low = -first(Math.max(1.5, -Math.min(...now.margins)));
      const high = first(Math.max(1.5, Math.max(...now.margins)));
      const top = Math.max(2, 1 - low);
      panel.view([low, high], [-0.06 * top, top]);
      zeroOne.setAttribute("d", path([low, 1], [0, 1]) + path([0, 0], [high, 0]));
      curve.setAttribute("d", path([low, 1 - low], [1, 0], [high, 0]));
      kinkLine.setAttribute("d", path([1, -0.06 * top], [1, top]));
      kink.setAttribute("cx", panel.x(1));
      kink.setAttribute("cy", panel.y(0));
      put(kinkLabel, 1, top, -6, 16);
      put(hingeLabel, 0.62 * low + 0.38, (1 - low) * 0.62, 10, 0);
      put(zeroOneLabel, low, 1, 6, -6);
      dots.selectAll("path").data(Array.from(now.margins)).join((enter) => enter.append("path"))
        .attr("class", (_, i) => `pm-dot ${y[i] > 0 ? "is-plus" : "is-minus"}${i === selected ? " is-selected" : ""}`)
        .attr("d", (_, i) => (y[i] > 0 ? "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0" : "M0,-5.2L5.2,0L0,5.2L-5.2,0Z"))
        .attr("transform", (m) => `translate(${panel.x(m).toFixed(2)},${panel.y(Math.max(0, 1 - m)).toFixed(2)})`);
      const m = now.margins[selected];
      drop.setAttribute("d", m === undefined ? "" : path([m, 0], [m, Math.max(0, 1 - m)]));
      panel.describe(`margins from ${format(Math.min(...now.margins))} to ${format(Math.max(...now.margins))}, `
        + `${now.losses.filter((l) => l > 0).length} of ${y.length} points with a loss`);
      panel.note(m === undefined ? "" : `Point ${selected + 1}: margin ${format(m)}, loss ${format(now.losses[selected])}, `
        + `${m > 0 ? "right" : "wrong"} side (0–1 loss ${m > 0 ? 0 : 1}).`);
    },
  };
}
