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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from recollex_engine.clock import DAY
from recollex_engine.domain.checks import check_flag, check_number
from recollex_engine.domain.trust import ASSISTANT, USER
from recollex_engine.ranking.arms import ArmList, KeywordResult
from recollex_engine.ranking.confidence import STANDS_OUT_OF, read_signs
from recollex_engine.ranking.fusion import Evidence, Fused
from recollex_engine.ranking.reordering import (
    lead_with_turns,
    order_copies,
    prefer_later,
    raise_cited,
)
from recollex_engine.ranking.small_stores import (
    SIMILARITY,
    names_speaker,
    smallness,
    word_certainty,
)
from recollex_engine.ranking.strangers import NO_STRANGERS, strangers
from recollex_engine.state.speakers import joined
from recollex_kernels.fusing.contextual import contextual
from recollex_kernels.fusing.features import NAMES
from recollex_kernels.fusing.inputs import Question

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
BURST = DAY // 720
"""Width of a burst of notes: two minutes."""
RECENT = 30 * DAY
"""The age at which the recency part of a memory has fallen to 1/e."""
SURE = 3.0
"""The base x of the best memory from which on who said it, when and after what count in full. A
memory that holds all words of the question and is no more alike than another has 4.4."""
FEW_WORDS = 25
"""Number of words, without stop words, from which a memory is not considered short."""


When: TypeAlias = Callable[[Evidence], bool]
"""Whether a feature counts for a question."""


@dataclass(frozen=True, slots=True)
class Feature:
    """What switches a feature, and what shows that it is needed.

    run: the table in which the default loses without it, below the repository. when: whether it
    counts for a question. aside: whether it says nothing of a memory's own content (who said it,
    when, after what), so that it counts only as far as the best memory matches the question:
    min(best x / `SURE`, 1) times its weight, see `trusted` in `recollex_kernels`. asks: whether it
    counts ``telling`` times in a turn that tells more than it asks.
    """

    run: str
    when: When
    aside: bool
    asks: bool


def feature(
    weight: float,
    run: str,
    *,
    when: When = lambda _: True,
    aside: bool = False,
    asks: bool = False,
) -> float:
    """Return the entry of a feature in `Contextual`, which is a float: its weight."""
    entry = Feature(run, when, aside, asks)
    made: float = field(default=weight, metadata={"feature": entry})
    return made


