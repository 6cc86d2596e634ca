const SVG = "http://www.w3.org/2000/svg";
// Counted on the document: in JupyterLab each figure brings a script of its own.
const COUNT = Symbol.for("pegasos-figures-ids");
export const uid = () => `pf-${(document[COUNT] = (document[COUNT] ?? 0) + 1)}`;

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [type, listener] of Object.entries(value)) node.addEventListener(type, listener);
    else if (name === "text") node.textContent = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** An HTML element: attributes as they are, `text` for its text, `on: {type: listener}`. */
export const h = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);

/** The same for SVG. */
export const s = (tag, attributes, ...children) => build(document.createElementNS(SVG, tag), attributes, children);

/** Set an attribute, unless it is that already: what does not change costs no new layout. */
export function attr(node, name, value) {
  const text = String(value);
  if (node.getAttribute(name) !== text) node.setAttribute(name, text);
}

/** Say in the figure what failed. */
export function showError(el, error) {
  el.querySelector(":scope > .pf-error")?.remove();
  const text = `This figure stopped: ${error.message}. Reloading the page starts it again.`;
  el.prepend(h("p", { class: "pf-error", role: "alert", text }));
}

/** Whether the reader asked for less motion. */
export const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// JupyterLab takes the arrow keys from a control unless this stands on the control itself.
export const KEYS = { "data-lm-suppress-shortcuts": "true" };
