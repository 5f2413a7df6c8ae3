"""Which values of metadata does an agent have? The labels of each name, read when a filter asks.

A label is `m:name=value`, see `schema.metadata_label`. A name may hold "=": of the places where a
label may be split, JSON follows one, because the quotes of a text come in pairs.
"""

import threading

import numpy as np
import numpy.typing as npt
import orjson

from recollex_engine.domain.filter import Condition
from recollex_engine.storage.dictionary import Dictionary

AT_ONCE = 65_536
"""Labels that are read together."""
CONDITIONS = 64
"""The most conditions whose labels are kept."""

ValueLabels = npt.NDArray[np.int64]


class MetadataValues:
    """The metadata labels of one agent, as far as a filter has needed them.

    Labels may be newer than a view. Threads: any number. Cost: a label once, about 0.3 us; a
    condition reads each value of its name once, about 1 us, and later only new ones.
    """

    def __init__(self, labels: Dictionary) -> None:
        self._labels = labels
        self._seen = 0
        self._by_prefix: dict[str, list[int]] = {}
        self._met: dict[bytes, tuple[int, ValueLabels]] = {}
        self._following = threading.Lock()

    def matching(self, condition: Condition) -> ValueLabels:
        """Return the labels whose values meet a condition that is not negated, ascending."""
        if (texts := condition.equals) is not None:
            found = (self._labels.get(f"m:{condition.name}={text.decode()}") for text in texts)
            return np.array(sorted({each for each in found if each is not None}), np.int64)
        key = orjson.dumps([condition.name, condition.operator, condition.wanted])
        with self._following:
            self._follow()
            group = self._by_prefix.get(_prefix(condition.name), [])
            done, met = self._met.get(key, (0, np.empty(0, np.int64)))
            if done < len(group):
                new = [
                    label
                    for label, value in self._values(condition.name, group[done:])
                    if condition.holds(value)
                ]
                met = np.append(met, np.array(new, np.int64))
                if len(self._met) >= CONDITIONS:
                    self._met.clear()
                self._met[key] = len(group), met
        return met

    def first(self, name: str) -> int | None:
        """Return the first label of a name; None without any."""
        with self._following:
            self._follow()
            if not (group := self._by_prefix.get(_prefix(name))):
                return None
            return next((label for label, _ in self._values(name, group)), None)

    def names(self) -> list[str]:
        """Return the names of metadata; of one that holds "=", only what stands before that."""
        with self._following:
            self._follow()
            return list(self._by_prefix)

    def _follow(self) -> None:
        """Group the labels that are new since the last time."""
        count = len(self._labels)
        for first in range(self._seen, count, AT_ONCE):
            numbers = range(first, min(first + AT_ONCE, count))
            for number, label in zip(numbers, self._labels.strings(numbers), strict=True):
                if label.startswith("m:"):
                    self._by_prefix.setdefault(_prefix(label[2:]), []).append(number)
        self._seen = max(self._seen, count)

    def _values(self, name: str, group: list[int]) -> "list[tuple[int, object]]":
        """Return the labels of ``group`` that are of a name, with their values."""
        start = f"m:{name}="
        found = []
        for number, label in zip(group, self._labels.strings(group), strict=True):
            if label.startswith(start):
                try:
                    found.append((number, orjson.loads(label[len(start) :])))
                except orjson.JSONDecodeError:  # of a longer name
                    continue
        return found


def _prefix(name: str) -> str:
    return name.partition("=")[0]
