"""How is a list kept from repeating itself? MMR diversifies it; collapsing folds repetitions."""

import re
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.checks import check_count, check_flag, check_number
from recollex_engine.ranking.reranking import Candidates
from recollex_engine.state.view import View
from recollex_kernels.fusing.diversity import (
    fingerprints,
    gram,
    mmr,
    mmr_of_gram,
    repeats,
    suspects,
)
from recollex_kernels.machine.top_k import unit

_QUOTES = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u02bc": "'", **dict.fromkeys('"“”«»', " ")}
)
_CLAUSE_END = re.compile(r"(?<![.,!;:\u2026])[.,!;:\u2026]++(?=\s|\Z)")
_WORD = re.compile(r"[^\W_]+(?:['.,:/-][^\W_]+)*|\?")
_NEGATIONS = frozenset(
    ("no", "not", "never", "none", "nobody", "nothing", "neither", "nor", "cannot", "without")
)

FOLDED = 40
"""If repetitions are only folded, so many of the best memories are compared first. All are compared
only if one of these repeats another: for 250 candidates of a chat that takes 35 us, and most agents
hold no repetition."""


@dataclass(frozen=True, slots=True)
class Diversified:
    """A list after `Diversity`.

    order: int64[m], the places of the given list that are kept, in their new order. Their scores
    need not fall. collapsed: place in `order` -> the memories folded into that one, by rank.
    """

    order: npt.NDArray[np.int64]
    collapsed: dict[int, tuple[int, ...]]

    def folded(self, memories: npt.NDArray[np.uint32]) -> dict[int, tuple[int, ...]]:
        """Return memory -> the memories folded into it; ``memories``: the list in its order."""
        return {int(memories[place]): gone for place, gone in self.collapsed.items()}


@dataclass(frozen=True, slots=True)
class Diversity:
    """Moves repetitions to the end of a list (MMR), or folds them (collapse).

    balance: MMR's lambda (Memora 3.4: 0.5), the weight of relevance against novelty; 1 keeps the
    order, None switches MMR off. Equation:
        next = argmax over c not taken of
               balance * relevance[c] - (1 - balance) * max over s taken of cosine(c, s)
    relevance is the score scaled to [0, 1] over the list, to be comparable with a cosine; with
    ``scaled`` False it is the score itself, as Memora prints it. The cosine is that of the passages
    most similar to the question. limit: how many memories MMR takes; the others follow in the given
    order.

    collapse: whether a memory that says the same as a better one is folded into it. It says the
    same if speaker, network and words are equal: the analyzer's words in their order, and the text
    without case, spaces, quotation marks and the marks that end a clause. A question and a
    statement are never the same. The texts must decide this: by MiniLM, the cosine of "Ann gave Bob
    a book" and "Bob gave Ann a book" is 0.985, and that of "Ann arrived before Bob" and "Ann
    arrived after Bob" is 0.966, but that of "Ann has a dog." and "Ann has a dog!" is only 0.917. No
    threshold separates a repetition from another fact.

    With balance None repetitions are folded before SATF and the reranker, so that none is judged.
    Without a threshold this is done only if some of the best 40 (`FOLDED`) repeat another.

    threshold: if given with ``collapse``, memories of this cosine or more count as the same too,
    unless they differ in speaker, network, entities, numbers, capitalised words, negations or
    question marks, or in the order of these. That folds paraphrases ("works at", "is employed by").
    It may also fold texts that differ in a common word ("before", "after"), so it is off by
    default.

    Ties keep the given order. Cost for 100 memories of one passage: collapsing 15 us, MMR 50 us,
    and 5 us for each text that must be compared.

    >>> Diversity(collapse=True).balance
    0.5
    """

    balance: float | None = 0.5
    collapse: bool = False
    threshold: float | None = None
    limit: int = 100
    scaled: bool = True

    def __post_init__(self) -> None:
        check_count(self.limit, "limit", 1, 100_000)
        check_flag(self.collapse, "collapse")
        check_flag(self.scaled, "scaled")
        if self.balance is not None:
            check_number(self.balance, "balance", 0, 1)
        if self.threshold is not None:
            check_number(self.threshold, "threshold", 0, 1)

    @property
    def only_folds(self) -> bool:
        """Return whether it moves nothing, and folds only what says the same (see `fold`)."""
        return self.collapse and self.balance is None and self.threshold is None

    def apply(self, candidates: Candidates) -> Diversified:
        """Return which places of ``candidates`` are kept, in their new order."""
        paired = self.collapse and self.threshold is not None
        whole = np.arange(len(candidates))
        if self.only_folds:
            return fold(candidates.view, candidates.memories) or Diversified(whole, {})
        vectors = candidates.view.vectors
        rows = candidates.rows
        similarities = gram(vectors, rows) if paired else _NONE
        into: list[int] = []
        kept = whole
        if self.collapse:
            into = _collapse(candidates, similarities, self.threshold or 0.0)
            kept = np.array([place for place, to in enumerate(into) if place == to], np.int64)
        order = kept
        if self.balance is not None:
            relevance = candidates.scores[kept].astype(np.float64)
            if self.scaled:
                relevance = unit(relevance)
            if paired:
                near = np.ascontiguousarray(similarities[np.ix_(kept, kept)])
                chosen = mmr_of_gram(near, relevance, self.balance, self.limit)
            else:
                chosen = mmr(vectors, rows[kept], relevance, self.balance, self.limit)
            order = kept[chosen]
            if len(chosen) < len(kept):
                order = np.concatenate([order, np.delete(kept, chosen)])
        gone: dict[int, list[int]] = {}
        for memory, (place, to) in zip(candidates.memories.tolist(), enumerate(into), strict=False):
            if place != to:
                gone.setdefault(to, []).append(memory)
        places = enumerate(order.tolist()) if gone else ()
        return Diversified(order, {n: tuple(gone[at]) for n, at in places if at in gone})


