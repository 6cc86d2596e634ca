"""First-order training of support vector machines: the library of the book."""

from typing import TYPE_CHECKING, Any

from ._kernels import use_jit
from .datasets import (
    load_cell_nuclei,
    load_mnist_binary,
    make_blobs_2d,
    make_mail,
    make_rcv1_like,
    make_ring_2d,
    make_two_arcs_2d,
)
from .descent import Descent, DescentRun, gradient_descent, subgradient_descent
from .dual import DualPoint, pegasos_certificate, sdca, sgd_initialisation
from .fetch import BloodCells, fetch_blood_cells, fetch_cs229_spam, fetch_mnist, fetch_rcv1
from .mirror import adagrad, exponentiated_gradient, mirror_descent
from .online import pegasos, sgd
from .outliers import OutlierRun, outlier_pegasos
from .problem import HingeProblem
from .projections import L1Ball, project_l1_ball, project_l2_ball, project_simplex
from .run import DualRun, Run, Trace
from .sampling import draw_batches
from .steps import (
    ArmijoStep,
    ConstantStep,
    InverseSqrt,
    InverseTime,
    PegasosStep,
    SmallChange,
    SmallDecrease,
    SmallGap,
    SmallGradient,
    StepRule,
    StoppingTest,
    WeightedStep,
    make_step,
)

if TYPE_CHECKING:
    from .estimator import PegasosClassifier as PegasosClassifier
    from .estimator import SDCAClassifier as SDCAClassifier

# The estimators load scikit-learn: they come when asked for, and `import *` leaves them out.
_ESTIMATORS = ("PegasosClassifier", "SDCAClassifier")

__all__ = [
    "ArmijoStep",
    "BloodCells",
    "ConstantStep",
    "Descent",
    "DescentRun",
    "DualPoint",
    "DualRun",
    "HingeProblem",
    "InverseSqrt",
    "InverseTime",
    "L1Ball",
    "OutlierRun",
    "PegasosStep",
    "Run",
    "SmallChange",
    "SmallDecrease",
    "SmallGap",
    "SmallGradient",
    "StepRule",
    "StoppingTest",
    "Trace",
    "WeightedStep",
    "adagrad",
    "draw_batches",
    "exponentiated_gradient",
    "fetch_blood_cells",
    "fetch_cs229_spam",
    "fetch_mnist",
    "fetch_rcv1",
    "gradient_descent",
    "load_cell_nuclei",
    "load_mnist_binary",
    "make_blobs_2d",
    "make_mail",
    "make_rcv1_like",
    "make_ring_2d",
    "make_step",
    "make_two_arcs_2d",
    "mirror_descent",
    "outlier_pegasos",
    "pegasos",
    "pegasos_certificate",
    "project_l1_ball",
    "project_l2_ball",
    "project_simplex",
    "sdca",
    "sgd",
    "sgd_initialisation",
    "subgradient_descent",
    "use_jit",
]


def __getattr__(name: str) -> Any:
    """Load an estimator when it is asked for."""
    if name in _ESTIMATORS:
        from . import estimator

        return getattr(estimator, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
