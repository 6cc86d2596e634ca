import shared from "../style.css";

/** Put a style into the document, or shadow root, that holds `el`, once under each name. */
export function injectStyle(el, name = "shared", css = shared) {
  const root = el.getRootNode();
  const host = root instanceof ShadowRoot ? root : document.head;
  if (host.querySelector(`style[data-pegasos-figures="${name}"]`)) return;
  const style = document.createElement("style");
  style.dataset.pegasosFigures = name;
  style.textContent = css;
  host.append(style);
}