ABLATION = "bench/runs/2026-11-28-2-core-epyc/ablation.md"
"""Of six sets."""
SEVEN_SETS = "bench/runs/2026-11-22-2-core-epyc/ablation.md"
"""Of LoCoMo and six others; for what these alone show."""
DECISIONS = "docs/decisions/ranking.md"
"""For what sets of chats show, under "Turns of a talk", "Turns that tell" and "Roles"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contextual:
    """Scores each candidate by a sum of features, with the same weights for every data set.

    One line is one feature: its weight, the run that shows that it is needed, and the cues of the
    question that switch it. The kernel of its name in `recollex_kernels.fusing.features` fills its
    column. Two say how evidence is scaled:

    keyword      b = BM25 / sqrt(best BM25 * sum of the idf of the question's words), in [0, 1]. It
                 combines two shares: the memory's score of the best score, and the best score of
                 the possible one. So it is small if the agent does not use the question's words
    semantic     c = (cosine - semantic threshold) / (entry threshold - semantic threshold), at
                 least -1, so that a very low cosine counts no worse than an unrelated memory. If
                 most letters of a question are not Latin, and the embedding model does not know
                 such scripts, c is multiplied by ``foreign`` of the model's `Thresholds`

    Others look at x = 4.4 b + c of memories around. The affinity of a moment is divided by the
    greatest affinity or by 1.5 (two anchors) if that is more. Brevity is ln(1 + words) -
    ln(1 + 25), at most 0: "Wow!" has little information. An assistant's replies are long, and a
    reply of n passages scores by the best of n, which is greater than one by chance: so passages
    count against it.

    A question that addresses its hearer ("what did we settle on?") is a turn of a running
    conversation: its small talk shares words with every memory and asks about no moment, and
    earlier questions are on topic. If such a turn has several sentences, it tells more than it
    asks. "I" and "you" in it point at no role, a time is mostly one that is planned, and a long
    reply is as good as a short one: these count ``telling`` times.

    What changes the order beside the sum:

    spelling     for a word that no memory holds, words that are spelled like it are searched, and
                 each counts its likeness times this; see `spelling`
    cited        b of the best fact that cites it, see `cited_by_facts`; of a time that the question
                 names only the facts that held then
    circle       what c of a memory is less by if its speaker is a stranger to the people whom the
                 question names, see `strangers`
    copies       whether copies of a text stand in the order of time that a question for the latest
                 or the first asks for, see `copies`
    later        whether a question of the present ranks a later statement above the earlier ones
                 that say the same, see `prefer_later`
    repeated     whether facts follow what says more, where their turns stand before them, see
                 `lead_with_turns`
    small        whether in an agent of few memories the semantic weight is greater, the
                 association's is less, and keyword evidence counts less if the best BM25 score is
                 small, see `small_stores`

    >>> Contextual(recency=0.0).semantic
    1.0
    """

    keyword: float = feature(5.1, ABLATION, when=lambda asked: not asked.cues.addressed)
    addressed_keyword: float = feature(3.06, ABLATION, when=lambda asked: asked.cues.addressed)
    semantic: float = feature(1.0, ABLATION)
    before: float = feature(0.18, ABLATION)
    after: float = feature(0.10, ABLATION)
    before_two: float = feature(0.10, ABLATION)
    document: float = feature(0.23, SEVEN_SETS)
    question: float = feature(
        -0.45, ABLATION, when=lambda asked: not asked.cues.addressed, aside=True
    )
    addressed_question: float = feature(
        0.63, DECISIONS, when=lambda asked: asked.cues.addressed, aside=True
    )
    answer: float = feature(0.46, ABLATION, aside=True, asks=True)
    brevity: float = feature(0.15, ABLATION)
    speaker: float = feature(0.44, ABLATION, aside=True)
    association: float = feature(1.6, SEVEN_SETS, aside=True)
    moment: float = feature(
        1.3,
        SEVEN_SETS,
        when=lambda asked: not (asked.cues.supposes or asked.cues.addressed),
        aside=True,
    )
    in_range: float = feature(1.6, ABLATION, when=lambda asked: asked.found is not None, asks=True)
    dated: float = feature(1.0, ABLATION, when=lambda asked: asked.cues.asks_when)
    recency: float = feature(1.3, ABLATION, when=lambda asked: asked.cues.addressed, aside=True)
    role: float = feature(
        1.8,
        DECISIONS,
        when=lambda asked: asked.cues.first_person or asked.cues.second_person,
        asks=True,
    )
    passages: float = feature(-0.6, DECISIONS, asks=True)
    telling: float = 0.1
    spelling: float = 1.0
    cited: float = 3.0
    circle: float = 1.5
    copies: bool = True
    later: bool = True
    repeated: bool = True
    small: bool = True

    def __post_init__(self) -> None:
        for name in ("copies", "later", "repeated", "small"):
            check_flag(getattr(self, name), name)
        for name in (*NAMES, "telling", "cited", "circle"):
            check_number(getattr(self, name), name, -1e6, 1e6)
        check_number(self.spelling, "spelling", 0, 1)

    @property
    def associates(self) -> bool:
        """Return whether it spreads activation itself: if `association` has a weight."""
        return self.association != 0

    def fuse(self, evidence: Evidence) -> Fused:
        """Return the candidates by the sum of their features."""
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
        memories, scores, associated, activation, seen, table, order = contextual(
            (np.concatenate(lists), (near.memories, near.scores)),
            self._asked(evidence, met, named),
            view.mentions,
            view.talk,
            (evidence.allowed, _among(evidence)),
            (*view.texts, _BREVITY),
            (*view.events, found.start, found.end) if found else (*view.events, 0, 0),
            (named, ASSISTANT if evidence.cues.second_person else USER),
            (evidence.now, float(RECENT)),
            (
                KEYWORD_CONTEXT,
                (WIDENED, REACH, DAY),
                (ANCHORS, float(MOMENT), float(BURST)),
                (SEEDS if self.associates and view.entities else 0, HUB, evidence.budget),
                STANDS_OUT_OF,
                SURE,
                _ASIDE,
            ),
            weights,
            view.hubs.known(view.entities),
        )
        own = {}
        if self.associates:
            own["graph"] = ArmList(associated, activation, _NO_ROWS)
        signs = None
        if evidence.query is not None and evidence.words is not None:
            signs = read_signs(seen, evidence.words.unknown, evidence.words.population)
        fused = Fused(memories, scores, _Parts(weights, table, order), own, signs)
        if cited is not None:
            fused = raise_cited(fused, cited, self.cited)
        if evidence.cues.order and self.copies:
            fused = order_copies(evidence, fused)
        if evidence.cues.present and evidence.found is None and self.later:
            fused = prefer_later(evidence, fused)
        return lead_with_turns(evidence, fused) if self.repeated else fused

    def _weights(self, evidence: Evidence) -> npt.NDArray[np.float64]:
        """Return the weight of each feature for this question, 0 for those that do not count."""
        tells = evidence.cues.tells
        weights = [0.0] * len(NAMES)  # an item of an array takes four times as long
        for place, name in enumerate(NAMES):
            entry = TABLE[name]
            if entry.when(evidence):
                weight: float = getattr(self, name)
                weights[place] = weight * self.telling if tells and entry.asks else weight
        if self.small:
            words = evidence.words
            small = smallness(evidence.view.memories if words is None else words.population)
            weights[_SEMANTIC] *= 1 + SIMILARITY * small
            weights[_ASSOCIATION] *= 1 - small
        return np.array(weights, np.float64)

    def _asked(
        self,
        evidence: Evidence,
        met: Sequence[npt.NDArray[np.uint32]],
        named: npt.NDArray[np.uint32],
    ) -> Question:
        """Return what b and c of any memory are computed from, whichever arm brought it."""
        view = evidence.view
        limits = evidence.thresholds
        words = evidence.words
        best = float(words.ranked.scores[0]) if words and len(words.ranked.scores) else 0.0
        said = words if words is not None and best > 0 else _NO_WORDS
        scale = 1 / math.sqrt(best * said.most) if best > 0 else 0.0
        if self.small and scale and not names_speaker(view, named):
            scale *= word_certainty(view, said, evidence.analyzer)
        return (
            (
                view.text_index.lists,
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
            strangers(view, met, self.circle) if met else NO_STRANGERS,
        )


TABLE: Mapping[str, Feature] = {
    each.name: each.metadata["feature"] for each in fields(Contextual) if each.metadata
}
"""Feature -> its entry in `Contextual`."""
_ASIDE = np.array([TABLE[name].aside for name in NAMES], np.uint8)
_BREVITY = np.minimum(np.log1p(np.arange(FEW_WORDS + 1.0)) - np.log1p(FEW_WORDS), 0)
_NOTHING = ArmList.empty()
_NO_ROWS = np.empty(0, np.uint32)
_NO_WORDS = KeywordResult.none()
_SEMANTIC = NAMES.index("semantic")
_ASSOCIATION = NAMES.index("association")


class _Parts(Mapping[str, npt.NDArray[np.float64]]):
    """What each feature with a weight added to the scores, by name, best memory first."""

    def __init__(
        self,
        weights: npt.NDArray[np.float64],
        table: npt.NDArray[np.float64],
        order: npt.NDArray[np.int64],
    ) -> None:
        self._weights = weights
        self._table = table
        self._order = order

    def __getitem__(self, name: str) -> npt.NDArray[np.float64]:
        if name not in NAMES or not self._weights[NAMES.index(name)]:
            raise KeyError(name)
        part: npt.NDArray[np.float64] = self._table[NAMES.index(name)][self._order]
        return part

    def __iter__(self) -> Iterator[str]:
        return (name for name, weight in zip(NAMES, self._weights, strict=True) if weight)

    def __len__(self) -> int:
        return int(np.count_nonzero(self._weights))


def _among(evidence: Evidence) -> int:
    """Return how many memories a filter admits; 0 without a filter.

    Names then count as in an agent that holds these alone, as words do.
    """
    words = evidence.words
    if words is None or words.population >= evidence.view.memories:
        return 0
    return words.population


def _known(evidence: Evidence) -> float:
    """Return what semantic evidence counts: less if the model does not know the script."""
    return max(evidence.thresholds.foreign, 1e-6) if evidence.cues.foreign else 1.0
