// The dual variables as bars: to step in, to set by hand, and to guess.
import { drag, select } from "../d3.js";
import { attr, clamp, format, h, KEYS, plane, s } from "../ui.js";
import { caseOf, CASES, coordinateGap } from "./derive.js";

const STEP = 0.05;
const UP = { ArrowUp: 1, ArrowDown: -1 };
const hundredth = (value) => clamp(Math.round(value * 100) / 100, 0, 1);
const GUESSES = ["0", "inside", "1"];
const HEIGHTS = [0, 0.5, 1]; // of a guess

/**
 * The panel. `onStep(i)` asks for the exact step, `onSet(i, value)` sets alpha by hand, `onGuess(i, which)` guesses
 * a case, `onSelect(i)` is told which example has the focus; `alphaOf(i)` is alpha now, also between two draws.
 * `answers` is shown below the bars while the reader guesses.
 */
export function barsPanel(fig, { onStep, onSet, onGuess, onSelect, alphaOf, answers }) {
  const p = plane(fig, { title: "Dual variables", xLabel: "example", yLabel: "αᵢ", aspect: 0.82, equal: false, role: "group" });
  const marks = p.layer("marks").attr("aria-hidden", "true").style("pointer-events", "none");
  const layer = p.layer("bars").attr("role", "group");
  const help = h("p", { class: "pf-help" });
  const rows = CASES.map(({ name, text, needs }) => {
    const list = h("span", { class: "du-list" });
    const swatch = s("svg", { width: 14, height: 14, viewBox: "0 0 14 14", "aria-hidden": "true" }, s("rect", { class: `du-swatch is-${name}`, x: 1, y: 1, width: 12, height: 12, rx: 2 }));
    return { list, el: h("li", {}, swatch, h("span", { text: `${text}, needs ${needs}: ` }, list)) };
  });
  const key = (text, shape) => h("li", {}, s("svg", { width: 22, height: 14, viewBox: "-11 -7 22 14", "aria-hidden": "true" }, shape), text);
  const legend = h("ul", { class: "pf-legend" },
    key("where the step would go", s("path", { class: "du-target", d: "M-8,0H8" })), key("moved in this step", s("path", { class: "du-moved", d: "M0,4L-5,-4H5Z" })));
  p.el.append(legend, h("ul", { class: "du-cases", "aria-label": "The case of each example" }, ...rows.map(({ el }) => el)), help, answers);

  let nodes = [];
  let selected = 0;
  let quiz = null; // the guesses, while the reader makes them
  const count = () => fig.get("y").length;
  const nearest = (x) => clamp(Math.round(x) - 1, 0, count() - 1);
  const focusOn = (i) => {
    onSelect(i);
    nodes[i]?.focus({ preventScroll: true });
  };
  const press = (i) => {
    focusOn(i);
    if (quiz) onGuess(i, ((quiz[i] ?? -1) + 1) % 3);
    else onStep(i);
  };
  const onKey = (event, i) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const letter = event.key.toLowerCase();
    const n = count();
    if (event.key === "ArrowRight" || letter === "n") focusOn((i + 1) % n);
    else if (event.key === "ArrowLeft" || letter === "p") focusOn((i + n - 1) % n);
    else if (letter === "enter" || letter === " ") press(i);
    else if (quiz && UP[event.key]) onGuess(i, clamp((quiz[i] ?? 1) + UP[event.key], 0, 2));
    else if (UP[event.key]) onSet(i, hundredth(alphaOf(i) + UP[event.key] * STEP * (event.shiftKey ? 4 : 1)));
    else if (event.key === "Home" || event.key === "End") {
      const most = event.key === "End";
      if (quiz) onGuess(i, most ? 2 : 0);
      else onSet(i, most ? 1 : 0);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const pressed = (event) => press(nearest(p.at(event)[0]));
  p.onPress((x) => press(nearest(x)));
  layer.node().addEventListener("click", pressed);

  // Where the areas for the finger overlap, the bar nearest to it is the one that is meant.
  const dragging = drag().container(p.inner).clickDistance(3)
    .filter((event) => !quiz && !event.button)
    .subject(({ x }) => {
      const i = nearest(p.x.invert(x));
      return { i, x, y: p.y(alphaOf(i)) };
    })
    .on("start", ({ subject }) => focusOn(subject.i))
    .on("drag", ({ subject, y }) => onSet(subject.i, hundredth(p.y.invert(y))));

  const create = (_, i) => {
    const node = s("g", { class: "du-bar", role: "button", tabindex: -1, ...KEYS, on: {
      keydown: (event) => onKey(event, i), focus: () => onSelect(i),
    } }, s("rect", { class: "du-fill", rx: 2 }), s("path", { class: "du-target" }),
    s("g", { class: "du-knob" }, s("circle", { class: "pf-hit" }), s("circle", { class: "du-dot", r: 5 })));
    select(node.lastChild).call(dragging);
    return node;
  };
  const chosen = marks.append("rect").attr("class", "du-column").attr("rx", 3).node();
  const moved = marks.append("path").attr("class", "du-moved").attr("d", "M0,8L-5,0H5Z").node();

  return {
    el: p.el,
    focus: () => focusOn(selected),
    /** `guesses` is null unless the reader is guessing; then nothing is shown that would tell the answer. */
    draw({ y, printed }, run, t, { resized, selected: now, guesses, done }) {
      if (resized) p.resize();
      const n = y.length;
      [selected, quiz] = [now, done ? null : guesses];
      p.view([0.4, n + 0.6], [-0.07, 1.1]);
      const [alpha, margins, targets] = [run.alphaAt(t), run.marginsAt(t), run.targetsAt(t)];
      if (nodes.length !== n) {
        const focus = nodes.includes(layer.node().getRootNode().activeElement);
        layer.node().replaceChildren(...y.map(create));
        nodes = [...layer.node().children];
        if (focus) nodes[selected].focus({ preventScroll: true });
      }
      layer.attr("aria-label", guesses ? "Your guesses. Left and right choose an example, Enter, up and down change its case."
        : "Bars. Left and right choose an example, Enter takes its step, up and down set its α by hand, Home and End to 0 and 1.");
      const width = Math.max(2, Math.min(26, 0.62 * (p.x(2) - p.x(1))));
      const column = Math.max(width + 4, 0.9 * (p.x(2) - p.x(1)));
      nodes.forEach((node, i) => {
        const which = guesses ? guesses[i] : caseOf(alpha[i]);
        const value = done ? run.best.alpha[i] : guesses ? HEIGHTS[which] ?? 0 : alpha[i];
        const [fill, mark, knob] = node.children;
        const [x, top, base] = [p.x(i + 1), p.y(value), p.y(0)];
        attr(node, "class", `du-bar ${which === null ? "is-open" : `is-${CASES[which].name}`}${guesses ? " is-guess" : ""}`);
        attr(node, "tabindex", i === selected ? 0 : -1);
        for (const [name, v] of [["x", (x - width / 2).toFixed(2)], ["width", width.toFixed(2)], ["y", top.toFixed(2)],
          ["height", Math.max(0, base - top).toFixed(2)]]) attr(fill, name, v);
        attr(mark, "d", guesses ? "" : `M${(x - column / 2).toFixed(2)},${p.y(targets[i]).toFixed(2)}h${column.toFixed(2)}`);
        attr(knob, "transform", `translate(${x.toFixed(2)},${top.toFixed(2)})`);
        attr(node, "aria-label", guesses ? `Example ${i + 1}, label ${y[i] > 0 ? "+1" : "−1"}: ${which === null ? "no guess yet" : `guess ${GUESSES[which]}`}`
          : `Example ${i + 1}: α ${format(alpha[i])}, margin ${format(margins[i])}, its step would go to ${format(targets[i])}`);
      });
      for (const [name, v] of [["x", p.x(selected + 1) - column / 2], ["y", 0], ["width", column], ["height", p.height]]) attr(chosen, name, v);
      moved.style.display = t > 0 && !guesses ? "" : "none";
      if (t > 0) attr(moved, "transform", `translate(${p.x(run.draws[t - 1] + 1)},1)`);
      legend.hidden = Boolean(guesses);
      answers.hidden = !guesses;

      const wishes = run.wishAt(t);
      const cases = guesses ?? [...alpha].map(caseOf);
      rows.forEach(({ list }, which) => {
        const of = y.map((_, i) => i).filter((i) => cases[i] === which);
        const text = of.length > 0 ? of.map((i) => `${i + 1}${guesses ? "" : ["", "↑", "↓"].at(wishes[i])}`).join(", ") : "none";
        if (list.textContent !== text) list.textContent = text;
      });
      if (guesses) {
        const open = guesses.filter((value) => value === null).length;
        const text = done ? "all guesses are right: these are the α of w*" : open === 0 ? "every example has a guess" : `${open} examples wait for a guess`;
        p.describe(text);
        p.note(`${text[0].toUpperCase()}${text.slice(1)}.`);
        help.textContent = done ? "" : "Press a bar until it says what you think: 0, inside (half a bar) or 1.";
        return;
      }
      const far = [...alpha].map((a, i) => coordinateGap(a, margins[i]));
      const held = wishes.filter((value) => value === 0).length;
      p.describe(`${held} of ${n} examples are where their margin wants them; the largest part of the gap is example ${far.indexOf(Math.max(...far)) + 1}'s`);
      p.note(held === n ? "Every α is as its margin needs: this is the optimum, to three digits."
        : "↑ and ↓: its margin says that α must go up or down.");
      help.textContent = `Press a bar for its ${printed ? "printed" : "exact"} step, or drag its end to set α yourself.`;
    },
  };
}
