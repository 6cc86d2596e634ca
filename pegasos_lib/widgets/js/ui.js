// What the figures share. A figure module builds itself from these and draws in one function:
//
//   import { createFigure, slider, select, toggle, button, group, plane, editablePoints, handle,
//            playback, readout, tasks, h, format } from "./ui.js";
//   export const kind = "margin";
//   export function render({ model, el }) {
//     const fig = createFigure({ model, el, kind, title, lead, defaults, clean, draw: (changed) => {...} });
//     const data = plane(fig, { title: "Data", xLabel: "x₁", yLabel: "x₂" });   // a square SVG panel
//     fig.panels.append(data.el);                    // .panels is a grid; .controls and .notes below
//     fig.controls.append(group("Problem", slider(fig, { key: "lam", label: "λ", min: 1e-4, max: 10, log: true })));
//     ...
//     return fig.start();                            // first draw; returns the clean-up function
//   }
//
// createFigure  state (get, set, reset), one coalesced draw per frame, live region, link, errors
// controls      slider, number, select, toggle, button, group: each follows the state by itself
// clamp, within, ...  what a link or a trait may hold wrongly, put right
// plane         SVG panel with axes, zoom to a domain, layers, responsive to its container
// editablePoints / handle   drag by mouse and touch, arrows by keyboard, select-then-press
// legend        what the lines and marks of a panel mean
// playback, readout, tasks  play/step/back over a key; text of what is shown; goals with detection
export { attr, h, KEYS, s, uid, showError, reducedMotion } from "./ui/dom.js";
export { clamp, named, oneOf, rightPoints, SEEDS, whole, within } from "./ui/clean.js";
export { createFigure } from "./ui/figure.js";
export { slider, number, select, toggle, button, group, virtual } from "./ui/controls.js";
export { lineOf, plane } from "./ui/plane.js";
export { editablePoints, handle } from "./ui/points.js";
export { playback, readout } from "./ui/playback.js";
export { tasks } from "./ui/tasks.js";
export { legend, runSwatch, STAR, TRIANGLE } from "./ui/legend.js";
export { format, signed, logSpaced } from "./ui/format.js";
export { PRESETS, presetPoints } from "./ui/presets.js";
