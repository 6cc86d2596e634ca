// The two panels of curves: what the objective lacks, by a variant and by plain Pegasos; and how good the suspicion is.
import { attr, format, legend, logSpaced, plane } from "../ui.js";
import { percent } from "./derive.js";

const FLOOR = 1e-6; // of the least value that is drawn
const decade = (value, round) => 10 ** round(Math.log10(value));
const at = (p, xs, ys) => (xs.length === 0 ? "" : `M${xs.map((x, i) => `${p.x(x).toFixed(1)},${p.y(ys[i]).toFixed(1)}`).join("L")}`);

function marker(layer) {
  const line = layer.append("line").attr("class", "pf-now-mark").node();
  return (p, x) => {
    line.style.display = x === null ? "none" : "";
    if (x !== null) for (const [name, value] of [["x1", p.x(x)], ["x2", p.x(x)], ["y1", 0], ["y2", p.height]]) attr(line, name, value);
  };
}

/** P - P* after each step, against steps or work; `onStep(t)` is told of the step that a press means. */
export function objectivePanel(fig, { onStep }) {
  const p = plane(fig, { title: "Objective: P − P*", xLabel: "steps t, or work", yLabel: "P − P*", aspect: 0.94, equal: false, log: true });
  const layer = p.layer("curves");
  const path = (name) => layer.append("path").attr("class", `pf-line ${name}`).node();
  const [plain, variant] = [path("ou-plain"), path("pf-run-0")];
  const place = marker(layer);
  const dot = layer.append("circle").attr("class", "pf-mark pf-new").attr("r", 5).node();
  p.el.append(legend([["pf-run-0", "the variant"], ["ou-plain", "plain Pegasos, same seed"]]));
  let stepOf = (x) => x;
  p.onPress((x) => onStep(Math.round(stepOf(x))));

  return {
    el: p.el,
    draw(state, run, t, resized) {
      if (resized) p.resize();
      const { axis, measure } = state;
      const { T, best } = run;
      const isWork = axis === "work";
      const low = best[measure].value - best[measure].gap;
      const gaps = [run.values, run.plainValues].map((values) => Float64Array.from(values[measure], (value) => Math.max(value - low, FLOOR)));
      const xs = [(s) => (isWork ? run.run.work[s] : s), (s) => (isWork ? run.plainWorkAt(s) : s)];
      stepOf = (x) => {
        if (!isWork) return x;
        const s = run.run.work.findIndex((value) => value >= x);
        return s < 0 ? T : s;
      };
      let [least, most] = [1, FLOOR];
      for (const values of gaps) for (let s = 1; s <= T; s++) [least, most] = [Math.min(least, values[s]), Math.max(most, values[s])];
      p.view([1, Math.max(10, xs[0](T), xs[1](T))], [decade(least, Math.floor), decade(1.01 * Math.max(most, 10 * least), Math.ceil)]);
      const grid = logSpaced(T, 120);
      [variant, plain].forEach((node, j) => attr(node, "d", at(p, grid.map(xs[j]), grid.map((s) => gaps[j][s]))));
      place(p, t > 0 ? xs[0](t) : null);
      dot.style.display = t > 0 ? "" : "none";
      attr(dot, "transform", `translate(${p.x(Math.max(1, xs[0](t))).toFixed(1)},${p.y(gaps[0][t]).toFixed(1)})`);
      const of = (gap, work) => `${format(gap)} above P* for ${work.toLocaleString("en")} evaluations`;
      const text = `after ${T} steps the variant is ${of(gaps[0][T], run.run.work[T])}, plain Pegasos ${of(gaps[1][T], run.plainWorkAt(T))}`;
      p.describe(text);
      p.note(`${text[0].toUpperCase()}${text.slice(1)}.`);
    },
  };
}

/** Precision and recall of the suspects after each step, and the share of all examples that they are. */
export function suspicionPanel(fig, { onStep }) {
  const p = plane(fig, { title: "Who is suspected", xLabel: "steps t", yLabel: "share", aspect: 0.94, equal: false, log: "x" });
  p.el.classList.add("is-wide");
  const layer = p.layer("curves");
  const path = (name) => layer.append("path").attr("class", `pf-line ${name}`).node();
  const [chance, share, recall, precision] = [path("ou-chance"), path("ou-share"), path("ou-recall"), path("ou-precision")];
  const place = marker(layer);
  p.el.append(legend([["ou-precision", "precision: suspects that are outliers"], ["ou-recall", "recall: outliers that are suspects"],
    ["ou-share", "suspects among all"], ["ou-chance", "outliers among all"]]));
  p.onPress((t) => onStep(Math.round(t)));

  return {
    el: p.el,
    draw(state, run, t, resized) {
      if (resized) p.resize(fig.width >= 560 && fig.width < 960 ? 0.45 : 0.94);
      const { T, who, suspects, caught, outliers } = run;
      const n = run.X.length;
      p.view([1, Math.max(10, T)], [0, 1.04]);
      // The curves are steps: two points where a number changes.
      const steps = [];
      for (let s = 1; s <= T; s++) if (suspects[s] !== suspects[s - 1] || s === 1 || s === T) steps.push(s);
      const stairs = (f) => {
        const [xs, ys] = [[], []];
        for (const s of steps) {
          const before = s > 1 ? f(s - 1) : null;
          if (before !== null) [xs[xs.length], ys[ys.length]] = [s, before];
          const value = f(s);
          if (value !== null) [xs[xs.length], ys[ys.length]] = [s, value];
        }
        return at(p, xs, ys);
      };
      attr(precision, "d", who ? stairs((s) => (suspects[s] > 0 ? caught[s] / suspects[s] : null)) : "");
      attr(recall, "d", who && outliers > 0 ? stairs((s) => caught[s] / outliers) : "");
      attr(share, "d", who ? stairs((s) => suspects[s] / n) : "");
      attr(chance, "d", `M0,${p.y(outliers / n)}H${p.width}`);
      place(p, t > 0 ? t : null);
      const { precision: right, recall: found } = run.scoreAt(t);
      const words = who === "removed" ? "removed" : "suspected, with a weight below ½";
      const text = !who ? "undo alone suspects nobody: switch on two-out or probability"
        : suspects[t] === 0 ? `after ${t} steps nobody is ${words}`
          : `after ${t} steps ${suspects[t]} are ${words}, ${percent(right)} of them outliers${outliers > 0 ? `, ${percent(found)} of all outliers` : ""}`;
      p.describe(text);
      p.note(`${text[0].toUpperCase()}${text.slice(1)}.`);
    },
  };
}
