"""What the interactive figures share: a script, and a form that lives without a kernel."""

from __future__ import annotations

import html
import json
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar
from urllib.parse import quote

import anywidget
import numpy as np
import traitlets
from numpy.typing import ArrayLike


@cache
def static_text(name: str) -> str:
    """Read a file of the folder `static`."""
    return (files(__package__) / "static" / name).read_text(encoding="utf-8")


def script(kind: str) -> str:
    """Return the ES module of one kind of figure: two scripts, and what it exports."""
    scripts = static_text("figures.js") + static_text(f"{kind}.js")
    return f'{scripts}export default PegasosFigures.widget("{kind}");\n'


class Figure(anywidget.AnyWidget):
    """An interactive figure: live with a kernel, and on a page without one, by the same scripts.

    A subclass names its `kind`, sets `_esm = script(kind)`, lists in `inputs` the traits that make
    its state, and gives `alt`, the words for its still picture `static/<kind>.svg`. Only inputs
    are stored, so that a notebook's output is the same on every run.
    """

    kind: ClassVar[str]
    alt: ClassVar[str]
    inputs: ClassVar[tuple[str, ...]]

    def state(self) -> dict[str, Any]:
        """Return the inputs by name, as a link or another figure can take them."""
        return {name: getattr(self, name) for name in self.inputs}

    def to_html(self) -> str:
        """Return the element that the site's script brings to life, around its still picture."""
        state = json.dumps(self.state(), sort_keys=True, separators=(",", ":"))
        picture = quote(static_text(f"{self.kind}.svg").strip(), safe=" =:/,;()'#?+")
        picture = picture.replace("#", "%23").replace("?", "%3F")
        return (
            f'<div class="pegasos-figure" data-figure="{self.kind}" '
            f'data-state="{html.escape(state)}">'
            f'<p><img alt="{html.escape(self.alt)}" src="data:image/svg+xml,{picture}" '
            'style="max-width:100%;background:#fff"></p>'
            "<p><em>A still picture of an interactive figure: it moves on the book's site, with "
            "JavaScript, and in a running notebook.</em></p></div>"
        )

    def __repr__(self) -> str:
        """Name the figure and the inputs that fit on a line."""
        shown = {name: value for name, value in self.state().items() if not isinstance(value, list)}
        arguments = ", ".join(f"{name}={value!r}" for name, value in shown.items())
        return f"{type(self).__name__}({arguments})"

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        return {**data, "text/plain": repr(self), "text/html": self.to_html()}, metadata


class PointsFigure(Figure):
    """A figure of labelled points in the plane, X (n, 2) and y (n,).

    A subclass gives `first_points`, the X and y that it begins with, and may lower `most_points`,
    their number, and `reach`, up to which coordinates may go on either side of 0.
    """

    first_points: ClassVar[tuple[ArrayLike, ArrayLike]]
    most_points: ClassVar[int] = 200
    reach: ClassVar[float] = 1000.0

    X = traitlets.Any().tag(sync=True)
    y = traitlets.Any().tag(sync=True)

    def __init__(self, X: ArrayLike | None = None, y: ArrayLike | None = None, **traits: Any):
        if (X is None) != (y is None):
            raise traitlets.TraitError("X and y must be given together")
        if X is None or y is None:
            X, y = self.first_points
        points, labels = self._points(X), check_labels(y)
        if len(points) != len(labels):
            raise traitlets.TraitError(f"X has {len(points)} points, y has {len(labels)} labels")
        super().__init__(X=points, y=labels, **traits)

    def _points(self, value: ArrayLike) -> list[list[float]]:
        return check_points(value, self.most_points, self.reach)

    @traitlets.validate("X")
    def _check_X(self, proposal: Any) -> list[list[float]]:
        return self._points(proposal["value"])

    @traitlets.validate("y")
    def _check_y(self, proposal: Any) -> list[int]:
        return check_labels(proposal["value"])

    def set_points(self, X: ArrayLike, y: ArrayLike) -> None:
        """Give the figure other points, both traits at once."""
        with self.hold_sync():
            self.X, self.y = X, y


def check_points(value: ArrayLike, most: int, reach: float) -> list[list[float]]:
    """Return points of the plane as a list of pairs.

    Raises
    ------
    traitlets.TraitError
        If they are not between 1 and `most` rows of two numbers from -reach to reach.
    """
    X = np.asarray(value, dtype=float)
    if X.ndim != 2 or X.shape[1] != 2 or not 1 <= len(X) <= most:
        raise traitlets.TraitError(
            f"X must hold 1 to {most} points of the plane, shape (n, 2); got {X.shape}"
        )
    if not (np.abs(X) <= reach).all():
        raise traitlets.TraitError(f"X must hold numbers from -{reach:g} to {reach:g}")
    return [[float(a), float(b)] for a, b in X]


def check_labels(value: ArrayLike) -> list[int]:
    """Return labels as a list of -1 and +1.

    Raises
    ------
    traitlets.TraitError
        If there is another label.
    """
    y = np.asarray(value)
    if y.ndim != 1 or not np.isin(y, (-1, 1)).all():
        raise traitlets.TraitError("y must hold the labels -1 and +1, shape (n,)")
    return [int(label) for label in y]


class Between(traitlets.Float[float, float]):
    """A number between two bounds, which the message names; the bounds count as inside."""

    def __init__(self, default: float, low: float, high: float, **options: Any):
        super().__init__(default, **options)
        self._bounds = low, high

    def validate(self, obj: Any, value: Any) -> float:
        """Return the number if it lies in the interval."""
        number: float = super().validate(obj, value)
        return check_interval(self.name or "", number, *self._bounds)


def check_interval(name: str, value: float, low: float, high: float) -> float:
    """Return `value` if it lies in [low, high].

    Raises
    ------
    traitlets.TraitError
        If it does not.
    """
    if not low <= value <= high:
        raise traitlets.TraitError(f"{name} must lie between {low:g} and {high:g}; got {value:g}")
    return value
