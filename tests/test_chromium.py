"""Which browser the browser tests take."""

import subprocess

import pytest

from tests import chromium


@pytest.fixture
def path(tmp_path, monkeypatch):
    """An empty PATH, to which the test adds programs; nothing else names a browser."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(chromium, "_playwrights_own", lambda: None)

    def add(*names):
        for name in names:
            (tmp_path / name).touch(mode=0o755)
        return [str(tmp_path / name) for name in names]

    return add


def test_the_headless_shell_is_taken_for_tests_and_the_readers_browser_for_measuring(path):
    assert chromium.find() is None
    (chrome,) = path("google-chrome")
    assert chromium.find() == chromium.find(windowed=True) == chrome
    shell, full = path(chromium.SHELL, "chromium")
    assert chromium.find() == shell
    assert chromium.find(windowed=True) == full


def test_the_environment_names_another(path, monkeypatch):
    path("chromium")
    (mine,) = path("mine")
    monkeypatch.setenv("CHROMIUM", mine)
    assert chromium.find() == mine
    monkeypatch.setenv("CHROMIUM", mine + "-not")
    with pytest.raises(FileNotFoundError, match="mine-not, which is no file"):
        chromium.find()


@pytest.mark.parametrize("there", [(), ("chromium",)])
def test_without_the_shells_package_the_full_browser_serves(path, monkeypatch, there):
    path(*there)
    asked = []

    def apt_install(*packages):
        asked.append(packages[0])
        if packages[0] == chromium.SHELL:
            raise subprocess.CalledProcessError(100, "apt-get")
        path(*packages)

    monkeypatch.setattr(chromium, "is_debian_root", lambda: True)
    monkeypatch.setattr(chromium, "apt_install", apt_install)
    chromium.main()
    assert asked == ([chromium.SHELL] if there else [chromium.SHELL, "chromium"])
    assert chromium.find().endswith("chromium")
