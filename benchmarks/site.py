"""Time the figures of the built site in a headless Chromium: start, and redraw after each change.

Start: from the request of a page to the end of the figure's first draw. Redraw: the figure's own
work after a change, and the layout that follows it, in milliseconds; the state is the largest that
the figure takes, T = 2,000 steps on 200 points.
"""

import functools
import http.server
import statistics
import sys
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests import chromium

SITE = Path(__file__).parents[1] / "_build/html"
CHANGES, STARTS = 100, 7
FIGURES = {
    "pegasos": ("book/pegasos.html", "n_iter=2000&t=1000"),
    "margin": ("book/objective.html", ""),
    "chord": ("book/convexity.html", ""),
    "descent": ("book/descent.html", ""),
    "subgradient": ("book/subgradients.html", ""),
    "minibatch": ("book/stochastic.html", ""),
    "regret": ("book/regret.html", "stream=adversary&n_iter=2000&t=2000"),
    "dual": ("book/duality.html", "n_epochs=50&t=600"),
    "outliers": ("book/outliers.html", "n_iter=2000&t=2000"),
    "race": ("book/optimizers.html", ""),
}

# Counts what the page asks of the network, and waits for the first draw.
STARTED = """kind => new Promise((resolve) => {
  const look = () => {
    const first = performance.getEntriesByName(`${kind}-figure:redraw`)[0];
    if (first) resolve(first.startTime + first.duration); else setTimeout(look, 5);
  };
  look();
})"""

# Changes every control by turns, as a reader would, and times draw and layout of each change.
REDRAWS = """async ([kind, changes]) => {
  const figure = document.querySelector(`.pegasos-figure[data-figure="${kind}"]`);
  const controls = [...figure.querySelectorAll("input[type=range], input[type=checkbox], select")]
    .filter((control) => control.offsetParent !== null);
  const frame = () => new Promise((done) => requestAnimationFrame(() => done()));
  const change = (control, i) => {
    if (control.type === "range") {
      const [low, high] = [Number(control.min), Number(control.max)];
      control.value = low + (high - low) * ((i * 0.381966) % 1);
    } else if (control.type === "checkbox") control.checked = !control.checked;
    else control.selectedIndex = (control.selectedIndex + 1) % control.options.length;
    control.dispatchEvent(new Event("input", { bubbles: true }));
    control.dispatchEvent(new Event("change", { bubbles: true }));
  };
  const times = {};
  for (const control of controls) {
    const label = control.labels[0]?.innerText.trim() || control.getAttribute("aria-label");
    if (label === "points n" || label === "Toy data") continue; // they make new points
    times[label] = [];
    const before = control.type === "checkbox" ? control.checked : control.value;
    for (let i = 1; i <= changes; i += 1) {
      performance.clearMeasures();
      change(control, i);
      await frame();
      const start = performance.now();
      figure.getBoundingClientRect();
      const layout = performance.now() - start;
      const draws = performance.getEntriesByName(`${kind}-figure:redraw`);
      const draw = draws.reduce((sum, entry) => sum + entry.duration, 0);
      if (draws.length > 0) times[label].push([draw, layout]);
    }
    if (control.type === "checkbox") control.checked = before; else control.value = before;
    control.dispatchEvent(new Event("input", { bubbles: true }));
    control.dispatchEvent(new Event("change", { bubbles: true }));
    await frame();
  }
  return times;
}"""

# Two hundred points by the figure's own controls.
FILL = """kind => {
  const figure = document.querySelector(`.pegasos-figure[data-figure="${kind}"]`);
  const control = [...figure.querySelectorAll("input[type=range]")]
    .find((range) => range.labels[0]?.innerText.trim() === "points n");
  if (!control) return;
  control.value = control.max;
  control.dispatchEvent(new Event("input", { bubbles: true }));
}"""


def time_starts(browser, address, kind):
    """Return the times to the first draw, and how many requests left this machine."""
    times, outside = [], []
    for _ in range(STARTS):
        with browser.new_context() as context:
            page = context.new_page()
            page.on("request", lambda r: r.url.startswith(address[:17]) or outside.append(r.url))
            page.goto(address)
            times.append(page.evaluate(STARTED, kind))
    return times, [url for url in outside if not url.startswith(("data:", "blob:"))]


def time_redraws(browser, address, kind, state):
    """Return the times of draw and layout after each change, by the label of the control."""
    with browser.new_context(viewport={"width": 1440, "height": 1000}) as context:
        page = context.new_page()
        page.goto(f"{address}#figure={kind}&{state}")
        page.evaluate(STARTED, kind)
        page.evaluate(FILL, kind)
        page.wait_for_timeout(300)
        return page.evaluate(REDRAWS, [kind, CHANGES])


def main():
    """Print both tables."""
    if not (SITE / "index.html").exists():
        sys.exit("There is no site to time: run `make book` first.")
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *a: None})
    handler = functools.partial(quiet, directory=SITE)
    with (
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        sync_playwright() as playwright,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        program = chromium.find(windowed=True)
        browser = playwright.chromium.launch(executable_path=program, args=chromium.FLAGS)
        for kind, (path, state) in FIGURES.items():
            address = f"http://127.0.0.1:{server.server_port}/{path}"
            starts, outside = time_starts(browser, address, kind)
            print(f"{kind}: first draw after {statistics.median(starts):.0f} ms", end=" ")
            print(f"(worst of {STARTS}: {max(starts):.0f} ms), {len(outside)} requests elsewhere")
            print(f"  {'control':38}{'changes':>8}{'draw ms':>9}{'+ layout':>9}{'95 %':>8}")
            for label, times in time_redraws(browser, address, kind, state).items():
                if not times:
                    continue
                draws = [draw for draw, _ in times]
                totals = sorted(draw + layout for draw, layout in times)
                print(
                    f"  {label[:37]:38}{len(times):8d}{statistics.median(draws):9.2f}"
                    f"{statistics.median(totals):9.2f}{totals[int(0.95 * len(totals))]:8.2f}",
                    flush=True,
                )
        browser.close()
        server.shutdown()


if __name__ == "__main__":
    main()
