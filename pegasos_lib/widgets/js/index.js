// The registry of figures, and how one is put on a page or into a live notebook.
//
// A figure is a module {kind, render({model, el})}; `model` is anywidget's, or pageModel's below.
import * as margin from "./margin.js";
import * as pegasos from "./pegasos.js";
import { showError } from "./ui/dom.js";
import { injectStyle } from "./ui/style.js";

const FIGURES = new Map([margin, pegasos].map((figure) => [figure.kind, figure]));

/** anywidget's model interface over a plain object, for a page without a kernel. */
export function pageModel(state) {
  const values = { ...state };
  const listeners = new Map();
  const of = (name) => {
    if (!listeners.has(name)) listeners.set(name, new Set());
    return listeners.get(name);
  };
  const emit = (name) => [...of(name)].forEach((listener) => listener());
  return {
    standalone: true,
    get: (key) => values[key],
    set(key, value) {
      const changes = typeof key === "string" ? { [key]: value } : key;
      const changed = Object.keys(changes).filter((name) => values[name] !== changes[name]);
      Object.assign(values, changes);
      changed.forEach((name) => emit(`change:${name}`));
      if (changed.length > 0) emit("change");
    },
    on: (name, listener) => void of(name).add(listener),
    off: (name, listener) => void of(name).delete(listener),
    save_changes() {},
  };
}

// Renders, or shows in the figure what went wrong: the fallback then stays.
function renderInto(kind, model, el) {
  try {
    injectStyle(el);
    el.classList.add("pegasos-figure");
    const figure = FIGURES.get(kind);
    if (!figure) throw new Error(`there is no figure of the kind "${kind}"`);
    return figure.render({ model, el });
  } catch (error) {
    showError(el, error);
    console.error(error);
    return () => {};
  }
}

/** What an anywidget module exports by default, for one kind of figure. */
export function widget(kind) {
  return { render: ({ model, el }) => renderInto(kind, model, el) };
}

/** Mount one element once; its children are the fallback, hidden as soon as the figure stands. */
export function mount(el) {
  if (el.dataset.mounted) return;
  el.dataset.mounted = "true";
  const fallback = document.createElement("div");
  fallback.className = "pf-fallback";
  fallback.append(...el.childNodes);
  el.append(fallback);
  let state;
  try {
    state = JSON.parse(el.dataset.state || "{}");
  } catch (error) {
    showError(el, error);
    return;
  }
  renderInto(el.dataset.figure, pageModel(state), el);
  fallback.hidden = el.querySelector(".pf-root") !== null;
}

/** Mount every figure of the page that is not mounted yet. */
export function mountAll(root = document) {
  root.querySelectorAll(".pegasos-figure[data-figure]").forEach(mount);
}

// A notebook imports this file as a module, where there is no current script and nothing to mount.
// A page may load it beside its first figure, which then lives while the rest is still being read.
if (typeof document !== "undefined" && document.currentScript) {
  mountAll();
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => mountAll());
}
