"""Make sure that students' code can be graded in a sandbox: `python -m tests.bubblewrap`."""

import subprocess
import sys

from course.grader.sandbox import NoSandbox, check

from .debian import apt_install, is_debian_root


def main() -> None:
    """Install bubblewrap as root on Debian, or say in one sentence what to install."""
    try:
        check()
    except NoSandbox as why:
        if not is_debian_root():
            sys.exit(str(why))
        print("The tests of the grader need bubblewrap: installing it.", flush=True)
        try:
            apt_install("bubblewrap")
            check()
        except (subprocess.SubprocessError, NoSandbox) as error:
            sys.exit(str(error if isinstance(error, NoSandbox) else why))


if __name__ == "__main__":
    main()
