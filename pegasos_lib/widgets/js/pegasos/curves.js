import { drag, select } from "../d3.js";
import { attr, format, h, KEYS, legend, plane, runSwatch, s } from "../ui.js";
import { labelOf } from "./state.js";

const FLOOR = 1e-8;
const NAMES = "ABCD";
const decade = (value, round) => 10 ** round(Math.log10(value));

// The interval of P - P* that is seen: all curves, and as much of the bound as leaves them readable.
function heights(runs, bound, guess) {
  let [low, high] = [Infinity, FLOOR];
  for (const { gaps } of runs) {
    for (const gap of gaps) {
      low = Math.min(low, Math.max(gap, FLOOR));
      high = Math.max(high, gap);
    }
  }
  if (bound) high = Math.max(high, Math.min(bound, 300 * high));
  if (guess) [low, high] = [Math.min(low, guess), Math.max(high, guess)];
  return [decade(Math.min(low, high / 10), Math.floor), decade(high * 1.01, Math.ceil)];
}

/** P - P* against the number of steps on log-log axes: the current run, the pinned ones, the bound. */
export function curvesPanel(fig, { onGuess, onStep }) {
  const p = plane(fig, { title: "P − P* after t steps", xLabel: "steps t", yLabel: "P − P*", aspect: 0.94, log: true });
  p.el.classList.add("is-wide");
  const layer = p.layer("curves");
  const path = (name) => layer.append("path").attr("class", `pf-line ${name}`).node();
  const bound = path("pf-bound");
  const lines = [4, 3, 2, 1, 0].map((i) => path(`pf-run pf-run-${i}`)).reverse();
  const labels = lines.map((_, i) => layer.append("text").attr("class", "pf-mark-label").attr("text-anchor", "end").text(NAMES[i - 1] ?? "").node());
  const boundLabel = layer.append("text").attr("class", "pf-mark-label").attr("text-anchor", "end").node();
  const mark = layer.append("line").attr("class", "pf-now-mark").node();
  const dot = layer.append("circle").attr("class", "pf-mark pf-new").attr("r", 5).node();
  const guessMark = s("g", { class: "pf-guess" }, s("line", { x1: -40, x2: 0 }), s("path", { d: "M-7,0L0,-7L7,0L0,7Z" }));
  layer.node().append(guessMark);
  const currentLegend = legend([["pf-run pf-run-0", "this run"], ["pf-bound", "bound of Theorem 2, for the expected gap of the average of all"]]);
  p.el.append(currentLegend);

  // A press or a drag sets the step, or the guess while one is being made.
  const press = (event) => {
    const [t, gap] = p.at(event.sourceEvent ?? event);
    if (!onGuess(gap)) onStep(Math.round(t));
  };
  // A finger taps; its drags are left to the page, which scrolls.
  select(p.surface).call(drag().container(p.inner).touchable(() => false).on("start drag", press));
  p.onPress((t, gap) => { if (!onGuess(gap)) onStep(Math.round(t)); });

  const d = (grid, values) => {
    const [low] = p.y.domain();
    return `M${grid.map((t, i) => `${p.x(t).toFixed(1)},${p.y(Math.max(values[i], low / 10)).toFixed(1)}`).join("L")}`;
  };

  // The letters of the pinned runs stand at their ends, one over the other where these are close.
  function placeLabels(pinned) {
    const ends = pinned.map((run, i) => ({ label: labels[i + 1], x: p.x(run.settings.n_iter) - 4,
      y: p.y(Math.max(run.finalGap, p.y.domain()[0])) - 5 })).sort((a, b) => b.y - a.y);
    ends.forEach((end, i) => {
      if (i > 0) end.y = Math.min(end.y, ends[i - 1].y - 13);
      attr(end.label, "x", end.x);
      attr(end.label, "y", end.y);
    });
  }

  return {
    el: p.el,
    draw(current, pinned, t, { hidden, guess }, resized) {
      const wide = fig.width >= 560 && fig.width < 960;
      if (resized) p.resize(wide ? 0.5 : 0.94);
      const runs = [current, ...pinned];
      const visible = hidden ? pinned : runs;
      const T = Math.max(...runs.map((run) => run.settings.n_iter));
      const withBound = current.settings.step === "pegasos";
      const boundEnd = withBound ? current.bound(current.settings.n_iter) : 0;
      p.view([1, Math.max(T, 10)], heights(visible.length > 0 ? visible : [{ gaps: [1, 1e-3] }], boundEnd * 1.3, guess));
      lines.forEach((line, i) => {
        const run = i === 0 && hidden ? undefined : runs[i];
        attr(line, "d", run ? d(run.grid, run.gaps) : "");
        labels[i].style.display = run && i > 0 ? "" : "none";
      });
      placeLabels(pinned);
      attr(bound, "d", withBound ? d(current.grid, current.grid.map(current.bound)) : "");
      boundLabel.textContent = withBound ? "bound" : "";
      if (withBound) {
        attr(boundLabel, "x", p.x(current.settings.n_iter) - 4);
        attr(boundLabel, "y", Math.max(14, p.y(boundEnd) + 18));
      }
      const at = p.x(Math.max(t, 1));
      for (const [name, value] of [["x1", at], ["x2", at], ["y1", 0], ["y2", p.height]]) attr(mark, name, value);
      const gap = current.gapOf(current.averaged(t));
      dot.style.display = hidden ? "none" : "";
      attr(dot, "transform", `translate(${at},${p.y(Math.max(gap, p.y.domain()[0]))})`);
      guessMark.style.display = guess ? "" : "none";
      if (guess) attr(guessMark, "transform", `translate(${p.x(current.settings.n_iter)},${p.y(guess)})`);
      p.note(noteOf(current, withBound, boundEnd, boundEnd > p.y.domain()[1]));
      p.describe(hidden ? "hidden until you reveal it." : runs.map((run, i) =>
        `${i === 0 ? "this run" : `run ${NAMES[i - 1]}`} ends at ${format(run.finalGap)}`).join("; "));
    },
  };
}

