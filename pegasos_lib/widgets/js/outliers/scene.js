// The points with the line of w: who is an outlier, who was drawn, flagged, lowered and removed.
import { attr, h, lineOf, plane, s } from "../ui.js";

const DIAMOND = "M0,-5.8L5.8,0L0,5.8L-5.8,0Z";
const SQUARE = "M-7.5,-7.5H7.5V7.5H-7.5Z";
const CROSS = "M-5.5,-5.5L5.5,5.5M-5.5,5.5L5.5,-5.5";

/** The panel. */
export function scenePanel(fig) {
  const p = plane(fig, { title: "Data and line", xLabel: "x₁", yLabel: "x₂", aspect: 0.94 });
  const under = p.layer("lines");
  const path = (name) => under.append("path").attr("class", `pf-line ${name}`).node();
  const margins = [path("ou-margin"), path("ou-margin")];
  const [now, refused] = [path("ou-now"), path("ou-refused")];
  const layer = p.layer("points");
  const key = (text, ...shapes) => h("li", {}, s("svg", { width: 24, height: 22, viewBox: "-12 -11 24 22", "aria-hidden": "true" }, ...shapes), text);
  const dot = () => s("circle", { class: "ou-dot", r: 4.7 });
  const ring = () => s("circle", { class: "ou-ring", r: 9.5 });
  const shape = (name, d) => s("path", { class: name, d });
  const line = (name) => shape(`pf-line ${name}`, "M-11,0H11");
  const keys = {
    refused: key("refused step", line("ou-refused")),
    flags: key("flags", dot(), s("text", { class: "pf-mark-label", x: 5, y: -2, text: "1" })),
    removed: key("removed", s("g", { class: "is-gone" }, dot(), shape("ou-cross", CROSS))),
    lowered: key("smaller: drawn less", s("g", { class: "is-lowered", transform: "scale(0.6)" }, dot())),
  };
  p.el.append(h("ul", { class: "pf-legend" },
    key("line of w, margins beside it", line("ou-now")), keys.refused,
    key("+1", dot()), key("−1", shape("ou-dot is-minus", DIAMOND)),
    key("outlier", shape("ou-square", SQUARE)), key("drawn in this step", ring()), keys.flags, keys.removed, keys.lowered));

  let nodes = [];
  let labels = "";
  const create = (label) => s("g", {},
    ring(), shape("ou-square", SQUARE),
    label > 0 ? dot() : shape("ou-dot is-minus", DIAMOND), shape("ou-cross", CROSS));

  return {
    el: p.el,
    draw(state, run, t, resized) {
      if (resized) p.resize();
      const { X, y, isOutlier } = run;
      const n = X.length;
      const far = Math.ceil(2.2 * Math.max(1, ...X.flat().map(Math.abs))) / 2;
      p.view([-far, far], [-far, far]);
      const w = run.wAt(t);
      const back = run.refusedAt(t);
      attr(now, "d", lineOf(p, w, 0));
      margins.forEach((node, j) => attr(node, "d", lineOf(p, w, 2 * j - 1)));
      attr(refused, "d", back ? lineOf(p, run.candidateAt(t), 0) : "");
      keys.refused.hidden = !state.undo;
      keys.flags.hidden = !state.two_out;
      keys.removed.hidden = !state.two_out;
      keys.lowered.hidden = !state.probability;

      if (String(y) !== labels) {
        labels = String(y);
        layer.node().replaceChildren(...y.map(create));
        nodes = [...layer.node().children];
      }
      const batch = new Set(t > 0 ? run.batchAt(t) : []);
      nodes.forEach((node, i) => {
        const gone = run.isAt("removed", i, t);
        const p_i = run.weightAt(i, t);
        attr(node, "transform", `translate(${p.x(X[i][0]).toFixed(1)},${p.y(X[i][1]).toFixed(1)})`);
        attr(node, "class", `ou-point${isOutlier[i] ? " is-outlier" : ""}${batch.has(i) ? " is-drawn" : ""}${gone ? " is-gone" : ""}${p_i < 1 ? " is-lowered" : ""}`);
        const [, , mark, , text] = node.children;
        if (p_i < 1) attr(mark, "transform", `scale(${(0.4 + 0.6 * Math.sqrt(p_i)).toFixed(2)})`);
        else mark.removeAttribute("transform");
        const flags = gone ? 0 : run.flagsAt(i, t);
        if (text?.textContent === String(flags)) return;
        text?.remove();
        if (flags > 0) node.append(s("text", { class: "pf-mark-label", x: 6, y: -5, text: flags }));
      });

      const gone = run.countAt("removed", t);
      const zero = Math.hypot(...w) < 1e-9;
      const parts = [
        state.two_out ? `${gone} of ${n} removed` : "",
        state.probability ? `${run.countAt("doubted", t)} with a weight below ½` : "",
        back ? "this step was refused" : t > 0 && run.run.rose[t - 1] ? "this step raised the objective" : "",
      ].filter(Boolean).join(", ");
      const few = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
      const text = `${zero ? "no line, since w is 0" : "the line of w"}; ${few(run.outliers, "outlier")} among ${few(n, "point")}${parts ? `; ${parts}` : ""}`;
      p.describe(text);
      p.note(`${text[0].toUpperCase()}${text.slice(1)}.`);
    },
  };
}
