"""A signal whose handler raises, while a kernel is loaded: no lock stays taken."""

import signal
import threading
from contextlib import contextmanager

import pytest
from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock

from recollex_engine.deferred_signals import Deferring
from recollex_kernels.machine.jit import kernel
from tests.engine.faults.small_store import opened


@pytest.fixture(autouse=True)
def a_store(tmp_path):
    """Signals are held back once a store was opened."""
    with opened(tmp_path / "s"):
        pass


def is_free(lock):
    """Whether another thread can take a lock."""
    taken = []

    def take():
        if lock.acquire(timeout=20):
            lock.release()
            taken.append(True)

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return bool(taken)


def toy_kernel():
    """A kernel that no process has loaded."""

    @kernel
    def answer(x):
        return x + 41

    return answer


class Sender:
    """Sends a signal at the n-th event."""

    def __init__(self, number, at):
        self.number = number
        self.left = at

    def __call__(self):
        self.left -= 1
        if self.left == 0:
            signal.raise_signal(self.number)


@contextmanager
def at_each_lock(call):
    """Call ``call()`` each time that llvmlite has taken its lock, before its ``with`` begins."""

    def released():
        pass

    ffi.register_lock_callback(call, released)
    try:
        yield
    finally:
        ffi.unregister_lock_callback(call, released)


def raise_timeout(*_):
    raise TimeoutError


HANDLERS = {signal.SIGINT: signal.default_int_handler, signal.SIGALRM: raise_timeout}


@pytest.fixture(autouse=True)
def handlers():
    """Set `HANDLERS`; they are in place again after each test."""
    before = {number: signal.signal(number, handler) for number, handler in HANDLERS.items()}
    yield
    assert {number: signal.signal(number, before[number]) for number in HANDLERS} == HANDLERS


@pytest.mark.parametrize("at", [1, 2, 7, 40])
@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGALRM, TimeoutError)]
)
def test_the_locks_of_llvmlite_are_free_after_an_interrupt(number, error, at):
    send = Sender(number, at)
    answer = toy_kernel()
    with at_each_lock(send), pytest.raises(error):
        answer(1)
    assert send.left <= 0
    assert is_free(ffi.lib._lock._lock)
    assert is_free(global_compiler_lock._lock)
    assert answer(1) == 42


class SendingLock:
    """A lock that sends a signal once it is taken."""

    def __init__(self, lock):
        self.lock = lock
        self.release = lock.release
        self.send = Sender(signal.SIGINT, 1)

    def acquire(self):
        self.lock.acquire()
        self.send()


def test_numbas_own_lock_is_free_after_an_interrupt(monkeypatch):
    answer = toy_kernel()
    lock = global_compiler_lock._lock
    monkeypatch.setattr(global_compiler_lock, "_lock", SendingLock(lock))
    with pytest.raises(KeyboardInterrupt):
        answer(1)
    monkeypatch.undo()
    assert is_free(lock)
    assert answer(1) == 42


def test_a_second_ctrl_c_is_not_held_back():
    deferring = Deferring()
    deferring.on_start(None)
    signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    deferring.on_end(None)


def test_a_handler_runs_once_in_the_main_thread_after_the_kernel_is_there():
    calls = []

    def note(number, frame):
        calls.append((number, threading.current_thread()))

    signal.signal(signal.SIGALRM, note)
    answer = toy_kernel()
    with at_each_lock(Sender(signal.SIGALRM, 3)):
        assert answer(1) == 42
    assert calls == [(signal.SIGALRM, threading.main_thread())]
    signal.signal(signal.SIGALRM, raise_timeout)
