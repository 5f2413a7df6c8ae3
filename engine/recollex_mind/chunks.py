"""Which memories are read together? Chunks of talk, from which facts are drawn (TEMPR 2.2.1).

The memories of one document are read in the order in which they were recorded; those without a
document are one stream. What the user and the assistant say is one stream; tools' results, pages
and what has no source are others, so that no page is read together with what a person said. A chunk

- has at most `MOST_TURNS` memories and `MOST_TOKENS` tokens, or one longer memory alone;
- ends where more than `GAP` lies between two of them;
- is complete once another one follows in its stream, or once nothing was recorded in it for `REST`.

Left out are memories that expire, that hold masked secrets, opinions, and facts that were drawn.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import OPEN_END, SECOND
from recollex_engine.domain.ids import content_id
from recollex_engine.domain.schema import DRAWN, NONE, OPINION
from recollex_engine.domain.trust import trust_number
from recollex_engine.state.columns import Columns
from recollex_engine.state.view import View
from recollex_mind.job_log import Extracted, is_taken

MOST_TURNS = 20
MOST_TOKENS = 2000
GAP = 6 * 3600 * SECOND
"""Microseconds; the next turn begins another chunk."""
REST = 300 * SECOND
"""Microseconds since the last turn was recorded, after which a chunk that is not full is read."""
_TALK = trust_number("assistant")
"""Memories of this trust or more are one stream."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Memories that are read together, by their ordinals, oldest first.

    before: a few memories of the same stream that precede them, which say what pronouns mean.
    complete: whether no later memory can join it. failed: the last failure, if one was recorded;
    attempts: how many were.
    """

    turns: tuple[int, ...]
    before: tuple[int, ...] = ()
    complete: bool = True
    failed: Extracted | None = None
    attempts: int = 0

    def id(self, columns: Columns) -> str:
        """Return the same id for the same memories."""
        keys = columns.array("id")[list(self.turns)].tolist()
        return content_id("chunk", *columns.dictionary["ids"].strings(keys), *self.turns)


def chunks_of(
    view: View,
    entries: Sequence[Extracted],
    prompt: str,
    now: int,
    documents: frozenset[str] | None = None,
    again: bool = False,
) -> list[Chunk]:
    """Return what is still to be read by a prompt, the oldest first.

    A memory that any version of the prompt has read is done, unless ``again``: then this version
    must have read it. documents: only these. now: microseconds.
    """
    done, failures = _done(view, entries, prompt, again)
    found = [
        each
        for each in _readable(view, entries, done, documents)
        if not is_taken(view.columns, each, done)
    ]
    waiting = set(found)
    retried = list(_retried(view, failures, waiting))
    waiting.difference_update(*(chunk.turns for chunk in retried))
    fresh = _cut(view, [each for each in found if each in waiting], now)
    return sorted((*retried, *fresh), key=lambda chunk: chunk.turns[0])


def _done(
    view: View, entries: Sequence[Extracted], prompt: str, again: bool
) -> tuple[npt.NDArray[np.bool_], list[Extracted]]:
    """Return which memories are done, and the failures that no later success has mended."""
    mode = prompt.rpartition("-")[0]
    done = np.zeros(view.memories, bool)
    failures = []
    for each in entries:
        fits = each.prompt == prompt if again else each.mode == mode
        if not fits:
            continue
        if each.failed is None:
            if not _lost_a_fact(view, each):
                done[list(each.turns)] = True
        else:
            failures.append(each)
    return done, failures


def _lost_a_fact(view: View, entry: Extracted) -> bool:
    """Return whether a fact was erased, with a turn of its: then the other turns are read again."""
    facts = np.array(entry.facts, np.int64)
    erased = view.of_memories("closed_by")[facts] == view.of_memories("op")[facts]
    return bool(erased.any())


def _readable(
    view: View,
    entries: Iterable[Extracted],
    done: npt.NDArray[np.bool_],
    documents: frozenset[str] | None,
) -> Iterator[int]:
    """Yield the memories from which facts may be drawn, in recorded order."""
    columns = view.columns
    mask = (view.open == 1) & ~done
    mask &= view.of_memories("network") != OPINION
    mask &= view.of_memories("valid_end") == OPEN_END
    mask[np.array([fact for each in entries for fact in each.facts], np.int64)] = False
    if documents is not None:
        labels = columns.dictionary["labels"]
        wanted = [labels.get(f"d:{name}") for name in documents]
        mask &= np.isin(view.of_memories("document"), [each for each in wanted if each is not None])
    ends = view.offsets("metadata_offset")
    plain = ends[1:] == ends[:-1]
    for memory in np.flatnonzero(mask).tolist():
        if plain[memory] or not {DRAWN, "write_sensitive"} & columns.metadata(memory).keys():
            yield memory


def _retried(view: View, failures: Sequence[Extracted], waiting: set[int]) -> Iterator[Chunk]:
    """Yield the chunks of failures, with the memories that are still open and not done."""
    attempts: dict[tuple[int, ...], list[Extracted]] = {}
    for each in failures:
        attempts.setdefault(each.turns, []).append(each)
    met: set[int] = set()
    for turns, those in attempts.items():
        left = tuple(turn for turn in turns if turn in waiting and turn not in met)
        if left:
            met.update(left)
            yield Chunk(left, _before(view, left[0]), True, those[-1], len(those))


def _cut(view: View, memories: Sequence[int], now: int) -> Iterator[Chunk]:
    streams: dict[tuple[int, int], list[int]] = {}
    document = view.of_memories("document")
    trust = view.of_memories("trust")
    for memory in memories:
        key = int(document[memory]), min(int(trust[memory]), _TALK)
        streams.setdefault(key, []).append(memory)
    for stream in streams.values():
        pieces = list(_pieces(view, stream))
        for place, turns in enumerate(pieces):
            full = place + 1 < len(pieces) or len(turns) == MOST_TURNS
            complete = full or recorded_at(view, turns[-1]) + REST <= now
            yield Chunk(turns, _before(view, turns[0]), complete)


def _pieces(view: View, stream: Sequence[int]) -> Iterator[tuple[int, ...]]:
    said = view.of_memories("said_at")
    tokens = view.of_memories("tokens")
    turns: list[int] = []
    held = 0
    for memory in stream:
        size = int(tokens[memory])
        apart = bool(turns) and abs(int(said[memory]) - int(said[turns[-1]])) > GAP
        if turns and (apart or len(turns) == MOST_TURNS or held + size > MOST_TOKENS):
            yield tuple(turns)
            turns = []
            held = 0
        turns.append(memory)
        held += size
    if turns:
        yield tuple(turns)


SHOWN_BEFORE = 3
"""Number of the memories before a chunk that are shown with it."""


def _before(view: View, first: int) -> tuple[int, ...]:
    """Return the memories of the same stream just before a chunk; none without a document."""
    document = view.of_memories("document")
    trust = view.of_memories("trust")
    if document[first] == NONE:
        return ()
    same = (document[:first] == document[first]) & (view.open[:first] == 1)
    same &= np.minimum(trust[:first], _TALK) == min(int(trust[first]), _TALK)
    near = np.flatnonzero(same)[-SHOWN_BEFORE:].tolist()
    said = view.of_memories("said_at")
    return tuple(each for each in near if abs(int(said[first]) - int(said[each])) <= GAP)


def recorded_at(view: View, memory: int) -> int:
    """Return when a memory was recorded, in microseconds."""
    op = int(view.of_memories("op")[memory])
    return int(view.columns.array("op_recorded_at")[op - 1])
