"""Run the notebooks again when the library has changed, write the pages again when the site has.

Notebooks run side by side, as many as there are cores, before myst-nb takes them from its cache.

jupyter-cache knows a notebook by its own code, so that a picture would stay as an older library
drew it. Here the cache's folder carries a digest of the library's sources and of the committed
results that chapters load, those of `make bench` among them: a change finds an empty cache, and
Sphinx, which sees a changed setting, reads every page again. In the same way a setting holds a
digest of the static files, templates and extensions: Sphinx by itself copies a changed style sheet
only when some page changed too.
"""

import fcntl
import hashlib
import importlib.util
import os
import shutil
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from sphinx.util import logging

logger = logging.getLogger(__name__)


def digest_of(folder, suffixes=None):
    """Return a short digest of a folder's files, by name and content."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        wanted = path.suffix in suffixes if suffixes else "__pycache__" not in path.parts
        if path.is_file() and wanted and "node_modules" not in path.parts:
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def library_digest(folder):
    """Return a digest of the library's modules and data."""
    return digest_of(folder, {".py", ".npz"})


def cache_folder(root, built):
    """Return the folder of the cache that suits the library and the results, or None without one.

    `root` is the project's folder, `built` the one that everything built lies in.
    """
    spec = importlib.util.find_spec("pegasos_lib")
    if spec is None:
        return None
    library = library_digest(Path(spec.origin).parent)
    loaded = root / "book" / "_data", root / "benchmarks" / "results"
    results = "-".join(digest_of(folder, {".json"}) for folder in loaded)
    return built / ".jupyter_cache" / f"{library}-{results}"


def choose_cache(app, config):
    """Point myst-nb at the cache of this library and drop the caches of older ones."""
    chosen = cache_folder(Path(app.srcdir), Path(app.outdir).parent)
    if config.nb_execution_mode != "cache" or chosen is None:
        return
    for folder in chosen.parent.glob("*"):
        if folder.is_dir() and folder != chosen:
            shutil.rmtree(folder)
    chosen.mkdir(parents=True, exist_ok=True)
    config.nb_execution_cache_path = str(chosen)


def keep(notebook, path, folder):
    """Put an executed notebook into the cache of a folder, one process after the other."""
    bundle = CacheBundleIn(notebook, str(path))
    Path(folder).mkdir(parents=True, exist_ok=True)
    with open(Path(folder) / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        get_cache(folder).cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def is_kept(path, folder):
    """Return whether the cache of a folder has a notebook with the code of this one."""
    try:
        get_cache(folder).match_cache_notebook(nbformat.read(path, as_version=4))
    except KeyError:
        return False
    return True


def run_what_is_missing(app, env, docnames):
    """Execute the notebooks that are to be read and that the cache lacks.

    A single one, or one that fails, is left to myst-nb, which says what failed. One that is not to
    be run is left out by its path, as myst-nb does it.
    """
    if app.config.nb_execution_mode != "cache":
        return
    folder = app.config.nb_execution_cache_path
    paths = [Path(app.srcdir, f"{name}.ipynb") for name in docnames]
    never = app.config.nb_execution_excludepatterns
    paths = [path for path in paths if path.is_file() and not any(map(path.match, never))]
    missing = [path for path in paths if not is_kept(path, folder)]
    if len(missing) < 2:
        return

    def run(path):
        return single_nb_execution(
            nbformat.read(path, as_version=4),
            cwd=str(path.parent),
            timeout=app.config.nb_execution_timeout,
            allow_errors=False,
        )

    # A notebook runs in a process of its own: threads are enough to wait for it.
    with ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as pool:
        running = {pool.submit(run, path): path for path in missing}
        for done, future in enumerate(as_completed(running), 1):
            path, result = running[future], future.result()
            if result.err is None:
                keep(result.nb, path, folder)
            state = "ran in" if result.err is None else "failed after"
            count = f"{done} of {len(missing)}"
            logger.info("notebook %s: %s %s %.0f s", count, path.stem, state, result.time)


def remember_the_site(app, config):
    """Put the digests of what surrounds the pages into a setting that Sphinx compares."""
    folders = [Path(app.srcdir, "book", name) for name in ("_ext", "_templates", "site_static")]
    spec = importlib.util.find_spec("pegasos_lib")
    if spec is not None:
        folders.append(Path(spec.origin).parent / "widgets" / "static")
    config.site_digests = [digest_of(folder) for folder in folders]


def setup(app):
    """Choose the cache before myst-nb reads its settings, and fill it before it reads a page."""
    app.add_config_value("site_digests", [], "html", list)
    app.connect("config-inited", remember_the_site)
    app.connect("config-inited", choose_cache, priority=100)
    app.connect("env-before-read-docs", run_what_is_missing)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
