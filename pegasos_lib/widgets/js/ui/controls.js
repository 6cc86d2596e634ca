import { clamp } from "./clean.js";
import { attr, h, KEYS, uid } from "./dom.js";
import { format } from "./format.js";

const field = (label, id, control, { title, extra } = {}) =>
  h("div", { class: "pf-field", title }, h("label", { for: id, text: label }), control, extra);

const digits = (value) => String(Number(value.toPrecision(3)));

/** What these take for a figure, over numbers that are computed from its state: {key: {get, set}}. */
export const virtual = (fig, values) => ({
  get: (key) => values[key].get(),
  set: (changes) => Object.entries(changes).forEach(([key, value]) => values[key].set(value)),
  onRefresh: fig.onRefresh,
});

/**
 * A slider with a number beside it that takes any value in the range. `log`: decades are equally
 * long, and an arrow key moves by a twentieth of one. `max` may be a function of no argument.
 */
export function slider(fig, { key, label, min, max, step = 1, log = false, title, spoken = format }) {
  const id = uid();
  const to = log ? Math.log10 : Number;
  const from = log ? (position) => Number((10 ** position).toPrecision(3)) : Number;
  const most = typeof max === "function" ? max : () => max;
  const inside = (value) => clamp(value, min, most());
  const range = h("input", {
    id, type: "range", ...KEYS, min: to(min), step: log ? 0.05 : step,
    on: { input: () => fig.set({ [key]: inside(from(Number(range.value))) }) },
  });
  const entry = h("input", {
    type: "number", ...KEYS, "aria-label": `${label}, as a number`, min, step: log ? "any" : step,
    on: { change: () => (entry.value === "" ? show() : fig.set({ [key]: inside(Number(entry.value)) })) },
  });
  const show = () => {
    const value = fig.get(key);
    attr(range, "max", to(most()));
    attr(entry, "max", most());
    range.value = to(value);
    attr(range, "aria-valuetext", spoken(value));
    if (entry !== entry.getRootNode().activeElement || Number(entry.value) !== value) entry.value = digits(value);
  };
  fig.onRefresh(show);
  return field(label, id, range, { title, extra: entry });
}

/** A field for a number alone. */
export function number(fig, { key, label, min, max, step = 1, title }) {
  const id = uid();
  const entry = h("input", {
    id, type: "number", ...KEYS, min, max, step,
    on: { change: () => {
      if (entry.value === "") show();
      else fig.set({ [key]: clamp(Number(entry.value), min, max) });
    } },
  });
  const show = () => { entry.value = String(fig.get(key)); };
  fig.onRefresh(show);
  return field(label, id, entry, { title });
}

/** A choice among [value, text] pairs. Without `key` it is a local choice: give `value` and `onChange`. */
export function select(fig, { key, label, options, title, value, onChange }) {
  const id = uid();
  const control = h("select", {
    id, ...KEYS, on: { change: () => (key ? fig.set({ [key]: control.value }) : onChange(control.value)) },
  }, ...options.map(([name, text]) => h("option", { value: name, text })));
  if (key) fig.onRefresh(() => { control.value = fig.get(key); });
  else control.value = value;
  return field(label, id, control, { title });
}

/** A check box for a true/false key. */
export function toggle(fig, { key, label, title }) {
  const box = h("input", { type: "checkbox", ...KEYS, on: { change: () => fig.set({ [key]: box.checked }) } });
  fig.onRefresh(() => { box.checked = fig.get(key); });
  return h("label", { class: "pf-toggle", title }, box, h("span", { text: label }));
}

/** A button; `enabled` is asked at every draw. One that is off keeps the focus and says that it is off. */
export function button(fig, { label, title, onClick, enabled, name, kind = "" }) {
  const control = h("button", {
    type: "button", class: `pf-button ${kind}`, ...KEYS, title, "aria-label": name, text: label,
    on: { click: () => { if (!enabled || enabled()) onClick(); } },
  });
  if (enabled) fig.onRefresh(() => attr(control, "aria-disabled", !enabled()));
  return control;
}

/** Controls that belong together, under a legend. */
export function group(legend, ...controls) {
  return h("fieldset", { class: "pf-group" }, h("legend", { text: legend }), ...controls);
}
