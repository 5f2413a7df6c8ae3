"""What does a child of `os.fork` inherit? Memory, but no threads, and no right to the open files.

A child has a copy of the memory and only the thread that forked. So three things must not be used
as they are: a pool whose threads are gone, a lock that another thread held, and an object that
writes files which the parent writes too. Pools and locks of the whole process are made anew in the
child: `ThreadPool`, `lock` and `reentrant_lock`. A `cached_property` waits for no lock. Open
stores, agents and logs `register` themselves and refuse with `refusal`. Nothing of this costs a
call anything.
"""

import functools
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar
from weakref import WeakSet

from recollex_engine.errors import ClosedError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Inherited(Protocol):
    """An object that must change in a child before the child goes on."""

    def after_fork(self) -> None:
        """Change what a child must not use; called in the child, where no other thread runs.

        It must take no lock: the thread that held it may be gone.
        """


def register(each: Inherited) -> None:
    """Let ``each.after_fork()`` be called in every child, as long as the object lives."""
    _objects.add(each)


def refusal(what: str) -> ClosedError:
    """Return the error for a call in a child on ``what``, which its parent opened."""
    return ClosedError(
        f"{what} was opened before this process was forked: open the store anew in this process"
    )


def lock() -> threading.Lock:
    """Return a lock that is free in a child."""
    made = threading.Lock()
    _locks.add(made)
    return made


def reentrant_lock() -> Any:
    """Return a `threading.RLock` that is free in a child."""
    made = threading.RLock()
    _locks.add(made)
    return made


class cached_property(functools.cached_property[Result]):  # noqa: N801 - as the one it replaces
    """A `functools.cached_property` that waits for no lock, so that no child waits for ever.

    Python 3.11 has one lock for all objects of a class. Two threads that ask at once may compute
    the value twice, as in later versions of Python; both get the one that is kept, since another
    property may rest on it.

    >>> class Circle:
    ...     @cached_property
    ...     def area(self):
    ...         return 3.14
    >>> Circle().area
    3.14
    """

    if not TYPE_CHECKING:  # a type checker knows the functions of its parent

        def __get__(self, instance, owner=None):
            """Compute the value, and keep it where it is found before this is called."""
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))


class ThreadPool:
    """Threads for work beside the caller's; a child has threads of its own.

    Threads: any number may call. A thread is started when it is first needed.

    >>> ThreadPool(2, "example").submit(max, 3, 5).result()
    5
    """

    def __init__(self, size: int, name: str) -> None:
        self._size = size
        self._name = name
        self.after_fork()
        register(self)

    def submit(
        self,
        work: Callable[Arguments, Result],
        *args: Arguments.args,
        **options: Arguments.kwargs,
    ) -> Future[Result]:
        """Start ``work`` on a thread; RuntimeError once the interpreter is ending."""
        return self._pool.submit(work, *args, **options)

    def after_fork(self) -> None:
        """Begin without threads."""
        self._pool = ThreadPoolExecutor(self._size, thread_name_prefix=self._name)


unforked = threading.RLock()
"""Held by a product of matrices: a fork waits for it. OpenBLAS ends its threads before a fork, and
a product that another thread has begun would wait for them for ever, in the parent too."""

_objects: WeakSet[Inherited] = WeakSet()
_locks: WeakSet[Any] = WeakSet()


def _wait() -> None:
    """Let no product be half computed, and no kernel half compiled, in a child.

    The lock of the compiler would stay taken there.
    """
    unforked.acquire()
    if (compiler := sys.modules.get("numba.core.compiler_lock")) is not None:
        compiler.global_compiler_lock.acquire()


def _go_on() -> None:
    if (compiler := sys.modules.get("numba.core.compiler_lock")) is not None:
        compiler.global_compiler_lock.release()
    unforked.release()


def _renew() -> None:
    _go_on()
    for each in list(_locks):
        each._at_fork_reinit()  # as the standard library does with the locks of `logging`
    for each in list(_objects):
        each.after_fork()


os.register_at_fork(before=_wait, after_in_parent=_go_on, after_in_child=_renew)
