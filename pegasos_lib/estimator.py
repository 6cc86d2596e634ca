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

from ._checks import check_choice, check_count, check_positive
from .dual import sdca
from .online import Steps, check_radius
from .problem import FloatArray, HingeProblem, IntArray
from .run import mean_iterate
from .sampling import Sampling, draw_batches
from .steps import PegasosStep

RandomState = int | np.random.Generator | np.random.RandomState | None

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
    warm_start : bool
        Let `fit` start from the last `alpha_`, in place of 0. Row i starts at alpha_[i], and rows
        beyond the last fit's at 0: right where rows were appended or few of them changed. Since
        [0, 1]^n is feasible for every lam and all data, any options and data may change, and
        the result is as good as `dual_gap_` says; a start that has nothing to do with the data
        costs epochs.
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
        Epochs made; 0 if a warm start has the gap `tol` already.
    n_features_in_, feature_names_in_
        As in all of scikit-learn.
    """

    alpha_: FloatArray

    def __init__(
        self,
        lam: float = 1e-3,
        *,
        max_iter: int = 1000,
        tol: float = 1e-6,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        warm_start: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.lam, self.max_iter, self.tol = lam, max_iter, tol
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.warm_start, self.random_state = warm_start, random_state

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train on X, shape (n, d), dense or sparse, with labels y of two classes.

        Raises ValueError for wrong data or options, and warns with ConvergenceWarning if
        `max_iter` epochs leave the duality gap above `tol`.
        """
        max_iter = check_count(self.max_iter, "max_iter", 1)
        tol = check_positive(self.tol, "tol")
        rng = _generator(self.random_state)
        problem = self._problem(X, y, first=True)
        start = None
        if self.warm_start and hasattr(self, "alpha_"):
            kept = self.alpha_[: problem.n]
            start = np.append(kept, np.zeros(problem.n - len(kept)))
        run = sdca(problem, n_epochs=max_iter, gap=tol, rng=rng, alpha0=start, record=1)
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
    dual_gap_ : float
        P(v) - D(alpha) >= P(v) - P(v*) on the data of the last `fit`, where alpha comes from how
        often each example was hit (see `Steps.duality_gap`), at the cost of two products with X.
        It closes under sampling="permutation". It is as true, but need not close, under "iid",
        with a small radius of one's own, and after a warm start from other data or a stream.
        After `partial_fit` there is none: what it would bound involves data that are gone.
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
        if len(state.coefficients) != problem.n:
            state.coefficients = np.zeros(problem.n)
        steps = -(-problem.n // k)
        epochs = (
            draw_batches(self._rng, problem.n, steps, k, sampling=self.sampling).reshape(steps, k)
            for _ in range(max_iter)
        )
        v = self._advance(problem, state, epochs, max_iter)
        self.dual_gap_ = state.duality_gap(problem, v)
        return self

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
        state.coefficients = np.zeros(0)
        self.__dict__.pop("dual_gap_", None)
        self._advance(problem, state, _in_order(problem.n, k), 1)
        return self

    def _begin(
        self, X: Any, y: ArrayLike, *, first: bool, classes: ArrayLike | None = None
    ) -> tuple[HingeProblem, Steps]:
        """Return the problem, and the state to continue from: a new one at the first call."""
        check_choice(self.average, "average", ("weighted", "uniform", None))
        check_radius(self.project, check_positive(self.lam, "lam"))
        form = {name: getattr(self, name) for name in _FIXED}
        if first:
            # An older state would not fit what `_problem` learns, even where that then fails.
            self.__dict__.pop("_state", None)
            rng = _generator(self.random_state)
            problem = self._problem(X, y, first=True, classes=classes)
            self._form, self._rng = form, rng
            return problem, Steps(problem.d, self.average)
        if form != self._form:
            raise ValueError(f"{form} must be as in the first call, {self._form}")
        return self._problem(X, y, first=False, classes=classes), self._state

    def _advance(
        self, problem: HingeProblem, state: Steps, blocks: Iterable[IntArray], passes: int
    ) -> FloatArray:
        """Take the steps of each block of batches, shape (m, k); return the weights."""
        rule, radius = PegasosStep(problem.lam), check_radius(self.project, problem.lam)
        take = state.taker(problem, radius)
        for draws in blocks:
            t = np.arange(state.t + 1, state.t + len(draws) + 1)
            take(draws, rule(t), rule.decay(t, problem.lam))
        self._state: Steps = state
        v = mean_iterate(state.total, state.t, self.average) if self.average else state.w
        self._set_weights(v)
        self.n_iter_, self.n_steps_ = passes, state.t
        return v


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
