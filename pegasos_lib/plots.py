"""The book's Matplotlib figures; every function draws on `ax`, or on a new one, and returns it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec

import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.patches import Circle
from numpy.typing import ArrayLike

from ._checks import check_choice
from .problem import FloatArray, HingeProblem
from .run import Run

# Okabe and Ito's colours, which all common forms of colour blindness tell apart; the order puts
# those with the best contrast on white first.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
BLUE, VERMILION, GREEN = COLOURS[:3]
# Iterates and their averages are told apart by the line, runs by colour and by the marker.
MARKERS = ("o", "s", "^", "D", "v", "P")
_INK, _FAINT = "#222222", "#767676"

STYLE: Any = {
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.edgecolor": _FAINT,
    "axes.labelcolor": _INK,
    "axes.titlesize": 12,
    "axes.labelsize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "xtick.labelsize": 10.5,
    "ytick.labelsize": 10.5,
    "text.color": _INK,
    "legend.fontsize": 10.5,
    "legend.frameon": False,
    "lines.linewidth": 2.0,
    "figure.figsize": (6.4, 4.2),
    "figure.dpi": 110,
    "figure.constrained_layout.use": True,
    # White and not transparent: black axes on a dark page cannot be read.
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "savefig.facecolor": "white",
    "image.cmap": "cividis",
}


@contextmanager
def style() -> Iterator[None]:
    """Use the book's style within a `with` block, and restore what was set before after it."""
    with plt.rc_context(STYLE):
        yield


_P = ParamSpec("_P")


def _in_style(draw: Callable[_P, Axes]) -> Callable[_P, Axes]:
    """Let a function draw in the book's style, and leave the reader's own as it was."""

    @wraps(draw)
    def styled(*args: _P.args, **kwargs: _P.kwargs) -> Axes:
        with style():
            return draw(*args, **kwargs)

    return styled


@_in_style
def plot_data_2d(problem: HingeProblem, w: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Draw the points of a problem with d = 2, and the line and margins of w.

    Circles are of class +1 and squares of class -1. A ring marks the points whose margin is
    below 1, which the loss charges for; a thin ring those on the margin.

    Parameters
    ----------
    problem : HingeProblem
        With two features.
    w : array_like, shape (2,), optional
        Without it, or at w = 0, there is no line.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    X = _points(problem)
    ax = _axes(ax)
    for label, colour, marker in ((1.0, BLUE, "o"), (-1.0, VERMILION, "s")):
        mine = problem.y == label
        ax.scatter(
            X[mine, 0], X[mine, 1], s=36, c=colour, marker=marker, label=f"y = {label:+.0f}",
            edgecolors="white", linewidths=0.6, zorder=3,
        )  # fmt: skip
    low, high = _limits(X)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="$x_1$", ylabel="$x_2$")
    ax.set_aspect("equal", adjustable="box")
    if w is None:
        return _legend(ax, beside=True)
    w = np.asarray(w, dtype=float)
    margins = problem.margins(w)
    below, on = margins < 1.0 - 1e-6, np.abs(margins - 1.0) <= 1e-6
    for chosen, width, name in ((below, 1.6, "margin below 1"), (on, 0.8, "margin 1")):
        if chosen.any():
            ax.scatter(
                X[chosen, 0], X[chosen, 1], s=110, facecolors="none", edgecolors=_INK,
                linewidths=width, label=name, zorder=2,
            )  # fmt: skip
    if w.any():
        along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
        for score in (0.0, 1.0, -1.0):
            foot, dashed = w * (score / (w @ w)), score != 0.0
            line = ax.axline(
                tuple(foot), tuple(foot + along), linestyle="--" if dashed else "-", color=_INK,
                linewidth=1.2 if dashed else 1.8, zorder=1,
            )  # fmt: skip
            if score >= 0.0:
                line.set_label(r"$\langle w, x\rangle = $" + ("±1" if dashed else "0"))
    return _legend(ax, beside=True)


