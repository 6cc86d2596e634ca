// What all figures share, as one script: the registry, how a figure is put on a page or into a live notebook, the frame
// (ui.js), the mathematics (engine.js) and D3. Each figure has a script of its own, which takes these from here.
//
// A figure is a module {kind, render({model, el})}; `model` is anywidget's, or pageModel's below.
import { showError } from "./ui/dom.js";
import { injectStyle } from "./ui/style.js";

export * as d3 from "./d3.js";
export * as engine from "./engine.js";
export * as ui from "./ui.js";

const FIGURES = new Map();

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

/** Make a figure known; its script does this. On a page it then lives, while the rest may still be read. */
export function register(figure) {
  FIGURES.set(figure.kind, figure);
  // A notebook imports the scripts as a module, where there is no current script and nothing to mount.
  if (typeof document !== "undefined" && document.currentScript) mountAll(`[data-figure="${figure.kind}"]`);
}

/** Mount the figures of the page that are not mounted yet. */
export function mountAll(among = "[data-figure]") {
  document.querySelectorAll(`.pegasos-figure${among}`).forEach(mount);
}

// Figures further down the page, and those that no script knows, which then say so.
if (typeof document !== "undefined" && document.currentScript) {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => mountAll());
  else setTimeout(mountAll);
}
