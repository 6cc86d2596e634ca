import { axisBottom, axisLeft, pointer, scaleLinear, scaleLog, select } from "../d3.js";
import { h, s, uid } from "./dom.js";

const MARGIN = { top: 8, right: 10, bottom: 38, left: 52 };
const SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const power = (value) => {
  const exponent = Math.round(Math.log10(value));
  return `10${exponent < 0 ? "⁻" : ""}${[...String(Math.abs(exponent))].map((c) => SUPERSCRIPT[c]).join("")}`;
};
const isPower = (value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;

function ticks(axis, scale, log, many) {
  axis.tickSizeOuter(0);
  if (!log) return axis.ticks(many);
  const [low, high] = scale.domain();
  const decades = Math.log10(high / low);
  const every = Math.max(1, Math.ceil(decades / many));
  const values = scale.ticks().filter((v) => (isPower(v) ? Math.round(Math.log10(v)) % every === 0 : decades < 2.5));
  return axis.tickValues(values).tickFormat((v) => (isPower(v) ? power(v) : ""));
}

/**
 * A panel: an SVG with axes that follows the width of its container.
 *
 * `aspect` is height/width of the drawing area; `equal` makes a unit as long on both axes; `log`
 * makes both axes logarithmic, or with "x" or "y" that one alone; `rescale(log, yLabel)` changes it later.
 * `view([x0, x1], [y0, y1])` sets what is seen (equal: at least that);
 * `layer(name)` gives a clipped group, later ones on top; `onPress(f)` is told of presses on the
 * empty plane, in data coordinates; `describe(text)` is what a screen reader says.
 */
export function plane(fig, { title, xLabel, yLabel, aspect = 1, equal = true, log = false, role = "img" }) {
  const clip = uid();
  const svg = s("svg", { class: "pf-plane", role, "aria-label": title });
  const rect = s("rect", {});
  const surface = s("rect", { class: "pf-surface" });
  const [xAxis, yAxis] = [s("g", { class: "pf-axis" }), s("g", { class: "pf-axis" })];
  const xText = s("text", { class: "pf-axis-label", "text-anchor": "middle", text: xLabel });
  const yText = s("text", { class: "pf-axis-label", "text-anchor": "middle", text: yLabel });
  const layers = s("g", { "clip-path": `url(#${clip})` });
  const inner = s("g", { transform: `translate(${MARGIN.left},${MARGIN.top})` }, surface, xAxis, yAxis, layers, xText, yText);
  svg.append(s("defs", {}, s("clipPath", { id: clip }, rect)), inner);
  const note = h("p", { class: "pf-panel-note" });
  const el = h("div", { class: "pf-panel" }, h("p", { class: "pf-panel-title", text: title }), svg, note);

  const named = new Map();
  let wanted = [[-1, 1], [-1, 1]];
  let outer = 0;
  let room = 0;
  fig.onMeasure(() => { room = el.clientWidth; });
  const p = { el, svg, width: 0, height: 0 };

  const isLog = (axis) => log === true || log === axis;
  const fit = () => {
    const [[x0, x1], [y0, y1]] = wanted;
    let [dx, dy] = [[x0, x1], [y0, y1]];
    if (equal && !log) {
      const unit = Math.max((x1 - x0) / p.width, (y1 - y0) / p.height);
      const [cx, cy] = [(x0 + x1) / 2, (y0 + y1) / 2];
      dx = [cx - (unit * p.width) / 2, cx + (unit * p.width) / 2];
      dy = [cy - (unit * p.height) / 2, cy + (unit * p.height) / 2];
    }
    p.x.domain(dx).range([0, p.width]);
    p.y.domain(dy).range([p.height, 0]);
    select(xAxis).call(ticks(axisBottom(p.x), p.x, isLog("x"), p.width / 60));
    select(yAxis).call(ticks(axisLeft(p.y), p.y, isLog("y"), p.height / 40));
  };

  const setScales = () => {
    p.x = isLog("x") ? scaleLog() : scaleLinear();
    p.y = isLog("y") ? scaleLog() : scaleLinear();
  };
  setScales();
  /** Change which axes are logarithmic, and the label of y; what is seen is then to be set by `view`. */
  p.rescale = (kind, label) => {
    yText.textContent = label;
    if (kind === log) return;
    log = kind;
    setScales();
    wanted = [[1, 2], [1, 2]];
  };

  /** Take the container's width, and a new aspect when the layout asks for one; true when the size changed. */
  p.resize = (ratio = aspect) => {
    const width = Math.max(220, room || 320);
    if (width === outer && ratio === aspect) return false;
    outer = width;
    aspect = ratio;
    p.width = width - MARGIN.left - MARGIN.right;
    p.height = Math.round(p.width * aspect);
    const height = p.height + MARGIN.top + MARGIN.bottom;
    for (const [name, value] of [["width", width], ["height", height], ["viewBox", `0 0 ${width} ${height}`]]) {
      svg.setAttribute(name, value);
    }
    for (const area of [rect, surface]) {
      area.setAttribute("width", p.width);
      area.setAttribute("height", p.height);
    }
    xAxis.setAttribute("transform", `translate(0,${p.height})`);
    xText.setAttribute("transform", `translate(${p.width / 2},${p.height + 33})`);
    yText.setAttribute("transform", `translate(${-MARGIN.left + 11},${p.height / 2}) rotate(-90)`);
    fit();
    return true;
  };
  /** Show at least these intervals; true when the view changed. */
  p.view = (dx, dy) => {
    if (String([dx, dy]) === String(wanted)) return false;
    wanted = [dx, dy];
    fit();
    return true;
  };
  p.layer = (name) => {
    if (!named.has(name)) {
      named.set(name, s("g", { class: `pf-layer-${name}` }));
      layers.append(named.get(name));
    }
    return select(named.get(name));
  };
  p.at = (event) => {
    const [px, py] = pointer(event, inner);
    return [p.x.invert(px), p.y.invert(py)];
  };
  p.onPress = (listener) => surface.addEventListener("click", (event) => listener(...p.at(event), event));
  p.describe = (text) => svg.setAttribute("aria-label", `${title}: ${text}`);
  p.note = (text) => { if (note.textContent !== text) note.textContent = text; };
  p.surface = surface;
  p.inner = inner;
  return p;
}

/** The path, across the view of the plane `p`, of the points with <w, x> = level. */
export function lineOf(p, [a, b], level) {
  const norm = Math.hypot(a, b);
  if (norm < 1e-9 || Math.abs(level) / norm > 20) return "";
  const [n1, n2, off] = [a / norm, b / norm, level / norm];
  const at = (far) => `${p.x(off * n1 - far * n2).toFixed(2)},${p.y(off * n2 + far * n1).toFixed(2)}`;
  const far = 4 * p.x.domain()[1];
  return `M${at(-far)}L${at(far)}`;
}
