"""The talks of one agent under write policies: turns come in, and a policy's writes are recorded.

The tiers of a talk exist in this process only: short-term memory is "never written" and working
memory is "merged or dropped" (MemoTrace, "Tiers"). A policy writes ordinary memories; their
metadata say why they were written.
"""

import re
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine import fork
from recollex_engine.agents.agent import Agent
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import MICROSECOND, OPEN_END
from recollex_engine.domain.statement import Statement
from recollex_engine.domain.trust import Act
from recollex_engine.domain.turn import passages_to_embed
from recollex_engine.errors import UnknownIdError
from recollex_engine.models.embedder import EmbeddingProgress, embed_all
from recollex_engine.ranking.arms import semantic
from recollex_engine.recall.memory import read_memories
from recollex_engine.recall.recall import Recall
from recollex_engine.storage.column import read_only
from recollex_mind.talks.turn_features import find_slots, masked, read_features
from recollex_mind.talks.write_policy import (
    AssessedTurn,
    TriggeredWrite,
    WritePolicy,
    WriteSession,
    described,
)


# What of a turn with sensitive parts may be kept? Its statement, masked, for a limited time.
def guard(statement: Statement, policy: WritePolicy, now: int) -> Statement | None:
    """Return a turn with its sensitive slots handled, None for a turn that must be ignored.

    A turn that is kept for a limited time has a ``valid_until``, and the kinds of its slots are in
    its metadata under ``write_sensitive``.
    """
    slots = find_slots(statement.text)
    if not slots:
        return statement
    handling = {slot: policy.handling(slot.kind) for slot in slots}
    if "drop" in handling.values():
        return None
    hidden = [slot for slot in slots if handling[slot] == "mask"]
    guarded = replace(statement, text=masked(statement.text, hidden))
    kinds = sorted({slot.kind for slot in slots if handling[slot] == "expire"})
    if not kinds:
        return guarded
    said = now if statement.said_at is None else statement.said_at
    end = said + policy.sensitive_for // MICROSECOND
    if statement.valid_until is not None:
        end = min(end, statement.valid_until)
    return replace(
        guarded, valid_until=end, metadata=statement.metadata | {"write_sensitive": kinds}
    )


TALKS = 64
"""Limit of the talks whose tiers are kept. Beyond it the talk that was heard longest ago is dropped
with its waiting turns."""
BY = "write policy"
"""Who forgets the sensitive turns that a policy kept for a time, in the log."""
BEST = 3
"""Number of a recall's best memories that are tested for an answer: the paper answers from few."""

_WORD = re.compile(r"\w+")

TurnVectors = npt.NDArray[np.float32]


@dataclass
class PolicySession:
    """A session and its policy."""

    policy: WritePolicy
    session: WriteSession


