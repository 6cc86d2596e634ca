import { clamp } from "./clean.js";
import { button } from "./controls.js";
import { attr, h, KEYS, reducedMotion, uid } from "./dom.js";

/**
 * Play, step forward, step back and a scrubber over the integer key `key`, 0..max().
 * Play goes faster as it goes on, so that the picture moves evenly on a logarithmic axis; for a
 * reader who asked for less motion it makes one larger move a second.
 */
export function playback(fig, { key, max, label }) {
  const id = uid();
  let timer = 0;
  const go = (t) => fig.set({ [key]: clamp(t, 0, max()) });
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "▶ Play";
    play.setAttribute("aria-pressed", "false");
  };
  const start = () => {
    if (fig.get(key) >= max()) go(0);
    const calm = reducedMotion();
    const faster = calm ? 1.8 : 1.04;
    timer = setInterval(() => {
      const t = fig.get(key);
      if (t >= max()) stop();
      else go(Math.max(t + 1, Math.floor(t * faster)));
    }, calm ? 1000 : 120);
    play.textContent = "⏸ Pause";
    play.setAttribute("aria-pressed", "true");
  };
  const play = button(fig, { label: "▶ Play", kind: "pf-primary", enabled: () => max() > 0, onClick: () => (timer ? stop() : start()) });
  const back = button(fig, { label: "◀ Back", title: "One step back", enabled: () => fig.get(key) > 0,
    onClick: () => { stop(); go(fig.get(key) - 1); } });
  const step = button(fig, { label: "Step ▶", title: "One step forward", enabled: () => fig.get(key) < max(),
    onClick: () => { stop(); go(fig.get(key) + 1); } });
  const scrubber = h("input", { id, type: "range", min: 0, step: 1, ...KEYS, on: {
    input: () => { stop(); go(Number(scrubber.value)); },
  } });
  const shown = h("output", { class: "pf-count", for: id });
  play.setAttribute("aria-pressed", "false");
  fig.onRefresh(() => {
    attr(scrubber, "max", max());
    scrubber.value = fig.get(key);
    attr(scrubber, "aria-valuetext", `${fig.get(key)} of ${max()}`);
    shown.textContent = `${fig.get(key)} / ${max()}`;
  });
  fig.onDispose(stop);
  return h("div", { class: "pf-playback", role: "group", "aria-label": "Playback" },
    play, back, step, h("label", { for: id, text: label }), scrubber, shown);
}

/** A list of [term, value] pairs that the reader can read off; `update(pairs)` fills it. */
export function readout(label) {
  const list = h("dl", { class: "pf-readout", "aria-label": label });
  const cells = new Map();
  return {
    el: list,
    update(pairs) {
      for (const [term, value] of pairs) {
        if (!cells.has(term)) {
          const cell = h("dd", {});
          cells.set(term, cell);
          list.append(h("div", {}, h("dt", { text: term }), cell));
        }
        if (cells.get(term).textContent !== value) cells.get(term).textContent = value;
      }
    },
  };
}
