"""Which facts and events does a written turn make? Operations by rule, each with its reason.

MemoTrace ("Write triggers"): an event trigger records an event and the facts that it includes, and
closes what is outdated by RETRO_CORRECT. A periodic write records one summary event over the facts
of its turns. The other triggers record the facts that their turns claim.

Nothing is dropped: a corrected fact keeps its versions, the memory is evidence for each change, and
the operations of one write have one ``by`` and ``why``, so one `Undo` takes all of them back.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from recollex_engine.clock import OPEN_END, SECOND
from recollex_engine.dates.time_range import find_event_range, find_event_ranges
from recollex_engine.domain.checks import MAX_IDS, MAX_NAME
from recollex_engine.domain.fact_schema import HAS_ATTRIBUTE
from recollex_engine.domain.literals import KINDS, Text, from_column
from recollex_engine.domain.operations import (
    ArchiveEdge,
    Operation,
    RetroCorrect,
    UpsertEdge,
    UpsertEvent,
)
from recollex_engine.domain.qualifiers import precision_note, read_period
from recollex_engine.domain.roles import ASSISTANT, SYSTEM, TOOL
from recollex_engine.domain.statement import Statement
from recollex_engine.facts.fact_view import FactView
from recollex_engine.talks.claim_forms import WHEN
from recollex_engine.talks.claim_values import folded, kinds_of
from recollex_engine.talks.claims import Claim, read_claims
from recollex_engine.talks.corrections import Correction, KnownFact, find_corrections
from recollex_engine.talks.write_session import AssessedTurn, TriggeredWrite
from recollex_engine.text.names import find_names
from recollex_engine.writing.engine_notes import WRITE_POLICY

RECENT = 6
"""Number of turns in which a correction without a subject finds the fact that it means."""
NAMES = 10
"""Limit of the participants of an event."""

Noted = tuple[Operation, dict[str, str]]


@dataclass(frozen=True, slots=True)
class StatedFact:
    """The open version of a fact. predicate: as it is stored. trust: that of its evidence."""

    id: str
    subject: str
    predicate: str
    value: str
    start: int | None
    end: int | None
    evidence: tuple[str, ...]
    trust: int

    def known(self, in_talk: bool, recent: bool) -> KnownFact:
        """Return it as the rule for corrections reads it."""
        words = self.predicate.replace("_", " ")
        return KnownFact(self.id, self.subject, words, self.value, in_talk, recent)


def claims_of(statement: Statement) -> list[Claim]:
    """Return what a turn claims; nothing for an assistant, for what expires, for an opinion."""
    return read_claims(statement.text, statement.speaker) if may_state(statement) else []


def kinds_stated(claims: Sequence[Claim], corrected: bool) -> tuple[str, ...]:
    """Return the kinds of event (see `salience.EVENTS`) that claims state.

    >>> kinds_stated(read_claims("I moved to Rome.", "Ann"), corrected=True)
    ('correction', 'update')
    """
    found = ["correction"] if corrected else []
    for claim in claims:
        if claim.subject is not None:
            if claim.effect != "states":
                found.append("update")
            else:
                found.append("schedule" if claim.predicate in WHEN else "identity")
    return tuple(dict.fromkeys(found))


class TurnFacts:
    """The facts of one agent as one call sees them, with what the call has made so far.

    stated: (place of the turn, id) of the facts stated in the talk, in order; it grows. by: who
    makes the operations, in the log.
    """

    def __init__(
        self,
        view: FactView,
        stated: list[tuple[int, str]],
        month_first: bool = False,
        by: str = WRITE_POLICY,
    ) -> None:
        self._by = by
        self._view = view
        self._stated = stated
        self._month_first = month_first
        self._made: dict[str, StatedFact | None] = {}
        self._operations: dict[str, list[Noted]] = {}

    def corrections(self, turn: Statement, claims: Sequence[Claim], place: int) -> list[Correction]:
        """Return what the claims of a turn would correct; facts of higher trust are left alone."""
        return [
            each
            for claim in claims
            for each in find_corrections(claim, self._known(claim, turn, place))
        ]

    def operations(self, write: TriggeredWrite) -> list[Noted]:
        """Return the operations of one write, whose statement has an id; later turns know them."""
        memory = str(write.statement.id)
        if memory not in self._operations:
            self._operations[memory] = list(self._of_write(write, memory))
        return self._operations[memory]

    def _of_write(self, write: TriggeredWrite, memory: str) -> Iterator[Noted]:
        turns = [turn for turn in write.turns if may_state(turn.statement)]
        if not turns:
            return
        note = {"by": self._by, "why": f"{write.trigger} trigger, {memory}"}
        facts: list[str] = []
        for turn in turns:
            for claim in claims_of(turn.statement):
                for operation, made in self._of_claim(claim, turn, memory):
                    yield operation, note
                    facts += [made] if made is not None else []
                facts += self._confirmed(claim, turn.place)
        if write.trigger not in ("event", "periodic"):
            return
        if not facts:
            best = max(turns, key=lambda turn: (turn.rank, -turn.place))
            edge = self._attribute(best, memory)
            if edge is None:
                return
            yield edge, note
            facts.append(edge.id)
        yield self._event(write, turns, facts, memory), note

    # -- the parts of a write --------------------------------------------------------------------

    def _of_claim(
        self, claim: Claim, turn: AssessedTurn, memory: str
    ) -> Iterator[tuple[Operation, str | None]]:
        """Yield the operations of a claim; with each the id of the fact that an event includes."""
        statement, place = turn.statement, turn.place
        found = find_corrections(claim, self._known(claim, statement, place))
        at, precision = self._since(claim, turn.said_at)
        predicate = claim.predicate
        for each in found:
            fact = self._open(each.fact.id)
            assert fact is not None
            predicate = fact.predicate
            evidence = (*fact.evidence, memory)[-MAX_IDS:]
            over = fact.start is None or fact.start < at
            if each.how == "wrong" or (each.value is not None and not over):
                assert each.value is not None
                self._keep(replace(fact, value=each.value, evidence=evidence), place)
                changes = {"object": value_of(each.value), "evidence": evidence}
                yield RetroCorrect(fact.id, changes), fact.id
            elif over:
                self._keep(replace(fact, end=at, evidence=evidence), place)
                yield RetroCorrect(fact.id, {"end": at, "evidence": evidence}), None
            else:  # it ends before it begins: it was never so
                self._made[fact.id] = None
                yield ArchiveEdge(fact.id), None
        replaced = [each for each in found if each.how == "wrong"]
        if claim.subject is None or claim.value is None or claim.effect == "ends" or replaced:
            return
        if self._same(claim, claim.subject, claim.value) is not None:
            return
        start: int | None = at
        if claim.effect == "states":
            start, precision = self._bound(claim, turn.said_at)
        edge = self._edge(claim.subject, predicate, claim.value, start, memory, precision)
        if self._ended(edge.id):  # it was so once, and is so again
            edge = self._edge(claim.subject, predicate, claim.value, turn.said_at, memory)
        if self._ended(edge.id):
            return
        made = StatedFact(
            edge.id,
            claim.subject,
            predicate,
            claim.value,
            edge.start,
            None,
            (memory,),
            statement.trust,
        )
        self._keep(made, place)
        yield edge, edge.id

    def _edge(
        self,
        subject: str,
        predicate: str,
        value: str,
        start: int | None,
        memory: str,
        precision: str | None = None,
    ) -> UpsertEdge:
        return UpsertEdge(
            *(subject, predicate, value_of(value)),
            start=start,
            evidence=(memory,),
            uncertainty=precision,
        )

    def _attribute(self, turn: AssessedTurn, memory: str) -> UpsertEdge | None:
        """Return the fact that the speaker said this: for an event whose turns claim nothing."""
        speaker = turn.statement.speaker
        if speaker is None:
            return None
        said = turn.statement.text.removeprefix(f"{speaker}: ")
        return UpsertEdge(
            speaker, HAS_ATTRIBUTE, Text(said), start=turn.said_at, evidence=(memory,)
        )

    def _event(
        self, write: TriggeredWrite, turns: Sequence[AssessedTurn], facts: list[str], memory: str
    ) -> UpsertEvent:
        ranges = [
            find_event_range(turn.statement.text, turn.said_at, month_first=self._month_first)
            for turn in turns
        ]
        starts = [found.start for found in ranges if found is not None]
        ends = [found.end for found in ranges if found is not None]
        if not starts:
            starts, ends = [turns[0].said_at], [turns[-1].said_at + SECOND]
        named: dict[str, str | None] = {}
        for turn in turns:
            statement = turn.statement
            if statement.speaker is not None:
                named[statement.speaker] = "speaker"
            for name in (*statement.entities, *find_names(statement.text)):
                named.setdefault(name, None)
        return UpsertEvent(
            write.statement.text[: MAX_NAME * 10],
            participants=tuple(named.items())[:NAMES],
            facts=tuple(dict.fromkeys(facts)),
            start=min(starts),
            end=max(ends),
            given_id=f"{memory}/event"[:MAX_NAME],
        )

    def _since(self, claim: Claim, said_at: int) -> tuple[int, str | None]:
        """Return when what a claim says began, and a note of how precisely that is known.

        It is the time that its sentence names, if it is past.
        """
        if claim.value is not None and "day" in kinds_of(claim.value):
            return said_at, None  # the sentence's time is the value
        found = find_event_range(claim.sentence, said_at, month_first=self._month_first)
        if found is None or found.start > said_at:
            return said_at, None
        return found.start, precision_note(read_period(found), None)

    def _bound(self, claim: Claim, said_at: int) -> tuple[int | None, str | None]:
        """Return since when a claim says that it is so, "since 2019", with how precisely; None."""
        times = find_event_ranges(
            claim.sentence, said_at, month_first=self._month_first, bounds=True
        )
        for found in times:
            if found.text.lower().startswith("since ") and found.start <= said_at:
                return found.start, f"parsed: {found.text}"
        return None, None

    # -- facts -----------------------------------------------------------------------------------

    def _keep(self, fact: StatedFact, place: int) -> None:
        self._made[fact.id] = fact
        self._stated.append((place, fact.id))

    def _open(self, id: str) -> StatedFact | None:
        """Return the open version of a fact, as this call has left it."""
        if id in self._made:
            return self._made[id]
        view = self._view
        version = view.version(id)
        if version is None or not view.is_open(version):
            return None
        data, columns = view.data, view.columns
        kind = data("fact_kind")[version]
        if KINDS[kind] not in ("entity", "text", "number"):
            return None
        value = from_column(
            kind, data("fact_object")[version], columns.known_label, view.entity_name
        )
        start, end = data("fact_start")[version], data("fact_end")[version]
        cited = view.numbers("fact_evidence", "fact_evidence_end", version)
        ids = view.data("id")
        return StatedFact(
            id,
            view.entity_name(data("fact_subject")[version]),
            columns.known_label(data("fact_predicate")[version]),
            f"{value:g}" if isinstance(value, float) else str(value),
            None if start == -OPEN_END else start,
            None if end == OPEN_END else end,
            tuple(columns.dictionary["ids"].strings([ids[each] for each in cited])),
            view.trust(version),
        )

    def _of_subject(self, name: str) -> list[StatedFact]:
        view = self._view
        entity = view.entity(name)
        ids = [] if entity is None else _ids(view, view.of_subject(entity).tolist())
        made = [
            id
            for id, fact in self._made.items()
            if fact is not None and folded(fact.subject) == folded(name)
        ]
        found = (self._open(id) for id in dict.fromkeys((*ids, *made)))
        return [fact for fact in found if fact is not None]

    def _known(self, claim: Claim, turn: Statement, place: int) -> list[KnownFact]:
        """Return the facts that a claim may correct, the latest stated last."""
        heard = {id: at for at, id in self._stated}
        facts = [] if claim.subject is None else self._of_subject(claim.subject)
        facts = [fact for fact in facts if fact.id not in heard]
        stated = (self._open(id) for id in sorted(heard, key=lambda id: heard[id]))
        facts += [fact for fact in stated if fact is not None]
        return [
            fact.known(fact.id in heard, place - heard.get(fact.id, place) <= RECENT)
            for fact in facts
            if fact.end is None and fact.trust <= turn.trust
        ]

    def _same(self, claim: Claim, subject: str, value: str) -> StatedFact | None:
        """Return the fact that says already, without an end, what a claim says."""
        for fact in self._of_subject(subject):
            same = fact.end is None and folded(fact.value) == folded(value)
            if same and fact.predicate.replace("_", " ") in claim.predicates:
                return fact
        return None

    def _confirmed(self, claim: Claim, place: int) -> list[str]:
        """Return the fact that a claim repeats, and note that it was stated again."""
        if claim.subject is None or claim.value is None or claim.effect == "ends":
            return []
        fact = self._same(claim, claim.subject, claim.value)
        if fact is None:
            return []
        self._stated.append((place, fact.id))
        return [fact.id]

    def _ended(self, id: str) -> bool:
        fact = self._open(id)
        return fact is not None and fact.end is not None


def stated_in(view: FactView, memories: Sequence[int]) -> list[tuple[int, str]]:
    """Return the open facts that cite some of the memories of a talk, as stated before it."""
    versions = view.of_evidence(memories).tolist() if memories else []
    return [(place - len(versions), id) for place, id in enumerate(_ids(view, versions))]


def value_of(value: str) -> str | Text:
    """Return a value as the object of a fact: a name is an entity, everything else a text.

    >>> value_of("Rome"), value_of("Tuesday")
    ('Rome', Text(value='Tuesday'))
    """
    return value if kinds_of(value) == {"name"} else Text(value)


def _ids(view: FactView, versions: Sequence[int]) -> list[str]:
    numbers = view.data("fact_id")
    strings: list[str] = view.columns.dictionary["fact_ids"].strings(
        [numbers[version] for version in versions]
    )
    return strings


def may_state(statement: Statement) -> bool:
    """Return whether facts are made of a turn: not of an assistant's, an opinion, what expires."""
    if statement.role in (ASSISTANT, SYSTEM, TOOL) or statement.network != 0:
        return False
    return statement.valid_until is None and "write_sensitive" not in statement.metadata
