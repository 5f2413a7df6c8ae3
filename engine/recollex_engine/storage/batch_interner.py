"""Strings that a batch adds to a dictionary, numbered before the dictionary holds them."""

from collections.abc import Sequence

from recollex_engine.storage.dictionary import NONE, Dictionary


class BatchInterner(dict[str, int]):
    """Interns strings in a batch: new strings get the next numbers, and `add` stores them together.

    Until `add` is called the dictionary does not hold the new strings, and no others may be added
    to it. Cost: 50 ns for a string looked up before; for a new one a third of `Dictionary.intern`.

    >>> names = Dictionary()
    >>> new = BatchInterner(names)
    >>> new["tea"], new["ink"], new["tea"], names.get("ink")
    (0, 1, 0, None)
    >>> new.add()
    >>> names.get("ink")
    1
    """

    def __init__(self, dictionary: Dictionary) -> None:
        super().__init__()
        self._dictionary = dictionary
        self._strings: list[str] = []
        self._first = dictionary.count

    def __missing__(self, string: str) -> int:
        number = self._dictionary.get(string)
        if number is None:
            number = self._first + len(self._strings)
            self._strings.append(string)
        self[string] = number
        return number

    def many(self, strings: Sequence[str]) -> list[int]:
        """Return the number of each string; those that are stored are looked up together."""
        sought = [string for string in dict.fromkeys(strings) if string not in self]
        for string, number in zip(sought, self._dictionary.look_up(sought), strict=True):
            if number == NONE:
                self[string] = self._first + len(self._strings)
                self._strings.append(string)
            else:
                self[string] = number
        return list(map(self.__getitem__, strings))

    def add(self) -> None:
        """Add the new strings to the dictionary."""
        self._dictionary.add_many(self._strings)
        self._first = self._dictionary.count
        self._strings = []
