"""What does a view say of several memories? Columns, before any object is made of them.

A process that answers for another sends these, and the other makes the objects, if they are looked
at (`memory.memories_of`).
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import OPEN_END
from recollex_engine.ranking import Why
from recollex_engine.schema import ENDS, NETWORKS
from recollex_engine.view import View

Places = npt.NDArray[np.int64]
Columns = dict[str, list[Any]]
"""Name -> a value for each memory; a column that would hold nothing is left out.

Always there: id, text, score, said, start, end, recorded (microseconds UTC), network, tokens.
Others: passage (None where it is the text), context, document, speaker, entities, tags, metadata
(JSON), ranks, scores, parts, collapsed (ids), valid_until (microseconds, None without an end),
closed (microseconds, how, by, why; None while open).
"""


def gather(view: View, memories: Sequence[int], why: Sequence[Why] | None = None) -> Columns:
    """Return what ``view`` says of memories by their ordinals, and ``why`` they came."""
    columns = view.columns
    places = np.asarray(memories, np.int64)
    ends = places + 1

    def values(name: str, of: Places = places) -> list[Any]:
        found: list[Any] = view.buffer(name).take(of).tolist()
        return found

    def labels(name: str) -> list[str | None]:
        numbers = values(name)
        known = {number: columns.label(number) for number in set(numbers)}
        return [known[number] for number in numbers]

    def slices(name: str) -> list[tuple[int, int]]:
        offsets = f"{name}_offset"
        return list(zip(values(offsets), values(offsets, ends), strict=True))

    def texts(name: str) -> list[str]:
        data = view.buffer(name).data
        return [str(data[first:end], "utf-8") if end > first else "" for first, end in slices(name)]

    def numbers(flat: str, name: str) -> list[list[int]]:
        buffer = view.buffer(flat)
        return [buffer[first:end].tolist() if end > first else [] for first, end in slices(name)]

    def names(entities: list[int]) -> tuple[str, ...]:
        return view.entity_names(entities) if entities else ()

    ids = columns.dictionary["ids"]
    recorded = view.buffer("op")[places].astype(np.int64) - 1
    found: Columns = {
        "id": ids.strings(values("id")),
        "text": texts("text"),
        "said": values("said_at"),
        "start": values("event_start"),
        "end": values("event_end"),
        "recorded": values("op_recorded_at", recorded),
        "network": [NETWORKS[number] for number in values("network")],
        "tokens": values("tokens"),
        "score": [0.0] * len(places) if why is None else [each.score for each in why],
    }
    rows = zip(values("first_row"), values("first_row", ends), strict=True)
    found["passage"] = _passages(view, found, rows, why)
    others: Columns = {
        "context": labels("context"),
        "document": labels("document"),
        "speaker": labels("speaker"),
        "entities": [names(each) for each in numbers("mention_entity", "mention")],
        "tags": [columns.tag_names(each) if each else () for each in numbers("label", "label")],
        "metadata": texts("metadata"),
        "valid_until": [None if end == OPEN_END else end for end in values("valid_end")],
        "closed": [
            closure(view, closed, forgotten) if closed else None
            for closed, forgotten in zip(values("closed_by"), values("forgotten_by"), strict=True)
        ],
    }
    if why is not None:
        others |= {
            "ranks": [each.ranks for each in why],
            "scores": [each.scores for each in why],
            "parts": [each.parts for each in why],
            "collapsed": [
                ids.strings(view.buffer("id")[list(each.collapsed)]) if each.collapsed else ()
                for each in why
            ],
        }
    return found | {name: column for name, column in others.items() if any(column)}


def _passages(
    view: View, found: Columns, rows: Iterable[tuple[int, int]], why: Sequence[Why] | None
) -> list[str | None]:
    """Return the passage of each memory that has several; shorten those returned in part.

    rows: the first row of each memory, and the one behind its last.
    """
    passages: list[str | None] = []
    for place, (first, end) in enumerate(rows):
        if end - first < 2:
            passages.append(None)
            continue
        reason = Why() if why is None else why[place]
        row = first if reason.row is None else reason.row
        start, stop = int(view.buffer("passage_start")[row]), int(view.buffer("passage_end")[row])
        passage = found["text"][place][start:stop]
        passages.append(passage)
        if reason.passage_only:
            found["text"][place] = passage
            found["tokens"][place] = int(view.buffer("passage_tokens")[row])
    return passages


def closure(
    view: View, closed_by: int, forgotten_by: int
) -> tuple[int, str, str | None, str | None] | None:
    """Return what the operation says that closed a memory, if it is closed in the view."""
    op = forgotten_by if 0 < forgotten_by <= view.op else closed_by
    if not 0 < op <= view.op:
        return None
    label = view.columns.label
    kind, by, why = (
        label(int(view.buffer(name)[op - 1])) for name in ("op_kind", "op_by", "op_why")
    )
    return int(view.buffer("op_recorded_at")[op - 1]), ENDS[kind or ""], by, why
