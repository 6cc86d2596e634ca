"""Find a Chromium for the browser tests; run as a module, install one where none is found."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
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


def find() -> str | None:
    """Return the path of a Chromium: the one named by CHROMIUM, on the PATH, or Playwright's."""
    named = os.environ.get("CHROMIUM")
    if named:
        if not Path(named).is_file():
            raise FileNotFoundError(f"CHROMIUM names {named}, which is no file")
        return named
    return next(filter(None, map(shutil.which, NAMES)), None) or _playwrights_own()


def _playwrights_own() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def install() -> None:
    """Install Debian's Chromium as root on Debian, Playwright's own download elsewhere."""
    if shutil.which("apt-get") and os.geteuid() == 0:
        subprocess.run(["apt-get", "update", "-q"], check=True)
        command = ["apt-get", "install", "-y", "-q", "--no-install-recommends"]
        command += ["chromium", "fonts-liberation"]
        env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    else:
        command = [sys.executable, "-m", "playwright", "install", "chromium"]
        env = None
    subprocess.run(command, check=True, env=env)


def main() -> None:
    """Make sure that there is a Chromium, or say in one sentence what to install."""
    if find() is None:
        print("The browser tests need a Chromium: installing one.", flush=True)
        try:
            install()
        except subprocess.CalledProcessError as error:
            sys.exit(
                "The browser tests need Chromium: install it with your package manager, or name "
                f"its program in the environment variable CHROMIUM ({error})."
            )
    print(f"Browser: {find()}")


if __name__ == "__main__":
    main()
