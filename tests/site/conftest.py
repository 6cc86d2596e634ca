"""What the browser tests share: the built site, a server for it, a browser, and watched pages.

`site` builds the book as `make book` does, once for the whole run, also under pytest-xdist.
`visit` opens a page with every request to another host blocked, and fails the test at its end if
the page asked for one, if a request failed, or if the console showed an error.
"""

import fcntl
import http.server
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tests import chromium

ROOT = Path(__file__).parents[2]
BUILD = [Path(sys.executable).with_name("jupyter-book"), "build", ".", "-n", "-W", "--keep-going"]
LOCAL = "http://127.0.0.1:", "ws://127.0.0.1:", "file:", "data:", "blob:", "about:"


def build_book(folder, *, env=None):
    """Build the book in a folder by the command of `make book`."""
    return subprocess.run(BUILD, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def site():
    """The folder of the built site; the build is strict and incremental."""
    (ROOT / "_build").mkdir(exist_ok=True)
    with open(ROOT / "_build" / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        result = build_book(ROOT)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-6000:]
    return ROOT / "_build" / "html"


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """A handler that does not print each request, and tells no caller to cache."""

    def log_message(self, *args):
        pass

    def end_headers(self):
        self.send_header("Cache-Control", "no-store")
        super().end_headers()


@pytest.fixture(scope="session")
def http_site(site, tmp_path_factory):
    """The address of the site on a local server, under a sub-path as project pages have it."""
    folder = tmp_path_factory.mktemp("server")
    (folder / "a-book").symlink_to(site)
    handler = partial(QuietHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/a-book"
        server.shutdown()


@pytest.fixture(scope="session")
def file_site(site):
    """The address of the site on the disk."""
    return site.as_uri()


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium, shared by the tests of one worker."""
    with sync_playwright() as playwright:
        path = chromium.find()
        assert path, "no Chromium: run `python -m tests.chromium` or set CHROMIUM to its path"
        browser = playwright.chromium.launch(executable_path=path, args=chromium.FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser):
    """Return `visit(url, **context_options) -> page`; faults are raised when the test ends.

    The options are those of Playwright's `browser.new_context`: `viewport`, `color_scheme`,
    `has_touch`, `java_script_enabled`... `page.faults` is the list of what went wrong so far; a
    test that provokes a fault on purpose clears it.
    """
    contexts, faults = [], []

    def visit(url, **options):
        options.setdefault("reduced_motion", "reduce")
        context = browser.new_context(**options)
        contexts.append(context)
        context.route(lambda address: not is_local(address), lambda route: route.abort())
        page = context.new_page()
        page.faults = faults
        page.on("request", lambda r: is_local(r.url) or faults.append(f"asked for {r.url}"))
        page.on("requestfailed", lambda r: faults.append(f"failed: {r.url} ({r.failure})"))
        page.on("response", lambda r: r.status < 400 or faults.append(f"{r.status}: {r.url}"))
        page.on("console", lambda m: m.type == "error" and faults.append(f"console: {m.text}"))
        page.on("pageerror", lambda e: faults.append(f"uncaught: {e}"))
        page.goto(url, wait_until="load")
        return page

    yield visit
    seen = list(faults)  # what is still on its way fails when its page is closed
    for context in contexts:
        context.close()
    assert not seen, "\n".join(seen)


def is_local(url):
    """Tell whether an address needs no other machine."""
    return url.startswith(LOCAL)
