"""The interactive figures of the book; needs the extra `widgets`."""

from .margin import MarginExplorer
from .pegasos import PegasosExplorer

__all__ = ["MarginExplorer", "PegasosExplorer"]
