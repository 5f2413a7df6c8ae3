"""The operations on facts and entities as methods, for an agent and for a transaction."""

from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Any

from recollex.api import valid_times
from recollex.api.arguments import as_list, one_or_more
from recollex.api.valid_times import GivenInterval
from recollex_engine.clock import Moment, to_micros
from recollex_engine.domain.literals import FactObject, Mention, Source
from recollex_engine.domain.operations import (
    ArchiveEdge,
    MergeEntity,
    Operation,
    RetroCorrect,
    SplitEntity,
    UpsertEdge,
    UpsertEntity,
)

Submit = Callable[[Operation, str | None, str | None, Moment | None], None]
"""Takes an operation, who makes it, why, and when it is recorded."""


class FactOperations:
    """The operations on facts and entities, of an agent or of one transaction.

    submit: records an operation. now: returns the present in microseconds. locale: returns the
    agent's locale.
    """

    def __init__(self, submit: Submit, now: Callable[[], int], locale: Callable[[], str]) -> None:
        self._submit = submit
        self._now = now
        self._locale = locale

    def _read(self, valid: GivenInterval | None) -> tuple[int | None, int | None, str | None]:
        return valid_times.read(valid, "valid", self._now, locale=self._locale)

    def add(
        self,
        subject: str,
        predicate: str,
        object: FactObject,
        *,
        valid: GivenInterval | None = None,
        evidence: str | Sequence[str] = (),
        source: Source | None = None,
        mentions: Sequence[Mention] = (),
        confidence: float = 1.0,
        uncertainty: str | None = None,
        id: str | None = None,
        embed: bool = True,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> str:
        """Record that ``subject`` ``predicate`` ``object``, and return the fact's id (UPSERT_EDGE).

        object: a str names an entity; `Text`, a number, bool, datetime or `Mention` is a literal.
        valid: (start, end) in the world's time, None for an open end; ("2001", "2003-05") lasts to
        the end of May 2003. Or a period, "2002-02"; or words such as "from 1811 to 1827", which are
        parsed, and tagged so. evidence: ids of memories. confidence: in [0, 1].
        id: the caller's own; without one, the id is made of subject, predicate, object and start,
        so recording the fact again changes nothing. A fact that has this id already gets a new
        version. embed: without it the fact is found by its words, not by its meaning, and takes a
        quarter of the space. by, why: kept with the operation. recorded_at: later than the last.

        Raises `errors.InputError` with nothing recorded.

        >>> import recollex, tempfile
        >>> from datetime import UTC, datetime
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> id = alice.facts.add("Alice", "works_at", "Google",
        ...                      valid=(datetime(2023, 11, 6, tzinfo=UTC), None), by="doctest")
        >>> alice.facts.get(id).object
        'Google'
        """
        start, end, parsed = self._read(valid)
        operation = UpsertEdge(
            subject,
            predicate,
            object,
            start=start,
            end=end,
            evidence=one_or_more(evidence, "evidence"),
            source=source,
            mentions=mentions if type(mentions) is tuple else tuple(as_list(mentions, "mentions")),
            confidence=confidence,
            uncertainty=parsed if uncertainty is None else uncertainty,
            given_id=id,
            embed=embed,
        )
        self._submit(operation, by, why, recorded_at)
        return operation.id

    def correct(
        self,
        id: str,
        *,
        object: FactObject | EllipsisType = ...,
        valid: GivenInterval | EllipsisType = ...,
        valid_start: Moment | EllipsisType | None = ...,
        valid_end: Moment | EllipsisType | None = ...,
        evidence: str | Sequence[str] | EllipsisType = ...,
        source: Source | EllipsisType | None = ...,
        mentions: Sequence[Mention] | EllipsisType = ...,
        confidence: float | EllipsisType = ...,
        uncertainty: str | EllipsisType | None = ...,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> None:
        """Correct a fact: close its version and open the next, both in its history (RETRO_CORRECT).

        Fields that are not given stay as they are. Raises `errors.UnknownIdError` if no version is
        open.

        >>> import recollex, tempfile
        >>> from datetime import UTC, datetime
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> id = alice.facts.add("Alice", "lives_in", "Oslo")
        >>> alice.facts.correct(id, object="Bergen", why="misheard")
        >>> [(fact.object, fact.closed_why) for fact in alice.facts.history(id)]
        [('Oslo', 'misheard'), ('Bergen', None)]
        """
        changes: dict[str, Any] = {}
        if valid is not ...:
            changes["start"], changes["end"], parsed = self._read(valid)
            changes["uncertainty"] = parsed
        for name, moment in (("start", valid_start), ("end", valid_end)):
            if moment is not ...:
                changes[name] = None if moment is None else to_micros(moment, f"valid_{name}")
        given = {
            "object": object,
            "source": source,
            "confidence": confidence,
            "uncertainty": uncertainty,
        }
        changes |= {name: value for name, value in given.items() if value is not ...}
        if evidence is not ...:
            changes["evidence"] = one_or_more(evidence, "evidence")
        if mentions is not ...:
            changes["mentions"] = tuple(as_list(mentions, "mentions"))
        self._submit(RetroCorrect(id, changes), by, why, recorded_at)

    def archive(
        self,
        id: str,
        *,
        during: GivenInterval | None = None,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> None:
        """Close a fact, for all of its valid time or for a part of it (ARCHIVE_EDGE).

        during: (start, end); outside of it the fact stays true. If that leaves a hole, two facts
        remain, and the later one has an id of its own.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> id = alice.facts.add("Alice", "lives_in", "Oslo")
        >>> alice.facts.archive(id)
        >>> len(alice.facts.find(subject="Alice")), len(alice.facts.history(id))
        (0, 1)
        """
        start, end = (None, None) if during is None else valid_times.interval(during, "during")
        self._submit(ArchiveEdge(id, start, end), by, why, recorded_at)

    def add_entity(
        self,
        name: str,
        *,
        aliases: Sequence[str] = (),
        types: Sequence[str] = (),
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> None:
        """Record an entity, with its other names and its types (UPSERT_ENTITY).

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> alice.facts.add_entity("Robert Chen", aliases=["Bob"], types=["person"])
        >>> alice.facts.entity("Bob").name
        'Robert Chen'
        """
        operation = UpsertEntity(name, one_or_more(aliases, "aliases"), one_or_more(types, "types"))
        self._submit(operation, by, why, recorded_at)

    def merge(
        self,
        source: str,
        target: str,
        *,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> None:
        """Record that two entities are one, called ``target`` from now on (MERGE_ENTITY).

        Cuts of the past do not change. Raises `errors.MergeCycleError` and `errors.UnknownIdError`.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> id = alice.facts.add("Bobby", "likes", "Oslo")
        >>> alice.facts.add_entity("Robert Chen")
        >>> alice.facts.merge("Bobby", "Robert Chen")
        >>> alice.facts.find(subject="Robert Chen")[0].id == id
        True
        """
        self._submit(MergeEntity(source, target), by, why, recorded_at)

    def split(
        self,
        source: str,
        *,
        name: str | None = None,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> None:
        """Record that an entity is one of its own, not another (SPLIT_ENTITY).

        source: an entity that was merged, by any of its names before the merge; what was merged
        into it stays with it. Or a name that joined another entity when it was recorded, as "Jon
        Chen" joins "John Chen": from now on it is an entity, and the memories, facts and events
        that say it are of that. They keep their ids, and get a version. name: the one that is
        meant, if the entity is called by another: ``split("John Chen", name="Jon Chen")``.

        Earlier cuts show what they showed. `merge` makes the two one again. Raises
        `errors.InputError` if there is nothing to part, and `errors.UnknownIdError`.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> for name in ("Bobby", "Robert Chen"):
        ...     id = alice.facts.add(name, "likes", "tea")
        >>> alice.facts.merge("Bobby", "Robert Chen")
        >>> alice.facts.split("Bobby", by="ann", why="two people")
        >>> [fact.subject for fact in alice.facts.find(subject="Bobby")]
        ['Bobby']
        """
        self._submit(SplitEntity(source, name), by, why, recorded_at)
