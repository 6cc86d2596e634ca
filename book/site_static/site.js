/* Small repairs that only a browser can make. */
document.addEventListener("DOMContentLoaded", () => {
  // A box that scrolls can be reached by the keyboard and has a name; one that does not is no stop.
  const kinds = { ".math-scroll": "Formula", ".highlight pre": "Code", ".pst-scrollable-table-container, .cell_output .text_html": "Table" };
  const boxes = Object.entries(kinds).flatMap(([css, name]) => [...document.querySelectorAll(css)].map((box) => [box, name]));
  const update = ([box, name]) => {
    const attributes = { tabindex: "0", role: "group", "aria-label": `${name}, scrolls sideways` };
    const scrolls = box.scrollWidth > box.clientWidth;
    for (const [key, value] of Object.entries(attributes)) {
      if (scrolls) box.setAttribute(key, value);
      else box.removeAttribute(key);
    }
  };
  // Sections out of sight are not laid out (site.css): their boxes are measured when there is nothing
  // else to do, a few at a time, so that a chapter with hundreds of formulas answers at once.
  let left = [];
  const idle = window.requestIdleCallback ?? ((then) => setTimeout(() => then({ timeRemaining: () => 10 })));
  const measure = (deadline) => {
    do update(left.shift());
    while (left.length && deadline.timeRemaining() > 2);
    if (left.length) idle(measure);
  };
  const measureAll = () => {
    if (boxes.length && !left.length) idle(measure);
    left = [...boxes];
  };
  const observer = new ResizeObserver((entries) => {
    for (const entry of entries) update(boxes.find(([box]) => box === entry.target));
  });
  for (const [box] of boxes) observer.observe(box);
  measureAll();
  addEventListener("resize", measureAll);
  // A formula grows when its font comes, which does not resize its box.
  document.fonts.addEventListener("loadingdone", measureAll);
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
