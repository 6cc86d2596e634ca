"""The interactive figures of the book; needs the extra `widgets`."""

from .chord import ChordExplorer
from .descent import DescentExplorer
from .dual import DualExplorer
from .margin import MarginExplorer
from .minibatch import MinibatchExplorer
from .outliers import OutliersExplorer
from .pegasos import PegasosExplorer
from .race import RaceExplorer
from .regret import RegretExplorer
from .subgradient import SubgradientExplorer

__all__ = [
    "ChordExplorer",
    "DescentExplorer",
    "DualExplorer",
    "MarginExplorer",
    "MinibatchExplorer",
    "OutliersExplorer",
    "PegasosExplorer",
    "RaceExplorer",
    "RegretExplorer",
    "SubgradientExplorer",
]
