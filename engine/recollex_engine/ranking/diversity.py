"""Does the list say one thing ten times? MMR spreads it, collapsing folds repetitions together."""

import re
import unicodedata
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.checks import check_count, check_number
from recollex_engine.domain.statement import check_flag
from recollex_engine.ranking.candidates import Candidates
from recollex_kernels.fusing.diversity import fingerprints, gram, mmr, mmr_of_gram, suspects

_QUOTES = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u02bc": "'", **dict.fromkeys('"“”«»', " ")}
)
_CLAUSE_END = re.compile(r"[.,!;:\u2026]+(?=\s|\Z)")
_WORD = re.compile(r"[^\W_]+(?:['.,:/-][^\W_]+)*|\?")
_NEGATIONS = frozenset(
    ("no", "not", "never", "none", "nobody", "nothing", "neither", "nor", "cannot", "without")
)


@dataclass(frozen=True, slots=True)
class Diversified:
    """A list after `Diversity`.

    order: int64[m], the places kept of the given list, in their new order. Their scores need not
    fall. collapsed: place in `order` -> the memories folded into that one, by rank.
    """

    order: npt.NDArray[np.int64]
    collapsed: dict[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Diversity:
    """Orders a list so that it repeats itself late, or not at all.

    balance: MMR's lambda (Memora 3.4: 0.5), the weight of relevance against being new; 1 keeps the
    order, None leaves MMR out. Equation:
        next = argmax over c not taken of
               balance * relevance[c] - (1 - balance) * max over s taken of cosine(c, s)
    relevance is the score brought to [0, 1] over the list, so that it compares with a cosine; the
    cosine is of the passages most like the question. limit: how many MMR takes; the others follow
    in the order given.

    collapse: whether a memory that says the same as a better one is folded into it. It says the
    same if speaker, network and words are equal: the words of the analyzer in their order, and the
    text but for case, spaces, quotation marks and the marks that end a clause. A question stays
    apart from a statement. Only a text decides this: by MiniLM, "Ann gave Bob a book" has cosine
    .985 to "Bob gave Ann a book" and .966 stands between "Ann arrived before Bob" and "after Bob",
    but only .917 between "Ann has a dog." and "Ann has a dog!". No threshold tells a repetition
    from another fact.

    threshold: if given with ``collapse``, memories of this cosine or more say the same too, unless
    they differ in speaker, network, entities, numbers, capitalised words, negations or question
    marks, or in the order of these. That folds paraphrases ("works at", "is employed by"), and may
    fold what differs in a common word ("before", "after"), hence not by default.

    Ties keep the order given. Cost for 100 memories of one passage: collapsing 15 us, MMR 50 us;
    more where texts have to be compared, 5 us each.

    >>> Diversity(collapse=True).balance
    0.5
    """

    balance: float | None = 0.5
    collapse: bool = False
    threshold: float | None = None
    limit: int = 100

    def __post_init__(self) -> None:
        check_count(self.limit, "limit", 1, 100_000)
        check_flag(self.collapse, "collapse")
        if self.balance is not None:
            check_number(self.balance, "balance", 0, 1)
        if self.threshold is not None:
            check_number(self.threshold, "threshold", 0, 1)

    def apply(self, candidates: Candidates) -> Diversified:
        """Return the places of ``candidates`` that are kept, in their new order."""
        vectors, rows = candidates.view.vectors, candidates.rows
        paired = self.collapse and self.threshold is not None
        similarities = gram(vectors, rows) if paired else _NONE
        into: list[int] = []
        kept = np.arange(len(candidates))
        if self.collapse:
            into = _collapse(candidates, similarities, self.threshold or 0.0)
            kept = np.array([place for place, to in enumerate(into) if place == to], np.int64)
        order = kept
        if self.balance is not None:
            scores = candidates.scores[kept].astype(np.float64)
            if paired:
                near = np.ascontiguousarray(similarities[np.ix_(kept, kept)])
                chosen = mmr_of_gram(near, scores, self.balance, self.limit)
            else:
                chosen = mmr(vectors, rows[kept], scores, self.balance, self.limit)
            order = kept[chosen]
            if len(chosen) < len(kept):
                order = np.concatenate([order, np.delete(kept, chosen)])
        folded: dict[int, list[int]] = {}
        for memory, (place, to) in zip(candidates.memories.tolist(), enumerate(into), strict=False):
            if place != to:
                folded.setdefault(to, []).append(memory)
        places = enumerate(order.tolist()) if folded else ()
        return Diversified(order, {n: tuple(folded[at]) for n, at in places if at in folded})


_NONE = np.empty((0, 0), np.float32)


def _collapse(
    candidates: Candidates, similarities: npt.NDArray[np.float32], threshold: float
) -> list[int]:
    """Return the place into which each candidate folds, its own if it stays.

    In rank order, a candidate folds into the best one that stays and says the same.
    """
    view, memories = candidates.view, candidates.memories
    marks = fingerprints(
        memories,
        view.buffer("first_row"),
        view.buffer("term_offset"),
        view.buffer("term"),
        view.buffer("speaker"),
        view.buffer("network"),
    )
    into = list(range(len(candidates)))
    pairs = suspects(marks, similarities, threshold).tolist()
    if not pairs:
        return into
    said = _Said(candidates)
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


class _Said:
    """What candidates say, by place, read at most once."""

    def __init__(self, candidates: Candidates) -> None:
        self._view = candidates.view
        self._memories = candidates.memories.tolist()
        self._words: dict[int, str] = {}
        self._particulars: dict[int, tuple[object, ...]] = {}

    def words(self, place: int) -> str:
        if place not in self._words:
            self._words[place] = normalised(self._text(place))
        return self._words[place]

    def particulars(self, place: int) -> tuple[object, ...]:
        """Return the speaker, the network, the entities, and what `particulars` finds."""
        if place not in self._particulars:
            view, memory = self._view, self._memories[place]
            first, end = view.buffer("mention_offset")[memory : memory + 2].tolist()
            self._particulars[place] = (
                int(view.buffer("speaker")[memory]),
                int(view.buffer("network")[memory]),
                *view.buffer("mention_entity")[first:end].tolist(),
                *particulars(self._text(place)),
            )
        return self._particulars[place]

    def _text(self, place: int) -> str:
        view, memory = self._view, self._memories[place]
        first, end = view.buffer("text_offset")[memory : memory + 2].tolist()
        return str(view.buffer("text").data[first:end], "utf-8") if end > first else ""


def normalised(text: str) -> str:
    """Return ``text`` without what repetitions differ in: case, spaces, marks at clauses' ends.

    >>> normalised("Ann  has a “dog”!") == normalised("ann has a dog.")
    True
    >>> normalised("Ann has a dog?") == normalised("Ann has a dog.")
    False
    """
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_QUOTES)
    return " ".join(_CLAUSE_END.sub("", folded).split())


def particulars(text: str) -> tuple[str, ...]:
    """Return the words of ``text`` by which like sentences tell different things, in order.

    Numbers, capitalised words, negations and question marks; contractions count as "not".

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
