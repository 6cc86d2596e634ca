// The two panels of curves: measured regret under the bound of its rule, and the two kinds of bound far beyond the run.
import { attr, format, legend, logSpaced, plane } from "../ui.js";
import { logBound, percent, rootBound } from "./derive.js";

const decade = (value, round) => 10 ** round(Math.log10(value));
const FAR = 1e7; // the last T of the bounds' panel
const FAR_ABOVE = 15;
const TS = Array.from({ length: 71 }, (_, i) => 10 ** (i / 10));
const whole = (value) => value.toLocaleString("en");

const LABELS = { linear: false, log: "x", loglog: true, average: true };

/** Regret (or regret/t) after t steps, against the best point in hindsight and against w* of the pool. */
export function regretPanel(fig, { onStep }) {
  const p = plane(fig, { title: "Regret after t steps", xLabel: "steps t", yLabel: "regret", aspect: 0.94, equal: false, log: true });
  const layer = p.layer("curves");
  const path = (name) => layer.append("path").attr("class", `pf-line ${name}`).node();
  const [bound, right, beside, measured] = [path("pf-bound"), path("rg-right"), path("rg-beside"), path("pf-run-0")];
  const mark = layer.append("line").attr("class", "pf-now-mark").node();
  const dot = layer.append("circle").attr("class", "pf-mark pf-new").attr("r", 5).node();
  const key = legend([["pf-run-0", "regret, against the best w in hindsight"], ["rg-beside", "against w* of the pool"],
    ["pf-bound", "bound of this step"], ["rg-right", "(3/2)GD√t, the right step's"]]);
  p.el.append(key);
  p.onPress((t) => onStep(Math.round(t)));

  return {
    el: p.el,
    draw(state, run, t, resized) {
      if (resized) p.resize();
      const { view, rule } = state;
      const { grid, T } = run;
      const mean = view === "average";
      const of = (values) => values.map((value, i) => (mean ? value / grid[i] : value));
      const [regrets, besides, bounds] = [of(run.regrets), of(run.besides), of(grid.map(run.bound))];
      const rights = rule === "printed" ? of(grid.map((s) => rootBound(s, run.size))) : [];
      const isLog = LABELS[view] === true;
      const most = Math.max(0, ...regrets, ...rights.slice(-1)) || 1;
      const ceiling = Math.max(most, ...bounds, ...rights);
      // A bound that is far above would leave the regret as a line on linear axes.
      const top = ceiling > FAR_ABOVE * most ? 3 * most : 1.05 * ceiling;
      // Long numbers at the ticks need the place of the label; the title names what is drawn.
      p.rescale(LABELS[view], mean ? "regret/t" : !isLog && top >= 1e3 ? "" : "regret");
      if (isLog) {
        const least = Math.min(ceiling / 100, ...regrets.filter((value) => value > ceiling * 1e-5));
        p.view([1, Math.max(T, 10)], [decade(least, Math.floor), decade(1.01 * ceiling, Math.ceil)]);
      } else {
        p.view([view === "log" ? 1 : 0, Math.max(T, 10)], [Math.min(0, 1.1 * Math.min(0, ...regrets, ...besides)), top]);
      }
      const floor = isLog ? p.y.domain()[0] / 10 : -Infinity;
      const line = (values) => (values.length === 0 ? ""
        : `M${grid.map((s, i) => `${p.x(s).toFixed(1)},${p.y(Math.max(values[i], floor)).toFixed(1)}`).join("L")}`);
      [[bound, bounds], [right, rights], [beside, besides], [measured, regrets]].forEach(([node, values]) => attr(node, "d", line(values)));
      key.lastChild.hidden = rule !== "printed";
      const here = t > 0 ? run.regretAt(t) / (mean ? t : 1) : 0;
      const at = p.x(Math.max(t, isLog || view === "log" ? 1 : 0));
      for (const [name, value] of [["x1", at], ["x2", at], ["y1", 0], ["y2", p.height]]) attr(mark, name, value);
      dot.style.display = t > 0 ? "" : "none";
      attr(dot, "transform", `translate(${at},${p.y(Math.max(here, floor))})`);
      if (T === 0) {
        p.describe("nothing has come yet");
        p.note("Send an example to begin.");
        return;
      }
      const end = run.regretAt(T);
      const share = end / run.bound(T);
      const when = T === 1 ? "fter 1 step" : `fter all ${T} steps`;
      p.describe(`a${when} the regret is ${format(end)}, ${percent(share)} of the bound ${format(run.bound(T))}`);
      p.note(`A${when}: ${percent(share)} of the bound${bounds.at(-1) > p.y.domain()[1] ? ", which lies above this view" : ""}.`
        + (rule === "constant" ? " This step is made for its last t." : ""));
    },
  };
}

/** Both bounds up to T = 10⁷, with the point from which on the logarithmic one is the smaller. */
export function boundsPanel(fig) {
  const p = plane(fig, { title: "The two bounds, far beyond the run", xLabel: "steps T", yLabel: "bound", aspect: 0.94, log: true });
  p.el.classList.add("is-wide");
  const layer = p.layer("curves");
  const path = (name) => layer.append("path").attr("class", `pf-line ${name}`).node();
  const [log, root, measured] = [path("rg-log"), path("rg-root"), path("pf-run-0")];
  const drop = layer.append("line").attr("class", "pf-now-mark").node();
  const cross = layer.append("circle").attr("class", "rg-cross").attr("r", 6).node();
  const label = layer.append("text").attr("class", "pf-mark-label").node();
  p.el.append(legend([["rg-log", "G²(1 + ln T)/(2λ), steps 1/(λt)"], ["rg-root", "(3/2)GD√T, steps D/(G√t)"], ["pf-run-0", "measured, this run"]]));

  return {
    el: p.el,
    draw({ lam }, run, resized) {
      if (resized) p.resize(fig.width >= 560 && fig.width < 960 ? 0.5 : 0.94);
      const { size, crossing: T } = run;
      const logs = TS.map((s) => logBound(s, lam, size));
      const roots = TS.map((s) => rootBound(s, size));
      const low = Math.min(logs[0], roots[0], ...run.regrets.filter((value) => value > roots[0] / 100));
      p.view([1, FAR], [decade(low, Math.floor), decade(1.01 * Math.max(logs.at(-1), roots.at(-1)), Math.ceil)]);
      const line = (xs, ys) => `M${xs.map((x, i) => `${p.x(x).toFixed(1)},${p.y(Math.max(ys[i], low / 100)).toFixed(1)}`).join("L")}`;
      attr(log, "d", line(TS, logs));
      attr(root, "d", line(TS, roots));
      attr(measured, "d", run.T > 0 ? line(run.grid, run.regrets) : "");
      const seen = T > 1 && T <= FAR;
      for (const node of [drop, cross, label]) node.style.display = seen ? "" : "none";
      if (seen) {
        const [x, y] = [p.x(T), p.y(rootBound(T, size))];
        attr(cross, "transform", `translate(${x},${y})`);
        for (const [name, value] of [["x1", x], ["x2", x], ["y1", y], ["y2", p.height]]) attr(drop, name, value);
        const left = x > 0.62 * p.width;
        attr(label, "text-anchor", left ? "end" : "start");
        attr(label, "x", x + (left ? -8 : 8));
        attr(label, "y", p.height - 8);
        label.textContent = `T = ${whole(T)}`;
      }
      const text = T === 1 ? "Here the logarithmic bound is the smaller one at every T."
        : `From T = ${whole(T)} on the logarithmic bound is the smaller one${T > FAR ? ", beyond this view" : ""}.`;
      p.describe(text);
      p.note(text);
    },
  };
}
