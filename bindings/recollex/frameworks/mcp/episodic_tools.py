"""The tools by which a model explores gists and facts step by step (REMem, Table 1)."""

from typing import Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult
from pydantic import Field

from recollex.api.tool_texts import ARGUMENTS, TOOLS
from recollex.frameworks.mcp.agents import Agents, Caller
from recollex.frameworks.mcp.answers import NOTHING, answer, answers
from recollex.frameworks.mcp.memory_tools import READS

Operator = Literal["lt", "le", "eq", "ge", "gt"]


def _told(tool: str, argument: str) -> Any:
    return Field(description=ARGUMENTS[tool][argument])


_RETRIEVE = "semantic_retrieve"
_GIST = "find_gist_contexts"
_ENTITY = "find_entity_contexts"
GivenQuery = Annotated[str, _told(_RETRIEVE, "query")]
Start = Annotated[str | None, _told(_RETRIEVE, "start_time")]
End = Annotated[str | None, _told(_RETRIEVE, "end_time")]
StartOperator = Annotated[Operator, _told(_RETRIEVE, "start_operator")]
EndOperator = Annotated[Operator, _told(_RETRIEVE, "end_operator")]


class EpisodicTools:
    """`recollex.Agent.tools` as tools; the texts for the model are those of its schemas.

    `output_answer` is left out: a client of MCP answers by itself.
    """

    def __init__(self, agents: Agents) -> None:
        self._agents = agents

    def register(self, server: MCPServer[Any]) -> None:
        """Add the tools to a server."""
        for tool in (
            self.semantic_retrieve,
            self.lexical_retrieve,
            self.find_gist_contexts,
            self.find_entity_contexts,
        ):
            about = TOOLS[tool.__name__]
            server.add_tool(tool, description=about, annotations=READS, structured_output=False)

    @answers
    def semantic_retrieve(
        self,
        context: Caller,
        query: GivenQuery,
        start_time: Start = None,
        end_time: End = None,
        start_operator: StartOperator = "ge",
        end_operator: EndOperator = "le",
    ) -> CallToolResult:
        """Find what is nearest to a query in meaning."""
        window = (start_time, end_time, start_operator, end_operator)
        return self._call(context, "semantic_retrieve", window, query=query)

    @answers
    def lexical_retrieve(
        self,
        context: Caller,
        query: GivenQuery,
        start_time: Start = None,
        end_time: End = None,
        start_operator: StartOperator = "ge",
        end_operator: EndOperator = "le",
    ) -> CallToolResult:
        """Find what shares the most words with a query."""
        window = (start_time, end_time, start_operator, end_operator)
        return self._call(context, "lexical_retrieve", window, query=query)

    @answers
    def find_gist_contexts(
        self,
        context: Caller,
        gist_id: Annotated[str, _told(_GIST, "gist_id")],
        start_time: Start = None,
        end_time: End = None,
        start_operator: StartOperator = "ge",
        end_operator: EndOperator = "le",
    ) -> CallToolResult:
        """Look around one gist."""
        window = (start_time, end_time, start_operator, end_operator)
        return self._call(context, "find_gist_contexts", window, gist_id=gist_id)

    @answers
    def find_entity_contexts(
        self,
        context: Caller,
        subject: Annotated[str | None, _told(_ENTITY, "subject")] = None,
        object: Annotated[str | float | bool | None, _told(_ENTITY, "object")] = None,
        predicate: Annotated[str | None, _told(_ENTITY, "predicate")] = None,
        start_time: Start = None,
        end_time: End = None,
        start_operator: StartOperator = "ge",
        end_operator: EndOperator = "le",
        limit: Annotated[int | None, _told(_ENTITY, "limit")] = None,
        ordering: Annotated[Literal["asc", "desc"] | None, _told(_ENTITY, "ordering")] = None,
        offset: Annotated[int | None, _told(_ENTITY, "offset")] = None,
        aggregation: Annotated[
            Literal["count", "count_unique_subjects", "count_unique_objects"] | None,
            _told(_ENTITY, "aggregation"),
        ] = None,
    ) -> CallToolResult:
        """Find facts by their parts and times, in an order, or count them."""
        window = (start_time, end_time, start_operator, end_operator)
        return self._call(
            context,
            "find_entity_contexts",
            window,
            subject=subject,
            object=object,
            predicate=predicate,
            limit=limit,
            ordering=ordering,
            offset=offset,
            aggregation=aggregation,
        )

    def _call(
        self, context: Caller, tool: str, window: tuple[str | None, ...], **given: Any
    ) -> CallToolResult:
        names = ("start_time", "end_time", "start_operator", "end_operator")
        arguments = given | dict(zip(names, window, strict=True))
        found = self._agents.reading(context).tools.call(tool, arguments)
        return answer(found.to_prompt() or NOTHING, **found.to_dict())
