"""The interface of every reranker, and the stage of a recall that runs one.

A reranker gives each candidate a score; a `Combination` says how this score and the fused score
become one. So an irrelevant but recent memory overtakes a relevant one only if the caller chose a
combination that allows it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import MONTH_NAMES, from_micros
from recollex_engine.domain.checks import check_kind, check_number
from recollex_engine.domain.schema import NONE
from recollex_engine.domain.turn import is_spoken
from recollex_engine.errors import InputError, RerankError
from recollex_engine.fork import cached_property
from recollex_engine.ranking.arms import ArmList
from recollex_engine.state.view import View
from recollex_engine.trace import Trace
from recollex_kernels.fusing.reranking import ADD, MULTIPLY, REPLACE, combine
from recollex_kernels.vectors.codes import cosines


# The fused list, on which the stages after fusion work: their input is a `Candidates`.
@dataclass(frozen=True)
class Candidates:
    """A fused list, best first.

    query: the question's text; vector: its embedding, None if there is none. memories uint32[n],
    distinct; scores float64[n], finite, falling. now: microseconds UTC, from which ages are
    computed. arms: each arm's list. trace: where a stage notes what the caller should know.
    Properties of the memories are read when first needed.
    """

    query: str
    view: View
    memories: npt.NDArray[np.uint32]
    scores: npt.NDArray[np.float64]
    now: int
    vector: npt.NDArray[np.float32] | None = None
    arms: Mapping[str, ArmList] | None = None
    trace: Trace = field(default_factory=Trace)

    def __len__(self) -> int:
        return len(self.memories)

    def first(self, count: int) -> "Candidates":
        """Return the best ``count`` candidates."""
        if count >= len(self):
            return self
        return self.part(0, count)

    def part(self, first: int, end: int) -> "Candidates":
        """Return the candidates at places [first, end)."""
        return replace(self, memories=self.memories[first:end], scores=self.scores[first:end])

    def taken(self, order: npt.NDArray[np.int64], scores: npt.NDArray[np.float64]) -> "Candidates":
        """Return the list in another order, given as places in this one, with its new scores."""
        return replace(self, memories=self.memories[order], scores=scores)

    @property
    def said_at(self) -> npt.NDArray[np.int64]:
        """When each memory was said or done, microseconds: int64[n]."""
        times: npt.NDArray[np.int64] = self.view.buffer("said_at")[self.memories]
        return times

    def arm(self, name: str) -> npt.NDArray[np.float64]:
        """Return an arm's scores of the memories, 0 for those not in its list: float64[n]."""
        ranked = (self.arms or {}).get(name)
        found = np.zeros(len(self), np.float64)
        if ranked is None or not len(ranked.memories):
            return found
        order = np.argsort(ranked.memories)
        known = ranked.memories[order]
        places = np.minimum(np.searchsorted(known, self.memories), len(known) - 1)
        brought = known[places] == self.memories
        found[brought] = ranked.scores[order[places[brought]]]
        return found

    @cached_property
    def rows(self) -> npt.NDArray[np.uint32]:
        """The passage of each memory that is most similar to the question: uint32[n].

        A short memory has only one. If the question has no vector, it is the first passage. Ties:
        the earlier passage. Cost: a cosine for each passage of the memories with several.
        """
        if self.view.rows == self.view.memories:  # each memory has one row, of the same number
            return self.memories
        first_row = self.view.buffer("first_row")
        places = self.memories.astype(np.int64)
        rows: npt.NDArray[np.uint32] = first_row[places].astype(np.uint32)
        if self.vector is not None:
            ends = first_row[places + 1]
            for place in np.flatnonzero(ends - rows > 1).tolist():
                passages = np.arange(rows[place], ends[place], dtype=np.uint32)
                near = np.empty(len(passages), np.float32)
                cosines(self.view.vectors, passages, self.vector, near)
                rows[place] = passages[int(near.argmax())]
        return rows

    @cached_property
    def texts(self) -> list[str]:
        """What a reranker reads of each memory: its text, or the best passage of a long text.

        A later passage of a turn names its speaker, as the first passage does: "Ann: ...".
        """
        view = self.view
        places = self.memories.astype(np.int64)
        first_row = view.buffer("first_row")
        several = first_row[places + 1] - first_row[places] > 1
        data = view.buffer("text").data
        offsets = view.buffer("text_offset")
        texts = [
            str(data[first:end], "utf-8", "replace")
            for first, end in zip(
                offsets[places].tolist(), offsets[places + 1].tolist(), strict=True
            )
        ]
        for place in np.flatnonzero(several).tolist():
            row = int(self.rows[place])
            memory = int(places[place])
            start = view.buffer("passage_start")[row]
            end = view.buffer("passage_end")[row]
            whole = texts[place]
            speaker = view.columns.label(int(view.buffer("speaker")[memory]))
            spoken = start > 0 and is_spoken(whole, speaker)
            texts[place] = (f"{speaker}: " if spoken else "") + whole[start:end]
        return texts

    @cached_property
    def headings(self) -> list[str]:
        """What TEMPR 3.3 puts before each text: its date, its context, and a space at the end.

        "[Date: November 06, 2025 (2025-11-06)] <context>: "; the context is left out if a memory
        has none. The date is the day, in UTC, on which the memory was said.
        """
        contexts = self.view.buffer("context")[self.memories].tolist()
        headings = []
        for said_at, context in zip(self.said_at.tolist(), contexts, strict=True):
            day = from_micros(said_at).date()
            spoken = f"{MONTH_NAMES[day.month - 1]} {day.day:02}, {day.year}"
            about = "" if context == NONE else f"{self.view.columns.label(context)}: "
            headings.append(f"[Date: {spoken} ({day.isoformat()})] {about}")
        return headings

    @cached_property
    def dated_texts(self) -> list[str]:
        """The texts as TEMPR 3.3 shows them to its reranker, each after its heading."""
        return [heading + text for heading, text in zip(self.headings, self.texts, strict=True)]


