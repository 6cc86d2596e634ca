// What a link or a trait may hold wrongly, put right.

export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/** A number between two limits; what is no number becomes `otherwise`. */
export const within = (value, [low, high], otherwise) => (Number.isFinite(value) ? clamp(value, low, high) : otherwise);

/** A whole number between two limits. */
export const whole = (value, limits, otherwise) => Math.round(within(value, limits, otherwise));

/** One of some names. */
export const oneOf = (value, names, otherwise) => (names.includes(value) ? value : otherwise);

/** The names in a list of [name, text]. */
export const named = (texts) => texts.map(([name]) => name);

export const SEEDS = [0, 2 ** 31 - 1];

/** The points {X, y} of `state` if there are 1 to `most`, in the plane and with labels -1 and +1; else those of `defaults`. */
export function rightPoints(state, defaults, most, reach = 1000) {
  const { X, y } = state;
  const right = X.length > 0 && X.length <= most && X.length === y.length
    && X.every((row) => row.length === 2 && row.every((value) => Math.abs(value) <= reach))
    && y.every((label) => Math.abs(label) === 1);
  return right ? { X, y } : { X: defaults.X, y: defaults.y };
}
