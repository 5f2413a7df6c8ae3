"""Stores the turns of a file with the facts that they tell, by rule; see `dialogue_facts`."""

from collections.abc import Mapping
from typing import Any

from recollex.api.agent import Agent
from recollex.api.jsonl import Line
from recollex.api.line_batches import store_turns
from recollex_engine.dates.locales import puts_month_first
from recollex_engine.talks.dialogue_facts import facts_of_turns


class Talks:
    """The talks of a file that is being ingested: which facts each has stated so far."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._stated: dict[str, list[tuple[int, str]]] = {}

    def store(self, batch: list[Line], stamp: Mapping[str, Any]) -> int:
        """Store a batch of turns, then the facts of those that were new; return its length.

        The facts are a transaction of their own. A turn without an id is always new.
        """
        agent = self._agent
        given = {str(line.fields["id"]) for line in batch if line.fields.get("id") is not None}
        held = {id for id in given if agent.get(id, None) is not None}
        ids = store_turns(agent, batch, stamp)
        new = [agent.get(id) for id in ids if id not in held]
        stated = self._stated.setdefault(str(batch[0].shared.get("document_id")), [])
        month_first = puts_month_first(agent.engine.locale())
        noted = list(facts_of_turns(agent.facts.view(), new, stated, month_first))
        agent.engine.writable().transact([each for each, _ in noted], [note for _, note in noted])
        return len(ids)
