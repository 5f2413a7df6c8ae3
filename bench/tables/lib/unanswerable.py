"""Questions that a bank cannot answer, made in five ways, beside those that a set has itself.

- **another bank**: questions of another bank of the same split, asked at the same places. If a set
  has only one bank in a split, its questions come from the set named in `NEIGHBOUR`. A question
  whose evidence is under a title that the bank has too is left out.
- **another name**: LoCoMo's single-hop questions with the other speaker's name, as its own
  category 5 is made. A few may be true of both speakers.
- **never told**: every second document is not retained. A question cannot be answered if all its
  evidence was in these documents, and can be answered if none was; the others are left out. The
  people, the words and the questions are the same, so this kind is hard. It is only as clean as the
  set's evidence is complete.
- **one detail untold**: the evidence of every second question is not retained, nor are its near
  copies and the turns next to it, and all else is. So the bank still speaks of the subject.
- **another part**: of stretches of 5 to 1,000 memories, questions whose evidence lies elsewhere in
  the bank. So small agents have questions too.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from bench.datasets.bank import Bank, Query, Turn

BY_THE_SET = "by the set"
ANOTHER_BANK = "another bank"
ANOTHER_NAME = "another name"
NEVER_TOLD = "never told"
UNTOLD = "one detail untold"
ANOTHER_PART = "another part"
ANSWERABLE = "answerable"

NEIGHBOUR = {
    "lifebench": "locomo",
    "timeqa": "musique",
    "musique": "2wiki",
    "2wiki": "musique",
    "scifact": "timeqa",
    "office": "household",
    "documents_through_chat": "timeqa",
    "diary_en": "locomo",
    "diary_zh": "phone_zh",
    "phone_zh": "diary_zh",
}
"""Set -> the set of the foreign questions, if a split has no second bank."""
NEAR_COPY = 0.6
"""Two memories are near copies if they share this part of all their words."""
STRETCHES = {5: 12, 20: 6, 100: 3, 1000: 1}
"""Number of memories -> the most stretches of that length."""


def with_unanswerable(banks: Sequence[Bank], datasets: Collection[str] | None = None) -> list[Bank]:
    """Return each bank with unanswerable questions too, and again with parts of it untold.

    datasets: the sets whose banks are returned, all if None; the others only lend questions.

    A query's category becomes its kind, and its ``answerable`` the truth. If a set gives no
    questions of a kind, a bank keeps those it has. Queries stay in the order of the turns they see.
    Each bank is followed by the bank half told, the bank with details untold, and its stretches;
    those that have no question are left out.
    """
    made = []
    for bank in banks:
        if datasets is not None and bank.dataset not in datasets:
            continue
        own = [
            replace(query, category=ANSWERABLE if query.answerable else BY_THE_SET)
            for query in bank.queries
            if query.evidence or not query.answerable
        ]
        mixed = [*own, *_foreign(bank, banks), *_renamed(bank)]
        mixed.sort(key=lambda query: query.visible)
        parts = [_half_told(bank), _untold(bank), *_stretches(bank)]
        made.append(replace(bank, queries=tuple(mixed)))
        made += [part for part in parts if part.queries]
    return made


def part_of(bank: Bank) -> str:
    """Return which part of a bank it is: "whole", "half told", "details untold", or a length.

    >>> part_of(Bank("updates", "letta-0 20 from 55", "a", (), (), "turn"))
    '20'
    """
    found = _PART.search(bank.name)
    return found[1] or found[2] if found else "whole"


_PART = re.compile(r" (?:(half told|details untold)|([0-9]+) from [0-9]+)$")


def _foreign(bank: Bank, banks: Sequence[Bank]) -> list[Query]:
    """Return questions of another bank at the places of the bank's own, at most as many."""
    made = []
    for split in dict.fromkeys(query.split for query in bank.queries):
        own = [query for query in bank.queries if query.split == split]
        other = _other(bank, [b for b in banks if any(q.split == split for q in b.queries)])
        if other is None:
            continue
        held = {turn["document"] for turn in bank.turns if "at" not in turn}
        document_of = other.document_of
        asked = [
            query
            for query in other.queries
            if query.split == split
            and query.answerable
            and not held & {document_of.get(id, id) for id in query.evidence}
        ]
        count = min(len(asked), len(own))
        for place in range(count):
            query = asked[place * len(asked) // count]
            where = own[place * len(own) // count]
            made.append(
                replace(
                    query,
                    id=f"{query.id} to {bank.name}",
                    evidence=frozenset(),
                    category=ANOTHER_BANK,
                    asked_at=where.asked_at,
                    visible=where.visible,
                    answerable=False,
                )
            )
    return made


def _other(bank: Bank, banks: Sequence[Bank]) -> Bank | None:
    """Return the next bank of the set, in a ring; a bank of the neighbour set if it is alone.

    None if that set has no bank here.
    """
    names = [other.name for other in banks if other.dataset == bank.dataset]
    if len(names) > 1:
        name = names[(names.index(bank.name) + 1) % len(names)]
        return next(b for b in banks if b.dataset == bank.dataset and b.name == name)
    return next((b for b in banks if b.dataset == NEIGHBOUR.get(bank.dataset)), None)


def _renamed(bank: Bank) -> list[Query]:
    """Return LoCoMo's single-hop questions about one speaker, with the name of the other."""
    if bank.dataset != "locomo":
        return []
    first, second = dict.fromkeys(turn["speaker"] for turn in bank.turns)
    made = []
    for query in bank.queries:
        names = [name for name in (first, second) if re.search(rf"\b{name}\b", query.text)]
        if query.category == "single-hop" and len(names) == 1:
            other = second if names[0] == first else first
            made.append(
                replace(
                    query,
                    id=f"{query.id} of {other}",
                    text=re.sub(rf"\b{names[0]}\b", other, query.text),
                    evidence=frozenset(),
                    category=ANOTHER_NAME,
                    answerable=False,
                )
            )
    return made


def _half_told(bank: Bank) -> Bank:
    """Return the bank without every second document, and the questions of known answerability."""
    document_of = bank.document_of
    documents = list(dict.fromkeys(document_of.values()))
    told = set(documents[::2])
    return _told(
        bank,
        "half told",
        [turn["document"] in told for turn in bank.turns],
        bank.queries,
        NEVER_TOLD,
    )


def _untold(bank: Bank) -> Bank:
    """Return the bank without the evidence of every second question, for banks of turns."""
    proved = [query for query in bank.queries if query.answerable and query.evidence]
    if bank.unit == "document":
        proved = []
    left_out = {id for query in proved[::2] for id in query.evidence}
    place_of = {turn["id"]: place for place, turn in enumerate(bank.turns)}
    told = [True] * len(bank.turns)
    words = [frozenset(_WORD.findall(turn["text"].lower())) for turn in bank.turns]
    holders: dict[str, list[int]] = {}
    for place, own in enumerate(words):
        for word in own:
            holders.setdefault(word, []).append(place)
    for id in left_out:
        place = place_of[id]
        for near in {place, *_copies(place, words, holders)}:
            told[near] = False
        for near in (place - 1, place + 1):
            if 0 <= near < len(told) and _adjacent(bank.turns[place], bank.turns[near]):
                told[near] = False
    return _told(bank, "details untold", told, proved, UNTOLD)


_WORD = re.compile(r"\w+")


def _copies(
    place: int, words: Sequence[frozenset[str]], holders: Mapping[str, Sequence[int]]
) -> Iterator[int]:
    """Yield the memories that are near copies of the one at ``place``, by their rarest words."""
    own = words[place]
    rarest = sorted(own, key=lambda word: (len(holders[word]), word))
    for other in {near for word in rarest[: 1 + len(own) // 2] for near in holders[word][:1000]}:
        if len(own & words[other]) >= NEAR_COPY * len(own | words[other]):
            yield other


def _adjacent(turn: Turn, other: Turn) -> bool:
    """Return whether a reply may repeat the turn: both are spoken, in one document."""
    return "speaker" in turn and "speaker" in other and turn["document"] == other["document"]


def _stretches(bank: Bank) -> Iterator[Bank]:
    """Yield stretches of a bank of turns; at most half of the questions of each are foreign."""
    proved = [query for query in bank.queries if query.answerable and query.evidence]
    if bank.unit == "document":
        return
    place_of = {turn["id"]: place for place, turn in enumerate(bank.turns)}
    for length, most in STRETCHES.items():
        if length > len(bank.turns) // 2:
            continue
        anchors = [proved[place * len(proved) // most] for place in range(min(most, len(proved)))]
        for number, anchor in enumerate(anchors):
            first = min(place_of[id] for id in anchor.evidence)
            start = max(0, min(first - (number * 7919) % length, len(bank.turns) - length))
            end = start + length
            told = [start <= place < end for place in range(len(bank.turns))]
            seen = [query for query in proved if query.visible >= end]
            part = _told(bank, f"{length} from {start}", told, seen, ANOTHER_PART)
            yes = [query for query in part.queries if query.answerable]
            no = [query for query in part.queries if not query.answerable]
            if yes:
                kept = [no[place * len(no) // len(yes)] for place in range(min(len(yes), len(no)))]
                yield replace(part, queries=(*yes, *kept))


def _told(bank: Bank, name: str, told: Sequence[bool], asked: Sequence[Query], kind: str) -> Bank:
    """Return the bank with the told turns alone, and the questions of known answerability.

    A question that is answerable by the whole bank is still so if all of its evidence was told, and
    is of the unanswerable ``kind`` if none of it was; the others are left out.
    """
    document_of = bank.document_of
    turns, kept_before, held_units = [], [0], set()
    for turn, is_told in zip(bank.turns, told, strict=True):
        if is_told:
            turns.append(turn)
            held_units.add(document_of[turn["id"]] if bank.unit == "document" else turn["id"])
        kept_before.append(len(turns))
    queries = []
    for query in asked:
        held = len(query.evidence & held_units)
        visible = kept_before[query.visible]
        if query.answerable and query.evidence and visible and held in (0, len(query.evidence)):
            queries.append(
                replace(
                    query,
                    id=f"{query.id} {name}",
                    evidence=query.evidence if held else frozenset(),
                    category=ANSWERABLE if held else kind,
                    visible=visible,
                    answerable=held > 0,
                )
            )
    return replace(bank, name=f"{bank.name} {name}", turns=tuple(turns), queries=tuple(queries))
