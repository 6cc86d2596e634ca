// w as a picture of 28 x 28, in two colours from the ground on: towards +1 and towards -1.
import { attr, h, s } from "../ui.js";
import { LEVELS, levelPaths, SIDE } from "./derive.js";

export function weightsPanel() {
  const title = h("p", { class: "pf-panel-title" });
  const paths = Array.from({ length: 2 * LEVELS + 1 }, (_, i) => i - LEVELS).map((level) =>
    s("path", { class: level > 0 ? "ra-plus" : "ra-minus", "fill-opacity": Math.abs(level) / LEVELS }));
  const svg = s("svg", { class: "ra-weights", viewBox: `0 0 ${SIDE} ${SIDE}`, role: "img" }, ...paths);
  const key = h("ul", { class: "pf-legend" },
    ...[["ra-plus", "for +1: no 0"], ["ra-minus", "for −1: a 0"]].map(([name, text]) => h("li", {},
      s("svg", { width: 14, height: 14, "aria-hidden": "true" }, s("rect", { class: name, width: 14, height: 14 })), text)));
  return {
    el: h("div", { class: "pf-panel ra-picture" }, h("div", { class: "ra-image" }, title, svg, key)),
    draw(w, { focus }) {
      title.textContent = `The last w of ${focus}`;
      attr(svg, "aria-label", `The weights of ${focus} at the end of its run, as a picture of 28 by 28 pixels`);
      levelPaths(w).forEach((d, i) => attr(paths[i], "d", d));
    },
  };
}
