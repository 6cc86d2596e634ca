/* Small repairs that only a browser can make. */
document.addEventListener("DOMContentLoaded", () => {
  // A box that scrolls can be reached by the keyboard and has a name; one that does not is no stop.
  const boxes = [
    ...[...document.querySelectorAll(".math-scroll")].map((box) => [box, "Formula"]),
    ...[...document.querySelectorAll(".pst-scrollable-table-container, .cell_output .text_html")].map((box) => [box, "Table"]),
  ];
  const update = ([box, name]) => {
    const attributes = { tabindex: "0", role: "group", "aria-label": `${name}, scrolls sideways` };
    const scrolls = box.scrollWidth > box.clientWidth;
    for (const [key, value] of Object.entries(attributes)) {
      if (scrolls) box.setAttribute(key, value);
      else box.removeAttribute(key);
    }
  };
  const observer = new ResizeObserver((entries) => {
    for (const entry of entries) update(boxes.find(([box]) => box === entry.target));
  });
  for (const box of boxes) {
    update(box);
    observer.observe(box[0]);
  }
  // A formula grows when its font comes, which does not resize its box.
  document.fonts.addEventListener("loadingdone", () => boxes.forEach(update));
});

// From disk a browser may not fetch pages, so the search lists them without excerpts.
if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

// Paper is white: a page in dark mode prints as in light mode.
addEventListener("beforeprint", () => {
  const root = document.documentElement;
  const theme = root.dataset.theme;
  root.dataset.theme = "light";
  addEventListener("afterprint", () => { root.dataset.theme = theme; }, { once: true });
});
