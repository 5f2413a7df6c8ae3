"""The tools over facts, over time, and the one that thinks."""

from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult
from pydantic import Field

from recollex.frameworks.mcp.agents import Agents, Caller
from recollex.frameworks.mcp.answers import (
    NOTHING,
    Limit,
    Time,
    answer,
    answers,
    memory_lines,
    moment,
    shown,
)
from recollex.frameworks.mcp.memory_tools import READS, add_tools
from recollex_engine.domain.prompt_marks import written_short

TriplePart = Annotated[str | None, Field(description="A name, such as Alice, works_at or Google.")]


class KnowledgeTools:
    """Tools over what the agents know; each method is a tool, and its docstring says when."""

    def __init__(self, agents: Agents) -> None:
        self._agents = agents

    def register(self, server: MCPServer[Any]) -> None:
        """Add the tools to a server."""
        add_tools(server, READS, self.facts, self.timeline, self.think)

    @answers
    def facts(
        self,
        context: Caller,
        query: Annotated[str | None, Field(description="A question in words.")] = None,
        subject: TriplePart = None,
        predicate: TriplePart = None,
        object: TriplePart = None,
        as_recorded: Time = None,
        as_world: Time = None,
        limit: Limit = 20,
    ) -> CallToolResult:
        """Return facts, as subject, predicate and object with the time for which they hold.

        With a `query` the facts that say most of what it asks for, best first. Facts that
        contradict each other are both returned, and marked.
        """
        facts = self._agents.reading(context).facts
        asked: dict[str, Any] = {
            "subject": subject,
            "predicate": predicate,
            "object": object,
            "as_recorded": moment(as_recorded, "as_recorded"),
            "as_world": moment(as_world, "as_world"),
            "limit": limit,
        }
        if query:
            found = [hit.item for hit in facts.search(query, **asked)]
        else:
            found = list(facts.find(**asked))
        values = [each.to_dict() for each in found]
        return answer("\n".join(map(_fact_line, values)) or "No fact was found.", facts=values)

    @answers
    def timeline(
        self,
        context: Caller,
        about: Annotated[str | None, Field(description="A topic or a name.")] = None,
        since: Time = None,
        until: Time = None,
        limit: Limit = 20,
    ) -> CallToolResult:
        """Return what happened, in the order of time: memories and events, about a topic if given.

        With a topic those that bear on it most; without one the newest.
        """
        agent = self._agents.reading(context)
        start = moment(since, "since")
        end = moment(until, "until")
        window = {"since": start, "until": end}
        if about:
            memories = list(agent.recall(about, limit=limit, max_tokens=None, **window))
            events = [hit.item for hit in agent.events.search(about, limit=limit)]
        else:
            memories = agent.list(limit=limit, newest=True, **window)
            events = agent.events.find()
        entries = [(each.event[0], memory_lines([each]), shown(each)) for each in memories]
        for event in events:
            first = event.span[0] or event.recorded[0]
            last = event.span[1] or first
            if (end is None or first < end) and (start is None or last >= start):
                line = written_short(f"{event.id} [{first:%B %d, %Y}; event] {event.summary}")
                entries.append((first, line, event.to_dict()))
        entries = sorted(entries, key=lambda entry: entry[0])[-limit:]
        told = [{"at": at.isoformat(), **values} for at, _, values in entries]
        return answer("\n".join(line for _, line, _ in entries) or NOTHING, entries=told)

    @answers
    def think(
        self,
        context: Caller,
        question: str,
        about: Annotated[str | None, Field(description="What else bears on the question.")] = None,
    ) -> CallToolResult:
        """Let the agent answer in its own character, from its memories, with what it cites.

        It needs a language model: the server's option --llm. Without one the memories are returned.
        """
        thought = self._agents.reading(context).think(question, context=about, form_opinions=False)
        based_on = list(thought.shown.values())
        text = thought.text
        if text is None:
            why = thought.error or "no language model is attached (recollex mcp --llm NAME)"
            text = f"There is no answer: {why}. It would rest on:\n{memory_lines(based_on)}"
        return answer(
            text,
            answer=thought.text,
            refused=thought.refused,
            error=thought.error,
            confidence=thought.confidence,
            cited=[shown(each) for each in thought.cited],
        )


def _fact_line(fact: dict[str, Any]) -> str:
    start, end = fact["valid"]
    held = f" from {start}" if start else ""
    held += f" until {end}" if end else ""
    object = fact["object"]
    value = object if isinstance(object, str) else str(object)
    against = " (contradicted by another fact)" if fact["conflicts"] else ""
    said = f"{fact['id']} {fact['subject']} {fact['predicate']} {value}"
    return f"{written_short(said)}{held}{against}"
