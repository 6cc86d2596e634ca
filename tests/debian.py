"""Install what tests need of Debian's packages, as root on Debian."""

import os
import shutil
import subprocess

APT_MINUTES = 5


def is_debian_root() -> bool:
    """Tell whether packages of Debian can be installed."""
    return shutil.which("apt-get") is not None and os.geteuid() == 0


def apt_install(*packages: str) -> None:
    """Install packages of Debian, and remove none."""
    command = ["apt-get", "-q", "-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20"]
    env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for step in ["update"], ["install", "-y", "--no-install-recommends", "--no-remove", *packages]:
        subprocess.run(command + step, check=True, env=env, timeout=60 * APT_MINUTES)