class Sessions:
    """The talks of one agent that are under a policy, by document id. Threads: any number."""

    def __init__(self, agent: AgentOrCut) -> None:
        self._agent = agent
        self._talks: OrderedDict[str, PolicySession] = OrderedDict()
        self._lock = fork.reentrant_lock()
        self._is_expiring = False
        if isinstance(agent, Agent):
            agent.heard.add(self)

    def __len__(self) -> int:
        return len(self._talks)

    @property
    def lock(self) -> Any:
        """Return what is held while turns are heard and written."""
        return self._lock

    def forget(self, documents: Collection[str] | None) -> None:
        """Forget the turns of talks, written or not: those of some documents, for None all.

        The talks begin anew with the next turn. Not done for what `forget_expired` forgets.
        """
        for document, talk in self._talks.items():
            if not self._is_expiring and (documents is None or document in documents):
                self._talks[document] = PolicySession(talk.policy, WriteSession())

    def talk(self, document: str) -> PolicySession:
        """Return a talk. Raises `UnknownIdError` for a document that has had no policy."""
        with self._lock:
            if document not in self._talks:
                raise UnknownIdError(document, self._agent.name, "session")
            return self._talks[document]

    def write(
        self,
        document: str,
        statements: Sequence[Statement],
        policy: WritePolicy,
        recorded_at: int | None,
        progress: EmbeddingProgress | None,
    ) -> list[str | None]:
        """Hear turns and record what the policy writes of them, as one transaction.

        Returns for each turn the id of the memory that holds it, None if no memory does (yet). A
        turn is not heard again if its id is stored with its text, or is in the tiers. Memories with
        sensitive slots whose time is over are forgotten first, unless ``recorded_at`` is given.

        Raises as `Agent.retain` does; the tiers are then unchanged.
        """
        self._agent.writable().retain([], recorded_at=recorded_at)  # raises if it cannot write
        with self._lock:
            if recorded_at is None:
                self.forget_expired()
            known = self._talks.get(document)
            session = WriteSession() if known is None else known.session.copy()
            talk = PolicySession(policy, session)
            now = self._agent.clock() if recorded_at is None else recorded_at
            ids: list[str | None] = [None] * len(statements)
            places: dict[int, int] = {}  # place of a turn in the talk -> place in ``statements``
            writes = self._hear(talk, statements, now, ids, places)
            recorded = self._record(writes, recorded_at, progress)
            for write, id in zip(writes, recorded, strict=True):
                for turn in write.turns:
                    if turn.place in places:
                        ids[places[turn.place]] = id
            self._keep(document, talk)
            return ids

    def end(self, document: str, recorded_at: int | None = None) -> list[str]:
        """End a talk's session: record its periodic write, and drop the other waiting turns."""
        with self._lock:
            known = self.talk(document)
            talk = PolicySession(known.policy, known.session.copy())
            writes = talk.session.end(talk.policy)
            ids = self._record(writes, recorded_at, None)
            self._keep(document, talk)
            return ids

    def reason(self, document: str, recall: Recall) -> str | None:
        """Return why a recall does not answer its question, None if it seems to answer it.

        "miss": the recall is empty. "temporal conflict": the question names a time, and no memory
        of the recall is of that time. "low score": none of the first `BEST` memories has a cosine
        of ``backfill_score`` or more to the question.
        """
        policy = self.talk(document).policy
        if not len(recall):
            return "miss"
        if recall.time_range is not None:
            start, end = recall.time_range
            if all(memory.event[1] <= start or memory.event[0] >= end for memory in recall):
                return "temporal conflict"
        query = self._agent.embedder.embed_query(recall.query)
        best = recall[:BEST]
        texts = [_read(memory.passage, memory.speaker) for memory in best]
        score = float((embed_all(self._agent.embedder, texts) @ query).max())
        return "low score" if score < policy.backfill_score else None

    def backfill(
        self,
        document: str,
        recall: Recall,
        because: str | None = None,
        cut: str | None = None,
        recorded_at: int | None = None,
    ) -> list[str]:
        """Write the turns of the tiers that are relevant to an unanswered question; return the ids.

        ``because``: why the recall does not answer it; if None, `reason` decides. The list is empty
        if the question is answered, or if no turn is relevant to it.
        """
        with self._lock:
            known = self.talk(document)
            why = self.reason(document, recall) if because is None else because
            if why is None or "backfill" not in known.policy.triggers:
                return []
            talk = PolicySession(known.policy, known.session.copy())
            query = self._agent.embedder.embed_query(recall.query)
            writes = talk.session.backfill(query, talk.policy)
            said: dict[str, Any] = {"write_reason": why}
            if cut is not None:
                said["write_cut"] = cut
            ids = self._record(writes, recorded_at, None, said)
            self._keep(document, talk)
            return ids

    def forget_expired(self, recorded_at: int | None = None) -> list[str]:
        """Forget the memories that a policy kept for a time that is over; return their ids.

        Cost: a scan of the ends of all memories' valid times, 8 bytes each.
        """
        view = self._agent.view()
        if view is None or not view.memories:
            return []
        now = self._agent.clock() if recorded_at is None else recorded_at
        ends = view.of_memories("valid_end")
        over = np.flatnonzero(view.open & (ends != OPEN_END) & (ends <= now))
        kept = read_memories(view, over.tolist())
        ids = [memory.id for memory in kept if "write_sensitive" in memory.metadata]
        act = Act("forget", BY, "a sensitive turn, kept for a short time")
        with self._lock:
            self._is_expiring = True
            try:
                self._agent.writable().take_away(act, ids, recorded_at)
            finally:
                self._is_expiring = False
        return ids

    def _hear(
        self,
        talk: PolicySession,
        statements: Sequence[Statement],
        now: int,
        ids: list[str | None],
        places: dict[int, int],
    ) -> list[TriggeredWrite]:
        """Hear the turns one by one and return the writes; fill in the ids of stored turns."""
        policy = talk.policy
        session = talk.session
        writes: list[TriggeredWrite] = []
        coming: list[tuple[TurnVectors, str]] = []  # vectors and texts that this call will store
        fresh: list[tuple[int, Statement]] = []
        waiting = {turn.statement.id for turn in (*session.short_term, *session.working)}
        for number, statement in enumerate(statements):
            guarded = guard(statement, policy, now)
            if guarded is None:
                continue
            if guarded.id is not None:
                if self._holds(guarded):
                    ids[number] = guarded.id
                    continue
                if guarded.id in waiting:
                    continue
                waiting.add(guarded.id)
            fresh.append((number, guarded))
        vectors = self._embed([statement for _, statement in fresh])
        tokens = self._agent.counter().count_many([statement.text for _, statement in fresh])
        for (number, statement), vector, cost in zip(fresh, vectors, tokens, strict=True):
            said = now if statement.said_at is None else statement.said_at
            for ended in session.advance(said, vector, policy):
                writes.append(ended)
                coming.append((_stored(self._embed([ended.statement])[0]), ended.statement.text))
            features = read_features(statement.text, statement.speaker, said)
            waiting_now = [(other.vector, other.statement.text) for other in session.working]
            likest = [
                (float(other @ vector), text) for other, text in (*coming, *waiting_now)
            ] + self._likest(vector)
            likeness, text = max(likest, default=(0.0, ""))
            events = [kind for kind in features.events if kind in policy.events]
            turn = AssessedTurn(
                statement=replace(statement, said_at=said),
                said_at=said,
                tokens=cost,
                vector=vector,
                salience=policy.salience(features, 1.0 - min(1.0, max(0.0, likeness))),
                repeated=same_words(text, statement.text),
                events=tuple(events) if "event" in policy.triggers else (),
                place=session.heard,
            )
            places[turn.place] = number
            if (write := session.hear(turn, policy)) is not None:
                writes.append(write)
                coming.append((_stored(vector), statement.text))
        return writes

    def _record(
        self,
        writes: Sequence[TriggeredWrite],
        recorded_at: int | None,
        progress: EmbeddingProgress | None,
        said: dict[str, Any] | None = None,
    ) -> list[str]:
        """Retain the writes of triggers, as one transaction."""
        statements = [described(write, said or {}) for write in writes]
        return self._agent.writable().retain(statements, recorded_at=recorded_at, progress=progress)

    def _keep(self, document: str, talk: PolicySession) -> None:
        self._talks[document] = talk
        self._talks.move_to_end(document)
        while len(self._talks) > TALKS:
            self._talks.popitem(last=False)

    def _holds(self, statement: Statement) -> bool:
        """Return whether a turn's id is stored with its text."""
        try:
            return self._agent.get(str(statement.id)).text == statement.text
        except UnknownIdError:
            return False

    def _embed(self, statements: Sequence[Statement]) -> TurnVectors:
        texts = [_read(statement.text, statement.speaker) for statement in statements]
        embedder = self._agent.embedder
        if not texts:
            return np.empty((0, embedder.dimension), np.float32)
        return embed_all(embedder, texts)

    def _likest(self, vector: TurnVectors) -> list[tuple[float, str]]:
        """Return the cosine and text of the most similar open memory; empty if none reaches 0."""
        view = self._agent.view()
        if view is None or not view.rows:
            return []
        found = semantic(view, read_only(vector), view.open.astype(np.uint8), 0.0, 1, exact=False)
        return [
            (float(cosine), view.columns.text(int(memory)))
            for cosine, memory in zip(found.scores, found.memories, strict=True)
        ]


def same_words(text: str, other: str) -> bool:
    """Return whether two texts have the same words and numbers in the same order.

    Words decide what is a repetition: by cosine it cannot be told from the same event a day later.

    >>> same_words("Ann: On 3 May!", "Ann: on 3 May."), same_words("on 3 May", "on 4 May")
    (True, False)
    """
    return _WORD.findall(text.casefold()) == _WORD.findall(other.casefold())


def _stored(vector: TurnVectors) -> TurnVectors:
    """Return a vector as the store would return it, so that one call gives the same as several."""
    return vector.astype(np.float16).astype(np.float32)


def _read(text: str, speaker: str | None) -> str:
    """Return the text of a turn that the model embeds."""
    return passages_to_embed(text, [(0, len(text))], speaker)[0]
