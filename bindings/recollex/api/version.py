"""The version of recollex, which both ends of a connection tell."""

from recollex_engine.storage.formats import VERSION

__all__ = ["VERSION"]
