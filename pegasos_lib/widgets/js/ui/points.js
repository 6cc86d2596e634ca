import { drag, select, symbol, symbolCircle, symbolDiamond2 } from "../d3.js";
import { clamp } from "./clean.js";
import { button } from "./controls.js";
import { attr, h, KEYS, s } from "./dom.js";
import { format, signed } from "./format.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const round = (value) => Math.round(value * 100) / 100;
const SHAPES = { 1: symbol(symbolCircle, 70)(), "-1": symbol(symbolDiamond2, 62)() };

// A hundredth of what is seen, or with Shift ten of them.
function arrowStep(plane, event) {
  const direction = ARROWS[event.key];
  if (!direction) return null;
  const [low, high] = plane.x.domain();
  const step = ((high - low) / 100) * (event.shiftKey ? 10 : 1);
  return direction.map((sign) => sign * step);
}

function inside(plane, x, y) {
  return [clamp(x, ...plane.x.domain()), clamp(y, ...plane.y.domain())];
}

/**
 * Something that the reader moves on a plane: by dragging (mouse, touch), or by its arrow keys.
 * `set(x, y)` is told; `update(x, y, text)` places it, `text` being what a screen reader says.
 * `shape` is an SVG element drawn at the origin.
 */
export function handle(plane, { layer = "handles", shape, set }) {
  const node = s("g", { class: "pf-handle", role: "button", tabindex: 0, ...KEYS }, s("circle", { class: "pf-hit" }), shape);
  plane.layer(layer).node().append(node);
  let at = [0, 0];
  // Not left to the next draw: two keys may come before it.
  const move = (x, y) => {
    at = inside(plane, x, y);
    set(...at);
  };
  select(node).call(drag().container(plane.inner).subject(() => ({ x: plane.x(at[0]), y: plane.y(at[1]) }))
    .on("drag", ({ x, y }) => move(plane.x.invert(x), plane.y.invert(y))));
  node.addEventListener("keydown", (event) => {
    const step = arrowStep(plane, event);
    if (!step) return;
    event.preventDefault();
    move(at[0] + step[0], at[1] + step[1]);
  });
  return {
    node,
    update(x, y, text) {
      at = [x, y];
      node.setAttribute("transform", `translate(${plane.x(x)},${plane.y(y)})`);
      node.setAttribute("aria-label", text);
    },
  };
}

/**
 * The points of the keys X and y on `plane`, to drag, add, flip and delete, by mouse, touch and
 * keyboard. `describe(i)` adds to what a screen reader says of a point. Returns `{update, toolbar}`:
 * `update(classOf)` draws them, `classOf(i)` giving each point's further classes ("is-hit is-drawn").
 */
