"""From which memories was a fact drawn? Its metadata names their ids; each fact is read once."""

import threading
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from recollex_engine.domain.schema import DRAWN, EVIDENCE
from recollex_engine.state.metadata_values import MetadataValues
from recollex_engine.storage.dictionary import Dictionary

_MARK = f'"{DRAWN}"'.encode()
_SourceNumbers = npt.NDArray[np.uint32]


class FactSources:
    """The sources of the facts among one agent's memories, by the numbers of their ids.

    What a memory names never changes. ``now``: (first, flat) as `after_sources` takes them; of the
    memories that were read. Threads: any number.
    """

    def __init__(self, values: MetadataValues, dictionaries: Mapping[str, Dictionary]) -> None:
        self._values = values
        self._labels = dictionaries["labels"]
        self._ids = dictionaries["ids"]
        self.now: tuple[_SourceNumbers, _SourceNumbers] = (
            np.empty(0, np.uint32),
            np.zeros(1, np.uint32),
        )
        self._used = 1  # of the second: its first item is the list of memories without sources
        self._has_facts = False
        self._seen = -1  # labels without one of a fact
        self._reading = threading.Lock()

    def __bool__(self) -> bool:
        """Return whether the agent has, or had, facts that were drawn. Cost: 0.1 us."""
        if not self._has_facts and (count := self._labels.count) != self._seen:
            self._has_facts = self._values.first(DRAWN) is not None
            self._seen = count
        return self._has_facts

    def read(
        self,
        memories: Iterable[int],
        offsets: npt.NDArray[np.uint64],
        metadata: npt.NDArray[np.uint8],
    ) -> tuple[_SourceNumbers, _SourceNumbers]:
        """Read the sources of memories; return (first, flat), in which all of these are known.

        A fact with a source that is not recorded is returned as without sources, and not kept: the
        source may come. ``metadata``, ``offsets``: the columns. Cost: 2 us a memory.
        """
        wanted = list(memories)
        with self._reading:
            first, flat = self.now
            if (most := max(wanted)) >= len(first):
                grown = np.zeros(max(1024, (most + 1) * 3 // 2), np.uint32)
                grown[: len(first)] = first
                first = grown
            open_ones = []
            for memory in wanted:
                if first[memory]:
                    continue
                start = int(offsets[memory])
                end = int(offsets[memory + 1])
                written = metadata[start:end].tobytes()
                named: Any = orjson.loads(written).get(EVIDENCE) if _MARK in written else None
                texts = map(str, named) if isinstance(named, list) else ()
                keys = [self._ids.get(text) for text in texts]
                found = [key for key in keys if key is not None]
                if len(found) < len(keys):
                    open_ones.append(memory)
                    continue
                if not found:
                    first[memory] = 1
                    continue
                flat = self._append(flat, [len(found), *found])
                first[memory] = 1 + self._used - len(found) - 1
            self.now = first, flat
        if open_ones:
            first = first.copy()
            first[open_ones] = 1
        return first, flat

    def _append(self, flat: _SourceNumbers, items: list[int]) -> _SourceNumbers:
        end = self._used + len(items)
        if end > len(flat):
            grown = np.zeros(max(1024, end * 3 // 2), np.uint32)
            grown[: self._used] = flat[: self._used]
            flat = grown
        flat[self._used : end] = items
        self._used = end
        return flat
