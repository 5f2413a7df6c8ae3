"""How do concurrent calls share a device? What waits while it is busy runs together next."""

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

DEADLINE = 0.001
"""Seconds that a batch waits for company, if there was any lately."""


class _Call(Generic[Item, Result]):
    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self.results: list[Result] = []
        self.error: BaseException | None = None
        self.done = False
        self.leads = False


class MicroBatch(Generic[Item, Result]):
    """Runs the items of calls that meet as one batch.

    One caller, the leader, runs for all that wait, then hands on to the first that came meanwhile.
    It waits for company at most ``deadline`` seconds, and only if the batch before it had some: a
    caller that is alone waits for nobody. A call's items stay together, so a batch holds at most
    ``most`` items or one call. An error of a batch is everybody's in it.

    Threads: any number may call; ``run`` is called by one at a time.

    >>> double = MicroBatch(lambda numbers: [2 * number for number in numbers], most=8)
    >>> double([1, 2, 3])
    [2, 4, 6]
    """

    def __init__(
        self,
        run: Callable[[list[Item]], Sequence[Result]],
        most: int,
        deadline: float = DEADLINE,
    ) -> None:
        self._run = run
        self._most = most
        self._deadline = deadline
        self._changed = threading.Condition()
        self._waiting: list[_Call[Item, Result]] = []
        self._busy = False
        self._company = False

    def __call__(self, items: Sequence[Item]) -> list[Result]:
        """Return ``run``'s results for ``items``, in their order."""
        call: _Call[Item, Result] = _Call(items)
        with self._changed:
            self._waiting.append(call)
            if self._busy:
                self._changed.notify_all()  # the leader may be waiting for company
                self._wait(call)
            else:
                self._busy = True
            if not call.done:
                batch = self._gather()
        if not call.done:
            self._lead(batch)
        if call.error is not None:
            raise call.error
        return call.results

    def _wait(self, call: _Call[Item, Result]) -> None:
        try:
            self._changed.wait_for(lambda: call.done or call.leads)
        except BaseException:  # interrupted: somebody else must lead
            if call in self._waiting:
                self._waiting.remove(call)
            if call.leads and not call.done:
                self._hand_on()
            raise

    def _hand_on(self) -> None:
        """Make the first that waits the leader; the lock is held."""
        if self._waiting:
            self._waiting[0].leads = True
        else:
            self._busy = False
        self._changed.notify_all()

    def _gather(self) -> list[_Call[Item, Result]]:
        """Return the calls that run together, the leader's own first; the lock is held."""
        if self._company:
            self._changed.wait_for(
                lambda: sum(len(call.items) for call in self._waiting) >= self._most,
                self._deadline,
            )
        batch: list[_Call[Item, Result]] = []
        count = 0
        while self._waiting and (not batch or count + len(self._waiting[0].items) <= self._most):
            batch.append(self._waiting.pop(0))
            count += len(batch[-1].items)
        self._company = len(batch) > 1 or bool(self._waiting)
        return batch

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
                call.error, call.done = error, True
            self._hand_on()