export function editablePoints(fig, plane, { limit = 200, describe = () => "" }) {
  const layer = plane.layer("points").attr("role", "group").attr("aria-label",
    "Points. N and P choose the next and the previous point, the arrow keys move it (Shift: further), "
    + "F flips its label, Delete removes it, Enter adds one beside it, Escape lets go.");
  const help = h("p", { class: "pf-help" });
  let chosen = null; // what the buttons and the next press act on
  let drawn = []; // the nodes, in the order of X
  let stop = 0; // the point that Tab reaches
  let awaited = false; // the chosen point's node is not drawn yet: it gets the focus when it is

  const count = () => fig.get("X").length;
  const index = (node) => drawn.indexOf(node);
  const choose = (i) => {
    chosen = i;
    if (i !== null) stop = i;
    mark();
  };
  // Keys may come before the next draw: they find the focus where it will be, or act on the chosen point.
  const focusOn = (i) => {
    choose(i);
    awaited = !drawn[i];
    drawn[i]?.focus();
  };
  const move = (i, x, y) => {
    const X = fig.get("X").slice();
    X[i] = inside(plane, x, y).map(round);
    fig.set({ X });
  };
  const flip = (i) => fig.set({ y: fig.get("y").map((label, j) => (j === i ? -label : label)) });
  const remove = (i) => {
    if (count() < 2) return;
    const without = (list) => list.filter((_, j) => j !== i);
    fig.set({ X: without(fig.get("X")), y: without(fig.get("y")) });
    stop = Math.min(i, count() - 1);
    if (layer.node().contains(layer.node().getRootNode().activeElement)) focusOn(stop);
    else choose(null);
  };
  const add = (x, y, label) => {
    if (count() >= limit) return;
    fig.set({ X: [...fig.get("X"), inside(plane, x, y).map(round)], y: [...fig.get("y"), label] });
    focusOn(count() - 1);
  };

  const text = (i) => {
    const [a, b] = fig.get("X")[i];
    return `Point ${i + 1} of ${count()}, label ${signed(fig.get("y")[i])}, at ${format(a)}, ${format(b)}${describe(i)}`;
  };
  const mark = () => {
    drawn.forEach((node, i) => {
      node.setAttribute("tabindex", i === stop ? 0 : -1);
      node.classList.toggle("is-chosen", i === chosen);
    });
    help.textContent = chosen === null
      ? "Drag a point, or select it and press where it should go. Keys: arrows move, F flips, Delete removes."
      : `Point ${chosen + 1} is selected: press where it should go, or use the arrow keys.`;
  };

  function onKey(event, node) {
    const i = chosen ?? index(node);
    const go = (j) => focusOn((j + count()) % count());
    const step = arrowStep(plane, event);
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step) move(i, fig.get("X")[i][0] + step[0], fig.get("X")[i][1] + step[1]);
    else if (key === "n" || key === "PageDown") go(i + 1);
    else if (key === "p" || key === "PageUp") go(i - 1);
    else if (key === "f" || key === " ") flip(i);
    else if (key === "Delete" || key === "Backspace") remove(i);
    else if (key === "Enter") add(fig.get("X")[i][0] + 0.2, fig.get("X")[i][1] + 0.2, fig.get("y")[i]);
    else if (key === "Escape") choose(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Where the areas for the finger overlap, the point nearest to it is the one that is meant.
  const nearest = (px, py) => fig.get("X").reduce((best, [a, b], i) => {
    const distance = Math.hypot(plane.x(a) - px, plane.y(b) - py);
    return distance < best.distance ? { i, distance } : best;
  }, { i: 0, distance: Infinity }).i;
  const dragging = drag()
    .container(plane.inner)
    .clickDistance(3)
    .subject(({ x, y }) => {
      const i = nearest(x, y);
      const [a, b] = fig.get("X")[i];
      return { i, x: plane.x(a), y: plane.y(b), moved: false, again: chosen === i };
    })
    .on("start", ({ subject }) => {
      drawn[subject.i].focus({ preventScroll: true });
      choose(subject.i);
    })
    .on("drag", ({ subject, x, y }) => {
      subject.moved = true;
      move(subject.i, plane.x.invert(x), plane.y.invert(y));
    })
    .on("end", ({ subject }) => {
      if (!subject.moved && subject.again) choose(null);
    });

  const create = (enter) => enter.append(() => {
    const node = s("g", { class: "pf-point", role: "button", tabindex: -1, ...KEYS, on: {
      keydown: (event) => onKey(event, node),
      focus: () => { if (chosen !== index(node)) choose(index(node)); node.setAttribute("aria-label", text(index(node))); },
    } }, s("circle", { class: "pf-hit" }), s("circle", { class: "pf-ring", r: 10 }), s("path", { class: "pf-dot" }),
    s("circle", { class: "pf-core", r: 2.2 }));
    return node;
  }).call(dragging);

  plane.onPress((x, y) => { if (chosen !== null && chosen < count()) move(chosen, x, y); });

  const toolbar = h("div", { class: "pf-buttons" },
    button(fig, { label: "Add point", title: "Add a point in the middle of the plane, then put it where it should go",
      enabled: () => count() < limit,
      onClick: () => add((plane.x.domain()[0] + plane.x.domain()[1]) / 2, (plane.y.domain()[0] + plane.y.domain()[1]) / 2, 1) }),
    button(fig, { label: "Flip label", title: "Flip the label of the selected point", enabled: () => chosen !== null,
      onClick: () => flip(chosen) }),
    button(fig, { label: "Delete point", title: "Delete the selected point", enabled: () => chosen !== null && count() > 1,
      onClick: () => remove(chosen) }), help);

  return {
    toolbar,
    chosen: () => chosen,
    update(classOf = () => "") {
      const X = fig.get("X");
      const y = fig.get("y");
      if (chosen !== null && chosen >= X.length) chosen = null;
      stop = Math.min(stop, X.length - 1);
      const before = drawn.length;
      if (before !== X.length) drawn = layer.selectAll(".pf-point").data(X).join(create).nodes();
      if (before !== X.length) mark();
      if (awaited) drawn[chosen]?.focus();
      awaited = false;
      drawn.forEach((node, i) => {
        attr(node, "transform", `translate(${plane.x(X[i][0]).toFixed(2)},${plane.y(X[i][1]).toFixed(2)})`);
        attr(node, "class", `pf-point ${y[i] > 0 ? "is-plus" : "is-minus"} ${classOf(i)}${i === chosen ? " is-chosen" : ""}`);
        attr(node, "tabindex", i === stop ? 0 : -1);
        if (node.label !== y[i]) {
          node.label = y[i];
          node.querySelector(".pf-dot").setAttribute("d", SHAPES[y[i]]);
        }
        if (i === stop || !node.hasAttribute("aria-label")) attr(node, "aria-label", text(i));
      });
    },
  };
}