@_in_style
def plot_contours_2d(
    problem: HingeProblem,
    iterates: ArrayLike | None = None,
    optimum: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    ball: bool = True,
    limits: tuple[float, float, float, float] | None = None,
) -> Axes:
    """Draw the level lines of P over the plane of w, for a problem with d = 2.

    Parameters
    ----------
    problem : HingeProblem
        With two features.
    iterates : array_like, shape (m, 2), optional
        A path to draw, such as `run.trace.w`.
    optimum : array_like, shape (2,), optional
        Marked with a star; level lines are then spaced by P - P*.
    ax : matplotlib Axes, optional
    ball : bool
        Draw the ball of radius 1/sqrt(lam) that holds the minimiser.
    limits : (w1 low, w1 high, w2 low, w2 high), optional
        Window; by default it holds the path, the optimum and 0, and no more than needed.

    Returns
    -------
    Axes
    """
    _points(problem)
    ax = _axes(ax)
    path = np.zeros((0, 2)) if iterates is None else np.atleast_2d(np.asarray(iterates, float))
    star = np.zeros((0, 2)) if optimum is None else np.asarray(optimum, float).reshape(1, 2)
    radius = 1.0 / math.sqrt(problem.lam)
    if limits is None:
        seen = np.vstack([path, star, np.zeros((1, 2))])
        if len(seen) == 1:
            seen = radius * np.array([[-1.0, -1.0], [1.0, 1.0]])
        low, high = _limits(seen)
        limits = (low[0], high[0], low[1], high[1])
    first, second = np.linspace(*limits[:2], 161), np.linspace(*limits[2:], 161)
    grid = np.stack(np.meshgrid(first, second), axis=-1)
    values = problem.objective(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    floor = min([float(values.min()), *problem.objective(star)])
    span = max(float(values.max()) - floor, 1e-12)
    levels = floor + span * np.geomspace(1e-3, 1.0, 14)
    ax.contour(first, second, values, levels=levels, colors=_FAINT, linewidths=0.8, zorder=1)
    if ball:
        ax.add_patch(
            Circle((0.0, 0.0), radius, fill=False, edgecolor=GREEN, linestyle="--", linewidth=1.6,
                   label=r"$\|w\| = 1/\sqrt{\lambda}$", zorder=2)
        )  # fmt: skip
    if len(path):
        ax.plot(*path.T, color=BLUE, linewidth=1.0, marker="o", markersize=3, zorder=3,
                label="iterates")  # fmt: skip
        ax.plot(*path[-1], color=BLUE, marker="o", markersize=8, zorder=4)
    if len(star):
        ax.plot(*star[0], color=VERMILION, marker="*", markersize=14, linestyle="none", zorder=5,
                label="$w^*$")  # fmt: skip
    ax.set(xlim=limits[:2], ylim=limits[2:], xlabel="$w_1$", ylabel="$w_2$")
    ax.set_aspect("equal", adjustable="box")
    return _legend(ax, beside=True)


@_in_style
def plot_traces(
    runs: Mapping[str, Run] | Run,
    optimum: float,
    ax: Axes | None = None,
    *,
    bound: Callable[[FloatArray], ArrayLike] | None = None,
    bound_label: str = "bound",
    which: str = "both",
    against: str = "iteration",
) -> Axes:
    """Draw the suboptimality P - P* of runs on logarithmic axes.

    Parameters
    ----------
    runs : mapping from names to Run, or one Run
    optimum : float
        P*, or a value certified to be at most it.
    ax : matplotlib Axes, optional
    bound : callable, optional
        Maps step counts (m,) to the values of a bound, drawn as a dotted line.
    bound_label : str
    which : {"both", "last", "average"}
        Draw last iterates (full lines), averages (dashed lines), or both.
    against : {"iteration", "seconds"}

    Returns
    -------
    Axes

    Raises
    ------
    ValueError
        If `which` or `against` is something else.
    """
    check_choice(which, "which", ("both", "last", "average"))
    check_choice(against, "against", ("iteration", "seconds"))
    named, ax = {"": runs} if isinstance(runs, Run) else runs, _axes(ax)
    for index, (name, run) in enumerate(named.items()):
        trace = run.trace
        curves = []
        if which != "average" or trace.w_average is None:
            curves.append((trace.objective, "-", "last iterate"))
        if which != "last" and trace.w_average is not None:
            curves.append((trace.objective_average, "--", "average"))
        for objective, line, kind in curves:
            across = np.asarray(getattr(trace, against), dtype=float)
            height = np.asarray(objective) - optimum
            shown = (across > 0) & (height > 0)  # what a logarithmic axis can show
            label = ", ".join(
                part for part in (name, kind if len(curves) > 1 or not name else "") if part
            )
            ax.plot(
                across[shown], height[shown], line, label=label,
                color=COLOURS[index % len(COLOURS)], marker=MARKERS[index % len(MARKERS)],
                markersize=4, markevery=0.12,
            )  # fmt: skip
    if bound is not None:
        steps = np.unique(np.concatenate([run.trace.iteration for run in named.values()]))
        steps = steps[steps > 0].astype(float)
        ax.plot(steps, np.asarray(bound(steps)), ":", color=_INK, label=bound_label)
    ax.set(
        xscale="log", yscale="log", ylabel=r"$P(w) - P(w^*)$",
        xlabel="steps" if against == "iteration" else "seconds",
    )  # fmt: skip
    ax.grid(visible=True, which="major", color="#dddddd", linewidth=0.7)
    ax.set_axisbelow(True)
    return _legend(ax)


@_in_style
def plot_digits(
    X: ArrayLike, titles: list[str] | None = None, columns: int = 10, ax: Axes | None = None
) -> Axes:
    """Draw rows of X (m, 784) as a sheet of 28 x 28 images, dark on white.

    Parameters
    ----------
    X : array_like, shape (m, 784)
    titles : list of str, optional
        One short caption an image, drawn above it.
    columns : int
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    images = np.atleast_2d(np.asarray(X, dtype=float)).reshape(-1, 28, 28)
    columns = min(columns, len(images))
    rows = -(-len(images) // columns)
    height = 38 if titles else 30  # pixels of a cell; a title takes the upper 9
    sheet = np.zeros((rows * height, columns * 30))
    for index, image in enumerate(images):
        row, column = divmod(index, columns)
        bottom = (row + 1) * height - 1
        sheet[bottom - 28 : bottom, column * 30 + 1 : column * 30 + 29] = image
    ax = _axes(ax)
    ax.imshow(sheet, cmap="gray_r", vmin=0.0, vmax=1.0, interpolation="nearest")
    for index, title in enumerate(titles or []):
        row, column = divmod(index, columns)
        ax.text(column * 30 + 14.5, row * height, title, ha="center", va="top", fontsize=9)
    ax.set_axis_off()
    return ax


@_in_style
def plot_weights_image(w: ArrayLike, ax: Axes | None = None) -> Axes:
    """Draw w (784,) as a 28 x 28 image: violet speaks for +1, orange for -1, white for neither.

    Parameters
    ----------
    w : array_like, shape (784,)
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    image = np.asarray(w, dtype=float).reshape(28, 28)
    top = max(float(np.abs(image).max()), 1e-300)
    ax = _axes(ax)
    shown = ax.imshow(image, cmap="PuOr", vmin=-top, vmax=top, interpolation="nearest")
    ax.figure.colorbar(shown, ax=ax, label="weight of the pixel", shrink=0.8)
    ax.set_axis_off()
    return ax


def _axes(ax: Axes | None) -> Axes:
    return plt.subplots()[1] if ax is None else ax


def _points(problem: HingeProblem) -> FloatArray:
    if problem.d != 2:
        raise ValueError(f"this figure needs two features; the problem has d = {problem.d}")
    return np.asarray(problem.X.toarray() if problem.is_sparse else problem.X)


def _limits(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the corners of a square window around the points, with a border."""
    centre = (points.min(axis=0) + points.max(axis=0)) / 2.0
    half = max(float(np.ptp(points, axis=0).max()) / 2.0 * 1.15, 1e-3)
    return centre - half, centre + half


def _legend(ax: Axes, *, beside: bool = False) -> Axes:
    """Add the legend, `beside` the axes where it would hide points."""
    handles, labels = ax.get_legend_handles_labels()
    if labels and beside:
        ax.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    elif labels:
        ax.legend(handles, labels, loc="best", frameon=True, edgecolor="none", framealpha=0.85)
    return ax
