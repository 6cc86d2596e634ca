import { contours } from "../d3.js";
import { attr, format, legend, logSpaced, plane, s, select, STAR, TRIANGLE, uid } from "../ui.js";
import { objectives } from "../engine.js";
import { VIEWS } from "./state.js";

const CELLS = 40;
const LEVELS = 9;
// Views grow by steps of sqrt(2), so that they hold still while a control moves.
const stepped = (half) => Math.SQRT2 ** Math.ceil(2 * Math.log2(half));
const largest = (...vectors) => Math.max(...vectors.flatMap((w) => [Math.abs(w[0]), Math.abs(w[1])]));

// Half the side of the square around 0 that `view` shows.
function halfOf(view, run, t) {
  const radius = 1 / Math.sqrt(run.problem.lam);
  const base = stepped(1.3 * Math.max(largest(run.best.w), 1e-6));
  if (view === "optimum") return base;
  if (view === "ball") return 1.12 * radius;
  if (view === "path") return 1.1 * Math.max(largest(run.best.w), largestOf(run.W));
  const step = t > 0 ? run.stepAt(t) : null;
  const needed = step ? 1.08 * largest(step.before, step.pushed, step.after, run.averaged(t)) : 0;
  return Math.max(base, stepped(needed));
}

function largestOf(W) {
  let far = 0;
  for (const value of W) far = Math.max(far, Math.abs(value));
  return far;
}

