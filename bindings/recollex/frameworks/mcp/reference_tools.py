"""The nine tools of MCP's reference memory server, under their names and with their results.

The knowledge graph of MCP's reference memory server, kept as memories of an agent.
An entity, an observation and a relation are a memory each. Its text is what a recall finds, and
its metadata what the graph's tools return; so names are taken as they are written, and whatever is
deleted stays in the past.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult
from pydantic import BaseModel, Field

from recollex.frameworks.mcp.agents import Agents, Caller, author
from recollex.frameworks.mcp.answers import answer, answers, as_json
from recollex.frameworks.mcp.memory_tools import ADDS, CHANGES, READS, add_tools
from recollex_engine.errors import InputError

ENTITY = "graph-entity"
OBSERVATION = "graph-observation"
RELATION = "graph-relation"
_PAGE = 10_000
EntityRelation = tuple[str, str, str]
"""from, to, relationType."""


@dataclass(slots=True)
class EntityNode:
    """An entity: the id of its memory, and its observations with theirs."""

    id: str
    name: str
    type: str
    observations: list[tuple[str, str]]

    def to_dict(self) -> dict[str, Any]:
        """Return the entity as the reference server does."""
        said = [text for _, text in self.observations]
        return {"name": self.name, "entityType": self.type, "observations": said}


class ReferenceGraph:
    """The graph as an agent holds it now. A method that writes is one transaction."""

    def __init__(self, agent: Any, by: str) -> None:
        self._agent = agent
        self._by = by
        self.nodes: dict[str, EntityNode] = {}
        self.relations: dict[EntityRelation, str] = {}
        for memory in self._memories():
            held = memory.metadata
            if ENTITY in memory.tags:
                self.nodes[held["name"]] = EntityNode(memory.id, held["name"], held["type"], [])
            elif OBSERVATION in memory.tags:
                if held["of"] in self.nodes:
                    said = (memory.id, held["observation"])
                    self.nodes[held["of"]].observations.append(said)
            else:
                self.relations[held["from"], held["to"], held["type"]] = memory.id

    def _memories(self) -> Iterable[Any]:
        after = None
        while True:
            kinds = [ENTITY, OBSERVATION, RELATION]
            page = self._agent.list(any_tags=kinds, limit=_PAGE, after=after)
            yield from page
            if len(page) < _PAGE:
                return
            after = page[-1].id

    def create_entities(self, entities: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Add the entities whose names are new, with their observations; return them."""
        new: dict[str, dict[str, Any]] = {}
        for entity in entities:
            if entity["name"] not in self.nodes:
                new.setdefault(entity["name"], entity)
        records = []
        for name, entity in new.items():
            kind = entity["entityType"]
            records.append((f"{name}: {kind}", ENTITY, [name], {"name": name, "type": kind}))
            records += [_observation(name, text) for text in entity["observations"]]
        self._retain(records)
        return list(new.values())

    def create_relations(self, relations: Sequence[EntityRelation]) -> list[EntityRelation]:
        """Add the relations that are new; return them."""
        new = [each for each in dict.fromkeys(relations) if each not in self.relations]
        self._retain(
            [
                (
                    f"{start} {kind} {end}",
                    RELATION,
                    [start, end],
                    {"from": start, "to": end, "type": kind},
                )
                for start, end, kind in new
            ]
        )
        return new

    def add_observations(self, added: Sequence[tuple[str, Sequence[str]]]) -> list[dict[str, Any]]:
        """Add observations to entities, each once; return which. Raises `InputError`."""
        records = []
        results = []
        held = {name: {text for _, text in node.observations} for name, node in self.nodes.items()}
        for name, contents in added:
            if name not in held:
                raise InputError(f"Entity with name {name} not found: create_entities makes one")
            new = [text for text in contents if text not in held[name]]
            held[name] |= set(new)
            records += [_observation(name, text) for text in new]
            results.append({"entityName": name, "addedObservations": new})
        self._retain(records)
        return results

    def delete_entities(self, names: Sequence[str]) -> None:
        """Delete entities with their observations and relations; unknown names change nothing."""
        gone = set(names)
        ids = [id for (start, end, _), id in self.relations.items() if gone & {start, end}]
        for name in gone & self.nodes.keys():
            node = self.nodes[name]
            ids += [node.id, *(id for id, _ in node.observations)]
        self._forget(ids)

    def delete_observations(self, deleted: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Delete observations of entities; what is unknown changes nothing."""
        ids = {
            id
            for name, texts in deleted
            if name in self.nodes
            for id, text in self.nodes[name].observations
            if text in texts
        }
        self._forget(sorted(ids))

    def delete_relations(self, relations: Sequence[EntityRelation]) -> None:
        """Delete relations; unknown ones change nothing."""
        known = dict.fromkeys(each for each in relations if each in self.relations)
        self._forget([self.relations[each] for each in known])

    def graph(self, names: Iterable[str] | None = None) -> dict[str, Any]:
        """Return entities and relations: all, or those entities and what touches one of them."""
        wanted = self.nodes.keys() if names is None else set(names) & self.nodes.keys()
        relations = [
            {"from": start, "to": end, "relationType": kind}
            for start, end, kind in self.relations
            if names is None or start in wanted or end in wanted
        ]
        nodes = [node.to_dict() for name, node in self.nodes.items() if name in wanted]
        return {"entities": nodes, "relations": relations}

    def search(self, query: str) -> dict[str, Any]:
        """Return what holds the query as a substring in a name, type or observation; any case."""
        part = query.lower()
        return self.graph(
            name
            for name, node in self.nodes.items()
            if any(
                part in text.lower()
                for text in (name, node.type, *(said for _, said in node.observations))
            )
        )

    def _retain(self, records: Sequence[tuple[str, str, list[str], dict[str, str]]]) -> None:
        if records:
            texts, tags, entities, metadata = zip(*records, strict=True)
            self._agent.retain_many(
                list(texts),
                tags=[[tag] for tag in tags],
                entities=[[name for name in names if name.strip()] for names in entities],
                metadata=list(metadata),
            )

    def _forget(self, ids: Sequence[str]) -> None:
        if ids:
            self._agent.forget(ids, by=self._by, why="deleted from the graph")


def _observation(name: str, text: str) -> tuple[str, str, list[str], dict[str, str]]:
    return f"{name}: {text}", OBSERVATION, [name], {"of": name, "observation": text}


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
