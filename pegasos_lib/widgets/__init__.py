"""The interactive figures of the book; needs the extra `widgets`."""

from .pegasos import PegasosExplorer

__all__ = ["PegasosExplorer"]