_NONE = np.empty((0, 0), np.float32)


def _collapse(
    candidates: Candidates, similarities: npt.NDArray[np.float32], threshold: float
) -> list[int]:
    """Return for each candidate the place into which it is folded, its own place if it stays.

    In rank order, a candidate is folded into the best one that stays and says the same.
    """
    marks = fingerprints(candidates.memories, *_said_by(candidates.view))
    into = list(range(len(candidates)))
    pairs = suspects(marks, similarities, threshold).tolist()
    if not pairs:
        return into
    said = _Said(candidates.view, candidates.memories)
    for later, earlier in pairs:
        if into[later] != later or into[earlier] != earlier:
            continue
        same_words = marks[later] == marks[earlier] and said.words(later) == said.words(earlier)
        if same_words or (
            len(similarities)
            and similarities[later, earlier] >= np.float32(threshold)
            and said.particulars(later) == said.particulars(earlier)
        ):
            into[later] = earlier
    return into


def _said_by(view: View) -> tuple[npt.NDArray[Any], ...]:
    """Return what `fingerprints` and `repeats` read of a view's memories."""
    names = ("first_row", "term_offset", "term", "speaker", "network")
    return tuple(map(view.buffer, names))


def fold(view: View, memories: npt.NDArray[np.uint32]) -> Diversified | None:
    """Return a list that has each text once, where it ranks best; None if the list stays.

    memories: uint32[n], best first. If no two of the best `FOLDED` say the same, the list stays.
    What says the same: see `Diversity`. Cost: 5 us, and about 35 us and 3 us for each repetition
    where there are some.
    """
    if not len(repeats(memories[:FOLDED], *_said_by(view))):
        return None
    into = repetitions(view, memories)
    gone = sorted(place for group in into.values() for place in group)
    stays = np.ones(len(memories), np.bool_)
    stays[gone] = False
    collapsed = {
        kept - bisect_left(gone, kept): tuple(memories[group].tolist())
        for kept, group in into.items()
    }
    return Diversified(np.flatnonzero(stays), collapsed)


def repetitions(view: View, memories: npt.NDArray[np.uint32]) -> dict[int, list[int]]:
    """Return place -> the places after it that say the same, ascending; see `Diversity`.

    memories: uint32[n]. A place that says the same as an earlier one is no key.
    """
    pairs = repeats(memories, *_said_by(view)).tolist()
    said = _Said(view, memories)
    alike: dict[int, list[int]] = {}  # place -> the places of its fingerprint that stay
    into: dict[int, list[int]] = {}
    for later, earlier in pairs:
        stay = alike[later] = alike.setdefault(earlier, [earlier])
        for kept in stay:
            if said.raw(kept) == said.raw(later) or said.words(kept) == said.words(later):
                into.setdefault(kept, []).append(later)
                break
        else:
            stay.append(later)
    return into


class _Said:
    """The words and particulars of candidates, by place; each is read at most once."""

    def __init__(self, view: View, memories: npt.NDArray[np.uint32]) -> None:
        self._view = view
        self._memories = memories.tolist()
        self._bytes, self._offsets = view.buffer("text").data, view.buffer("text_offset")
        self._words: dict[int, str] = {}
        self._particulars: dict[int, tuple[object, ...]] = {}

    def raw(self, place: int) -> bytes:
        """Return the text in UTF-8."""
        offsets = self._offsets
        memory = self._memories[place]
        return self._bytes[offsets.item(memory) : offsets.item(memory + 1)].tobytes()

    def words(self, place: int) -> str:
        if place not in self._words:
            self._words[place] = normalised(self._text(place))
        return self._words[place]

    def particulars(self, place: int) -> tuple[object, ...]:
        """Return the speaker, the network, the entities, and what `particulars` finds."""
        if place not in self._particulars:
            view = self._view
            memory = self._memories[place]
            first, end = view.buffer("mention_offset")[memory : memory + 2].tolist()
            self._particulars[place] = (
                int(view.buffer("speaker")[memory]),
                int(view.buffer("network")[memory]),
                *view.same_roots(view.buffer("mention_entity")[first:end].tolist()),
                *particulars(self._text(place)),
            )
        return self._particulars[place]

    def _text(self, place: int) -> str:
        return str(self.raw(place), "utf-8", "replace")


def normalised(text: str) -> str:
    """Return ``text`` without case, spaces and clause-end marks, in which repetitions may differ.

    >>> normalised("Ann  has a “dog”!") == normalised("ann has a dog.")
    True
    >>> normalised("Ann has a dog?") == normalised("Ann has a dog.")
    False
    """
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_QUOTES)
    return " ".join(_CLAUSE_END.sub("", folded).split())


def particulars(text: str) -> tuple[str, ...]:
    """Return the words of ``text`` that make similar sentences say different things, in order.

    These are numbers, capitalised words, negations and question marks; a contraction counts as
    "not".

    >>> particulars("Ann isn't free at 7:45, is Bob?")
    ('Ann', 'not', '7:45', 'Bob', '?')
    """
    found = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).translate(_QUOTES)):
        if word.casefold() in _NEGATIONS or word.casefold().endswith("n't"):
            found.append("not")
        elif not word[0].islower() or any(c.isdigit() for c in word):
            found.append(word)
    return tuple(found)
