import { mulberry32 } from "../engine.js";

const round = (value) => Math.round(value * 100) / 100;

// Standard normal numbers by Box and Muller's method.
function normals(seed) {
  const next = mulberry32(seed);
  const uniform = () => (next() + 0.5) / 2 ** 32;
  return { uniform, normal: () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()) };
}

const blobs = (distance, spread, flipped) => (i, label, { uniform, normal }) => ({
  x: [label * distance + spread * normal(), label * distance * 0.6 + spread * normal()],
  label: uniform() < flipped ? -label : label,
});

const MAKERS = {
  blobs: blobs(0.9, 0.75, 0),
  separable: blobs(1.3, 0.4, 0),
  flipped: blobs(1.1, 0.5, 0.12),
  arcs: (i, label, { uniform, normal }) => {
    const angle = Math.PI * (0.08 + 0.84 * uniform());
    const [a, b] = [1.3 * Math.cos(angle) + label * 0.55, label * (1.3 * Math.sin(angle) - 0.35)];
    return { x: [a + 0.12 * normal(), b + 0.12 * normal()], label };
  },
  ring: (i, label, { uniform, normal }) => {
    const angle = 2 * Math.PI * uniform();
    const radius = (label > 0 ? 1.7 : 0.6) + 0.15 * normal();
    return { x: [radius * Math.cos(angle), radius * Math.sin(angle)], label };
  },
};

/** [name, text] of every toy data set. */
export const PRESETS = [
  ["blobs", "Two blobs that overlap"],
  ["separable", "Two blobs apart"],
  ["flipped", "Two blobs, some labels wrong"],
  ["arcs", "Two arcs"],
  ["ring", "A ring: no line separates it"],
];

/** The points {X, y} of a toy data set: n of them, half of each label, rounded to 0.01. */
export function presetPoints(name, n, seed = 1) {
  const random = normals(seed);
  const made = Array.from({ length: n }, (_, i) => MAKERS[name](i, i % 2 === 0 ? 1 : -1, random));
  return { X: made.map(({ x }) => x.map(round)), y: made.map(({ label }) => label) };
}
