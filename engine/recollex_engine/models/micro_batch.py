"""How do concurrent calls share a model? Calls that wait while it is busy run together next."""

import os
import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from recollex_engine import fork

Item = TypeVar("Item")
Result = TypeVar("Result")

DEADLINE = 0.001
"""Seconds that a batch waits for other calls, if the previous batch had some."""
CORES = os.cpu_count() or 1
"""Batches that run at once on a CPU, one thread each. A GPU runs one batch at a time."""


class _Call(Generic[Item, Result]):
    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self.results: list[Result] = []
        self.error: BaseException | None = None
        self.done = False
        self.leads = False


class MicroBatch(Generic[Item, Result]):
    """Runs the items of concurrent calls as one batch.

    Up to ``lanes`` batches run at once; a call that comes while all lanes are busy waits. Each lane
    has a leader: one calling thread, which runs the items of all waiting calls, then gives the lane
    to the first call that came meanwhile. The leader waits for other calls at most ``deadline``
    seconds, and only if the previous batch had several calls, so a single caller never waits. The
    items of a call stay together: a batch holds at most ``most`` items, or one call. An error of a
    batch is raised by all its calls.

    Threads: any number may call; ``run`` is called by at most ``lanes`` threads at once.

    >>> double = MicroBatch(lambda numbers: [2 * number for number in numbers], most=8)
    >>> double([1, 2, 3])
    [2, 4, 6]
    """

    def __init__(
        self,
        run: Callable[[list[Item]], Sequence[Result]],
        most: int,
        deadline: float = DEADLINE,
        lanes: int = 1,
    ) -> None:
        self._run = run
        self._most = most
        self._deadline = deadline
        self._lanes = lanes
        self.after_fork()
        fork.register(self)

    def after_fork(self) -> None:
        """Begin with all lanes free: the calls of other threads do not go on in a child."""
        self._changed = threading.Condition()
        self._waiting: list[_Call[Item, Result]] = []
        self._free = self._lanes
        self._company = False

    def __call__(self, items: Sequence[Item]) -> list[Result]:
        """Return ``run``'s results for ``items``, in their order."""
        call: _Call[Item, Result] = _Call(items)
        with self._changed:
            self._waiting.append(call)
            if self._free:
                self._free -= 1
                call.leads = True
            else:
                self._changed.notify_all()  # a leader may be waiting for more calls
                self._wait(call)
            batch = [] if call.done else self._gather(call)
        if batch:
            self._lead(batch)
        if call.error is not None:
            raise call.error
        return call.results

    def _wait(self, call: _Call[Item, Result]) -> None:
        try:
            self._changed.wait_for(lambda: call.done or call.leads)
        except BaseException:  # interrupted: another call must lead
            if call in self._waiting:
                self._waiting.remove(call)
            if call.leads:
                self._hand_on()
            raise

    def _hand_on(self) -> None:
        """Give the lane to the first waiting call without one, or free it; the lock is held."""
        following = next((call for call in self._waiting if not call.leads), None)
        if following is not None:
            following.leads = True
        else:
            self._free += 1
        self._changed.notify_all()

    def _gather(self, own: _Call[Item, Result]) -> list[_Call[Item, Result]]:
        """Return the calls that run together, the leader's own first; the lock is held.

        Calls that lead another lane run there, so only waiting calls without a lane are taken.
        """
        if self._company and not self._free:
            self._changed.wait_for(
                lambda: sum(len(call.items) for call in self._company_of(own)) >= self._most,
                self._deadline,
            )
        batch: list[_Call[Item, Result]] = []
        count = 0
        for call in self._company_of(own):
            if batch and count + len(call.items) > self._most:
                break
            batch.append(call)
            count += len(call.items)
        self._waiting = [call for call in self._waiting if call not in batch]
        self._company = len(batch) > 1 or any(not call.leads for call in self._waiting)
        return batch

    def _company_of(self, own: _Call[Item, Result]) -> list[_Call[Item, Result]]:
        return [own, *(call for call in self._waiting if not call.leads)]

    def _lead(self, batch: list[_Call[Item, Result]]) -> None:
        error: BaseException | None = None
        results: list[Result] = []
        try:
            results = list(self._run([item for call in batch for item in call.items]))
        except BaseException as raised:
            error = raised
        with self._changed:
            at = 0
            for call in batch:
                call.results = results[at : at + len(call.items)]
                at += len(call.items)
                call.error = error
                call.done = True
            self._hand_on()
