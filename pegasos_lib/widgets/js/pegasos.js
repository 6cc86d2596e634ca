import { createFigure } from "./ui.js";

export const kind = "pegasos";

/** First light: replaced by the figure itself. */
export function render({ model, el }) {
  return createFigure({ model, el, kind, title: "Pegasos", defaults: { lam: 0.1 }, clean: (s) => s, draw() {} }).start();
}
