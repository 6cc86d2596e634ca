"""Find a Chromium for the browser tests; run as a module, install one where none is found.

Debian's headless shell, which draws no windows, passes the tests in half the time of the full
browser, so it is preferred, and on Debian installed beside it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from .debian import apt_install, is_debian_root

SHELL = "chromium-headless-shell"
WINDOWED = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# A sandboxed browser refuses to start as root; the rest keeps it from calling home.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find(windowed: bool = False) -> str | None:
    """Return the path of a Chromium: the one named by CHROMIUM, on the PATH, or Playwright's.

    `windowed` prefers the browser that readers have, which is the one to measure.
    """
    named = os.environ.get("CHROMIUM")
    if named:
        if not Path(named).is_file():
            raise FileNotFoundError(f"CHROMIUM names {named}, which is no file")
        return named
    names = (*WINDOWED, SHELL) if windowed else (SHELL, *WINDOWED)
    return next(filter(None, map(shutil.which, names)), None) or _playwrights_own()


def _playwrights_own() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def install() -> None:
    """Install Debian's headless shell or browser as root on Debian, else Playwright's download."""
    if not is_debian_root():
        command = [sys.executable, "-m", "playwright", "install", "chromium"]
        subprocess.run(command, check=True)
        return
    try:
        apt_install(SHELL, "fonts-liberation")
    except subprocess.SubprocessError:
        # Older releases have no such package.
        if find() is None:
            apt_install("chromium", "fonts-liberation")


def main() -> None:
    """Make sure that there is a Chromium, or say in one sentence what to install."""
    found = find()
    if found is None or (
        is_debian_root() and not shutil.which(SHELL) and "CHROMIUM" not in os.environ
    ):
        print("The browser tests need a headless Chromium: installing one.", flush=True)
        try:
            install()
        except subprocess.SubprocessError as error:
            sys.exit(
                "The browser tests need Chromium: install it with your package manager, or name "
                f"its program in the environment variable CHROMIUM ({error})."
            )
    print(f"Browser: {find()}")


if __name__ == "__main__":
    main()
