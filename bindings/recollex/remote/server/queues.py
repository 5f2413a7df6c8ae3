"""Fair queues: every client has the same share, however much it sends."""

from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Generic, TypeVar

from recollex.remote.server.calls import Call

Item = TypeVar("Item")


class FairQueue(Generic[Item]):
    """Items of many clients, taken in turns: one of each client that has any, then again.

    A client that sends 10,000 items waits for itself; every other client waits for as many items as
    there are clients. Cost: constant. Threads: under the caller's lock.

    >>> queue = FairQueue[str]()
    >>> for client, item in [("a", "a1"), ("a", "a2"), ("b", "b1")]:
    ...     queue.put(client, item)
    >>> [queue.take() for _ in range(len(queue))]
    ['a1', 'b1', 'a2']
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[object, deque[Item]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, client: object, item: Item) -> None:
        """Put an item after those of its client."""
        waiting = self._waiting.get(client)
        if waiting is None:
            self._waiting[client] = deque((item,))
        else:
            waiting.append(item)
        self._count += 1

    def take(self) -> Item:
        """Take the first item of the client whose turn it is. Raises `LookupError` if empty."""
        client, waiting = next(iter(self._waiting.items()), (None, None))
        if waiting is None:
            raise LookupError("the queue is empty")
        return self._taken(client, waiting)

    def take_if(self, wanted: Callable[[Item], bool]) -> Item | None:
        """Take the first item for which ``wanted`` is true; None if there is none.

        Only the first item of each client is tried. Cost: the clients that are skipped, which keep
        their turns.
        """
        for client, waiting in self._waiting.items():
            if wanted(waiting[0]):
                return self._taken(client, waiting)
        return None

    def remove(self, client: object, item: Item) -> bool:
        """Remove an item, and return whether it was there. Cost: the items of its client."""
        waiting = self._waiting.get(client)
        if waiting is None or item not in waiting:
            return False
        waiting.remove(item)
        self._count -= 1
        if not waiting:
            del self._waiting[client]
        return True

    def _taken(self, client: object, waiting: deque[Item]) -> Item:
        item = waiting.popleft()
        self._count -= 1
        if waiting:
            self._waiting.move_to_end(client)
        else:
            del self._waiting[client]
        return item


class AgentQueue:
    """Calls in fair turns of the clients, in which no agent takes all the workers.

    While calls of other agents wait, at most ``most`` calls of one agent run. Threads: under the
    caller's lock.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._queue = FairQueue[Call]()
        self._waiting: Counter[str] = Counter()  # agent -> calls
        self._begun: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._queue)

    def put(self, call: Call) -> None:
        """Put a call after those of its client."""
        self._queue.put(call.client, call)
        self._waiting[call.agent] += 1

    def take(self) -> Call:
        """Take the call whose turn it is; `done` must follow. Raises `LookupError` if empty."""
        call = None
        if len(self._waiting) > 1 and max(self._begun.values(), default=0) >= self._most:
            call = self._queue.take_if(lambda each: self._begun.get(each.agent, 0) < self._most)
        if call is None:
            call = self._queue.take()
        _less(self._waiting, call.agent)
        self._begun[call.agent] += 1
        return call

    def done(self, call: Call) -> None:
        """Record that a call that was taken runs no longer."""
        _less(self._begun, call.agent)

    def remove(self, call: Call) -> bool:
        """Remove a call, and return whether it was there."""
        found = self._queue.remove(call.client, call)
        if found:
            _less(self._waiting, call.agent)
        return found


def _less(counts: Counter[str], name: str) -> None:
    counts[name] -= 1
    if not counts[name]:
        del counts[name]
