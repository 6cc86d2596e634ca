"""Pegasos and SDCA as scikit-learn classifiers of two classes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Literal, Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from ._kernels import rows_of, steps_loop
from .dual import sdca
from .online import check_radius
from .problem import FloatArray, HingeProblem, IntArray, check_count, check_positive
from .sampling import Sampling, draw_batches
from .steps import PegasosStep

RandomState = int | np.random.Generator | np.random.RandomState | None

# Weight of w_t in the running sum is t**power; below 0 no sum is kept.
_POWERS = {None: -1, "uniform": 0, "weighted": 1}
# What the iterate and the sum that are kept depend on.
_FIXED = ("average", "fit_intercept", "intercept_scaling")


class _LinearClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Turn data of two classes into a `HingeProblem`, and its weights into predictions."""

    classes_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    def decision_function(self, X: Any) -> FloatArray:
        """Return <coef_, x> + intercept_ for each row of X, shape (n,)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        return cast(FloatArray, X @ self.coef_[0] + self.intercept_[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return `classes_[1]` where the decision function is above 0, else `classes_[0]`."""
        positive = self.decision_function(X) > 0.0
        return cast("NDArray[Any]", self.classes_[positive.astype(int)])

    def _problem(
        self, X: Any, y: ArrayLike, *, first: bool, classes: ArrayLike | None = None
    ) -> HingeProblem:
        """Return the problem of these data; `first` learns what the next data must agree with."""
        X, y = validate_data(
            self, X, y, reset=first, accept_sparse="csr", dtype=np.float64, order="C"
        )
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y")
        if kind != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}."
            )
        if first:
            self.classes_ = _two_classes(y if classes is None else classes)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes must stay {self.classes_}; got {np.unique(classes)}")
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(f"y must hold labels of {self.classes_} only; found {unknown}")
        if self.fit_intercept:
            X = _with_constant(X, check_positive(self.intercept_scaling, "intercept_scaling"))
        return HingeProblem(X, np.where(y == self.classes_[1], 1.0, -1.0), self.lam)

    def _set_weights(self, w: FloatArray) -> None:
        constant = w[-1] * self.intercept_scaling if self.fit_intercept else 0.0
        self.coef_ = np.array(w[: self.n_features_in_])[np.newaxis]
        self.intercept_ = np.array([constant])


