import { drag, select } from "../d3.js";
import { attr, format, h, KEYS, legend, plane, s } from "../ui.js";
import { gap, TESTS } from "./derive.js";

const FLOOR = 1e-12;
const decade = (value, round) => 10 ** round(Math.log10(value));

// What is seen of the values: all that are finite, down to the floor of the logarithmic axis.
function heights(values) {
  const seen = values.filter(Number.isFinite).map((value) => Math.max(value, FLOOR));
  const high = Math.max(...seen);
  return [decade(Math.min(...seen, high / 10) / 1.01, Math.floor), decade(high * 1.01, Math.ceil)];
}

/** f - f* against the steps, with the letters of the stopping tests. */
export function curvePanel(fig) {
  const p = plane(fig, { title: "How far f is above its infimum f*", xLabel: "steps t", yLabel: "f(wₜ₊₁) − f*", aspect: 0.62, equal: false, log: "y" });
  const layer = p.layer("curve").style("pointer-events", "none").node();
  const line = s("path", { class: "pf-line pf-run pf-run-0" });
  const mark = s("line", { class: "pf-now-mark" });
  const dot = s("circle", { class: "pf-mark pf-new", r: 5 });
  const letters = s("g", { class: "pd-letters" });
  layer.append(line, mark, letters, dot);
  p.el.append(legend([["pf-run pf-run-0", "this run"], ["pf-now-mark", "step t"]]));

  const go = (event) => fig.set({ t: Math.round(p.at(event.sourceEvent ?? event)[0]) });
  // A finger taps; its drags are left to the page, which scrolls.
  select(p.surface).call(drag().container(p.inner).touchable(() => false).on("start drag", go));
  p.onPress((t) => fig.set({ t: Math.round(t) }));

  function drawLetters(run, fired, y) {
    const at = new Map();
    for (const { id, letter } of TESTS) if (fired[id]) at.set(fired[id], (at.get(fired[id]) ?? "") + letter);
    let [end, level] = [-Infinity, 0];
    letters.replaceChildren(...[...at].sort(([a], [b]) => a - b).map(([t, text]) => {
      const x = p.x(t);
      level = x - end < 6 + 8 * text.length ? level + 1 : 0;
      end = x;
      const up = y(t) - 12 - 14 * level;
      return s("g", {}, s("circle", { class: "pd-fired", cx: x, cy: y(t), r: 4 }),
        s("text", { class: "pf-mark-label", x, y: up > 12 ? up : y(t) + 20 + 14 * level, "text-anchor": "middle", text }));
    }));
  }

  return {
    el: p.el,
    draw(run, t, fired, hidden, resized) {
      if (resized) p.resize();
      const values = run.values.map((_, i) => gap(run, i));
      const T = fig.get("n_iter");
      p.view([-0.025 * T, 1.025 * T], heights(hidden ? [values[0], values[0] / 100] : values));
      const y = (i) => p.y(Math.max(values[i], p.y.domain()[0]));
      const drawn = values.map((_, i) => i).filter((i) => Number.isFinite(values[i]));
      attr(line, "d", hidden ? "" : `M${drawn.map((i) => `${p.x(i).toFixed(1)},${y(i).toFixed(1)}`).join("L")}`);
      for (const [name, value] of [["x1", p.x(t)], ["x2", p.x(t)], ["y1", 0], ["y2", p.height]]) attr(mark, name, value);
      dot.style.display = hidden || !Number.isFinite(values[t]) ? "none" : "";
      if (Number.isFinite(values[t])) attr(dot, "transform", `translate(${p.x(t).toFixed(1)},${y(t).toFixed(1)})`);
      drawLetters(run, hidden ? {} : Object.fromEntries(Object.entries(fired).filter(([, at]) => Number.isFinite(values[at]))), y);
      p.note(hidden ? "Hidden until you reveal it." : noteOf(run));
      p.describe(hidden ? "hidden until you reveal it." : `${format(values[0])} at the start, ${format(values[run.n])} after ${run.n} steps.`);
    },
  };
}

const ENDS = {
  "no decrease": "no step that the search tries lowers f by more than rounding",
  "no minimum": "f has no least value along this coordinate",
  diverged: "the numbers are too large to go on",
};

function noteOf(run) {
  return run.stopped ? `The run ends after ${run.n} steps: ${ENDS[run.stopped]}.`
    : "The letters are those of the tests: where each would stop.";
}

/** The table of the stopping tests: when each fires first, and how far f is above f* there. */
export function testTable(fig) {
  const rows = TESTS.map(({ id, letter, name, condition }) => {
    const go = h("button", { type: "button", class: "pf-button", ...KEYS, on: { click: () => fig.set({ t: Number(go.dataset.step) }) } });
    const never = h("span", {});
    const there = h("td", {});
    const row = h("tr", { "data-test": id }, h("th", { scope: "row" }, h("b", { text: letter }), ` ${name}`,
      h("span", { class: "pd-condition", text: condition })), h("td", {}, go, never), there);
    return { id, name, row, go, never, there };
  });
  const el = h("div", { class: "pd-tests" }, h("p", { class: "pf-panel-title", text: "Which stopping test would fire, and when" }),
    h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col", text: "test" }), h("th", { scope: "col", text: "fires after" }), h("th", { scope: "col", text: "f − f* there" }))),
      h("tbody", {}, ...rows.map(({ row }) => row))));
  return {
    el,
    draw(run, fired, hidden) {
      for (const { id, name, go, never, there } of rows) {
        const t = hidden ? null : fired[id];
        go.hidden = t === null;
        never.textContent = hidden ? "hidden" : t === null ? "never" : "";
        there.textContent = t === null ? "" : format(Math.max(0, gap(run, t)));
        if (t === null) continue;
        go.dataset.step = t;
        go.textContent = `step ${t}`;
        attr(go, "aria-label", `step ${t}: go where the test ${name} fires`);
      }
    },
  };
}
