"""What an agent thinks about a question: its answer, and what the answer rests on.

Was what an answer cites so at the time that the question asks about (MemoTrace)?
Each cited memory is held against the asked time [start, end): the one that the question names, or
the present. It violates it

- if it ceased to be so before the asked time (its ``valid_until``),
- if the question names a time, and what it speaks of began after that,
- if facts rest on it, and none of them was valid at any moment of the asked time.

A claim that says by itself that something ended, or will begin, may be right all the same: so a
violation is told to the model once, with the interval, and what remains is reported.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollex_engine.clock import OPEN_END, from_micros, iso_moments
from recollex_engine.facts.fact_view import FactView
from recollex_engine.recall.memory import Memory
from recollex_mind.profile import Profile

# Which memories does an answer cite? Labels such as [m3], checked against what it was shown.
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


AskedRange = tuple[datetime, datetime]
"""The time [start, end) that a question asks about."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A claim that cites what was not so at the asked time.

    label, id: of the memory. reason: "ended", "later" or "fact". holds: when what it says was so,
    None for an open end. claim: the sentence that cites it.
    """

    label: str
    id: str
    reason: str
    holds: tuple[datetime | None, datetime | None]
    claim: str

    def to_prompt(self) -> str:
        """Return what a model is told of it."""
        start, end = (None if each is None else f"{each:%B %d, %Y}" for each in self.holds)
        when = f"from {start or 'some time'} until {end or 'further notice'}"
        return f"[{self.label}] holds {when}, but it is cited for: {self.claim}"


def violations(
    citations: Sequence[Citation],
    shown: Sequence[Memory],
    facts: FactView,
    named: AskedRange | None,
    now: datetime,
) -> tuple[Violation, ...]:
    """Return the citations that do not hold at the asked time, each memory once for a claim."""
    start, end = named or (now, now)
    memories = {memory.id: memory for memory in shown}
    found: dict[tuple[str, str], Violation] = {}
    for each in citations:
        wrong = _wrong(memories[each.id], facts, start, end, named is not None)
        if wrong is not None:
            said = Violation(each.label, each.id, *wrong, each.claim)
            found.setdefault((each.id, each.claim), said)
    return tuple(found.values())


def _wrong(
    memory: Memory, facts: FactView, start: datetime, end: datetime, named: bool
) -> tuple[str, tuple[datetime | None, datetime | None]] | None:
    """Return why a memory does not hold in [start, end), and when it holds; None if it does."""
    if memory.valid_until is not None and memory.valid_until <= start:
        return "ended", (memory.event[0], memory.valid_until)
    if named and memory.event[0] >= end:
        return "later", (memory.event[0], memory.valid_until)
    ordinal = facts.columns.newest(memory.id, facts.memories, facts.op) if facts.op else None
    spans = [] if ordinal is None else _spans(facts, ordinal)
    if spans and not any(_overlap(each, start, end) for each in spans):
        return "fact", min(spans, key=lambda each: _micros_first(each[0]))
    return None


def _spans(facts: FactView, memory: int) -> list[tuple[datetime | None, datetime | None]]:
    """Return the valid times of the facts that rest on a memory."""
    starts = facts.data("fact_start")
    ends = facts.data("fact_end")
    return [
        (
            None if starts[version] <= -OPEN_END else from_micros(starts[version]),
            None if ends[version] >= OPEN_END else from_micros(ends[version]),
        )
        for version in facts.of_evidence([memory]).tolist()
    ]


def _overlap(span: tuple[datetime | None, datetime | None], start: datetime, end: datetime) -> bool:
    begins = span[0] is None or span[0] < end or span[0] <= start == end
    return begins and (span[1] is None or span[1] > start)


def _micros_first(moment: datetime | None) -> float:
    return float("-inf") if moment is None else moment.timestamp()


ORDER = ("agent", "world", "opinion")
"""The order of the networks in a prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """The result of `Agent.think`.

    text: the answer, with labels such as [m2] after its claims; of a refusal what was looked for;
    None without a language model, or if it failed, as ``error`` says. refused: whether what was
    recalled bears too little on the question to be answered. citations: the labels, checked: each
    names a memory that was shown. forged: labels that the model made up, which were taken out of
    the text. uncited: sentences without a label. violations: claims that cite what was not so at
    the asked time, see `mind.time_critique`.

    based_on: the memories shown, by network. profile: under which it was thought. confidence: of
    the recall, see `Recall.confidence`. messages: the prompt, whose file ``prompt`` names. model:
    its name, None without one.
    """

    id: str
    question: str
    text: str | None
    refused: bool = False
    error: str | None = None
    citations: tuple[Citation, ...] = ()
    forged: tuple[str, ...] = ()
    uncited: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()
    based_on: Mapping[str, tuple[Memory, ...]] = field(default_factory=dict)
    profile: Profile
    confidence: float | None = None
    messages: tuple[Mapping[str, str], ...] = ()
    prompt: str = ""
    model: str | None = None

    @property
    def shown(self) -> dict[str, Memory]:
        """The memories by their labels, in the order of the prompt."""
        memories = [each for network in ORDER for each in self.based_on.get(network, ())]
        return {f"m{number}": each for number, each in enumerate(memories, 1)}

    @property
    def cited(self) -> list[Memory]:
        """The memories that the answer cites, in the order of the answer."""
        ids = dict.fromkeys(each.id for each in self.citations)
        held = {each.id: each for memories in self.based_on.values() for each in memories}
        return [held[id] for id in ids]

    def to_dict(self) -> dict[str, Any]:
        """Return the thought as JSON values."""
        return {
            "id": self.id,
            "question": self.question,
            "text": self.text,
            "refused": self.refused,
            "error": self.error,
            "citations": [
                {"label": each.label, "id": each.id, "span": list(each.span), "claim": each.claim}
                for each in self.citations
            ],
            "forged": list(self.forged),
            "uncited": list(self.uncited),
            "violations": [
                {
                    "label": each.label,
                    "id": each.id,
                    "reason": each.reason,
                    "holds": iso_moments(each.holds),
                    "claim": each.claim,
                }
                for each in self.violations
            ],
            "based_on": {
                network: [memory.to_dict() for memory in memories]
                for network, memories in self.based_on.items()
            },
            "profile": self.profile.to_dict(),
            "confidence": self.confidence,
            "messages": [dict(message) for message in self.messages],
            "prompt": self.prompt,
            "model": self.model,
        }
