import css from "../style.css";

/** Put the figures' style into the document, or shadow root, that holds `el`, once. */
export function injectStyle(el) {
  const root = el.getRootNode();
  const host = root instanceof ShadowRoot ? root : document.head;
  if (host.querySelector("style[data-pegasos-figures]")) return;
  const style = document.createElement("style");
  style.dataset.pegasosFigures = "";
  style.textContent = css;
  host.append(style);
}
