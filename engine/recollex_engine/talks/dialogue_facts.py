"""The facts of stored turns, by rule: what they claim and correct, and the deeds they tell."""

from collections.abc import Iterator, Sequence

import numpy as np

from recollex_engine.clock import to_micros
from recollex_engine.domain.operations import UpsertEdge
from recollex_engine.domain.roles import ROLES
from recollex_engine.domain.schema import NETWORKS
from recollex_engine.domain.statement import Statement
from recollex_engine.domain.trust import LEVELS
from recollex_engine.facts.fact_view import FactView
from recollex_engine.recall.memory import Memory
from recollex_engine.talks.deeds import read_deeds
from recollex_engine.talks.turn_facts import Noted, TurnFacts, may_state, value_of
from recollex_engine.talks.write_session import AssessedTurn, TriggeredWrite
from recollex_engine.writing.drawn_facts import GRAMMAR, UNSUPPORTED

_NO_VECTOR = np.empty(0, np.float32)


def facts_of_turns(
    view: FactView,
    memories: Sequence[Memory],
    stated: list[tuple[int, str]],
    month_first: bool = False,
) -> Iterator[Noted]:
    """Yield the operations of the facts that stored turns of one talk tell, in order.

    stated: of the talk so far, see `TurnFacts`; it grows. Cost: 0.3 ms a turn.
    """
    facts = TurnFacts(view, stated, month_first, GRAMMAR)
    first = 1 + max((place for place, _ in stated), default=-1)
    for place, memory in enumerate(memories, first):
        turn = _turn(memory, place)
        if not may_state(turn.statement):
            continue
        yield from facts.operations(TriggeredWrite(turn.statement, (turn,), "turn"))
        note = {"by": GRAMMAR, "why": f"deed, {memory.id}"}
        for deed in read_deeds(memory.text, memory.speaker, turn.said_at, month_first):
            value = value_of(deed.value)
            edge = UpsertEdge(
                deed.subject,
                deed.predicate,
                value,
                start=deed.start,
                end=deed.end,
                evidence=(memory.id,),
                uncertainty=deed.precision,
            )
            if _may_be_drawn(view, edge.id):
                yield edge, note


def _may_be_drawn(view: FactView, id: str) -> bool:
    """Return whether a fact was never recorded, or was closed with its evidence alone."""
    version = view.version(id)
    if version is None:
        return True
    closed = int(view.data("fact_closed_by")[version])
    return 0 < closed <= view.op and view.note(closed)[1] == UNSUPPORTED


def _turn(memory: Memory, place: int) -> AssessedTurn:
    said_at = to_micros(memory.event_at, "event_at")
    ends = memory.valid_until
    statement = Statement(
        memory.text,
        said_at=said_at,
        id=memory.id,
        network=NETWORKS.index(memory.network),
        document=memory.document_id,
        speaker=memory.speaker,
        metadata=dict(memory.metadata),
        valid_until=None if ends is None else to_micros(ends, "valid_until"),
        role=ROLES.index(memory.role),
        source=memory.source,
        trust=LEVELS.index(memory.trust),
    )
    return AssessedTurn(
        statement=statement,
        said_at=said_at,
        tokens=0,
        vector=_NO_VECTOR,
        salience=0.0,
        repeated=False,
        events=(),
        place=place,
    )
