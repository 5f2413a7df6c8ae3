"""Facts and entities: what an agent holds to be true, since when, and on which evidence."""

from typing import Any, Unpack

from recollex.api.arguments import checked_id, checked_note, optional_micros
from recollex.api.fact_operations import FactOperations, Submit
from recollex.api.filters import FACT_FILTERS, FactFilters, read_conditions
from recollex.api.searching import Phrases, search
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import Moment
from recollex_engine.domain.checks import check_count, check_flag
from recollex_engine.domain.operations import Undo
from recollex_engine.errors import UnknownIdError
from recollex_engine.facts.entities import Entity, all_entities, read_entity
from recollex_engine.facts.fact_selection import (
    FactConditions,
    Page,
    check_order,
    check_part,
    count,
    distinct_values,
    select,
    value_counts,
)
from recollex_engine.facts.fact_view import FactView
from recollex_engine.facts.facts import Fact, FactList, all_conflicts, read_fact
from recollex_engine.facts.hits import Hit
from recollex_engine.facts.provenance import (
    DocumentNode,
    MentionNode,
    document_nodes,
    mention_nodes,
)
from recollex_engine.text.entity_types import check_type
from recollex_mind.entity_resolution import EntityMatch, compare_entities, merges_of

MAX_FOUND = 2**31
"""The most facts that may be asked for, or skipped."""


