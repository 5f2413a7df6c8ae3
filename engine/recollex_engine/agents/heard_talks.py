"""What has a process heard of an agent's talks and not written yet? It is forgotten with memories.

The turns of a talk under a write policy wait in the process. When a memory of a document is erased
or forgotten, so are those that wait for that document: else a later write would record them.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Protocol

from recollex_engine.domain.memory_operations import Forget
from recollex_engine.domain.operations import Operation
from recollex_engine.state.columns import Columns
from recollex_engine.state.replica import Replica
from recollex_engine.state.view import View
from recollex_engine.writing.erasure_plan import Erasing
from recollex_engine.writing.taking_away import FORGET, ChooseMemories


class HeardTalks(Protocol):
    """The talks that somebody has heard; ``lock``: held while a turn is heard or written."""

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Return the lock."""

    def forget(self, documents: Collection[str] | None) -> None:
        """Forget the turns that wait for some documents; for None, of all."""

    def __len__(self) -> int:
        """Return the number of talks."""


class Forgetting:
    """Makes talks forget; none of them writes meanwhile. ``documents``: those that forget anyway.

    `erasing` and `taking` return a choice of memories that also makes the talks forget.
    """

    def __init__(self, talks: list[HeardTalks], documents: Iterable[str]) -> None:
        self._talks = talks
        self._documents = set(documents)

    def forget(self, documents: Iterable[str] | None) -> None:
        """Forget what waits for some documents, too; for None, all."""
        for each in self._talks:
            each.forget(None if documents is None else self._documents.union(documents))

    def erasing(self, choose: Callable[[View], Erasing]) -> Callable[[View], Erasing]:
        """Return a choice of what to erase."""

        def chosen(view: View) -> Erasing:
            found = choose(view)
            self.forget(None if found.everything else found.documents)
            return found

        return chosen

    def taking(self, choose: ChooseMemories) -> ChooseMemories:
        """Return a choice of the memories to forget."""

        def chosen(replica: Replica) -> list[int]:
            found = choose(replica)
            if self._talks:
                self.forget(_documents_of(replica.columns, found))
            return found

        return chosen


@contextmanager
def none_written(
    heard: Iterable[HeardTalks], documents: Iterable[str] = ()
) -> Iterator[Forgetting]:
    """Let no talk write during the body, which says what the talks forget."""
    talks = [each for each in heard if len(each)]
    with ExitStack() as held:
        for each in talks:
            held.enter_context(each.lock)
        yield Forgetting(talks, documents)


@contextmanager
def forgotten_with(
    heard: Iterable[HeardTalks], operations: Iterable[Operation], view: Callable[[], View | None]
) -> Iterator[None]:
    """Let no talk write during the body, if it forgets memories by one of its operations.

    The talks of their documents forget when the body has succeeded.
    """
    ids = [id for each in operations if isinstance(each, Forget) for id in each.ids]
    with none_written(heard if ids else ()) as talks:
        now = view() if ids else None
        documents: set[str] = set()
        if now is not None:
            found = (now.columns.closable(id, FORGET) for id in ids)
            documents = _documents_of(now.columns, (each for each in found if each is not None))
        yield
        talks.forget(documents)


def _documents_of(columns: Columns, memories: Iterable[int]) -> set[str]:
    named = {columns.label_in("document", each) for each in memories}
    return {name for name in named if name is not None}
