/* Small repairs that only a browser can make. */
document.addEventListener("DOMContentLoaded", () => {
  // A box that scrolls can be reached by the keyboard and has a name; one that does not is no stop.
  const kinds = { ".math-scroll": "Formula", ".highlight pre": "Code", ".pst-scrollable-table-container, .cell_output .text_html": "Table" };
  const names = new Map(Object.entries(kinds).flatMap(([css, name]) => [...document.querySelectorAll(css)].map((box) => [box, name])));
  const mark = (boxes) => {
    const scrolls = boxes.map((box) => box.scrollWidth > box.clientWidth); // all reading before all writing
    boxes.forEach((box, i) => {
      const attributes = { tabindex: "0", role: "group", "aria-label": `${names.get(box)}, scrolls sideways` };
      for (const [key, value] of Object.entries(attributes)) {
        if (scrolls[i]) box.setAttribute(key, value);
        else box.removeAttribute(key);
      }
    });
  };
  const observer = new ResizeObserver((entries) => mark(entries.map((entry) => entry.target)));
  for (const box of names.keys()) observer.observe(box);
  // A formula grows when its font comes, which does not resize its box.
  document.fonts.addEventListener("loadingdone", () => {
    mark([...names.keys()].filter((box) => box.checkVisibility?.({ contentVisibilityAuto: true }) ?? true));
  });

  // The browser lays out at first only what is seen (site.css). The rest follows, a section at a time,
  // when nothing else is to do: a chapter with hundreds of formulas answers at once, and a moment
  // later every link within the page knows how far it has to scroll.
  const sections = [...document.querySelectorAll(".bd-article > section > section")];
  const idle = window.requestIdleCallback ?? setTimeout;
  const layOut = () => {
    const section = sections.shift();
    if (!section) return;
    section.style.contentVisibility = "visible";
    section.getBoundingClientRect(); // now, not with the next frame
    idle(layOut);
  };
  idle(layOut);
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
