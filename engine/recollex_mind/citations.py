"""Which memories does an answer cite? Labels such as [m3], checked against what it was shown."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_LABELS = re.compile(r"\[\s*+m\s*+\d++(?:\s*+[,;]\s*+(?:m\s*+)?\d++)*+\s*+\]", re.I)
_SPACED = re.compile(r"(?<![ \t])[ \t]++([.,;:!?])")
_NUMBER = re.compile(r"\d+")
_STOP = r"[.!?]++(?:[ \t]*+\[m\d++\])*+(?=\s|\Z)"
_SENTENCE = re.compile(rf"[^\n](?:[^.!?\n]++|(?!{_STOP})[.!?]++)*+(?:{_STOP})?")
"""A sentence with the labels after it; together they are all of a text but its line ends."""


@dataclass(frozen=True, slots=True)
class Citation:
    """One place where an answer cites a memory. id: the memory's; span: [start, end) of the label.

    claim: the sentence that it stands in, without labels.
    """

    label: str
    id: str
    span: tuple[int, int]
    claim: str


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer with the labels of memories that it was shown alone.

    forged: labels of memories that it was not shown, which are taken out of ``text``. uncited:
    sentences that cite nothing.
    """

    text: str
    citations: tuple[Citation, ...]
    forged: tuple[str, ...]
    uncited: tuple[str, ...]


def check_citations(answer: str, shown: Mapping[str, str]) -> CheckedAnswer:
    """Return an answer with its labels checked; ``shown``: label -> the memory's id.

    >>> checked = check_citations("Bob lives in Oslo [m1, m9]. He is tall.", {"m1": "home"})
    >>> checked.text, checked.forged, checked.uncited
    ('Bob lives in Oslo [m1]. He is tall.', ('m9',), ('He is tall.',))
    """
    forged: list[str] = []

    def known(found: re.Match[str]) -> str:
        labels = [f"m{int(number)}" for number in _NUMBER.findall(found[0])]
        forged.extend(each for each in labels if each not in shown)
        return "".join(f"[{each}]" for each in labels if each in shown)

    text = _LABELS.sub(known, answer)
    text = (_SPACED.sub(r"\1", text) if forged else text).strip()
    citations = []
    uncited = []
    for sentence in _SENTENCE.finditer(text):
        claim = _SPACED.sub(r"\1", " ".join(_LABELS.sub("", sentence[0]).split()))
        labels = list(_LABELS.finditer(sentence[0]))
        if not labels and any(letter.isalnum() for letter in claim):
            uncited.append(claim)
        for each in labels:
            label = each[0][1:-1]
            start = sentence.start() + each.start()
            citations.append(Citation(label, shown[label], (start, start + len(each[0])), claim))
    return CheckedAnswer(text, tuple(citations), tuple(dict.fromkeys(forged)), tuple(uncited))
