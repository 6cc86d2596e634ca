import { button, format, group, h, select, slider, tasks } from "../ui.js";
import { AVERAGE_TEXTS, SETTINGS } from "./state.js";

const times = (a, b) => Math.max(a, b) / Math.min(a, b);

/**
 * Predict, then look: hides the current curve until the reader has placed a guess of P - P* after
 * the last step, with the slider or by pressing on the plot.
 */
export function prediction(fig) {
  let phase = "off"; // "off", "placing", "shown"
  let guess = 0.1;
  let settled = "";
  const said = h("p", { class: "pf-said", role: "status" });
  // The slider speaks to the figure as to a state of its own: a guess is no input of the run.
  const own = {
    get: () => guess,
    set: (changes) => { guess = changes.guess; fig.redrawSoon(); },
    onRefresh: fig.onRefresh,
  };
  const place = slider(own, { key: "guess", label: "My guess", min: 1e-6, max: 1e3, log: true,
    title: "P − P* after the last step: also by pressing on the plot" });
  const begin = () => {
    phase = "placing";
    said.textContent = "The curve is hidden. Choose λ and the rest, place your guess of P − P* after the last step, then reveal.";
    fig.redrawSoon();
  };
  const reveal = () => {
    phase = "shown";
    fig.redrawSoon();
  };
  const start = button(fig, { label: "Hide the curve and guess", onClick: begin });
  const show = button(fig, { label: "Reveal", kind: "pf-primary", enabled: () => phase === "placing", onClick: reveal });
  fig.onRefresh(() => { place.hidden = phase === "off"; });

  const el = group("Predict, then look", h("div", { class: "pf-buttons is-row" }, start, show), place, said);
  el.classList.add("is-half");
  return {
    el,
    get hidden() { return phase === "placing"; },
    get guess() { return phase === "off" ? null : guess; },
    /** Take a press on the plot as the guess; false when none is being made. */
    take(value) {
      if (phase !== "placing") return false;
      guess = Number(Math.min(1e3, Math.max(1e-6, value)).toPrecision(3));
      fig.redrawSoon();
      return true;
    },
    /** Say how far the guess was, and forget it once the run is another one. */
    follow(run) {
      const now = JSON.stringify(run.settings);
      if (phase === "shown" && settled && settled !== now) {
        phase = "off";
        settled = "";
        said.textContent = "";
      } else if (phase === "shown" && !settled) {
        settled = now;
        const truth = Math.max(run.finalGap, 1e-12);
        const verdict = times(guess, truth) < 1.05 ? "right on the spot" : `${format(times(guess, truth))} times too ${guess > truth ? "high" : "low"}`;
        said.textContent = `You guessed ${format(guess)}; it is ${format(truth)}: ${verdict}.`;
      } else if (phase === "placing") settled = "";
    },
  };
}

const differOnlyIn = (a, b, key) => SETTINGS.every((name) => (name === key) !== (a[name] === b[name]));

/** The tasks of the figure; `current()` and `pinned()` give finished runs. */
export function goals(fig, { current, pinned, hidden }) {
  let favourite = "";
  const guess = select(fig, { label: "My guess", value: "", options: [["", "choose first"], ...AVERAGE_TEXTS],
    onChange: (value) => { favourite = value; fig.redrawSoon(); } });

  const underOptimised = () => {
    const { settings, finalGap, problem } = current();
    const epochs = (settings.n_iter * settings.batch_size) / problem.n;
    const counts = settings.step === "pegasos" && settings.average === "uniform" && epochs >= 10 && !hidden();
    return counts && finalGap > 0.1 &&
      `with λ = ${format(settings.lam)}, P(w̄) − P* is still ${format(finalGap)} after ${format(epochs)} epochs.`;
  };

  const projectionMatters = () => {
    for (const a of pinned()) {
      for (const b of pinned()) {
        if (!a.settings.project || b.settings.project || !differOnlyIn(a.settings, b.settings, "project")) continue;
        if (times(Math.max(a.finalGap, 1e-12), Math.max(b.finalGap, 1e-12)) < 2) continue;
        return `with the projection the run ends at ${format(a.finalGap)}, without it at ${format(b.finalGap)}.`;
      }
    }
    return false;
  };

  const bestAverage = () => {
    const runs = pinned();
    const first = runs[0];
    if (!favourite || runs.length !== AVERAGE_TEXTS.length || first.settings.lam > 0.003) return false;
    if (new Set(runs.map((run) => run.settings.average)).size !== runs.length) return false;
    if (!runs.every((run) => run === first || differOnlyIn(first.settings, run.settings, "average"))) return false;
    const best = runs.reduce((a, b) => (b.finalGap < a.finalGap ? b : a));
    const named = Object.fromEntries(AVERAGE_TEXTS);
    const verdict = favourite === best.settings.average ? "as you guessed" : `not ${named[favourite]}, as you guessed`;
    return `${named[best.settings.average]} ends lowest, at ${format(best.finalGap)}: ${verdict}.`;
  };

  return tasks(fig, [
    {
      id: "under-optimised",
      text: "Find a λ at which Pegasos is still under-optimised after 10 epochs: P(w̄) − P* above 0.1, with the step 1/(λt) and the average of all.",
      hint: "Ten epochs are T·k = 10 n draws. The first steps have length about R/λ, and the average of all remembers them.",
      check: underOptimised,
    },
    {
      id: "projection",
      text: "Make the projection matter: pin two runs that differ in it alone and end a factor of 2 or more apart.",
      hint: "The ball has radius 1/√λ, an unprojected w can be as long as R/λ. For which λ is the second much larger? Pin, untick the projection, pin again.",
      check: projectionMatters,
    },
    {
      id: "average",
      text: "At a λ of 0.003 or less, which average ends closest to P*? Guess, then pin all four, with nothing else changed.",
      hint: "The worst iterates of a run with a small λ come first. Which average forgets them soonest?",
      extra: guess,
      check: bestAverage,
    },
  ]);
}
