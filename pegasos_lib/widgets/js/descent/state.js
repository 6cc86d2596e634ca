import { SEEDS, named, oneOf, whole, within } from "../ui/clean.js";
import { FUNCTIONS } from "./functions.js";

export const LIMITS = { reach: 4, c: [1e-3, 10], gamma: [0.05, 0.95], eps: [1e-6, 1], n_iter: [1, 200] };
export const FUNCTION_TEXTS = Object.entries(FUNCTIONS).map(([key, { name }]) => [key, name]);
export const DIRECTION_TEXTS = [
  ["steepest", "steepest: −g"], ["coordinate", "one coordinate in turn"], ["exact", "one coordinate, to its least"],
  ["sampled", "one random term"],
];
export const RULE_TEXTS = [
  ["constant", "c, constant"], ["inverse-time", "c/t"], ["inverse-sqrt", "c/√t"],
  ["backtracking", "backtracking, as printed"], ["armijo", "backtracking, Armijo"],
];

export const DEFAULTS = {
  function: "valley", start: FUNCTIONS.valley.start, direction: "steepest", rule: "constant", c: 0.09, gamma: 0.5,
  eps: 0.01, n_iter: 100, t: 6, seed: 1,
};

/** Put right what a link or a trait may hold wrongly; a start that is right stays the same object. */
export function clean(state) {
  const name = oneOf(state.function, named(FUNCTION_TEXTS), DEFAULTS.function);
  const direction = oneOf(state.direction, named(DIRECTION_TEXTS), DEFAULTS.direction);
  const n_iter = whole(state.n_iter, LIMITS.n_iter, DEFAULTS.n_iter);
  const { start } = state;
  const pair = Array.isArray(start) && start.length === 2 && start.every(Number.isFinite);
  const inside = pair && start.every((x) => Math.abs(x) <= LIMITS.reach);
  return {
    function: name,
    start: inside ? start : pair ? start.map((x) => within(x, [-LIMITS.reach, LIMITS.reach])) : FUNCTIONS[name].start,
    direction: direction === "sampled" && !FUNCTIONS[name].terms ? "steepest" : direction,
    rule: oneOf(state.rule, named(RULE_TEXTS), DEFAULTS.rule),
    c: within(state.c, LIMITS.c, DEFAULTS.c),
    gamma: within(state.gamma, LIMITS.gamma, DEFAULTS.gamma),
    eps: within(state.eps, LIMITS.eps, DEFAULTS.eps),
    n_iter,
    t: whole(state.t, [0, n_iter], 0),
    seed: whole(state.seed, SEEDS, DEFAULTS.seed),
  };
}
