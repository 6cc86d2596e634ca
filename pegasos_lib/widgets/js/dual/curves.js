// What is left: the gap and its two parts, or primal and dual, after each step.
import { attr, legend, logSpaced, plane } from "../ui.js";
import { gapText } from "./derive.js";

const FLOOR = 1e-10; // below it P - P* is rounding
const REACH = 5; // epochs that a reader's own steps are shown on, at least
const decade = (value, round) => 10 ** round(Math.log10(value));

/** The panel; `onStep(t)` is told of the step that a press means. */
export function curvesPanel(fig, { onStep }) {
  const p = plane(fig, { title: "Primal, dual and their gap", xLabel: "epochs t/n", yLabel: "gap", aspect: 0.82, equal: false, log: true });
  const layer = p.layer("curves");
  const path = (name) => layer.append("path").attr("class", `pf-line ${name}`).node();
  const [other, primal, dual, gap, level] = ["du-other", "du-primal", "du-dual", "pf-run-0", "du-least"].map(path);
  const mark = layer.append("line").attr("class", "pf-now-mark").node();
  const dot = layer.append("circle").attr("class", "pf-mark pf-new").attr("r", 5).node();
  const keys = {
    gap: legend([["pf-run-0", "gap P(w(α)) − D(α)"], ["du-primal", "P(w(α)) − P*"], ["du-dual", "D* − D(α)"]]),
    values: legend([["du-primal", "primal P(w(α))"], ["du-dual", "dual D(α)"], ["du-least", "P* = D*"]]),
    other: legend([["du-other", ""]]),
  };
  const otherText = keys.other.querySelector("span");
  p.el.append(keys.gap, keys.values, keys.other);
  let n = 1;
  p.onPress((x) => onStep(Math.round(x * n)));

  return {
    el: p.el,
    draw(state, run, beside, t, resized) {
      if (resized) p.resize(fig.width >= 560 && fig.width < 960 ? 0.45 : 0.82);
      const { T, gaps, primals, duals, best } = run;
      n = state.y.length;
      const isGap = state.view === "gap";
      keys.gap.hidden = !isGap;
      keys.values.hidden = isGap;
      keys.other.hidden = !isGap || !beside;
      otherText.textContent = state.printed ? "gap by the right step" : `gap in a random order, seed ${state.seed}`;
      p.rescale(isGap ? true : "x", isGap ? "gap" : "P and D");
      const last = Math.max(T / n, state.order === "you" ? REACH : 1);
      const [floor, ceiling] = [best.value - best.gap, best.value];
      const parts = {
        gap: (s) => gaps[s], primal: (s) => (isGap ? primals[s] - floor : primals[s]), dual: (s) => (isGap ? ceiling - duals[s] : duals[s]),
        other: (s) => beside.gaps[s],
      };
      if (isGap) {
        const most = Math.max(1, ...gaps, ...(beside ? beside.gaps : []));
        let least = 0.01;
        for (let s = 1; s <= T; s++) least = Math.min(least, Math.max(gaps[s], FLOOR));
        p.view([1 / n, last], [decade(least, Math.floor), decade(1.01 * most, Math.ceil)]);
      } else {
        const [low, high] = [Math.min(0, ...duals.subarray(1)), Math.max(1.5 * best.value, ...primals.subarray(1))];
        const room = 0.04 * (high - low);
        // The first steps may raise the primal far above 1: what closes is then out of sight.
        p.view([1 / n, last], [Math.max(low, -1) - room, Math.min(high, 3) + room]);
      }
      const bottom = isGap ? p.y.domain()[0] / 10 : -Infinity;
      const line = (f, length) => (length === 0 ? ""
        : `M${logSpaced(length).filter((s) => s / n <= last + 1e-9).map((s) => `${p.x(s / n).toFixed(1)},${p.y(Math.max(f(s), bottom)).toFixed(1)}`).join("L")}`);
      attr(gap, "d", isGap ? line(parts.gap, T) : "");
      attr(primal, "d", line(parts.primal, T));
      attr(dual, "d", line(parts.dual, T));
      attr(other, "d", isGap && beside ? line(parts.other, beside.T) : "");
      attr(level, "d", isGap ? "" : `M0,${p.y(best.value)}H${p.width}`);
      mark.style.display = t > 0 ? "" : "none";
      dot.style.display = t > 0 && isGap ? "" : "none";
      if (t > 0) {
        const x = p.x(t / n);
        for (const [name, value] of [["x1", x], ["x2", x], ["y1", 0], ["y2", p.height]]) attr(mark, name, value);
        attr(dot, "transform", `translate(${x},${p.y(Math.max(gaps[t], bottom))})`);
      }
      const text = T === 0 ? `no step is taken, the gap is ${gapText(gaps[0])}`
        : `after all ${T} steps the gap is ${gapText(gaps[T])}`;
      p.describe(text);
      p.note(`${text[0].toUpperCase()}${text.slice(1)}.`
        + (state.printed ? " The dual need not rise: these are the printed steps." : isGap ? " The dual never falls by an exact step; the gap may rise." : ""));
    },
  };
}
