// The plane of gradients: the subgradient of every example, the means of the drawn batches, and the ellipse of one
// standard deviation around the mean of all.
import { format, plane } from "../ui.js";

const CIRCLE = "M-4.5,0a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0";
const DIAMOND = "M0,-5.4L5.4,0L0,5.4L-5.4,0Z";

// Batches with the same mean are one dot, whose area is their number.
function together(points) {
  const dots = new Map();
  for (const [u, v] of points) {
    const key = `${u.toFixed(9)} ${v.toFixed(9)}`;
    if (dots.has(key)) dots.get(key).count++;
    else dots.set(key, { u, v, count: 1 });
  }
  return [...dots.values()];
}

export function cloudPanel(fig) {
  const panel = plane(fig, { title: "Subgradients at this w", xLabel: "first coordinate", yLabel: "second coordinate" });
  const axes = panel.layer("origin").append("path").attr("class", "mb-origin").node();
  const zero = panel.layer("origin").append("text").attr("class", "pf-mark-label").attr("text-anchor", "end").text("0").node();
  const singles = panel.layer("singles");
  const cloud = panel.layer("cloud");
  const front = panel.layer("front");
  const ellipse = front.append("ellipse").attr("class", "mb-ellipse").node();
  const centre = front.append("path").attr("class", "mb-centre").attr("d", "M-7,0H7M0,-7V7").node();

  // What is seen holds 0 and, for every w within reach, all subgradients: it stands still while w moves.
  function view({ X, y, lam }) {
    const [dx, dy] = [0, 1].map((j) => {
      const ends = [0, ...X.map((x, i) => -y[i] * x[j])];
      return [Math.min(...ends) - 0.3 - 2 * lam, Math.max(...ends) + 0.3 + 2 * lam];
    });
    panel.view(dx, dy);
  }

  const at = ([u, v]) => `translate(${panel.x(u).toFixed(2)},${panel.y(v).toFixed(2)})`;
  return {
    el: panel.el,
    update(state, now, resized) {
      if (resized) panel.resize();
      view(state);
      axes.setAttribute("d", `M${panel.x(0)},0V${panel.height}M0,${panel.y(0)}H${panel.width}`);
      zero.setAttribute("x", panel.x(0) - 4);
      zero.setAttribute("y", panel.y(0) + 14);
      singles.selectAll("path").data(now.singles).join("path")
        .attr("class", (_, i) => `mb-example ${state.y[i] > 0 ? "" : "is-minus"} ${now.pushes[i] ? "" : "is-idle"}`)
        .attr("d", (_, i) => (state.y[i] > 0 ? CIRCLE : DIAMOND))
        .attr("transform", at);
      cloud.selectAll("circle").data(together(now.cloud)).join("circle").attr("class", "mb-mean")
        .attr("r", ({ count }) => Math.min(14, 2.3 * Math.sqrt(count)).toFixed(1))
        .attr("cx", ({ u }) => panel.x(u).toFixed(1)).attr("cy", ({ v }) => panel.y(v).toFixed(1));
      const unit = panel.x(1) - panel.x(0);
      const { axes: [long, short], angle } = now.ellipse;
      ellipse.setAttribute("rx", Math.max(0.01, long * unit));
      ellipse.setAttribute("ry", Math.max(0.01, short * unit));
      ellipse.setAttribute("transform", `${at(now.mean)} rotate(${(-180 * angle) / Math.PI})`);
      centre.setAttribute("transform", at(now.mean));
      const idle = now.pushes.filter((push) => !push).length;
      panel.describe(`${now.cloud.length} batch means around g; half axes of one standard deviation ${format(long)} and ${format(short)}`);
      panel.note(`${idle > 0 ? `${idle} example${idle > 1 ? "s" : ""} without a push share the place λw. ` : ""}`
        + `The squares of the half axes, ${format(long)} and ${format(short)}, add up to the variance.`);
    },
  };
}