class SDCAClassifier(_LinearClassifier):
    """Train a linear support vector machine to a certified duality gap, by `sdca`.

    With v = (coef, intercept/intercept_scaling), the objective is
    P(v) = lam/2 ||v||^2 + (1/n) sum_i max(0, 1 - y_i (<coef, x_i> + intercept)), where y_i is +1
    for `classes_[1]` and -1 for `classes_[0]`. LinearSVC's constant is C = 1/(lam n).

    Parameters
    ----------
    lam : float
        Regularisation, above 0. It weighs the norm against the average loss, so that it keeps its
        meaning when n changes, where C does not.
    max_iter : int
        Largest number of epochs.
    tol : float
        Duality gap to reach; it bounds P(v) - P(v*), and P(0) = 1 is its natural unit.
    fit_intercept, intercept_scaling : bool, float
        Add a constant feature of this value, above 0. Its coefficient is regularised like the
        others: the less, the larger the value; but the longer the rows.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Source of the orders; None draws a new seed each time.

    Attributes
    ----------
    coef_, intercept_, classes_ : ndarray, shapes (1, d), (1,) and (2,)
    alpha_ : ndarray, shape (n,)
        Dual variables in [0, 1]; the support vectors are the examples with alpha_ > 0.
    dual_gap_ : float
        P(v) - D(alpha_), computed at the end from `alpha_` alone: a proof of how good the fit is.
    n_iter_ : int
        Epochs made.
    n_features_in_, feature_names_in_
        As in all of scikit-learn.
    """

    def __init__(
        self,
        lam: float = 1e-3,
        *,
        max_iter: int = 1000,
        tol: float = 1e-6,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        random_state: RandomState = None,
    ) -> None:
        self.lam, self.max_iter, self.tol = lam, max_iter, tol
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train on X, shape (n, d), dense or sparse, with labels y of two classes.

        Raises ValueError for wrong data or options, and warns with ConvergenceWarning if
        `max_iter` epochs leave the duality gap above `tol`.
        """
        max_iter = check_count(self.max_iter, "max_iter", 1)
        tol = check_positive(self.tol, "tol")
        rng = _generator(self.random_state)
        problem = self._problem(X, y, first=True)
        run = sdca(problem, n_epochs=max_iter, gap=tol, rng=rng, record=1)
        if run.n_iter == max_iter and run.gap > tol:
            warnings.warn(
                f"the duality gap is {run.gap:.3g} after {max_iter} epochs, above tol={tol:g}; "
                "raise max_iter, tol or lam, or scale the features",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._set_weights(run.w)
        self.alpha_, self.dual_gap_, self.n_iter_ = run.alpha, run.gap, run.n_iter
        return self


class PegasosClassifier(_LinearClassifier):
    """Train a linear support vector machine by the steps of `pegasos`, at once or from a stream.

    With v = (coef, intercept/intercept_scaling), the objective is
    P(v) = lam/2 ||v||^2 + mean of max(0, 1 - y (<coef, x> + intercept)), where y is +1 for
    `classes_[1]` and -1 for `classes_[0]`. The mean is over the n examples that `fit` is given,
    and LinearSVC's constant is C = 1/(lam n). No step knows n, since lam weighs the norm against
    the average loss: under `partial_fit` the mean is over the distribution that the stream comes
    from, and C = 1/(lam n) if each of n examples was given equally often.

    Parameters
    ----------
    lam : float
        Regularisation, above 0; step t has the size 1/(lam t).
    max_iter : int
        Number of epochs that `fit` makes, of ceil(n/batch_size) steps each.
    batch_size : int
        Examples of one step.
    sampling : {"permutation", "iid"}
        How `fit` draws its batches: a new random order each epoch, which needs fewer epochs, or
        independently with replacement, which the theorems assume; see `draw_batches`.
    project : bool or float
        Keep v in the l2 ball of radius 1/sqrt(lam), which holds v*; a number is a radius of its
        own; False leaves it free.
    average : {"weighted", "uniform"} or None
        Predict with the average of v_1..v_T, weighted by t or not, or with the last iterate. The
        weighted one forgets the first steps, and is the better one at small lam.
    fit_intercept, intercept_scaling : bool, float
        Add a constant feature of this value, above 0. Its coefficient is regularised like the
        others: the less, the larger the value; but the longer the rows.
    warm_start : bool
        Let `fit` continue as `partial_fit` does, from the last step, average and state of the
        draws, in place of starting again.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        Source of the draws; None draws a new seed each time.

    Attributes
    ----------
    coef_, intercept_, classes_ : ndarray, shapes (1, d), (1,) and (2,)
    n_iter_ : int
        Passes over its data that the last call made: `max_iter` for `fit`, 1 for `partial_fit`.
    n_steps_ : int
        Steps T taken in all, so that the next one is T + 1.
    n_features_in_, feature_names_in_
        As in all of scikit-learn.
    """

    def __init__(
        self,
        lam: float = 1e-3,
        *,
        max_iter: int = 20,
        batch_size: int = 1,
        sampling: Sampling = "permutation",
        project: bool | float = True,
        average: Literal["weighted", "uniform"] | None = "weighted",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        warm_start: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.lam, self.max_iter, self.batch_size = lam, max_iter, batch_size
        self.sampling, self.project, self.average = sampling, project, average
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.warm_start, self.random_state = warm_start, random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train on X, shape (n, d), dense or sparse, with labels y of two classes.

        Raises ValueError for wrong data or options; the message says what is expected.
        """
        max_iter = check_count(self.max_iter, "max_iter", 1)
        k = check_count(self.batch_size, "batch_size", 1)
        first = not (self.warm_start and hasattr(self, "_state"))
        problem, state = self._begin(X, y, first=first)
        steps = -(-problem.n // k)
        epochs = (
            draw_batches(state.rng, problem.n, steps, k, sampling=self.sampling).reshape(steps, k)
            for _ in range(max_iter)
        )
        return self._advance(problem, state, epochs, max_iter)

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Continue with one pass over X, shape (m, d), in the order given; y may hold one class.

        Consecutive rows form the mini-batches, the last of which may be smaller, so that cutting
        a stream into pieces of a multiple of `batch_size` rows changes nothing. The memory needed
        is that of one piece. `classes` names the two labels, in the first call.

        Raises ValueError for wrong data or options; the message says what is expected.
        """
        k = check_count(self.batch_size, "batch_size", 1)
        first = not hasattr(self, "_state")
        if first and classes is None:
            raise ValueError("classes must name the two labels in the first call of partial_fit")
        problem, state = self._begin(X, y, first=first, classes=classes)
        return self._advance(problem, state, _in_order(problem.n, k), 1)

    def _begin(
        self, X: Any, y: ArrayLike, *, first: bool, classes: ArrayLike | None = None
    ) -> tuple[HingeProblem, _State]:
        """Return the problem, and the state to continue from: a new one at the first call."""
        if self.average not in _POWERS:
            raise ValueError(f"average must be 'weighted', 'uniform' or None; got {self.average!r}")
        check_radius(self.project, check_positive(self.lam, "lam"))
        form = {name: getattr(self, name) for name in _FIXED}
        if first:
            # An older state would not fit what `_problem` learns, even where that then fails.
            self.__dict__.pop("_state", None)
            rng = _generator(self.random_state)
            problem = self._problem(X, y, first=True, classes=classes)
            return problem, _State(form, rng, problem.d)
        if form != self._state.form:
            raise ValueError(f"{form} must be as in the first call, {self._state.form}")
        return self._problem(X, y, first=False, classes=classes), self._state

    def _advance(
        self, problem: HingeProblem, state: _State, blocks: Iterable[IntArray], passes: int
    ) -> Self:
        state.take(problem, blocks, check_radius(self.project, problem.lam))
        self._state: _State = state
        self._set_weights(state.weights())
        self.n_iter_, self.n_steps_ = passes, state.t
        return self


class _State:
    """Hold what step t + 1 needs of the t steps before: see `take_steps` for v, u and numbers."""

    def __init__(self, form: dict[str, Any], rng: np.random.Generator, d: int) -> None:
        self.form, self.rng, self.t = form, rng, 0
        self.v, self.u, self.numbers = np.zeros(d), np.zeros(d), np.array([1.0, 0.0, 0.0, 0.0])

    def take(self, problem: HingeProblem, blocks: Iterable[IntArray], radius: float) -> None:
        """Take the steps of each block of batches, shape (m, k)."""
        loop, X, rule = steps_loop(), rows_of(problem), PegasosStep(problem.lam)
        # ||v||^2 drifts on sparse rows: computed afresh about as often as d numbers were added.
        stored = problem.X.nnz / problem.n if problem.is_sparse else 1.0
        refresh = int(problem.d / max(1.0, stored))
        power = _POWERS[self.form["average"]]
        for draws in blocks:
            t = np.arange(self.t + 1, self.t + len(draws) + 1)
            steps = (draws, rule(t), rule.decay(t, problem.lam), self.t + 1)
            hits = np.zeros(draws.shape[1], dtype=np.int64)
            ends = (radius, power, refresh, self.numbers, self.v, self.u, hits)
            loop(X, problem.y, *steps, *ends)
            self.t += len(draws)

    def weights(self) -> FloatArray:
        """Return the average of w_1..w_T, or the last iterate."""
        scale, a = self.numbers[:2]
        if self.form["average"] is None:
            return cast(FloatArray, scale * self.v)
        total = self.t * (self.t + 1.0) / 2.0 if self.form["average"] == "weighted" else self.t
        return cast(FloatArray, (a * self.v - self.u) / total)


def _in_order(n: int, k: int) -> Iterator[IntArray]:
    """Yield 0..n-1 as batches of k, and what is left over as a batch of its own."""
    rows, whole = np.arange(n, dtype=np.int64), n // k * k
    yield rows[:whole].reshape(-1, k)
    if whole < n:
        yield rows[np.newaxis, whole:]


def _with_constant(X: Any, value: float) -> Any:
    """Return X with a last column that holds `value`; CSR stays CSR."""
    column: Any = np.full((X.shape[0], 1), value)
    if isinstance(X, np.ndarray):
        return np.hstack([X, column])
    return sp.hstack([X, sp.csr_array(column)], format="csr")


def _two_classes(labels: ArrayLike) -> NDArray[Any]:
    classes = np.unique(labels)
    if len(classes) != 2:
        raise ValueError(f"two classes are needed; got {len(classes)} class label(s): {classes}")
    return classes


def _generator(random_state: RandomState) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, dtype=np.uint32))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            "random_state must be None, an integer >= 0, a numpy.random.Generator or a "
            f"numpy.random.RandomState; got {random_state!r}"
        ) from None