/** The plane of w: contours of P, the ball, the path, and the step taken apart. */
export function weightsPanel(fig) {
  const p = plane(fig, { title: "Weights, on the contours of P", xLabel: "first component of w", yLabel: "second component of w", aspect: 0.94 });
  const marker = uid();
  p.svg.querySelector("defs").append(s("marker", { id: marker, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8,
    markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, s("path", { d: "M0,0.5L8,4L0,7.5Z", class: "pf-arrowhead" })));
  const bands = p.layer("bands");
  const ball = p.layer("ball").append("circle").attr("class", "pf-ball").node();
  const over = p.layer("over");
  const add = (tag, name, attributes = {}) => {
    const node = s(tag, { class: name, ...attributes });
    over.node().append(node);
    return node;
  };
  const path = add("path", "pf-line pf-path");
  const meanPath = add("path", "pf-line pf-mean");
  const arrows = ["shrink", "push", "project"].map((name) => add("path", `pf-arrow pf-${name}`, { "marker-end": `url(#${marker})` }));
  const star = add("path", "pf-mark pf-star", { d: STAR });
  const mean = add("path", "pf-mark pf-mean-mark", { d: TRIANGLE });
  const old = add("circle", "pf-mark pf-old", { r: 5 });
  const now = add("circle", "pf-mark pf-new", { r: 5 });

  p.el.append(legend([
    ["pf-shrink", "shrink"], ["pf-push", "push"], ["pf-project", "project"], ["pf-path", "path of the iterates"],
    ["pf-mean-mark", "averaged"], ["pf-star", "w*"], ["pf-ball-sample", "ball of radius 1/√λ"],
  ]), select(fig, { key: "view", label: "Show", options: VIEWS }));

  let drawn = { view: "", problem: null, hinge: null, norm2: null };

  // The mean hinge loss and |w|^2 on a grid that reaches one cell over the edge of the view: the
  // same for every lambda. `lam` of the problem is put aside for that.
  function sample(run, [x0, x1], [y0, y1]) {
    const [dx, dy] = [(x1 - x0) / (CELLS - 2), (y1 - y0) / (CELLS - 2)];
    const W = new Float64Array(2 * CELLS * CELLS);
    for (let row = 0; row < CELLS; row++) {
      for (let column = 0; column < CELLS; column++) {
        W[2 * (row * CELLS + column)] = x0 + (column - 0.5) * dx;
        W[2 * (row * CELLS + column) + 1] = y0 + (row - 0.5) * dy;
      }
    }
    const hinge = objectives({ ...run.problem, lam: 0 }, W);
    return { hinge, norm2: hinge.map((_, cell) => W[2 * cell] ** 2 + W[2 * cell + 1] ** 2) };
  }

  // The lines P = P* + range / 2^(j + 1/2).
  function drawContours(run) {
    const [[x0, x1], [y0, y1]] = [p.x.domain(), p.y.domain()];
    const view = `${x0} ${x1} ${y0} ${y1} ${p.width}`;
    if (view === drawn.view && run.problem === drawn.problem) return;
    const known = view === drawn.view && run.problem.Z === drawn.problem?.Z;
    drawn = { ...(known ? drawn : sample(run, [x0, x1], [y0, y1])), view, problem: run.problem };
    const heights = drawn.hinge.map((value, cell) => value + (run.problem.lam / 2) * drawn.norm2[cell]);
    const [dx, dy] = [(x1 - x0) / (CELLS - 2), (y1 - y0) / (CELLS - 2)];
    const range = heights.reduce((most, value) => Math.max(most, value), -Infinity) - run.best.value;
    const levels = Array.from({ length: LEVELS }, (_, j) => -(run.best.value + range / 2 ** (j + 0.5))).sort((a, b) => a - b);
    // Negated, so that a band is where P is at most its level.
    const shapes = contours().size([CELLS, CELLS]).thresholds(levels)(heights.map((value) => -value));
    const sx = (u) => p.x(x0 + (u - 1) * dx).toFixed(1);
    const sy = (v) => p.y(y0 + (v - 1) * dy).toFixed(1);
    const outline = ({ coordinates }) => coordinates.flat().map((ring) =>
      `M${ring.map(([u, v]) => `${sx(u)},${sy(v)}`).join("L")}Z`).join("");
    bands.selectAll("path").data(shapes).join("path").attr("class", "pf-band").attr("d", outline);
  }

  const place = (node, w) => attr(node, "transform", `translate(${p.x(w[0]).toFixed(2)},${p.y(w[1]).toFixed(2)})`);
  // Far outside points are brought near, because browsers draw huge coordinates wrongly.
  const near = (value) => Math.min(5000, Math.max(-5000, value)).toFixed(1);
  const trace = (list, steps) => `M${steps.map((t) => `${near(p.x(list[2 * t]))},${near(p.y(list[2 * t + 1]))}`).join("L")}`;
  const segment = (node, from, to) => {
    const ends = [p.x(from[0]), p.y(from[1]), p.x(to[0]), p.y(to[1])];
    const seen = Math.hypot(ends[2] - ends[0], ends[3] - ends[1]) > 2;
    attr(node, "d", seen ? `M${near(ends[0])},${near(ends[1])}L${near(ends[2])},${near(ends[3])}` : "");
  };

  return {
    el: p.el,
    draw(run, t, resized) {
      if (resized) p.resize();
      const half = halfOf(fig.get("view"), run, t);
      p.view([-half, half], [-half, half]);
      drawContours(run);
      const radius = 1 / Math.sqrt(run.problem.lam);
      attr(ball, "cx", p.x(0));
      attr(ball, "cy", p.y(0));
      attr(ball, "r", Math.min(p.x(radius) - p.x(0), 20000));
      ball.classList.toggle("is-off", !run.settings.project);
      const steps = [0, ...(t > 0 ? logSpaced(t, 200) : [])];
      attr(path, "d", trace(run.W, steps));
      const averaged = run.settings.average !== "last";
      attr(meanPath, "d", averaged ? trace(run.A, steps) : "");
      mean.style.display = averaged ? "" : "none";
      const step = t > 0 ? run.stepAt(t) : null;
      const w = run.iterate(t);
      segment(arrows[0], step ? step.before : w, step ? step.shrunk : w);
      segment(arrows[1], step ? step.shrunk : w, step ? step.pushed : w);
      segment(arrows[2], step ? step.pushed : w, w);
      place(star, run.best.w);
      place(mean, run.averaged(t));
      place(old, step ? step.before : w);
      place(now, w);
      const outside = largest(w) > half ? ` It is outside this view: |w| = ${format(Math.hypot(...w))}.` : "";
      p.note(step ? `${sentenceOf(step, t)}${outside}` : "Before the first step w₁ = 0, the middle of the ball.");
      p.describe(`w is ${format(w[0])}, ${format(w[1])}; the optimum is ${format(run.best.w[0])}, ${format(run.best.w[1])}.`);
    },
  };
}

function sentenceOf(step, t) {
  const keep = step.shrunk[0] === 0 && step.shrunk[1] === 0 ? "to 0" : `by ${format(ratio(step))}`;
  const push = step.hits === 0 ? "no push, for the batch has no violator" : `push by η = ${format(step.eta)} times the batch's violators`;
  return `Step ${t}: shrink ${keep}, ${push}${step.projected ? ", project back on the ball" : ""}.`;
}

const ratio = ({ before, shrunk }) => Math.hypot(...shrunk) / (Math.hypot(...before) || 1);
