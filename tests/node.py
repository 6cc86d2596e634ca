"""Node, which runs the figures' scripts outside of a browser."""

import shutil
import subprocess
import sys
from pathlib import Path

JS = Path(__file__).parents[1] / "pegasos_lib" / "widgets" / "js"


def node(*arguments, cwd=JS):
    """Run Node, the machine's or the environment's own, and return what it prints."""
    binary = shutil.which("node") or str(Path(sys.executable).with_name("node"))
    result = subprocess.run(
        [binary, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout
