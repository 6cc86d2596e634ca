"""Seven optimizers on MNIST, as they were measured: objective and accuracy, by step or by clock."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, ClassVar

import traitlets

from .._checks import check_choice
from ..datasets import load_mnist_binary
from ..optimizers import BUDGET, LAMS, OPTIMIZERS, SETS, comparator, kind_of, optimize
from ..problem import FloatArray, HingeProblem
from ..run import Run
from ._race import OUTPUTS, find_run, load_results, optimum_at, picture
from .base import Figure, script

AXES = ("iterations", "passes", "time")
FIRST_SEED = 0  # of `benchmarks.race`


class RaceExplorer(Figure):
    """Choose optimizers, lam and what they may reach, and see how they did on MNIST.

    The curves are measured, not computed in the figure: they are medians over the seeds of
    `benchmarks.race`, with bands. Every argument but the first is a trait of the reader's: what
    is set in the figure is read here, and what is set here is drawn there.

    Parameters
    ----------
    results : mapping or path, optional
        What `python -m benchmarks.race` measured, as a dictionary or as the path of its JSON
        file. On the book's site the figure finds the committed file by itself; in a kernel it
        has what is given here, and without it says so.
    optimizers : list of str
        Which of `pegasos_lib.optimizers.OPTIMIZERS` are drawn, at least one.
    lam : {0.001, 0.01, 0.1, 1, 10}
        The regularisation.
    feasible : {"l1", "own"}
        All but GD in the l1 ball of radius 10, or each in its own set; see
        `pegasos_lib.optimizers.optimize`.
    output : {"last", "average"}
        The iterate after t steps, or the mean of w_1..w_t.
    axis : {"iterations", "passes", "time"}
        What the curves are drawn against: steps, passes over the 10,000 examples, or seconds.
    focus : str
        The optimizer that carries the marker, one of `optimizers`, whose w is the picture.
    at : int
        The number of its iterations at which the marker stands; the nearest that was measured
        counts.

    Raises
    ------
    traitlets.TraitError
        If a value is none of those, or the results are not of the shape; the message says what
        is expected.

    Notes
    -----
    The tasks, each after a guess, and what was measured of the committed results:

    * "baseline": nine tenths of the way from P(0) = 1 to the least value, and a median test
      accuracy no better than that of always +1. At lam = 10 every optimizer comes to such a
      point in some setting, and w* itself errs as always +1 does; at lam = 1 some pass through
      one, and no one does at a smaller lam.
    * "under": P three times its least value where the run of Pegasos ends, though w* errs on at
      most 2 % of the test images. At lam = 0.001 it is 5.9 to 12.4 times that; at lam = 0.01, the
      next, 1.3 to 2.0 times.
    * "clock": two optimizers alone, one lower by a factor of 1.25 after as many iterations, the
      other after as many seconds, seen against seconds. GD and Pegasos do it at every lam; from
      the figure as it starts, after 55 iterations of GD.
    """

    kind = "race"
    alt = (
        "Two panels of curves for the seven optimizers on MNIST, with bands over the seeds, "
        "against iterations on a logarithmic axis: how far the objective is above its least "
        "value, where GD starts a thousand above and ends after a hundred iterations; and the "
        "test accuracy beside the dashed line of the classifier that always answers plus one, "
        "which most of them leave late. A marker stands at the last iteration."
    )
    inputs: ClassVar[tuple[str, ...]] = (
        "optimizers",
        "lam",
        "feasible",
        "output",
        "axis",
        "focus",
        "at",
    )
    _esm = script("race")

    results = traitlets.Any(None, allow_none=True).tag(sync=True)
    optimizers = traitlets.List(traitlets.Enum(OPTIMIZERS), list(OPTIMIZERS)).tag(sync=True)
    lam = traitlets.Float(1e-2).tag(sync=True)
    feasible = traitlets.Enum(SETS, "l1").tag(sync=True)
    output = traitlets.Enum(OUTPUTS, "last").tag(sync=True)
    axis = traitlets.Enum(AXES, "iterations").tag(sync=True)
    focus = traitlets.Enum(OPTIMIZERS, "Pegasos").tag(sync=True)
    at = traitlets.Int(BUDGET["online"], min=1).tag(sync=True)

    def __init__(
        self,
        results: Mapping[str, Any] | str | os.PathLike[str] | None = None,
        **traits: Any,
    ) -> None:
        super().__init__(results=results, **traits)

    @traitlets.validate("results")
    def _check_results(self, proposal: Any) -> dict[str, Any] | None:
        return None if proposal["value"] is None else load_results(proposal["value"])

    @traitlets.validate("optimizers")
    def _check_optimizers(self, proposal: Any) -> list[str]:
        chosen = proposal["value"]
        if not chosen or len(set(chosen)) < len(chosen):
            raise traitlets.TraitError(
                f"optimizers must name at least one, each once; got {chosen}"
            )
        return [name for name in OPTIMIZERS if name in chosen]

    @traitlets.validate("lam")
    def _check_lam(self, proposal: Any) -> float:
        if proposal["value"] not in LAMS:
            raise traitlets.TraitError(
                f"lam must be one of {', '.join(f'{lam:g}' for lam in LAMS)}: those were measured; "
                f"got {proposal['value']:g}"
            )
        return float(proposal["value"])

    @property
    def problem(self) -> HingeProblem:
        """MNIST's 10,000 training images, 0 against the rest, at the chosen lam."""
        return mnist_problem(self.lam)

    def run(
        self, optimizer: str | None = None, *, record: int | Iterable[int] | None = None
    ) -> Run:
        """Run an optimizer again, by the library, as the first seed of the measurement did.

        Parameters
        ----------
        optimizer : str, optional
            One of `pegasos_lib.optimizers.OPTIMIZERS`; by default the one in focus.
        record : None, int or iterable of int
            Step counts at which iterates are kept. By default those that were measured, if there
            are results.

        Returns
        -------
        Run
            100 steps of GD and projected GD, 10,000 of the others, within a second.
        """
        name = self.focus if optimizer is None else optimizer
        kind = kind_of(name)
        if record is None and self.results is not None:
            record = self.results["iterations"][kind]
        return optimize(
            name,
            self.problem,
            n_iter=BUDGET[kind],
            feasible=self.feasible,
            rng=FIRST_SEED,
            record=record,
        )

    def measured(self, optimizer: str | None = None) -> dict[str, Any]:
        """Return what was measured of an optimizer, by default the one in focus, in this setting.

        Returns
        -------
        dict
            Lists "median", "low" and "high" under "suboptimality" and "accuracy", and "seconds",
            one number for each of `results["iterations"]`.

        Raises
        ------
        ValueError
            If the figure has no results, or the optimizer is unknown.
        """
        name = self.focus if optimizer is None else optimizer
        check_choice(name, "optimizer", OPTIMIZERS)
        return find_run(self._given(), name, self.lam, self.feasible, self.output)

    def least(self, optimizer: str | None = None) -> dict[str, float]:
        """Return P and the errors of the best point that an optimizer can reach in this setting.

        That is w*, or the best point of the l1 ball; suboptimality is measured from its P.
        """
        name = self.focus if optimizer is None else optimizer
        return optimum_at(self._given(), self.lam)[comparator(name, self.feasible)]

    @property
    def w(self) -> FloatArray:
        """The last iterate of the focus as the figure pictures it, shape (28, 28).

        It is that of the first seed, to a 127th of its largest entry.
        """
        return picture(find_run(self._given(), self.focus, self.lam, self.feasible, "last"))

    def _given(self) -> dict[str, Any]:
        if self.results is None:
            raise ValueError(
                "this figure has no results: give it those of `python -m benchmarks.race`, "
                'RaceExplorer("book/_data/race.json")'
            )
        given: dict[str, Any] = self.results
        return given


@cache
def _mnist() -> tuple[FloatArray, FloatArray]:
    return load_mnist_binary()


def mnist_problem(lam: float) -> HingeProblem:
    """Return the problem on MNIST's training images; the images are read once."""
    return HingeProblem(*_mnist(), lam)
