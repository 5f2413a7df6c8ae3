"""Signals that come while numba loads or compiles a kernel: their handlers run when it is done.

Numba and llvmlite take their locks in Python. A handler that raises, as that of Ctrl-C does, may
raise between the line that takes a lock and the ``with`` that releases it; the lock then stays
taken, and every other thread that loads a kernel waits for ever. So from the moment at which the
main thread asks for numba's lock until it has released it, the handlers that Python code has set
are replaced. They run afterwards, once for each signal that came. A second Ctrl-C is not held back.

Cost: 10 us for each kernel and signature, the first time that it is called.
"""

import signal
import threading
from collections.abc import Callable
from inspect import unwrap
from typing import Any

from numba.core.event import Event, Listener, register

RAISING = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGALRM,
    signal.SIGVTALRM,
    signal.SIGPROF,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
"""Signals whose handlers may raise."""
_REGISTER: Any = register
_GET, _SET = (unwrap(function) for function in (signal.getsignal, signal.signal))
"""Without the conversion of what they take and return to enumerations."""


def defer_signals() -> None:
    """Hold signals back, from now on, while the main thread loads or compiles a kernel."""
    _REGISTER("numba:compiler_lock", Deferring())


class Deferring(Listener):
    """Replaces the handlers while the main thread holds, or waits for, a lock of the compiler."""

    def __init__(self) -> None:
        self._depth = 0
        self._handlers: dict[int, Callable[..., object]] = {}
        self._came: list[int] = []

    def on_start(self, event: Event) -> None:
        """Replace the handlers; the lock is not taken yet."""
        if threading.current_thread() is not threading.main_thread():
            return
        if self._depth == 0:
            try:
                for number in RAISING:
                    handler = _GET(number)
                    if callable(handler):
                        self._handlers[number] = handler
                        _SET(number, self._note)
                self._depth = 1
            except BaseException:
                self._restore()
                raise
        else:
            self._depth += 1

    def on_end(self, event: Event) -> None:
        """Put the handlers back, and run those of the signals that came; the lock is released."""
        if self._depth == 0 or threading.current_thread() is not threading.main_thread():
            return
        self._depth -= 1
        if self._depth == 0:
            came = self._came
            self._came = []
            self._restore()
            _raise_all(came)

    def _note(self, number: int, frame: Any) -> None:
        if number not in self._came:
            self._came.append(number)
        elif number == signal.SIGINT:
            handler = self._handlers[signal.SIGINT]
            self._depth = 0
            self._came = []
            self._restore()
            handler(number, frame)

    def _restore(self) -> None:
        try:
            for number, handler in self._handlers.items():
                _SET(number, handler)
            self._handlers = {}
        except BaseException:  # a handler that is in place again has raised
            self._restore()
            raise


def _raise_all(numbers: list[int]) -> None:
    if numbers:
        try:
            signal.raise_signal(numbers[0])
        finally:
            _raise_all(numbers[1:])
