import { h } from "./dom.js";

/**
 * Goals for the reader. Each is {id, text, hint, check, extra}: `check()` is asked at every draw and
 * gives a sentence on what was reached, or a false value; `extra` is an element with what the task
 * needs (a guess to make before the answer shows). What was reached stays reached.
 */
export function tasks(fig, list) {
  const items = list.map(({ id, text, hint, extra }, i) => {
    const state = h("span", { class: "pf-task-state", text: "○" });
    const said = h("p", { class: "pf-task-said" });
    const el = h("li", { class: "pf-task", "data-task": id },
      h("p", {}, state, ` ${i + 1}. `, text), extra,
      h("details", {}, h("summary", { text: "Hint" }), h("p", { text: hint })), said);
    return { el, state, said };
  });
  const reached = new Set();
  fig.checkTasks = () => list.forEach(({ id, check }, i) => {
    if (reached.has(id)) return;
    const sentence = check();
    if (!sentence) return;
    reached.add(id);
    const { el, state, said } = items[i];
    el.classList.add("is-reached");
    state.textContent = "✓";
    said.textContent = `Reached: ${sentence}`;
    fig.announce(`Task ${i + 1} reached: ${sentence}`);
  });
  return h("div", { class: "pf-tasks" }, h("p", { class: "pf-subtitle", text: "Try to" }),
    h("ol", {}, ...items.map(({ el }) => el)));
}
