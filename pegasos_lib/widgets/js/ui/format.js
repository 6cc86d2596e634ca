import { format as d3format } from "../d3.js";

const short = d3format(".3~g");
const scientific = d3format(".2~e");

/** A number in about three digits, with a true minus sign; powers of ten for the very small and large. */
export function format(value) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "undefined";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e5)) return tenth(scientific(value));
  return short(Math.abs(value) < 1e-12 ? 0 : value).replace(/e([+−-]\d+)$/, (_, power) => superscript(power));
}

const tenth = (text) => text.replace(/e([+−-]?\d+)$/, (_, power) => superscript(power));
const superscript = (power) =>
  `·10${[...power.replace("+", "")].map((c) => (c === "−" || c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("")}`;

/** "+1" or "−1". */
export const signed = (label) => (label > 0 ? "+1" : "−1");

/** Increasing integers from 1 to `last`, all of the first ones, then log-spaced: at most about `many`. */
export function logSpaced(last, many = 240) {
  const out = [];
  for (let t = 1; t < last; t = Math.max(t + 1, Math.round(t * last ** (1 / many)))) out.push(t);
  out.push(last);
  return out;
}
