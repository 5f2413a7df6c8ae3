"""How is a running request given up? By a token that the caller keeps.

A token holds for the requests that are made in its ``with`` block, and for a request to which it is
given; another thread may cancel it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token

from recollex_engine import fork
from recollex_engine.errors import LanguageModelError


class Cancellation:
    """Gives up whatever watches it. Threads: any number may call any method.

    >>> token = Cancellation()
    >>> with token:
    ...     token.cancel()
    ...     token.cancelled
    True
    """

    def __init__(self) -> None:
        self._lock = fork.lock()
        self._watching: dict[int, Callable[[], object]] = {}
        self._number = 0
        self.cancelled: bool = False
        self._entered: list[Token[Cancellation | None]] = []

    def __enter__(self) -> "Cancellation":
        self._entered.append(_current.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        _current.reset(self._entered.pop())

    def cancel(self) -> None:
        """Give up what runs with this token, and what will; calling it again does nothing."""
        with self._lock:
            self.cancelled = True
            watching = list(self._watching.values())
        for each in watching:
            each()

    def check(self) -> None:
        """Raise `LanguageModelError` if it was cancelled."""
        if self.cancelled:
            raise LanguageModelError("it was cancelled", "cancelled")

    @classmethod
    def current(cls) -> "Cancellation | None":
        """Return the token of the innermost block that this code runs in; None outside of any."""
        return _current.get()

    @contextmanager
    def watched(self, give_up: Callable[[], object]) -> Iterator[None]:
        """Call ``give_up`` if the token is cancelled during the body, or was before."""
        with self._lock:
            self._number += 1
            number = self._number
            self._watching[number] = give_up
        if self.cancelled:
            give_up()
        try:
            yield
        finally:
            with self._lock:
                del self._watching[number]


_current: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)