CombinationForm = Literal["replace", "add", "multiply"]
_FORMS = {"replace": REPLACE, "add": ADD, "multiply": MULTIPLY}


@dataclass(frozen=True, slots=True)
class Combination:
    """How a reranker's score r and the fused score become one.

    Equation. f is the fused score scaled to [0, 1] over the list, (s - min) / (max - min); r is
    unchanged if all scores of the list lie in [0, 1], else it is scaled in the same way:
        replace   r, as the reranker gave it
        add       f + weight * r
        multiply  f * (1 + weight * r)

    "multiply" boosts what is relevant already: a memory overtakes another only if its f is more
    than 1 / (1 + weight) of the other's. With "add" a weight of 1 can lift the last to the top.

    >>> Combination("multiply", 0.5)
    Combination(form='multiply', weight=0.5)
    """

    form: CombinationForm = "replace"
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.form not in get_args(CombinationForm):
            raise InputError(
                f"form must be one of {', '.join(get_args(CombinationForm))}, got {self.form!r}"
            )
        check_number(self.weight, "weight", 0, 1e6)


REPLACING = Combination("replace")
MULTIPLYING = Combination("multiply")


def check_combination(combination: object) -> None:
    """Raise `InputError` unless this is a `Combination`."""
    check_kind(combination, "combination", Combination, 'Combination("add")')


class Reranker(Protocol):
    """Scores each candidate by a closer look than an arm's.

    name: its name in traces and errors. combination: how its scores are combined with the fused
    ones, unless the caller chooses another way. A reranker may have a true attribute
    ``independent``: it then gives each candidate a score in [0, 1] that depends on the question and
    that candidate alone, so that not all candidates need a score. Where an attribute ``available``
    is false the stage is skipped, and the list stays.
    """

    @property
    def name(self) -> str:
        """The name in traces and errors."""

    @property
    def combination(self) -> Combination:
        """How its scores are combined with the fused ones by default."""

    def scores(self, candidates: Candidates) -> npt.NDArray[np.float64]:
        """Return float64[n], finite, higher for better. Raises `RerankError` if it cannot."""


def is_available(reranker: Reranker) -> bool:
    """Return whether the reranker can run on this machine; those that do not say so can."""
    return bool(getattr(reranker, "available", True))


@dataclass(frozen=True, slots=True)
class Reranked:
    """A list after a reranker: order int64[n], places in the given list; scores in that order.

    judged: how many candidates the reranker gave a score.
    """

    order: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    judged: int


