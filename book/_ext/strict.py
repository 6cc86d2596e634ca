"""Let a strict build fail again until its cause is gone.

Sphinx keeps what it read even when a warning failed the build, and would not warn again about a
page that did not change: the next build would pass. Here a build that warned forgets what it
read; the notebooks' outputs stay cached, so reading again is quick.
"""

from pathlib import Path

from sphinx.application import ENV_PICKLE_FILENAME


def forget(app, exception):
    """Drop the stored environment of a build that failed or warned."""
    if exception or app._warncount:
        Path(app.doctreedir, ENV_PICKLE_FILENAME).unlink(missing_ok=True)


def setup(app):
    """Connect after everything else that may warn."""
    app.connect("build-finished", forget, priority=999)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
