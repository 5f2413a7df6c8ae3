"""The default fusion and its weights: every candidate is scored by every arm and by its context.

A turn such as "Yes, last week!" answers a question that was asked before it, in a session about
some subject, near in time to other events. So a candidate is scored by its keyword and semantic
evidence (even if another arm found it), by that of its neighbours and its document, by its time,
by the rare entities that it shares with the best memories, and by the cues of the question.

The score is a linear sum. Its unit: 1 is the semantic evidence of a memory that is as similar to
the question as the graph's entry points. The weights were fitted by a listwise (softmax) loss on
LoCoMo conversations 1-5, two RealMem people, one LifeBench user and halves of MuSiQue, 2Wiki and
TimeQA; they are one vector of weights for all data sets.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import DAY
from recollex_engine.domain.checks import check_number
from recollex_engine.domain.roles import ASSISTANT, USER
from recollex_engine.fork import cached_property
from recollex_engine.ranking.arms import ArmList, Words
from recollex_engine.ranking.cited import raise_cited
from recollex_engine.ranking.confidence import STANDS_OUT_OF, read_signs
from recollex_engine.ranking.copies import order_copies
from recollex_engine.ranking.fusion import Evidence, Fused
from recollex_engine.ranking.later_statements import prefer_later
from recollex_engine.ranking.repeated_facts import lead_with_turns
from recollex_engine.ranking.small_stores import (
    SIMILARITY,
    names_speaker,
    smallness,
    word_certainty,
)
from recollex_engine.ranking.strangers import NO_STRANGERS, strangers
from recollex_engine.state.speakers import joined
from recollex_kernels.fusing.contextual import contextual
from recollex_kernels.fusing.inputs import Question, Strangers
from recollex_kernels.fusing.parts import PARTS

KEYWORD_CONTEXT = 4.4
"""Weight of the keyword evidence in the context of other memories; the semantic evidence has 1."""
SEEDS = 5
"""Number of the best memories from which activation spreads (TEMPR 3.1.3)."""
HUB = 400
"""Hub threshold: an entity that more memories name carries no activation."""
WIDENED = 32
"""Number of the best candidates whose neighbours become candidates too."""
REACH = 16
"""Neighbours are searched within this distance in recorded order: several documents may be written
at once."""
ANCHORS = 30
"""Number of the best memories whose times matter (N of SATF 3.5)."""
MOMENT = DAY // 2
"""Width of a moment: half a day joins what happened together. (SATF's 15 days join a topic.)"""
RECENT = 30 * DAY
"""The age at which the recency part of a memory has fallen to 1/e."""
PACE = 400.0
"""The number of later memories at which it has, in a talk in progress."""
SURE = 3.0
"""The base x of the best memory from which on who said it, when and after what count in full. A
memory that holds all words of the question and is no more alike than another has 4.4."""
FEW_WORDS = 25
"""Number of words, without stop words, from which a memory is not considered short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contextual:
    """Scores each candidate by a sum of parts, with the same weights for every data set.

    keyword      b = BM25 / sqrt(best BM25 * sum of the idf of the question's words), in [0, 1]. It
                 combines two shares: the memory's score of the best score, and the best score of
                 the possible one. So the part is small if the agent does not use the question's
                 words. For a word that no memory holds, words that are spelled like it are searched
                 (see `spelling`); each counts its likeness times ``spelling``
    semantic     c = (cosine - semantic threshold) / (entry threshold - semantic threshold), at
                 least -1, so that a very low cosine counts no worse than an unrelated memory
                 and, with x = 4.4 b + c:
    before, after, before_two   x of the neighbours in the document. The second one before counts
                 in a talk of several, not where the turn between has the same speaker
    document     the greatest x in the document
    moment       affinity to the times of the best x within half a day (SATF 3.3; an anchor's own
                 time does not count for itself), divided by the greatest affinity or by 1.5 (two
                 anchors) if that is more; see `moments`
    association  activation received from the best x over shared entities, see `associations`
    in_range     1 if it happened in the time that the question names
    cited        b of the best fact that cites it, see `cited_by_facts`; of a time that the question
                 names only the facts that held then
    speaker      1 if the question names who said it
    question     1 if it is a question itself (LoCoMo: rarely evidence)
    answer       1 if the turn before it is a question
    brevity      ln(1 + words) - ln(1 + 25), at most 0: "Wow!" has little information
    dated        1 if it names a time and the question asks when
    recency      e^(-age / 30 days), if the question addresses its hearer; with a talk in progress
                 (see present) e^(-later memories / 400), whatever the pace of the talks
    present      1 if it is in the talk in progress (the newest memory's document, if that was said
                 within half a day), if the question addresses its hearer
    role         1 for a user's turn if the question is in the first person ("Where do I live?"),
                 for an assistant's if it is in the second ("What did you suggest?"), where turns
                 of another role are candidates too
    passages     ln(number of passages) of a turn that has a role, where turns of several roles are
                 candidates. An assistant's replies are long, and a reply of n passages scores by
                 the best of n: in a sum of logarithms of odds, the best of n draws must exceed
                 ln(n) more than one draw
    circle       no part: what c of a memory is less by if its speaker is a stranger to the people
                 whom the question names, see `strangers`
    copy         what exchanging places with the same text adds, if the question wants the latest or
                 the first; see `copies`
    later        what a later statement needs to rank above the earlier one that says the same, if
                 the question asks for the present; see `later_statements`

    Question, answer, speaker, association, moment and recency say nothing of a memory's own
    content. They count as far as the best memory matches: min(best x / 3, 1) times their weight,
    see `trusted` in `recollex_kernels`.

    If most letters of a question are not Latin, and the embedding model does not know such scripts,
    c is multiplied by ``foreign`` of the model's `Thresholds`.

    A question that addresses its hearer ("what did we settle on?") is a turn of a running
    conversation: its small talk shares words with every memory and asks about no moment. So for
    such a question a memory's own keyword evidence counts ``addressed_keyword`` times (its effect
    on other memories is unchanged), the moment does not count, recency does, and earlier questions
    are on topic (``addressed_question``). The asker still has in view what the talk in progress
    said, and these memories would displace the others: so they count less, but not nothing. If such
    a turn has several sentences, it tells more than it asks. "I" and "you" in it point at no role,
    a time is mostly one that is planned, and a long reply is as good as a short one: so role,
    passages, answer and in_range count ``telling`` times. If a question asks what would be or may
    be so, the moment does not count either.

    In an agent of few memories the semantic weight is greater, the association's is less, and
    keyword evidence counts less if the best BM25 score is small: see `small_stores`.

    >>> Contextual(recency=0.0).semantic
    1.0
    """

    keyword: float = 5.1
    semantic: float = 1.0
    before: float = 0.18
    after: float = 0.10
    before_two: float = 0.10
    document: float = 0.23
    moment: float = 1.3
    association: float = 1.6
    in_range: float = 1.6
    speaker: float = 0.44
    question: float = -0.45
    answer: float = 0.46
    brevity: float = 0.15
    dated: float = 1.0
    recency: float = 1.3
    present: float = -4.0
    addressed_keyword: float = 0.6
    addressed_question: float = 0.63
    telling: float = 0.1
    role: float = 1.8
    passages: float = -0.6
    spelling: float = 1.0
    cited: float = 3.0
    circle: float = 1.5

    def __post_init__(self) -> None:
        for name in self.__slots__:
            check_number(getattr(self, name), name, -1e6, 1e6)
        check_number(self.spelling, "spelling", 0, 1)

    @property
    def associates(self) -> bool:
        """Return whether it spreads activation itself: if `association` has a weight."""
        return self.association != 0

    def fuse(self, evidence: Evidence) -> Fused:
        """Return the candidates by the sum of their parts."""
        lists = [ranked.memories for ranked in evidence.lists.values() if len(ranked.memories)]
        cited = evidence.cited if self.cited else None
        if cited is not None:
            lists.append(cited[0])
        if not lists:
            return Fused(np.empty(0, np.uint32), np.empty(0, np.float64))
        view = evidence.view
        found = evidence.found
        near = evidence.lists.get("semantic", _NOTHING)
        weights = self._weights(evidence)
        met = view.columns.speakers.by_name(view.of_memories("speaker"), evidence.cues.words)
        named = joined(met)
        arguments = (
            (np.concatenate(lists), (near.memories, near.scores)),
            _asked(evidence, named, strangers(view, met, self.circle) if met else NO_STRANGERS),
            view.mentions,
            view.talk,
            (evidence.allowed, _among(evidence)),
            (*view.texts, _BREVITY),
            (*view.events, found.start, found.end) if found else (*view.events, 0, 0),
            (named, ASSISTANT if evidence.cues.second_person else USER),
            (evidence.now, float(RECENT), PACE, MOMENT),
            (
                KEYWORD_CONTEXT,
                (WIDENED, REACH, DAY),
                (ANCHORS, float(MOMENT)),
                (SEEDS if self.associates and view.entities else 0, HUB, evidence.budget),
                STANDS_OUT_OF,
                SURE,
            ),
            weights,
        )
        hubs = view.hubs.known(view.entities)
        memories, scores, associated, activation, seen, _ = contextual(*arguments, False, hubs)
        own = {}
        if self.associates:
            own["graph"] = ArmList(associated, activation, _NO_ROWS)
        signs = None
        if evidence.query is not None and evidence.words is not None:
            signs = read_signs(seen, evidence.words.unknown, evidence.words.population)
        parts = _Parts(weights, lambda: contextual(*arguments, True, hubs)[-1])
        fused = Fused(memories, scores, parts, own, signs)
        if cited is not None:
            fused = raise_cited(fused, cited, self.cited)
        if evidence.cues.order:
            fused = order_copies(evidence, fused)
        if evidence.cues.present and evidence.found is None:
            fused = prefer_later(evidence, fused)
        return lead_with_turns(evidence, fused)

    def _weights(self, evidence: Evidence) -> npt.NDArray[np.float64]:
        """Return the weight of each part for this question, 0 for parts that do not apply to it."""
        cues = evidence.cues
        weights = list(_IN_ORDER(self))  # an item of an array takes four times as long
        if cues.supposes or cues.addressed:
            weights[_MOMENT] = 0.0
        if cues.addressed:
            weights[_KEYWORD] *= self.addressed_keyword
            weights[_QUESTION] = self.addressed_question
        else:
            weights[_RECENCY] = weights[_PRESENT] = 0.0
        if evidence.found is None:
            weights[_IN_RANGE] = 0.0
        if not cues.asks_when:
            weights[_DATED] = 0.0
        if not (cues.first_person or cues.second_person):
            weights[_ROLE] = 0.0
        if cues.tells:
            for part in _OF_A_QUESTION:
                weights[part] *= self.telling
        words = evidence.words
        small = smallness(evidence.view.memories if words is None else words.population)
        weights[_SEMANTIC] *= 1 + SIMILARITY * small
        weights[_ASSOCIATION] *= 1 - small
        return np.array(weights, np.float64)


_BREVITY = np.minimum(np.log1p(np.arange(FEW_WORDS + 1.0)) - np.log1p(FEW_WORDS), 0)
_NOTHING = ArmList.empty()
_NO_ROWS = np.empty(0, np.uint32)
_NO_WORDS = Words.none()
_IN_ORDER = attrgetter(*PARTS)
_KEYWORD, _SEMANTIC, _ASSOCIATION, _QUESTION, _MOMENT, _IN_RANGE = map(
    PARTS.index, ("keyword", "semantic", "association", "question", "moment", "in_range")
)
_DATED, _RECENCY, _PRESENT, _ROLE, _ANSWER, _PASSAGES = map(
    PARTS.index, ("dated", "recency", "present", "role", "answer", "passages")
)
_OF_A_QUESTION = _ROLE, _PASSAGES, _ANSWER, _IN_RANGE
"""The parts that count little where a turn tells more than it asks."""


class _Parts(Mapping[str, npt.NDArray[np.float64]]):
    """The parts of the scores by name, best memory first; computed when one is accessed."""

    def __init__(
        self, weights: npt.NDArray[np.float64], table: Callable[[], npt.NDArray[np.float64]]
    ) -> None:
        self._weights = weights
        self._make = table

    @cached_property
    def _names(self) -> list[str]:
        return [name for name, weight in zip(PARTS, self._weights, strict=True) if weight]

    @cached_property
    def _table(self) -> npt.NDArray[np.float64]:
        return self._make()

    def __getitem__(self, name: str) -> npt.NDArray[np.float64]:
        if name not in self._names:
            raise KeyError(name)
        part: npt.NDArray[np.float64] = self._table[PARTS.index(name)]
        return part

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _asked(evidence: Evidence, named: npt.NDArray[np.uint32], apart: Strangers) -> Question:
    """Return what b and c of any memory are computed from, whichever arm brought it."""
    view = evidence.view
    limits = evidence.thresholds
    words = evidence.words
    best = float(words.ranked.scores[0]) if words and len(words.ranked.scores) else 0.0
    said = words if words is not None and best > 0 else _NO_WORDS
    scale = 1 / math.sqrt(best * said.most) if best > 0 else 0.0
    if scale and not names_speaker(view, named):
        scale *= word_certainty(view, said, evidence.analyzer)
    return (
        (
            view.posting_lists,
            said.tail,
            *view.own_words,
            said.fixed,
            said.per_word,
            said.terms,
            said.idf,
        ),
        scale,
        view.vectors,
        view.buffer("first_row"),
        np.empty(0, np.float32) if evidence.query is None else evidence.query,
        limits.semantic,
        max(limits.entry - limits.semantic, 1e-6) / _known(evidence),
        apart,
    )


def _among(evidence: Evidence) -> int:
    """Return how many memories a filter admits; 0 without a filter.

    Names and the talk in progress then count as in an agent that holds these
    alone, as words do.
    """
    words = evidence.words
    if words is None or words.population >= evidence.view.memories:
        return 0
    return words.population


def _known(evidence: Evidence) -> float:
    """Return what semantic evidence counts: less if the model does not know the script."""
    return max(evidence.thresholds.foreign, 1e-6) if evidence.cues.foreign else 1.0
