"""How does an agent change its token counter? Its texts are counted again, under one operation.

`recount` records the new settings and the tokens of every memory, in the form of a `retain`: of the
whole text, then of each passage if there are several. Everything that follows the log puts these
counts in the place of the earlier ones, so they hold for views of the past too, as new vectors do.
"""

from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

from recollex_engine.domain.prompt_lines import count_texts
from recollex_engine.domain.settings import RECOUNT, Settings
from recollex_engine.state.columns import Columns
from recollex_engine.text.token_counter import TokenCounter
from recollex_engine.writing.writer import Writer

_BATCH = 1024
"""Memories whose texts are counted together."""


def count_memories(
    columns: Columns, counter: TokenCounter, first: int, end: int
) -> list[list[int]]:
    """Return the tokens of memories [first, end), as a `retain` records them; 0 if erased.

    Cost: 10 us for a text of 25 words.
    """
    counted: list[list[int]] = []
    for start in range(first, end, _BATCH):
        texts = [_parts(columns, each) for each in range(start, min(start + _BATCH, end))]
        counts = count_texts(counter, [part for parts in texts for part in parts])
        places = pairwise(accumulate(map(len, texts), initial=0))
        counted += [
            counts[begin:stop] if parts[0] else [0] * len(parts)
            for parts, (begin, stop) in zip(texts, places, strict=True)
        ]
    return counted


def _parts(columns: Columns, memory: int) -> list[str]:
    """Return the text of a memory, then its passages if there are several."""
    text = columns.text(memory)
    first, end = columns.array("first_row")[memory : memory + 2].tolist()
    if end - first < 2:
        return [text]
    starts, ends = columns.array("passage_start"), columns.array("passage_end")
    spans = zip(starts[first:end].tolist(), ends[first:end].tolist(), strict=True)
    return [text, *(text[start:stop] for start, stop in spans)]


def recount_with(
    writer: Writer, counter: TokenCounter, counted: list[list[int]], note: dict[str, str]
) -> int:
    """Record the tokens of all memories by ``counter``; return how many memories were counted.

    ``counted``: those of the first memories, which are counted already. The caller holds the
    writer's lock; nothing is erased, and no checkpoint runs, meanwhile.
    """
    columns = writer.replica.columns
    assert columns.settings is not None
    counted += count_memories(columns, counter, len(counted), columns.memories)
    settings = replace(
        columns.settings, counter=counter.name, counting=columns.settings.counting + 1
    )
    writer.record(RECOUNT, {**payload_of(settings, counted), **note})
    return len(counted)


def payload_of(settings: Settings, counted: list[list[int]]) -> dict[str, Any]:
    """Return the payload of a `recount`."""
    return {"settings": settings.to_payload(), "tokens": counted}


def first_counts(counted: list[list[int]], rows: int) -> list[list[int]]:
    """Return the counts of the memories that have the first ``rows`` passages."""
    ends = accumulate(max(1, len(tokens) - 1) for tokens in counted)
    return [tokens for tokens, end in zip(counted, ends, strict=True) if end <= rows]
