"""The nine tools of MCP's reference memory server, under their names and with their results."""

from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult
from pydantic import BaseModel, Field

from recollex.frameworks.mcp.agents import Agents, Caller, author
from recollex.frameworks.mcp.answers import answer, answers, as_json
from recollex.frameworks.mcp.memory_tools import ADDS, CHANGES, READS, add_tools
from recollex.frameworks.mcp.reference_graph import EntityRelation, ReferenceGraph


class GraphEntity(BaseModel):
    """An entity of the graph."""

    name: str = Field(description="The name of the entity")
    kind: str = Field(alias="entityType", description="The type of the entity")
    observations: list[str] = Field(description="What is known of the entity")


class GraphRelation(BaseModel):
    """A relation of the graph, in active voice."""

    start: str = Field(alias="from", description="The entity where the relation starts")
    to: str = Field(description="The entity where the relation ends")
    kind: str = Field(alias="relationType", description="The type of the relation")

    @property
    def parts(self) -> EntityRelation:
        """The relation as the graph holds it."""
        return self.start, self.to, self.kind


class AddedObservations(BaseModel):
    """Observations to add to an entity."""

    name: str = Field(alias="entityName", description="The entity to add the observations to")
    contents: list[str] = Field(description="The observations to add")


class DeletedObservations(BaseModel):
    """Observations to delete from an entity."""

    name: str = Field(alias="entityName", description="The entity that has the observations")
    observations: list[str] = Field(description="The observations to delete")


class ReferenceTools:
    """The tools over the graph of the agents; each method is one."""

    def __init__(self, agents: Agents) -> None:
        self._agents = agents

    def register(self, server: MCPServer[Any], *, read_only: bool) -> None:
        """Add the tools to a server; only those that read if it is read-only."""
        add_tools(server, READS, self.read_graph, self.search_nodes, self.open_nodes)
        if not read_only:
            add_tools(
                server, ADDS, self.create_entities, self.create_relations, self.add_observations
            )
            add_tools(
                server,
                CHANGES,
                self.delete_entities,
                self.delete_observations,
                self.delete_relations,
            )

    @answers
    def create_entities(self, context: Caller, entities: list[GraphEntity]) -> CallToolResult:
        """Create multiple new entities in the knowledge graph."""
        given = [each.model_dump(by_alias=True) for each in entities]
        made = self._write(context, lambda graph: graph.create_entities(given))
        return answer(as_json(made), entities=made)

    @answers
    def create_relations(self, context: Caller, relations: list[GraphRelation]) -> CallToolResult:
        """Create multiple new relations between entities, in active voice."""
        given = [each.parts for each in relations]
        made = [
            {"from": start, "to": end, "relationType": kind}
            for start, end, kind in self._write(
                context, lambda graph: graph.create_relations(given)
            )
        ]
        return answer(as_json(made), relations=made)

    @answers
    def add_observations(
        self, context: Caller, observations: list[AddedObservations]
    ) -> CallToolResult:
        """Add new observations to existing entities in the knowledge graph."""
        given = [(each.name, each.contents) for each in observations]
        results = self._write(context, lambda graph: graph.add_observations(given))
        return answer(as_json(results), results=results)

    @answers
    def delete_entities(
        self,
        context: Caller,
        entityNames: Annotated[list[str], Field(description="The names to delete")],  # noqa: N803
    ) -> CallToolResult:
        """Delete multiple entities and their relations from the knowledge graph."""
        self._write(context, lambda graph: graph.delete_entities(entityNames))
        return _done("Entities deleted successfully")

    @answers
    def delete_observations(
        self, context: Caller, deletions: list[DeletedObservations]
    ) -> CallToolResult:
        """Delete specific observations from entities in the knowledge graph."""
        given = [(each.name, each.observations) for each in deletions]
        self._write(context, lambda graph: graph.delete_observations(given))
        return _done("Observations deleted successfully")

    @answers
    def delete_relations(self, context: Caller, relations: list[GraphRelation]) -> CallToolResult:
        """Delete multiple relations from the knowledge graph."""
        given = [each.parts for each in relations]
        self._write(context, lambda graph: graph.delete_relations(given))
        return _done("Relations deleted successfully")

    @answers
    def read_graph(self, context: Caller) -> CallToolResult:
        """Read the entire knowledge graph."""
        return _graph(self._read(context).graph())

    @answers
    def search_nodes(
        self,
        context: Caller,
        query: Annotated[
            str, Field(description="What names, types or observations are to contain")
        ],
    ) -> CallToolResult:
        """Search for nodes in the knowledge graph based on a query."""
        return _graph(self._read(context).search(query))

    @answers
    def open_nodes(
        self,
        context: Caller,
        names: Annotated[list[str], Field(description="The names of the entities")],
    ) -> CallToolResult:
        """Open specific nodes in the knowledge graph by their names."""
        return _graph(self._read(context).graph(names))

    def _read(self, context: Caller) -> ReferenceGraph:
        return ReferenceGraph(self._agents.reading(context), author(context))

    def _write(self, context: Caller, change: Any) -> Any:
        by = author(context)
        return self._agents.write(context, lambda agent: change(ReferenceGraph(agent, by)))


def _graph(graph: dict[str, Any]) -> CallToolResult:
    return answer(as_json(graph), **graph)


def _done(message: str) -> CallToolResult:
    return answer(message, success=True, message=message)
