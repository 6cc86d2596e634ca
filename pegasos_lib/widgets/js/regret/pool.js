// The pool of examples with the learner's line, where a reader who is the stream sends the next one.
import { attr, format, h, KEYS, legend, lineOf, plane, s, signed } from "../ui.js";

const CIRCLE = "M-4.7,0a4.7,4.7 0 1,0 9.4,0a4.7,4.7 0 1,0 -9.4,0";
const DIAMOND = "M0,-5.8L5.8,0L0,5.8L-5.8,0Z";
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const REACH = 28; // pixels that a press may lie away from an example

/** The panel; `onSend(i)` is told of the example that the reader sends. */
export function poolPanel(fig, { onSend }) {
  const p = plane(fig, { title: "The pool and the learner", xLabel: "x₁", yLabel: "x₂", role: "group" });
  const under = p.layer("lines").attr("aria-hidden", "true");
  const path = (name) => under.append("path").attr("class", `pf-line ${name}`).node();
  const [before, ...margins] = [path("rg-before"), path("rg-margin"), path("rg-margin")];
  const now = path("rg-now");
  const layer = p.layer("pool").attr("role", "group").attr("aria-label",
    "Examples. The arrow keys go to the next one in their direction, N and P through all, Enter sends it.");
  const help = h("p", { class: "pf-help" });
  p.el.append(legend([["rg-now", "line of w now, margins beside it"], ["rg-before", "before this step"]]),
    h("ul", { class: "pf-legend" }, ...[
      ["+1", "rg-example", CIRCLE], ["−1", "rg-example is-minus", DIAMOND], ["no loss at w now", "rg-example is-idle", CIRCLE],
      ["came in this step", "rg-ring", "M-8,0a8,8 0 1,0 16,0a8,8 0 1,0 -16,0"],
    ].map(([text, name, d]) => h("li", {}, s("svg", { width: 20, height: 20, viewBox: "-10 -10 20 20", "aria-hidden": "true" },
      s("path", { class: name, d })), text))), help);

  let nodes = [];
  let stop = 0; // the example that Tab reaches
  let yours = false;
  const focusOn = (i) => {
    stop = i;
    nodes.forEach((node, j) => attr(node, "tabindex", j === stop ? 0 : -1));
    nodes[i].focus();
  };
  // The nearest example in a direction, where what lies aside counts double.
  const beside = (i, [dx, dy]) => {
    const X = fig.get("X");
    let [best, least] = [i, Infinity];
    X.forEach(([a, b], j) => {
      const [u, v] = [a - X[i][0], b - X[i][1]];
      const ahead = u * dx + v * dy;
      const cost = ahead + 2 * Math.abs(u * dy - v * dx);
      if (ahead > 1e-9 && cost < least) [best, least] = [j, cost];
    });
    return best;
  };
  const onKey = (event, i) => {
    if (!yours || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    const n = fig.get("X").length;
    if (ARROWS[event.key]) focusOn(beside(i, ARROWS[event.key]));
    else if (key === "n") focusOn((i + 1) % n);
    else if (key === "p") focusOn((i + n - 1) % n);
    else if (key === "enter" || key === " ") onSend(i);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  p.svg.addEventListener("click", (event) => {
    if (!yours) return;
    const [x, y] = p.at(event).map((value, j) => (j === 0 ? p.x(value) : p.y(value)));
    const far = fig.get("X").map(([a, b]) => Math.hypot(p.x(a) - x, p.y(b) - y));
    const nearest = far.indexOf(Math.min(...far));
    if (far[nearest] > REACH) return;
    focusOn(nearest);
    onSend(nearest);
  });

  const create = (_, i) => {
    const node = s("g", { class: "rg-point", ...KEYS, on: { keydown: (event) => onKey(event, i) } },
      s("circle", { class: "pf-hit" }), s("circle", { class: "rg-ring", r: 9 }), s("path", { class: "rg-example" }),
      s("text", { class: "pf-mark-label", y: -6 }));
    return node;
  };

  return {
    el: p.el,
    draw(state, run, t, resized) {
      if (resized) p.resize();
      const { X, y, stream } = state;
      const far = Math.ceil(2.2 * Math.max(1, ...X.flat().map(Math.abs))) / 2;
      p.view([-far, far], [-far, far]);
      const w = run.iterate(t);
      attr(now, "d", lineOf(p, w, 0));
      margins.forEach((node, j) => attr(node, "d", lineOf(p, w, 2 * j - 1)));
      attr(before, "d", t > 0 ? lineOf(p, run.iterate(t - 1), 0) : "");

      const [losses, counts] = [run.lossesAt(t), run.countsAt(t)];
      yours = stream === "you";
      stop = Math.min(stop, X.length - 1);
      if (nodes.length !== X.length) {
        layer.node().replaceChildren(...X.map(create));
        nodes = [...layer.node().children];
      }
      layer.classed("is-yours", yours).attr("aria-hidden", yours ? null : "true");
      nodes.forEach((node, i) => {
        attr(node, "transform", `translate(${p.x(X[i][0]).toFixed(2)},${p.y(X[i][1]).toFixed(2)})`);
        attr(node, "class", `rg-point ${t > 0 && run.draws[t - 1] === i ? "is-sent" : ""}`);
        const [, , shape, count] = node.children;
        attr(shape, "class", `rg-example ${y[i] > 0 ? "" : "is-minus"} ${losses[i] > 0 ? "" : "is-idle"}`);
        attr(shape, "d", y[i] > 0 ? CIRCLE : DIAMOND);
        const times = counts[i] > 0 ? `${counts[i]}×` : "";
        if (count.textContent !== times) count.textContent = times;
        const right = p.x(X[i][0]) > p.width - 40;
        attr(count, "text-anchor", right ? "end" : "start");
        attr(count, "x", right ? -11 : 11);
        if (!yours) {
          for (const name of ["role", "tabindex", "aria-label"]) node.removeAttribute(name);
          return;
        }
        attr(node, "role", "button");
        attr(node, "tabindex", i === stop ? 0 : -1);
        attr(node, "aria-label", `Send example ${i + 1}, label ${signed(y[i])}, at ${X[i].map(format).join(", ")}: `
          + `its loss is ${format(losses[i])} now, it came ${counts[i]} times`);
      });
      const came = t > 0 ? `example ${run.draws[t - 1] + 1} came in step ${t} and cost ${format(run.paid[t - 1])}` : "no example has come";
      p.describe(came);
      p.note(`${came[0].toUpperCase()}${came.slice(1)}. A number like 5× says how often an example has come.`);
      help.textContent = yours ? "Press the example that is to come next; or reach it by Tab and the arrow keys, and send it by Enter." : "";
    },
  };
}
