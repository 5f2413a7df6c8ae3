"""Uvicorn's server without its signal handlers, which end the process by the signal again."""

import contextlib
from collections.abc import Iterator

import uvicorn


class UvicornServer(uvicorn.Server):
    """Uvicorn's server, which leaves signals to the process that runs it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield
