"""Give notebook pages a Binder button that works, or none.

The theme makes the button; what it needs is the repository's address. That comes from the
environment variable BOOK_REPOSITORY_URL, from `repository.url` in `_config.yml`, or from the git
remote `origin`, the first that is set. An address that Binder cannot be sent to gives no button.
"""

import os
import re
import subprocess
from pathlib import Path

HOSTS = "github.com", "gitlab.com"
ADDRESS = re.compile(
    r"(?:https?://(?:[^@/]+@)?|ssh://(?:[^@/]+@)?|(?:[\w.-]+@))"
    r"(?P<host>[\w.-]+)(?::\d+(?=/))?[/:](?P<owner>[\w.-]+)/(?P<name>[\w.-]+?)(?:\.git)?/?"
)


def public_address(url):
    """Return `https://host/owner/name` for an https or ssh address, None for any other."""
    match = ADDRESS.fullmatch(url.strip())
    if match is None or match["host"] not in HOSTS:
        return None
    return f"https://{match['host']}/{match['owner']}/{match['name']}"


def git(folder, *words):
    """Return what a git command prints, or an empty string where it fails."""
    try:
        answer = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True)
    except OSError:
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""


def find_repository(folder, setting=""):
    """Return the public address of the book's repository, or None."""
    if "BOOK_REPOSITORY_URL" in os.environ:
        return public_address(os.environ["BOOK_REPOSITORY_URL"])
    if setting:
        return public_address(setting)
    # Binder reads requirements.txt at the repository's root: the book must be that root.
    top = git(folder, "rev-parse", "--show-toplevel")
    if not top or Path(top).resolve() != Path(folder).resolve():
        return None
    return public_address(git(folder, "remote", "get-url", "origin"))


def find_branch(folder):
    """Return the branch to open: this one if `origin` has it, else the default of `origin`."""
    here = git(folder, "symbolic-ref", "--short", "HEAD")
    if here and git(folder, "rev-parse", "--verify", "-q", f"refs/remotes/origin/{here}"):
        return here
    default = git(folder, "symbolic-ref", "--short", "refs/remotes/origin/HEAD")
    return default.removeprefix("origin/") or here or "main"


def configure(app, config):
    """Tell the theme where the repository is, or take the launch button away."""
    options = config.html_theme_options
    url = find_repository(app.srcdir, options.get("repository_url", ""))
    options["repository_url"] = url or ""
    if url is None:
        options["launch_buttons"] = {}
    else:
        options["repository_branch"] = options.get("repository_branch") or find_branch(app.srcdir)


def name_the_host(app, pagename, templatename, context, doctree):
    """Keep the buttons to notebooks, and say where the Binder button leads before it is pressed."""
    if not str(context.get("page_source_suffix", "")).endswith("ipynb"):
        context["header_buttons"] = []
    for group in context["header_buttons"]:
        for button in group.get("buttons", ()):
            if button["text"] == "Binder":
                button["text"] = "Binder (mybinder.org)"
                button["tooltip"] = "Open this notebook in JupyterLab on mybinder.org"
                button["icon"] = "fas fa-rocket"
                button["label"] = "binder-button"


def setup(app):
    """Configure the theme's buttons, then word them."""
    app.connect("config-inited", configure)
    app.connect("html-page-context", name_the_host, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