Settled = Callable[[npt.NDArray[np.uint32], npt.NDArray[np.uint32]], bool]
"""Given the memories that lead the final list, and all others: returns whether none of the others
can be shown, in whatever order they follow."""

BLOCK = 16
"""Number of candidates that are scored between two tests of whether the rest can be shown."""


def rerank(
    candidates: Candidates,
    reranker: Reranker,
    combination: Combination | None = None,
    depth: int | None = None,
    settled: Settled | None = None,
) -> Reranked:
    """Return the candidates in the order of their combined scores.

    combination: None for the reranker's own. depth: how many of the best are scored, None for all;
    the others follow in their order, with the lowest score of these.

    settled: if given, candidates are scored in blocks, the best fused ones first, until the rest
    cannot be shown. For a fused score f and a reranker's r in [0, 1], "add" gives at most
    f + weight and "multiply" at most f * (1 + weight). Fused scores fall. So the scored candidates
    that reach the bound of the next candidate lead the final list in their final order. If these
    are `Settled`, what is shown is to the bit the same as if all had been scored. "replace" gives
    no bound, and neither does a reranker that is not independent: then all are scored.

    Ties keep the given order. The reranker is not called for an empty list.

    Raises:
        RerankError: it failed, or did not give one finite score for each candidate. The given list
            is unchanged.

    """
    head = candidates if depth is None else candidates.first(depth)
    if not len(head):
        return Reranked(np.arange(len(candidates)), candidates.scores.astype(np.float64), 0)
    how = combination or reranker.combination
    judged = len(head)
    if settled is None or how.form == "replace" or not getattr(reranker, "independent", False):
        found = checked_scores(reranker.scores(head), len(head), reranker.name)
    else:
        found, judged = _judge(candidates, head, reranker, how, settled)
    order, scores = _combined(head, found, how)
    rest = len(candidates) - len(head)
    if rest:
        order = np.append(order, np.arange(len(head), len(candidates)))
        scores = np.append(scores, np.full(rest, scores[-1]))
    return Reranked(order, scores, judged)


def _combined(
    head: Candidates, found: npt.NDArray[np.float64], how: Combination
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    return combine(head.scores.astype(np.float64), found, _FORMS[how.form], float(how.weight))


def _judge(
    candidates: Candidates,
    head: Candidates,
    reranker: Reranker,
    how: Combination,
    settled: Settled,
) -> tuple[npt.NDArray[np.float64], int]:
    """Return the scores of ``head``, 0 for those not scored, and the number of scored ones."""
    found = np.zeros(len(head), np.float64)
    for first in range(0, len(head), BLOCK):
        end = min(first + BLOCK, len(head))
        block = head.part(first, end)
        found[first:end] = checked_scores(reranker.scores(block), len(block), reranker.name)
        if not ((found[first:end] >= 0) & (found[first:end] <= 1)).all():
            raise RerankError(reranker.name, "scores of an independent reranker lie in [0, 1]")
        if end == len(head):
            break
        order, scores = _combined(head, found, how)
        best = np.append(found[:end], np.ones(len(head) - end))
        most = _bound(head, best, how, end)
        leads = (order < end) & (scores >= most)
        lead = int(np.argmin(leads)) if not leads.all() else len(leads)
        others = np.append(head.memories[order[lead:]], candidates.memories[len(head) :])
        if lead and settled(head.memories[order[:lead]], others):
            return found, end
    return found, len(head)


def _bound(head: Candidates, best: npt.NDArray[np.float64], how: Combination, judged: int) -> float:
    """Return the greatest score that a candidate after the first ``judged`` could reach."""
    order, scores = _combined(head, best, how)
    return float(scores[order >= judged].max())


def checked_scores(scores: object, count: int, name: str) -> npt.NDArray[np.float64]:
    """Return ``scores`` as float64[count]; raise `RerankError` if they are anything else."""
    try:
        found = np.asarray(scores, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise RerankError(name, f"its scores are not numbers ({error})") from error
    if found.shape != (count,):
        raise RerankError(
            name, f"expected {count} scores, one a text, got an array of shape {found.shape}"
        )
    if not np.isfinite(found).all():
        place = int(np.flatnonzero(~np.isfinite(found))[0])
        raise RerankError(name, f"scores must be finite, got {found[place]} for text {place}")
    return found
