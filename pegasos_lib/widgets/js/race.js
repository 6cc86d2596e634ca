// The race figure: measured curves of seven optimizers on MNIST, read off at a marker, with w as a picture.
import { accuracyPanel, objectivePanel } from "./race/curves.js";
import {
  AXIS_TEXTS, clean, counted, DEFAULTS, derive, LAMS, missing, nearest, OPTIMIZERS, OUTPUT_TEXTS, percent, pictureOf, SET_TEXTS,
  subText, TASKS, TITLES, whole,
} from "./race/derive.js";
import css from "./race/style.css";
import { weightsPanel } from "./race/weights.js";
import { attr, createFigure, format, group, h, KEYS, readout, s, select, tasks, toggle, uid } from "./ui.js";

export const kind = "race";

const swatch = (name) => s("svg", { width: 30, height: 12, viewBox: "-15 -6 30 12", "aria-hidden": "true" },
  s("path", { class: `pf-line ra-${OPTIMIZERS.indexOf(name)}`, d: "M-14,0H14" }));

export function render({ model, el }) {
  let now = null;
  const guesses = { baseline: "", under: "", clock: "" };
  const fig = createFigure({
    model, el, kind, css, defaults: DEFAULTS, clean, draw, firstArguments: ["results"],
    title: "Seven optimizers on MNIST",
    lead: "The digit 0 (−1) against the rest (+1). These curves were measured, from several seeds each. GD and projected GD look at all "
      + "images in every iteration, the others at one.",
  });
  const results = () => model.get("results") ?? globalThis.PegasosData?.race;

  const place = (x) => fig.set({ at: now.focus.xs.iterations[nearest(now.focus.x, x)] });
  const objective = objectivePanel(fig, { onPlace: place });
  const accuracy = accuracyPanel(fig, { onPlace: place });
  const weights = weightsPanel();
  const marker = markerControl(fig, () => now);
  const table = markerTable();
  const known = readout("What is known of the minimisers");
  const measured = h("p", { class: "pf-help" });
  const empty = h("p", { class: "ra-missing", role: "status", hidden: true });

  weights.el.append(table.el);
  fig.panels.append(chooser(fig), objective.el, accuracy.el, weights.el);
  fig.playback.append(marker.el);
  fig.panels.classList.add("ra-panels");
  fig.summary.append(known.el, measured);
  fig.controls.classList.add("ra-controls");
  fig.controls.append(
    group("The problem",
      select(fig, { key: "lam", label: "λ", options: LAMS.map((lam) => [String(lam), String(lam)]) }),
      select(fig, { key: "feasible", label: "set", options: SET_TEXTS, title: "Where the iterates are kept" })),
    group("What is drawn",
      select(fig, { key: "output", label: "output", options: OUTPUT_TEXTS }),
      select(fig, { key: "axis", label: "against", options: AXIS_TEXTS })));
  fig.notes.append(goals());

  function goals() {
    const guess = (id, label, options) => select(fig, {
      label, value: "", options: [["", "choose first"], ...options.map((text) => [text, text])],
      onChange: (value) => {
        guesses[id] = value;
        fig.redrawSoon();
      },
    });
    const extras = {
      baseline: guess("baseline", "my guess: λ of task 1", LAMS.map(String)),
      under: guess("under", "my guess: λ of task 2", LAMS.map(String)),
      clock: guess("clock", "my guess: by the clock", ["batch", "online"]),
    };
    return tasks(fig, TASKS.map(({ check, ...task }) =>
      ({ ...task, extra: extras[task.id], check: () => check(fig.state(), now, guesses[task.id]) })));
  }

  /** Show the figure, or the sentence on what is missing; whether there is something to draw. */
  function present() {
    const why = missing(results());
    if (empty.textContent !== why) empty.textContent = why;
    empty.hidden = !why;
    [fig.panels, fig.playback, fig.summary, fig.controls, fig.notes, fig.toolbar].forEach((region) => { region.hidden = Boolean(why); });
    return !why;
  }

  function draw(changed) {
    if (!present()) return;
    const state = fig.state();
    now = derive(results(), state);
    const resized = changed === null;
    objective.draw(now, state, resized);
    accuracy.draw(now, state, resized);
    weights.draw(pictureOf(results(), state, state.focus), state);
    marker.draw();
    table.draw(now, state);
    known.update(numbersOf(now));
    measured.textContent = measuredText(results());
    fig.announce(sentenceOf(now, state));
    fig.checkTasks();
  }

  // Regions that were hidden have no width: they are shown before they are measured.
  const arrive = () => {
    present();
    fig.redraw(true);
  };
  model.on("change:results", arrive);
  fig.onDispose(() => model.off("change:results", arrive));
  present();
  const end = fig.start();
  fig.panels.before(empty);
  return end;
}

