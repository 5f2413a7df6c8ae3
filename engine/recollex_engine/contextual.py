"""What does a memory mean where it stands? The default fusion: every candidate seen by every arm.

A turn such as "Yes, last week!" answers a question that was asked before it, in a session that was
about something, near in time to other things. So a candidate is scored by what keyword and
semantic search say of it (whichever arm brought it), of its neighbours and its document, of its
time and of what shares a rare entity with the best; and by what the question says of itself.

The sum is linear. Its unit: 1 is a memory as like the question as the graph's entry points.
Weights were fitted by a listwise (softmax) loss on LoCoMo conversations 1-5, two RealMem people,
one LifeBench user and halves of MuSiQue, 2Wiki and TimeQA, one vector of weights for all.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.arms import Ranked
from recollex_engine.clock import DAY
from recollex_engine.confidence import read_signs
from recollex_engine.fusion import Evidence, Fused, sum_of_parts
from recollex_engine.question import check_number
from recollex_engine.schema import NONE
from recollex_kernels.association import associations
from recollex_kernels.context import asks, best_of_document, neighbours
from recollex_kernels.satf import affinity
from recollex_kernels.vectors import memory_cosines

KEYWORD_CONTEXT = 4.4
"""Weight of the keyword evidence in what a memory lends to others, beside 1 of the semantic."""
SEEDS = 5
"""Best memories from which activation is sent out (TEMPR 3.1.3)."""
HUB = 400
"""Memories that an entity may name and still tell something."""
WIDENED = 32
"""Best candidates whose neighbours become candidates too."""
REACH = 16
"""Places in recorded order within which neighbours are looked for: several documents may be
written at once."""
ANCHORS = 30
"""Best memories that say which times matter (SATF 3.5's N)."""
MOMENT = DAY // 2
"""Width of a moment: half a day joins what happened together. (SATF's 15 days join a topic.)"""
RECENT = 30 * DAY
"""Time after which a memory is worth 1/e as much to a talk that goes on."""
FEW_WORDS = 25
"""Words, without stop words, from which a memory is as likely to tell something as any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contextual:
    """Scores each candidate by a sum of parts, all of them the same for every data set.

    keyword      b = BM25 / sqrt(best BM25 * sum of the idf of the question's words), in [0, 1]: how
                 much of what can be matched is matched, times how well it can be matched at all, so
                 the arm counts for less where the agent's words are not the question's
    semantic     c = (cosine - semantic threshold) / (entry threshold - semantic threshold), at
                 least -1: unlike is no worse than unrelated
                 and, with x = 4.4 b + c:
    before, after, before_two, after_two   x of the neighbours in the document
    document     the greatest x in the document
    moment       affinity to the times of the best x within half a day (SATF 3.3, its own part of
                 an anchor left out), over the greatest, at least 1: one anchor beside it
    association  activation received from the best x over shared entities, see `associations`
    in_range     1 if it happened in the time that the question names
    phrase       share of the question's quotes that it holds word by word
    speaker      1 if the question names who said it
    question     1 if it is a question itself (LoCoMo: rarely evidence)
    answer       1 if the turn before it is a question
    brevity      ln(1 + words) - ln(1 + 25), at most 0: "Wow!" tells little
    dated        1 if it names a time and the question asks when
    recency      e^(-age / 30 days), if the question addresses its hearer
    order        place in the agent's time, 0 to 1, if the question wants the latest; its negative,
                 if the first

    A question that addresses its hearer ("what did we settle on?") is a turn of a talk that goes
    on: its small talk shares words with everything and asks about no moment, so for it keyword
    counts ``addressed_keyword`` times, moment not at all, recency does, and earlier questions are
    on topic (``addressed_question``).

    >>> Contextual(recency=0.0).semantic
    1.0
    """

    keyword: float = 5.1
    semantic: float = 1.0
    before: float = 0.18
    after: float = 0.10
    before_two: float = 0.10
    after_two: float = 0.03
    document: float = 0.23
    moment: float = 1.5
    association: float = 1.6
    in_range: float = 1.6
    phrase: float = 1.0
    speaker: float = 0.44
    question: float = -0.45
    answer: float = 0.46
    brevity: float = 0.15
    dated: float = 1.0
    recency: float = 0.95
    order: float = 0.43
    addressed_keyword: float = 0.2
    addressed_question: float = 0.63

    def __post_init__(self) -> None:
        for name in self.__slots__:
            check_number(getattr(self, name), name, -1e6, 1e6)

    @property
    def associates(self) -> bool:
        """Return whether it spreads activation itself: where `association` has a weight."""
        return self.association != 0

    def fuse(self, evidence: Evidence) -> Fused:
        """Return the candidates by the sum of their parts."""
        view, cues = evidence.view, evidence.cues
        brought = _union(*(ranked.memories for ranked in evidence.lists.values()))
        if not len(brought):
            return Fused(brought, np.empty(0, np.float64))
        look = _Look(evidence)
        base = look.base(brought)
        associated = _associated(evidence, brought, base) if self.associates else Ranked.empty()
        if len(associated.memories):
            brought = _union(brought, associated.memories)
            base = look.base(brought)
        best = brought[np.argsort(-base, kind="stable")[:WIDENED]]
        around = look.neighbours(best)
        around = around[around >= 0]
        around = around[evidence.allowed[around] == 1].astype(np.uint32)
        memories = _union(brought, around)
        near = look.neighbours(memories)
        members = _union(memories, near[near >= 0].astype(np.uint32))
        b, c = look.at(members)
        x = KEYWORD_CONTEXT * b + c
        places = np.searchsorted(members, memories)
        lent = np.where(near >= 0, x[np.searchsorted(members, np.maximum(near, 0))], 0.0)
        mine = x[places]
        questions = asks(memories.astype(np.int64), view.buffer("text"), look.text_offset).astype(
            float
        )
        answers = asks(near[:, 0].copy(), view.buffer("text"), look.text_offset)
        event_start = view.buffer("event_start")[memories]
        said_at = view.buffer("said_at")[memories]
        words = view.buffer("words")[memories]
        told = best_of_document(view.buffer("document")[members], x)[places]
        addressed = cues.addressed
        brevity = np.minimum(np.log1p(words.astype(np.float64)) - np.log1p(FEW_WORDS), 0)
        named = look.spoken_by_named(memories)
        parts: dict[str, npt.NDArray[Any]] = {
            "keyword": self.keyword * (self.addressed_keyword if addressed else 1) * b[places],
            "semantic": self.semantic * c[places],
            "before": self.before * lent[:, 0],
            "after": self.after * lent[:, 1],
            "before_two": self.before_two * lent[:, 2],
            "after_two": self.after_two * lent[:, 3],
            "document": self.document * told,
            "question": (self.addressed_question if addressed else self.question) * questions,
            "answer": self.answer * answers,
            "brevity": self.brevity * brevity,
            "speaker": self.speaker * named,
        }
        if len(associated.memories):
            activation = np.zeros(len(memories))
            activation[np.searchsorted(memories, associated.memories)] = associated.scores
            parts["association"] = self.association * activation
        if not addressed:
            parts["moment"] = self.moment * _moment(mine, said_at)
        if evidence.found is not None:
            start, end = evidence.found.start, evidence.found.end
            event_end = view.buffer("event_end")[memories]
            inside = (event_start < end) & ((event_end > start) | (event_start >= start))
            parts["in_range"] = self.in_range * inside
        if evidence.quoted is not None:
            parts["phrase"] = self.phrase * evidence.quoted[memories].astype(np.float64)
        if cues.asks_when:
            parts["dated"] = self.dated * (event_start != said_at)
        if addressed:
            age = np.maximum(evidence.now - said_at, 0) / RECENT
            parts["recency"] = self.recency * np.exp(-age)
        if cues.order:
            parts["order"] = self.order * cues.order * look.place_in_time(said_at)
        fused = sum_of_parts(memories, parts)
        own = {"graph": associated} if self.associates else {}
        signs = None
        if evidence.query is not None and evidence.words is not None:
            signs = read_signs(
                memories,
                c[places],
                mine,
                named,
                fused.memories,
                fused.scores - fused.parts["speaker"],
                view.buffer("speaker"),
                evidence.words.unknown,
            )
        return Fused(fused.memories, fused.scores, fused.parts, own, signs)


def _union(*lists: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Return every memory of the lists once, in recorded order."""
    memories = np.sort(np.concatenate((np.empty(0, np.uint32), *lists)))
    fresh = np.empty(len(memories), np.bool_)
    fresh[:1] = True
    np.not_equal(memories[1:], memories[:-1], out=fresh[1:])
    return memories[fresh]


class _Look:
    """What the arms say of any memory, whichever of them brought it."""

    def __init__(self, evidence: Evidence) -> None:
        view, limits = evidence.view, evidence.thresholds
        self._view = view
        self._query = evidence.query
        self._cues = evidence.cues
        self._first_row = view.buffer("first_row")
        self._zero = limits.semantic
        self._unit = max(limits.entry - limits.semantic, 1e-6)
        words = evidence.words
        best = float(words.ranked.scores[0]) if words and len(words.ranked.scores) else 0.0
        self._words = words.scores if words else None
        self._scale = 1 / np.sqrt(best * words.most) if words and best > 0 else 0.0
        self.text_offset = view.buffer("text_offset")

    def at(
        self, memories: npt.NDArray[np.uint32]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the keyword and the semantic evidence of ``memories``."""
        b = np.zeros(len(memories))
        c = np.zeros(len(memories))
        if self._words is not None:
            b = self._words[memories] * self._scale
        if self._query is not None:
            cosines = memory_cosines(self._view.vectors, self._first_row, memories, self._query)
            c = np.maximum((cosines.astype(np.float64) - self._zero) / self._unit, -1)
        return b, c

    def base(self, memories: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
        """Return what ``memories`` lend to others."""
        b, c = self.at(memories)
        return KEYWORD_CONTEXT * b + c

    def neighbours(self, memories: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
        """Return the memories around each one, int64[n, 4]; see the kernel."""
        view = self._view
        return neighbours(
            memories,
            view.of_memories("document"),
            view.of_memories("said_at"),
            view.open,
            REACH,
            DAY,
        )

    def spoken_by_named(self, memories: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
        """Return 1 for each memory whose speaker the question names."""
        speakers = self._view.buffer("speaker")[memories]
        found = np.zeros(len(memories))
        for speaker in set(speakers.tolist()):
            if speaker != NONE:
                name = self._view.columns.label(speaker)
                if name and self._cues.names(name):
                    found[speakers == speaker] = 1
        return found

    def place_in_time(self, said_at: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return where each time lies between the agent's first (0) and last (1)."""
        times, order = self._view.buffer("said_at"), self._view.timeline.order
        first, last = int(times[order[0]]), int(times[order[-1]])
        return (said_at - first) / max(1, last - first)


def _associated(
    evidence: Evidence, brought: npt.NDArray[np.uint32], base: npt.NDArray[np.float64]
) -> Ranked:
    """Return what shares a rare entity with the best candidates, by activation."""
    view = evidence.view
    order = np.argsort(-base, kind="stable")[:SEEDS]
    order = order[base[order] > 0]
    if not len(order) or not view.entities:
        return Ranked.empty()
    memories, activation = associations(
        brought[order],
        base[order] / base[order[0]],
        view.offsets("mention_offset"),
        view.buffer("mention_entity"),
        view.buffer("mention_memory"),
        view.buffer("mention_previous"),
        view.entity_head,
        evidence.allowed,
        view.memories,
        HUB,
    )
    ranked = np.lexsort((memories, -activation))[: evidence.budget]
    return Ranked(memories[ranked], activation[ranked].astype(np.float32), np.empty(0, np.uint32))


def _moment(
    base: npt.NDArray[np.float64], said_at: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Return how near in time each memory is to the best others, in [0, 1]: float64[n].

    1 for the nearest, unless none is as near as one best memory at the same moment.
    """
    order = np.argsort(-base, kind="stable")
    near = affinity(said_at[order], ANCHORS, float(MOMENT))
    anchors = min(ANCHORS, len(order))
    near[:anchors] -= 1 / np.arange(1, anchors + 1)  # an anchor is near itself
    found = np.zeros(len(base))
    found[order] = np.maximum(near, 0) / max(float(near.max()), 1.0)
    return found