class Facts(FactOperations, Phrases):
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

    @FACT_FILTERS.shown
    def find(
        self,
        *,
        order_by: str = "recorded",
        descending: bool = False,
        limit: int | None = None,
        offset: int = 0,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
        **conditions: Unpack[FactFilters],
    ) -> FactList:
        """Return the facts that meet all of the conditions, in recorded order.

        conditions: see `recollex.api.filters.FactFilters`; the most useful are subject,
        predicate, object, start and end. order_by: "recorded", or "start" or "end" of the valid
        time, where an open start comes first and an open end last; equal ones as they were
        recorded. descending: the opposite order. offset: how many facts are skipped; limit: the
        most that are returned, None for all.

        Raises `errors.InputError`, and `errors.UnknownIdError` for evidence that is not there.

        >>> import recollex, tempfile
        >>> from datetime import UTC, datetime
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> year = lambda y: datetime(y, 1, 1, tzinfo=UTC)
        >>> for city, start, end in [("Oslo", 2001, 2010), ("Rome", 2009, 2020)]:
        ...     id = alice.facts.add("Ann", "lives_in", city, valid=(year(start), year(end)))
        >>> [fact.object for fact in alice.facts.find(subject="Ann", start={"lt": "2009"})]
        ['Oslo']
        >>> alice.facts.find(order_by="start", descending=True, limit=1)[0].object
        'Rome'
        >>> early = alice.facts.find(relation="before", to=(year(2012), year(2013)))
        >>> [fact.object for fact in early]
        ['Oslo']
        >>> [conflict.object for conflict in alice.facts.find(subject="Ann")[0].conflicts]
        ['Rome']
        """
        view = self.view(as_recorded, as_world)
        check_flag(descending, "descending")
        if limit is not None:
            check_count(limit, "limit", 1, MAX_FOUND)
        check_count(offset, "offset", 0, MAX_FOUND)
        page = Page(
            order_by=check_order(order_by), descending=descending, limit=limit, offset=offset
        )
        wanted = read_conditions("find", conditions, view, self._agent.name)
        return FactList(view, select(view, wanted, page))

    @FACT_FILTERS.shown
    def count(
        self,
        *,
        distinct: str | None = None,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
        **conditions: Unpack[FactFilters],
    ) -> int:
        """Return how many facts meet all of the conditions, which are those of `find`.

        distinct: "subject", "predicate" or "object": how many different ones these facts have;
        merged entities are one. Raises as `find` does. No fact is read.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> for name, city in [("Ann", "Oslo"), ("Ann", "Rome"), ("Ben", "Rome")]:
        ...     id = alice.facts.add(name, "visited", city, valid="in May 2024")
        >>> alice.facts.count(start="2024-05"), alice.facts.count(object="Rome", end={"lt": "2024"})
        (3, 0)
        >>> alice.facts.count(distinct="subject", predicate="visited")
        2
        """
        view = self.view(as_recorded, as_world)
        wanted = read_conditions("count", conditions, view, self._agent.name)
        if distinct is None:
            return count(view, wanted)
        return distinct_values(view, wanted, check_part(distinct, "distinct"))

    @FACT_FILTERS.shown
    def value_counts(
        self,
        field: str,
        *,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
        **conditions: Unpack[FactFilters],
    ) -> dict[str, int]:
        """Return the different values of a field of facts, and how many facts have each.

        field: "subject", "predicate" or "object". The most frequent first, equally frequent ones by
        name. conditions: those of `find`. Literal objects are spelled as JSON, which tells them
        from entities: a text has quotes, and a time is a text in ISO 8601. Raises as `find` does.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> for name, thing in [("Ann", "tea"), ("Ben", "tea"), ("Ben", recollex.Text("tea"))]:
        ...     id = alice.facts.add(name, "likes", thing)
        >>> alice.facts.value_counts("object"), alice.facts.value_counts("subject", object="tea")
        ({'tea': 2, '"tea"': 1}, {'Ann': 1, 'Ben': 1})
        """
        view = self.view(as_recorded, as_world)
        wanted = read_conditions("value_counts", conditions, view, self._agent.name)
        return value_counts(view, wanted, check_part(field, "field"))

    def undo(
        self,
        op: int,
        *,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> int:
        """Undo an operation on facts, events or episodes; return the number of records made.

        op: its number, as `Agent.log` shows it. The operations of its transaction that have the
        same ``by`` and ``why`` are undone with it: all of a correction, for example. What they
        changed is recorded again as it was, and what they made is archived, so every version stays
        in the history. Memories, entities and links stay as they are.

        Raises `errors.InputError` if a fact or event was changed since; then nothing is undone.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> id = alice.facts.add("Alice", "lives_in", "Oslo")
        >>> alice.facts.correct(id, object="Rome", why="misheard")
        >>> alice.facts.undo(alice.log(op="retro_correct")[-1].op, by="ann")
        1
        >>> [(fact.object, fact.by) for fact in alice.facts.history(id)]
        [('Oslo', None), ('Rome', None), ('Oslo', 'ann')]
        """
        note = checked_note(by, why)
        at = optional_micros(recorded_at, "recorded_at")
        return self._agent.writable().transact([Undo(op)], [note], at)

    @FACT_FILTERS.shown
    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        query_embedding: Any = None,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
        **conditions: Unpack[FactFilters],
    ) -> list[Hit[Fact]]:
        """Return the ``limit`` facts that say most of what ``query`` asks for, best first.

        The text of a fact, "Ann lives in Rome, since May 1, 2024", is compared with the question by
        words and by meaning; a fresh fact ranks a little higher. conditions: those of `find`.
        query_embedding: float[dimension]; computed, if not given.

        Raises `errors.InputError`, and `errors.ModelError` if the model fails. Without a model
        (`GivenVectors`) the words alone are compared.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> for city in ("Rome", "Oslo"):
        ...     id = alice.facts.add("Ann", "has_visited", city)
        >>> id = alice.facts.add("Ben", "is_allergic_to", "peanuts")
        >>> hit = alice.facts.search("What must Ben not eat?")[0]
        >>> hit.item.object, hit.text
        ('peanuts', 'Ben is allergic to peanuts')
        """
        view = self.view(as_recorded, as_world)
        wanted = read_conditions("search", conditions, view, self._agent.name)
        only = [] if wanted == FactConditions() else [("fact", select(view, wanted, Page()))]
        return search(
            self._agent,
            view,
            query,
            "fact",
            limit,
            only=only,
            query_embedding=query_embedding,
            as_recorded=as_recorded,
        )

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
        mentioned: bool = False,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> Entity:
        """Return the entity of a name. Raises `errors.UnknownIdError` if the cut hides it.

        A cut shows an entity if a visible fact, or a record of the entity itself, names it;
        with ``mentioned`` also if an open memory does.
        """
        check_flag(mentioned, "mentioned")
        view = self.view(as_recorded, as_world)
        found = read_entity(view, checked_id(name, "name"), mentioned=mentioned)
        if found is None:
            raise UnknownIdError(name, self._agent.name, "entity")
        return found

    def entities(
        self,
        *,
        type: str | None = None,
        mentioned: bool = False,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> list[Entity]:
        """Return every entity that the cut shows, in the order in which they were first named.

        type: only those of this type, see `Entity.type`. mentioned: also those that only memories
        name.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> id = alice.retain("Bob Chen moved to Oslo.", entities={"Acme": "ORGANIZATION"})
        >>> [(each.name, each.type) for each in alice.facts.entities(mentioned=True)]
        [('Acme', 'ORGANIZATION'), ('Bob Chen', 'PERSON'), ('Oslo', 'LOCATION')]
        >>> [each.name for each in alice.facts.entities(mentioned=True, type="PERSON")]
        ['Bob Chen']
        """
        wanted = None if type is None else check_type(type)
        check_flag(mentioned, "mentioned")
        return all_entities(self.view(as_recorded, as_world), type=wanted, mentioned=mentioned)

    def resolve_entities(
        self, *, preview: bool = False, by: str | None = None, recorded_at: Moment | None = None
    ) -> list[EntityMatch]:
        """Find entities that are one, make them one, and return what was compared.

        Names that are variants of each other (forms, initials, parts, short forms, slips of a
        letter) are scored by Memora's sum (2.3.2), with guards; the language model of the store
        decides borderline pairs, up to 50 a call (TEMPR 2.3.2). Without one, or if it fails (then
        with a warning), those stay two, and are returned with ``same`` None. preview: only say what
        would be done. All merges are one transaction with their reasons; `split` parts each, and
        what was parted is not merged again. See docs/entities.md.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> ids = alice.retain_many(["We met Alice Chen.", "Then Alice left for NYC."],
        ...                         event_at=["2024-05-06T00:00Z", "2024-05-07T00:00Z"])
        >>> [(each.source, each.target, each.way) for each in alice.facts.resolve_entities()]
        [('Alice', 'Alice Chen', 'part')]
        """
        check_flag(preview, "preview")
        note = checked_note(by, None)
        at = optional_micros(recorded_at, "recorded_at")
        agent = self._agent if preview else self._agent.writable()
        matches = compare_entities(agent, agent.context.llm)
        merges = merges_of(matches, agent.context.llm)
        if merges and not preview:
            notes = [note | {"why": why} for _, why in merges]
            self._agent.writable().transact([each for each, _ in merges], notes, at)
        return matches

    def documents(
        self, *, as_recorded: Moment | None = None, as_world: Moment | None = None
    ) -> list[DocumentNode]:
        """Return the documents that facts were taken from or that mentions lie in, as nodes.

        A cut shows a document while it shows a fact or event that names it.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> said = recollex.Mention("mail:3", (0, 8), "Ann left")
        >>> id = alice.facts.add("Ann", "left", "Oslo", source=recollex.Source("mail:3"),
        ...                      mentions=[said])
        >>> [document] = alice.facts.documents()
        >>> document.uri, document.facts == (id,)
        ('mail:3', True)
        >>> [mention] = alice.facts.mentions(document="mail:3")
        >>> mention.span, document.mentions == (mention.id,)
        ((0, 8), True)
        """
        return document_nodes(self.view(as_recorded, as_world))

    def mentions(
        self,
        *,
        document: str | None = None,
        as_recorded: Moment | None = None,
        as_world: Moment | None = None,
    ) -> list[MentionNode]:
        """Return the places in documents that visible facts and events rest on, as nodes.

        document: only those of this document.
        """
        view = self.view(as_recorded, as_world)
        return mention_nodes(view, None if document is None else checked_id(document, "document"))
