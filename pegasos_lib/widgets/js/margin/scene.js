// What w draws into the data plane: the two sides, the band between the margin lines, the lines, each
// point's hinge loss as the way to its own margin line, and the margin of the selected point.
import { clamp, format, s } from "../ui.js";

// The part of a convex polygon where a x + b y + c >= 0.
function halfPlane(polygon, a, b, c) {
  const out = [];
  polygon.forEach((p, i) => {
    const q = polygon[(i + 1) % polygon.length];
    const [fp, fq] = [a * p[0] + b * p[1] + c, a * q[0] + b * q[1] + c];
    if (fp >= 0) out.push(p);
    if (fp >= 0 !== fq >= 0) out.push([p[0] + (fp / (fp - fq)) * (q[0] - p[0]), p[1] + (fp / (fp - fq)) * (q[1] - p[1])]);
  });
  return out;
}

// Where the line a x + b y + c = 0 cuts the polygon: two points, or none.
function cut(polygon, a, b, c) {
  const ends = [];
  polygon.forEach((p, i) => {
    const q = polygon[(i + 1) % polygon.length];
    const [fp, fq] = [a * p[0] + b * p[1] + c, a * q[0] + b * q[1] + c];
    if (fp >= 0 !== fq >= 0) ends.push([p[0] + (fp / (fp - fq)) * (q[0] - p[0]), p[1] + (fp / (fp - fq)) * (q[1] - p[1])]);
  });
  return ends.length === 2 ? ends : null;
}


export function scene(plane) {
  const g = plane.layer("scene").attr("aria-hidden", "true").style("pointer-events", "none").node();
  const make = (tag, name) => {
    const node = s(tag, { class: `pm-${name}` });
    g.append(node);
    return node;
  };
  const plusSide = make("path", "plus-side");
  const minusSide = make("path", "minus-side");
  const band = make("path", "band");
  const lines = [-1, 1, 0].map((level) => ({ level, node: make("path", level === 0 ? "decision" : "margin-line") }));
  const losses = make("path", "losses");
  const distance = make("path", "distance");
  const top = plane.layer("labels").attr("aria-hidden", "true").style("pointer-events", "none").node();
  const label = (name = "") => {
    const node = s("text", { class: `pf-mark-label ${name}`, "text-anchor": "middle", dy: "0.35em" });
    top.append(node);
    return node;
  };
  const lineLabels = lines.map(() => label());
  const distanceLabel = label("pm-strong");

  const xy = ([x, y]) => `${plane.x(x).toFixed(2)},${plane.y(y).toFixed(2)}`;
  const polygon = (points) => (points.length > 2 ? `M${points.map(xy).join("L")}Z` : "");
  const segment = (p, q) => `M${xy(p)}L${xy(q)}`;
  const put = (node, x, y, text) => {
    node.setAttribute("x", x);
    node.setAttribute("y", y);
    node.textContent = text;
  };

  // "×9" beside points that lie on each other.
  const counts = plane.layer("labels").append("g");
  function countLabels(X, y) {
    const many = new Map();
    X.forEach(([p, q], i) => {
      const at = `${p},${q},${y[i]}`;
      many.set(at, { p, q, times: (many.get(at)?.times ?? 0) + 1 });
    });
    counts.selectAll("text").data([...many.values()].filter(({ times }) => times > 1)).join("text")
      .attr("class", "pf-mark-label pm-strong").attr("x", ({ p }) => plane.x(p) + 9).attr("y", ({ q }) => plane.y(q) + 16)
      .text(({ times }) => `×${times}`);
  }

  /** Draw the state {X, y, w, constant, selected} whose numbers `now` are. */
  return function update({ X, y, w, constant, selected }, now) {
    const [[x0, x1], [y0, y1]] = [plane.x.domain(), plane.y.domain()];
    const box = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
    const [a, b] = w;
    const c = constant ? w[2] : 0;
    const length = Math.hypot(a, b);
    const shown = length > 1e-9;
    const all = shown ? null : c > 0 ? plusSide : c < 0 ? minusSide : null;
    plusSide.setAttribute("d", shown ? polygon(halfPlane(box, a, b, c)) : all === plusSide ? polygon(box) : "");
    minusSide.setAttribute("d", shown ? polygon(halfPlane(box, -a, -b, -c)) : all === minusSide ? polygon(box) : "");
    band.setAttribute("d", shown ? polygon(halfPlane(halfPlane(box, a, b, c + 1), -a, -b, 1 - c)) : "");

    // Labels stand where a line leaves a slightly smaller box: at its upper end for the decision line, at
    // their lower ends for the margin lines, unless these are too near to tell apart.
    const unit = Math.abs(plane.x(1) - plane.x(0));
    const pad = 20 / unit;
    const inner = [[x0 + 2 * pad, y0 + pad], [x1 - 2 * pad, y0 + pad], [x1 - 2 * pad, y1 - pad], [x0 + 2 * pad, y1 - pad]];
    const apart = Math.abs(a) > Math.abs(b) ? (2 * unit) / Math.abs(a) > 90 : (2 * unit) / Math.abs(b) > 36;
    lines.forEach(({ level, node }, k) => {
      const ends = shown && cut(box, a, b, c - level);
      node.setAttribute("d", ends ? segment(...ends) : "");
      const inside = ends && cut(inner, a, b, c - level);
      if (!inside || (level !== 0 && !apart)) return put(lineLabels[k], 0, 0, "");
      const [low, high] = inside.sort(([p0, p1], [q0, q1]) => p1 - q1 || p0 - q0);
      const end = level === 0 ? high : low;
      const text = level < 0 ? "⟨w, x⟩ = −1" : level > 0 ? "⟨w, x⟩ = 1" : "⟨w, x⟩ = 0";
      // Beside its line, on the side that w points to; a text is wider than high.
      const [tx, ty] = [plane.x(end[0]) + (40 * a) / length, plane.y(end[1]) - (11 * b) / length];
      return put(lineLabels[k], clamp(tx, 36, plane.width - 36), clamp(ty, 8, plane.height - 8), text);
    });

    let paths = "";
    if (shown) {
      X.forEach(([p, q], i) => {
        const way = (y[i] * now.losses[i]) / length ** 2;
        if (way !== 0) paths += segment([p, q], [p + way * a, q + way * b]);
      });
    }
    losses.setAttribute("d", paths);
    losses.classList.toggle("is-many", X.length > 30);
    countLabels(X, y);

    const point = X[selected];
    const score = point && shown ? a * point[0] + b * point[1] + c : 0;
    const foot = point && shown && [point[0] - (score / length ** 2) * a, point[1] - (score / length ** 2) * b];
    distance.setAttribute("d", foot ? segment(point, foot) : "");
    if (!point) return put(distanceLabel, 0, 0, "");
    const [px, py] = [plane.x(point[0]), plane.y(point[1])];
    const side = px > plane.width - 70 ? -1 : 1;
    distanceLabel.setAttribute("text-anchor", side > 0 ? "start" : "end");
    return put(distanceLabel, px + side * 15, py + (py < 24 ? 14 : -12), `m = ${format(now.margins[selected])}`);
  };
}
