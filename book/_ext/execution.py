"""Run the notebooks again when the library has changed.

jupyter-cache knows a notebook by its own code, so that a picture would stay as an older library
drew it. Here the cache's folder carries a digest of the library's sources: a changed library
finds an empty cache, and Sphinx, which sees a changed setting, reads every page again.
"""

import hashlib
import importlib.util
import shutil
from pathlib import Path


def library_digest(folder):
    """Return a short digest of the library's modules and data, by name and content."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".py", ".npz"} and "node_modules" not in path.parts:
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def choose_cache(app, config):
    """Point myst-nb at the cache of this library and drop the caches of older ones."""
    spec = importlib.util.find_spec("pegasos_lib")
    if config.nb_execution_mode != "cache" or spec is None:
        return
    caches = Path(app.outdir).parent / ".jupyter_cache"
    chosen = caches / library_digest(Path(spec.origin).parent)
    for folder in caches.glob("*"):
        if folder.is_dir() and folder != chosen:
            shutil.rmtree(folder)
    chosen.mkdir(parents=True, exist_ok=True)
    config.nb_execution_cache_path = str(chosen)


def setup(app):
    """Choose the cache before myst-nb reads its settings."""
    app.connect("config-inited", choose_cache, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
