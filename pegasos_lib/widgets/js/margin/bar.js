// The two terms of the objective as one stacked bar, with the least value beside it.
import { format, h } from "../ui.js";
import { tiny } from "./derive.js";

const ENDS = [0.02, 0.05, 0.1, 0.2, 0.5, 1.2, 2, 5, 10, 20, 50, 100, 1000, 1e4, 1e5, 1e6];

export function objectiveBar() {
  const norm = h("div", { class: "pm-bar-norm" });
  const hinge = h("div", { class: "pm-bar-hinge" });
  const least = h("div", { class: "pm-bar-least", hidden: true });
  const track = h("div", { class: "pm-bar", role: "img" }, norm, hinge, least);
  const end = h("span", {});
  const key = (name, text) => {
    const value = h("output", {});
    return { value, el: h("span", { class: `pm-key ${name}` }, h("i", { "aria-hidden": "true" }), text, " ", value) };
  };
  const normKey = key("is-norm", "λ/2 ‖w‖² =");
  const hingeKey = key("is-hinge", "mean hinge loss =");
  const total = h("output", { class: "pm-total" });
  const leastText = h("p", { class: "pf-panel-note" });
  const el = h("div", { class: "pf-panel pm-objective" },
    h("p", { class: "pf-panel-title" }, "The objective: P(w) = ", total),
    track, h("div", { class: "pm-scale" }, h("span", { text: "0" }), end),
    h("p", { class: "pm-keys" }, normKey.el, hingeKey.el), leastText);

  return {
    el,
    /** `best` is the minimum to show, or null; `guess` what the reader's w cost when it was asked for. */
    update(now, best, guess) {
      const biggest = Math.max(now.value, best ? best.value : 0);
      const scale = ENDS.find((e) => e >= biggest) ?? biggest;
      const share = (value) => `${Math.min(100, (100 * value) / scale).toFixed(3)}%`;
      norm.style.width = share(now.terms.norm);
      hinge.style.width = share(now.terms.hinge);
      least.hidden = !best;
      if (best) least.style.left = share(best.value);
      end.textContent = format(scale);
      total.textContent = format(now.value);
      normKey.value.textContent = format(now.terms.norm);
      hingeKey.value.textContent = format(now.terms.hinge);
      track.setAttribute("aria-label", `P(w) ${format(now.value)}: norm term ${format(now.terms.norm)}, `
        + `hinge term ${format(now.terms.hinge)}${best ? `, least value ${format(best.value)}` : ""}`);
      if (!best) leastText.textContent = "The least value P(w*) is hidden: place w where you think it is, then compare.";
      else {
        const above = (value) => `${format(Math.max(0, tiny(value - best.value)))} above it`;
        const still = guess !== null && guess === now.value;
        leastText.textContent = `Least value P(w*) = ${format(best.value)} (the mark); your ${still ? "guess" : "w"} is ${above(now.value)}.`
          + (guess === null || still ? "" : ` Your guess was ${above(guess)}.`);
      }
    },
  };
}
