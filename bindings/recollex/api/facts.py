"""Facts and entities: what an agent holds to be true, since when, and on which evidence."""

from collections.abc import Sequence

from recollex.api import valid_times
from recollex.api.arguments import checked_id, one_or_more, optional_micros
from recollex.api.fact_operations import FactOperations, Submit
from recollex.api.valid_times import Interval
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import Moment
from recollex_engine.domain.literals import Object
from recollex_engine.errors import InputError, UnknownIdError
from recollex_engine.facts.conflicts import all_conflicts
from recollex_engine.facts.entities import Entity, all_entities, read_entity
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.facts import Fact, FactList, read_fact


class Facts(FactOperations):
    """The facts of an agent, from `Agent.facts`: methods that record them, and that read a cut.

    Every method that reads takes ``as_recorded`` (what was known at that time) and ``as_world``
    (what was true at that time). With both it returns what was believed at ``as_recorded`` about
    ``as_world``.
    """

    def __init__(self, agent: AgentOrCut, submit: Submit) -> None:
        super().__init__(submit, agent.clock, agent.locale)
        self._agent = agent

    def view(self, as_recorded: Moment | None = None, as_world: Moment | None = None) -> FactView:
        """Return the cut that the methods read."""
        recorded = optional_micros(as_recorded, "as_recorded")
        return self._agent.facts(recorded, optional_micros(as_world, "as_world"))

    def get(
        self,
        id: str,
        *,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> Fact:
        """Return the version of a fact that the cut shows. Raises `errors.UnknownIdError`."""
        view = self.view(as_recorded, as_world)
        version = view.version(id)
        if version is None or not view.is_visible(version):
            raise UnknownIdError(checked_id(id), self._agent.name, "fact")
        return read_fact(view, version, id)

    def history(self, id: str, *, as_recorded: Moment | None = None) -> list[Fact]:
        """Return every version of a fact, oldest first. Raises `errors.UnknownIdError`."""
        view = self.view(as_recorded)
        versions = view.versions(id)
        if not versions:
            raise UnknownIdError(checked_id(id), self._agent.name, "fact")
        return [read_fact(view, version, id) for version in versions]

    def find(
        self,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        object: Object | None = None,
        evidence: str | Sequence[str] | None = None,
        during: Interval | None = None,
        overlaps: Interval | None = None,
        relation: str | None = None,
        to: Interval | None = None,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> FactList:
        """Return the facts that meet all of the conditions, in recorded order.

        evidence: ids of memories; a fact must cite one of them. during: an interval that holds the
        valid time. overlaps: an interval that shares a moment with it. relation: how the valid time
        lies to the interval ``to``, one of Allen's relations: "before", "meets", "overlaps",
        "starts", "during", "finishes", "equals", and "after", "met_by", "overlapped_by",
        "started_by", "contains", "finished_by".

        Raises `errors.InputError`, and `errors.UnknownIdError` for evidence that is not there.

        >>> import recollex, tempfile
        >>> from datetime import UTC, datetime
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> year = lambda y: datetime(y, 1, 1, tzinfo=UTC)
        >>> for city, start, end in [("Oslo", 2001, 2010), ("Rome", 2009, 2020)]:
        ...     id = alice.facts.add("Ann", "lives_in", city, valid=(year(start), year(end)))
        >>> early = alice.facts.find(relation="before", to=(year(2012), year(2013)))
        >>> [fact.object for fact in early]
        ['Oslo']
        >>> [conflict.object for conflict in alice.facts.find(subject="Ann")[0].conflicts]
        ['Rome']
        """
        if (relation is None) != (to is None):
            raise InputError("relation and to go together: relation='before', to=(start, end)")
        view = self.view(as_recorded, as_world)
        memories = (
            None if evidence is None else self._memories(view, one_or_more(evidence, "evidence"))
        )
        versions = view.find(
            None if subject is None else checked_id(subject, "subject"),
            None if predicate is None else checked_id(predicate, "predicate"),
            object,
            memories,
            None if during is None else valid_times.span(during, "during"),
            None if overlaps is None else valid_times.span(overlaps, "overlaps"),
            relation,
            None if to is None else valid_times.span(to, "to"),
        )
        return FactList(view, versions)

    def snapshot(
        self, *, as_recorded: Moment | None = None, as_world: Moment | None = None
    ) -> FactList:
        """Return every fact that the cut shows, in recorded order; each is read when it is used."""
        view = self.view(as_recorded, as_world)
        return FactList(view, view.all())

    def conflicts(
        self,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> list[tuple[Fact, Fact]]:
        """Return the pairs of facts that contradict each other: see `Fact.conflicts`."""
        found = self.find(
            subject=subject, predicate=predicate, as_recorded=as_recorded, as_world=as_world
        )
        return [
            (read_fact(found.view, one), read_fact(found.view, other))
            for one, other in all_conflicts(found.view, found.versions)
        ]

    def entity(
        self,
        name: str,
        *,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> Entity:
        """Return the entity of a name. Raises `errors.UnknownIdError` if the cut hides it.

        A cut shows an entity if a visible fact, or a record of the entity itself, names it.
        """
        found = read_entity(self.view(as_recorded, as_world), checked_id(name, "name"))
        if found is None:
            raise UnknownIdError(name, self._agent.name, "entity")
        return found

    def entities(
        self, *, as_recorded: Moment | None = None, as_world: Moment | None = None
    ) -> list[Entity]:
        """Return every entity that the cut shows, in the order in which they were first named."""
        return all_entities(self.view(as_recorded, as_world))

    def _memories(self, view: FactView, ids: Sequence[str]) -> list[int]:
        """Return the rows of every version of these memories."""
        columns = view.columns
        known = columns.array("id")[: view.memories]
        found: list[int] = []
        for id in ids:
            key = columns.dictionary["ids"].get(id)
            versions = [] if key is None else (known == key).nonzero()[0].tolist()
            if not versions:
                raise UnknownIdError(id, self._agent.name)
            found += versions
        return found