/** The optimizers that are drawn, with the samples of their lines: the figure's legend. */
function chooser(fig) {
  const boxes = OPTIMIZERS.map((name) => {
    const own = {
      get: () => fig.get("optimizers").includes(name),
      set: ({ [name]: on }) => {
        const others = fig.get("optimizers").filter((other) => other !== name);
        // The last one stays.
        if (on || others.length > 0) fig.set({ optimizers: on ? [...others, name] : others });
        else fig.redraw();
      },
      onRefresh: fig.onRefresh,
    };
    const box = toggle(own, { key: name, label: name, title: TITLES[name] });
    box.insertBefore(swatch(name), box.lastChild);
    return box;
  });
  return h("fieldset", { class: "pf-group ra-chooser" }, h("legend", { text: "Optimizers" }), ...boxes);
}

/** Which optimizer carries the marker, and where it stands, by keys or mouse. */
function markerControl(fig, now) {
  const id = uid();
  const chosen = {
    get: fig.get, onRefresh: fig.onRefresh,
    set: ({ focus }) => fig.set({ focus, optimizers: [...fig.get("optimizers"), focus] }),
  };
  const range = h("input", {
    id, type: "range", min: 0, step: 1, ...KEYS,
    on: { input: () => fig.set({ at: now().focus.xs.iterations[Number(range.value)] }) },
  });
  const said = h("output", { class: "ra-where", for: id });
  return {
    el: h("div", { class: "pf-playback", role: "group", "aria-label": "Marker" },
      select(chosen, { key: "focus", label: "marker on", options: OPTIMIZERS.map((name) => [name, name]) }),
      h("label", { for: id, text: "at" }), range, said),
    draw() {
      const { focus, marker } = now();
      const text = `${counted(marker.iterations)}, ${format(marker.time)} s`;
      attr(range, "max", focus.x.length - 1);
      range.value = marker.point;
      attr(range, "aria-valuetext", text);
      said.textContent = text;
    },
  };
}

const accuracyText = (value) => value.toFixed(4);

/** What all chosen optimizers have reached at the marker. */
function markerTable() {
  const caption = h("caption", {});
  const other = h("th", { scope: "col" });
  const head = h("tr", {}, h("td", {}), ...["P − least P", "band", "accuracy"].map((text) => h("th", { scope: "col", text })), other);
  const body = h("tbody", {});
  const cells = ({ when, sub, acc, iterations, time }, against) => [
    subText(sub.median), sub.low === sub.high ? "" : `${subText(sub.low, 2)} to ${subText(sub.high, 2)}`, accuracyText(acc.median),
    when === "before" ? "at w = 0" : `${against === "iterations" ? format(time) : whole(iterations)}${when === "ended" ? ", ended" : ""}`,
  ].map((text) => h("td", { text }));
  return {
    el: h("div", { class: "ra-table", tabindex: 0, ...KEYS, role: "group", "aria-label": "Table of what is reached at the marker" },
      h("table", {}, caption, h("thead", {}, head), body)),
    draw({ rows, marker }, { axis }) {
      const where = { iterations: counted(marker.iterations), passes: `${format(marker.passes)} passes`, time: `${format(marker.time)} s` }[axis];
      caption.textContent = `At the marker, after ${where}`;
      other.textContent = axis === "iterations" ? "seconds" : "iterations";
      body.replaceChildren(...rows.map((row) => h("tr", {}, h("th", { scope: "row" }, swatch(row.name), row.name), ...cells(row, axis))));
    },
  };
}

function numbersOf({ optimum, baseline }) {
  const { free, l1 } = optimum;
  return [
    ["least P, at w*", format(free.P)],
    ["test error of w*", percent(free.test_error, 2)],
    ["training error of w*", percent(free.train_error, 2)],
    ["least P in the l1 ball", format(l1.P)],
    ["test error there", percent(l1.test_error, 2)],
    ["training error there", percent(l1.train_error, 2)],
    ["error of always +1", percent(1 - baseline, 2)],
  ];
}

const measuredText = ({ n, n_test, d, seeds, bands, radius }) =>
  `Measured on ${whole(n)} training and ${whole(n_test)} test images of ${d} pixels; the l1 ball has radius ${radius}. Lines are medians over ${seeds} seeds, bands the ${bands}; `
    + "GD and projected GD draw nothing, so they have none.";

function sentenceOf({ rows, focus, marker, baseline }, { lam }) {
  const { sub, acc } = rows.find(({ name }) => name === focus.name);
  const best = rows.reduce((a, b) => (b.sub.median < a.sub.median ? b : a));
  return `λ = ${lam}. Marker after ${counted(marker.iterations)} of ${focus.name}: ${subText(sub.median)} above the least value, `
    + `test accuracy ${accuracyText(acc.median)}; always +1 has ${accuracyText(baseline)}.`
    + (rows.length > 1 ? ` Lowest there is ${best.name} with ${subText(best.sub.median)}.` : "");
}
