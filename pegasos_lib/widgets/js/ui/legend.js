import { symbol, symbolCircle, symbolDiamond2, symbolStar, symbolTriangle } from "../d3.js";
import { h, s } from "./dom.js";

const MARKS = {
  "is-plus": symbol(symbolCircle, 70)(), "is-minus": symbol(symbolDiamond2, 62)(),
  "pf-star": symbol(symbolStar, 70)(), "pf-mean-mark": symbol(symbolTriangle, 50)(),
};

function swatch(name) {
  const svg = s("svg", { width: 26, height: 16, viewBox: "-13 -8 26 16", "aria-hidden": "true" });
  if (MARKS[name] && name.startsWith("is-")) {
    svg.append(s("g", { class: `pf-point ${name}` }, s("path", { class: "pf-dot", d: MARKS[name] })));
  } else if (name.startsWith("is-")) {
    svg.append(s("g", { class: `pf-point ${name}` }, s("path", { class: "pf-dot", d: MARKS["is-plus"] }),
      s("circle", { class: "pf-ring", r: 7 }), s("circle", { class: "pf-core", r: 2.2 })));
  } else if (MARKS[name]) svg.append(s("path", { class: `pf-mark ${name}`, d: MARKS[name] }));
  else svg.append(s("path", { class: `pf-line ${name}`, d: "M-12,0H12" }));
  return svg;
}

/** What the lines and marks of a panel mean: [class, text] pairs. */
export function legend(pairs) {
  return h("ul", { class: "pf-legend" }, ...pairs.map(([name, text]) => h("li", {}, swatch(name), h("span", { text }))));
}

/** The sample of run number `i` (0 is the current one). */
export const runSwatch = (i) => swatch(`pf-run pf-run-${i}`);
export const STAR = MARKS["pf-star"];
export const TRIANGLE = MARKS["pf-mean-mark"];
