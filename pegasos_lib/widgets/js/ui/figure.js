import { button } from "./controls.js";
import { h, showError } from "./dom.js";
import { linkButton, stateFromHash } from "./link.js";
import { injectStyle } from "./style.js";

const REDRAW = "redraw";

/**
 * The frame of a figure: its state over `model`, its regions, and when it draws.
 *
 * `defaults`: every input key and what it is when the page does not say. `clean(state)`: the same
 * keys with what cannot be (a bad link, an odd trait) put right. `draw(changed)`: draws everything
 * from `fig.get(key)`; `changed` is the Set of keys set since the last draw (null: draw it all).
 * `css` is the figure's own style; `firstArguments` are names that stand first in the call that gives its state. Every draw leaves the performance measure "pegasos-figure:redraw" (`<kind>-figure:redraw`).
 */
export function createFigure({ model, el, kind, title, lead, css, defaults, clean, draw, firstArguments = [] }) {
  const keys = Object.keys(defaults);
  const region = (name, attributes = {}) => h("div", { class: `pf-${name}`, ...attributes });
  const live = h("p", { class: "pf-live", role: "status", "aria-live": "polite" });
  const fig = {
    model, el, kind, defaults, firstArguments,
    panels: region("panels"),
    playback: region("player"),
    summary: region("summary"),
    controls: region("controls"),
    notes: region("notes"),
    toolbar: region("toolbar"),
    root: h("section", { class: "pf-root", "aria-label": title }),
  };
  let changed = new Set();
  let frame = 0;
  let announcing = 0;
  let own = false; // while the figure itself sets the model
  const measures = [];
  const refreshers = [];
  const cleanups = [];

  const read = () => Object.fromEntries(keys.map((key) => [key, model.get(key) ?? defaults[key]]));
  let state = clean({ ...defaults, ...read() });
  const initial = { ...state };

  fig.get = (key) => state[key];
  fig.state = () => ({ ...state });
  fig.initial = initial;

  /** Set some keys: the page's state and the kernel's traits follow, one draw comes with the next frame. */
  fig.set = (changes) => {
    const before = state;
    state = clean({ ...before, ...changes });
    for (const key of keys) if (state[key] !== before[key]) changed.add(key);
    if (changed.size > 0) schedule();
    own = true;
    for (const key of keys) if (state[key] !== before[key]) model.set(key, state[key]);
    own = false;
    // At once: an echo of the kernel that comes between `set` and a later save would undo the set.
    // ipywidgets itself holds messages back while one is on its way.
    model.save_changes();
  };
  fig.reset = () => fig.set(initial);
  /** Before everything is drawn anew, `measure` may read sizes: a read after a write lays the page out again. */
  fig.onMeasure = (measure) => measures.push(measure);
  fig.onRefresh = (refresh) => refreshers.push(refresh);
  fig.onDispose = (cleanup) => cleanups.push(cleanup);

  /** Tell a screen reader, once things have come to rest. */
  fig.announce = (text) => {
    clearTimeout(announcing);
    announcing = setTimeout(() => { live.textContent = text; }, 500);
  };

  fig.redraw = (all = false) => {
    cancelAnimationFrame(frame);
    frame = 0;
    const keysDrawn = all ? null : changed;
    changed = new Set();
    const start = performance.now();
    try {
      if (all) measures.forEach((measure) => measure());
      refreshers.forEach((refresh) => refresh(state));
      draw(keysDrawn);
      el.querySelector(":scope > .pf-error")?.remove();
    } catch (error) {
      showError(el, error);
      console.error(error);
    }
    performance.measure(`${kind}-figure:${REDRAW}`, { start, end: performance.now() });
  };
  const schedule = () => { frame ||= requestAnimationFrame(() => fig.redraw()); };
  /** Ask for a draw, when something outside the state changed. */
  fig.redrawSoon = schedule;

  for (const key of keys) {
    const follow = () => {
      if (own) return;
      const next = clean(read());
      for (const name of keys) if (next[name] !== state[name]) changed.add(name);
      state = next;
      schedule();
    };
    model.on(`change:${key}`, follow);
    cleanups.push(() => model.off(`change:${key}`, follow));
  }

  /** Put the figure on the page and draw it for the first time; returns the clean-up for anywidget. */
  fig.start = () => {
    const restore = () => {
      const linked = stateFromHash(fig);
      if (!linked) return;
      fig.set({ ...initial, ...linked });
      el.scrollIntoView({ block: "start" });
    };
    fig.toolbar.append(
      button(fig, { label: "Reset", title: "Put everything back as it was at the start", onClick: fig.reset }),
      linkButton(fig),
    );
    if (title) fig.root.append(h("p", { class: "pf-title", text: title }));
    if (lead) fig.root.append(h("p", { class: "pf-lead", text: lead }));
    fig.root.append(fig.panels, fig.playback, fig.summary, fig.controls, fig.notes, fig.toolbar, live);
    el.append(fig.root);
    if (css) injectStyle(el, kind, css);
    const resize = new ResizeObserver(([entry]) => {
      const width = Math.round(entry.contentRect.width);
      if (width === fig.width || width === 0) return;
      fig.width = width;
      fig.redraw(true);
    });
    fig.width = Math.round(el.clientWidth);
    fig.redraw(true);
    resize.observe(fig.root);
    if (model.standalone) {
      restore();
      addEventListener("hashchange", restore);
      cleanups.push(() => removeEventListener("hashchange", restore));
    }
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(announcing);
      resize.disconnect();
      cleanups.forEach((cleanup) => cleanup());
      fig.root.remove();
    };
  };
  return fig;
}