function noteOf({ settings }, withBound, boundEnd, above) {
  if (!withBound) return "The bound holds for the steps 1/(λt) only.";
  const constant = settings.project ? "(√λ + R)²" : "4R²";
  const where = above ? `, above this view (${format(boundEnd)} at T)` : "";
  const caution = settings.sampling === "permutation" ? " It assumes i.i.d. draws." : "";
  return `Bound: c(1 + ln T)/(2λT) with c = ${constant}${where}.${caution}`;
}

/** The list of pinned runs, with a button each to take it back and to take it away. */
export function pinList(fig, { onRemove, onLoad }) {
  const list = h("ul", { class: "pf-pins", "aria-label": "Pinned runs", tabindex: -1, ...KEYS });
  let shown = "";
  return {
    el: list,
    draw(pinned) {
      const key = pinned.map((run) => `${labelOf(run.settings)} ${format(run.finalGap)}`).join("|");
      if (key === shown) return;
      shown = key;
      const focused = list.contains(list.getRootNode().activeElement);
      list.replaceChildren(...pinned.map((run, i) => h("li", {},
        runSwatch(i + 1), h("span", { class: "pf-pin-text" }, h("b", { text: `${NAMES[i]} ` }),
          `${labelOf(run.settings)}: ends at ${format(run.finalGap)}`),
        h("button", { type: "button", class: "pf-button", ...KEYS, text: "Use",
          "aria-label": `Use the settings of run ${NAMES[i]}`, on: { click: () => onLoad(run.settings) } }),
        h("button", { type: "button", class: "pf-button", ...KEYS, text: "Remove",
          "aria-label": `Remove run ${NAMES[i]}`, on: { click: () => onRemove(i) } }))));
      // Whoever removed a run by keyboard goes on from the list.
      if (focused) (list.querySelector("button") ?? list).focus();
    },
  };
}
