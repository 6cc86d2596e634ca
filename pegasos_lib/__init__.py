"""First-order training of support vector machines: the library of the book."""

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
from .descent import subgradient_descent
from .dual import sdca
from .online import pegasos, sgd
from .problem import HingeProblem
from .projections import project_l1_ball, project_l2_ball, project_simplex
from .run import DualRun, Run, Trace
from .sampling import draw_batches
from .steps import (
    ConstantStep,
    InverseSqrt,
    InverseTime,
    PegasosStep,
    StepRule,
    WeightedStep,
    make_step,
)

__all__ = [
    "ConstantStep",
    "DualRun",
    "HingeProblem",
    "InverseSqrt",
    "InverseTime",
    "PegasosStep",
    "Run",
    "StepRule",
    "Trace",
    "WeightedStep",
    "draw_batches",
    "load_cell_nuclei",
    "load_mnist_binary",
    "make_blobs_2d",
    "make_mail",
    "make_rcv1_like",
    "make_ring_2d",
    "make_step",
    "make_two_arcs_2d",
    "pegasos",
    "project_l1_ball",
    "project_l2_ball",
    "project_simplex",
    "sdca",
    "sgd",
    "subgradient_descent",
    "use_jit",
]
