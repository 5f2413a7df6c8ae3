"""Finds facts, events, episodes and the names of entities by what they say."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from recollex.api.arguments import checked_id, optional_micros
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import Moment
from recollex_engine.domain.checks import check_count, check_embedding, check_text
from recollex_engine.domain.question import MAX_LIMIT, MAX_QUERY
from recollex_engine.errors import UnknownIdError
from recollex_engine.facts.entities import Entity
from recollex_engine.facts.fact_view import FactView, Ordinals
from recollex_engine.facts.hits import Hit, read_hits


def search(
    agent: AgentOrCut,
    view: FactView,
    query: str,
    kind: str,
    limit: int,
    *,
    only: Sequence[tuple[str, Ordinals]],
    query_embedding: Any,
    as_recorded: Moment | None,
) -> list[Hit[Any]]:
    """Return the ``limit`` best of one kind that the cut shows; see `search_surfaces`.

    A cut of a recorded time compares every vector, so that it answers as it would have then.
    """
    check_text(query, "query", MAX_QUERY)
    check_count(limit, "limit", 1, MAX_LIMIT)
    vector = None
    if query_embedding is not None:
        vector = check_embedding(query_embedding, "query_embedding", agent.dimension)
    found = agent.search(
        view,
        query,
        (kind,),
        limit,
        only=only,
        embedding=vector,
        exact=agent.is_past or as_recorded is not None,
        now=optional_micros(as_recorded, "as_recorded"),
    )
    return read_hits(view, found)


# The names of entities, which facts join: found by what they say, and joined to similar ones.
class Phrases(ABC):
    """The methods of `Facts` that read the names of entities (the phrase nodes of REMem)."""

    _agent: AgentOrCut

    @abstractmethod
    def view(self, as_recorded: Moment | None = None, as_world: Moment | None = None) -> FactView:
        """Return the cut that the methods read."""

    def search_entities(
        self,
        query: str,
        *,
        limit: int = 10,
        query_embedding: Any = None,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> list[Hit[Entity]]:
        """Return the ``limit`` entities whose names are nearest to a text, best first.

        Names of the subjects and objects of visible facts are compared by words and by meaning
        (the phrase nodes of REMem, appendix B). Raises as `search` does.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> id = alice.facts.add("Alice", "bought", "three cows")
        >>> [hit.item.name for hit in alice.facts.search_entities("cattle", limit=1)]
        ['three cows']
        """
        return search(
            self._agent,
            self.view(as_recorded, as_world),
            query,
            "entity",
            limit,
            only=(),
            query_embedding=query_embedding,
            as_recorded=as_recorded,
        )

    def synonyms(
        self,
        name: str,
        *,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> list[tuple[str, float]]:
        """Return the entities whose names are similar to that of an entity, with the cosine.

        The most similar first; 0.8 or more, up to five earlier ones of each name (REMem's synonymy
        edges). They are recorded with the first fact that names an entity. Raises
        `errors.UnknownIdError` if the cut does not show the entity.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> for thing in ("the maps team", "the team for maps", "a boat"):
        ...     id = alice.facts.add("Alice", "leads", thing)
        >>> [name for name, _ in alice.facts.synonyms("the maps team")]
        ['the team for maps']
        """
        view = self.view(as_recorded, as_world)
        entity = view.entity(checked_id(name, "name"))
        if entity is None or not view.names_entity(entity):
            raise UnknownIdError(name, self._agent.name, "entity")
        return [(view.entity_name(other), weight) for other, weight in view.synonyms(entity)]
