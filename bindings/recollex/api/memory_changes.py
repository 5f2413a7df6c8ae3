"""How is a memory changed, removed or counted? Corrected, archived, forgotten, by rules too."""

from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any, Unpack

from recollex.api.arguments import (
    as_list,
    checked_id,
    checked_note,
    one_or_more,
    optional_micros,
    read_amendment,
    read_changes,
)
from recollex.api.filters import FILTERS, Filters, read_filter
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import Moment
from recollex_engine.domain.checks import (
    MAX_IDS,
    MAX_NAME,
    MAX_TEXT,
    check_count,
    check_flag,
    check_note,
    check_text,
)
from recollex_engine.domain.removal import Erasure, Expiry, Retention, Selection, check_rules
from recollex_engine.domain.trust import Act, note, stamp
from recollex_engine.errors import InputError
from recollex_engine.state.accesses import Accesses


# How long, and how many, memories does an agent keep? Rules that it applies to itself.
class RetentionMethods:
    """The methods of `Agent` about retention rules."""

    engine: AgentOrCut

    def retention(self) -> list[Retention]:
        """Return the retention rules in force; [] if all memories are kept, as at first."""
        return list(self.engine.retention())

    def set_retention(
        self,
        rules: Sequence[Retention],
        *,
        by: str | None = None,
        why: str | None = None,
    ) -> None:
        """Set all retention rules of the agent; [] keeps everything from now on.

        From then on each call that records something also forgets what is due at its recorded time:
        `retain`, `retain_dialogue`, `correct`, `apply`, transactions, facts and events; `expire`
        does it at any time. What is due is forgotten by operations of the log, one microsecond
        later, with "retention" as ``by`` and the rule as ``why``; a replay repeats them. by, why:
        who sets the rules and for which reason. Raises `errors.InputError`.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> alice.set_retention([recollex.Retention(count=2)], by="ann", why="policy 7")
        >>> ids = alice.retain_many(["Tea.", "Milk.", "Rye."], id=["tea", "milk", "rye"])
        >>> [memory.id for memory in alice.list()]
        ['milk', 'rye']
        """
        self.engine.writable().set_rules(check_rules(rules), checked_note(by, why))

    def expire(self) -> Expiry:
        """Forget what is due by the rules now, and erase what rules with ``erase`` let go.

        Erased are all versions of a memory, also closed ones, once the newest of them is due.
        Raises the errors of `erase`.
        """
        return self.engine.writable().expire()


# How often was a memory returned or used? Counted beside the memory, and told by the caller.
class AccessCounts:
    """The methods of `Agent` that count accesses."""

    engine: AgentOrCut

    def used(self, ids: str | Sequence[str], *, helped: bool | None = None) -> None:
        """Record that memories were used in an answer, and perhaps whether they helped.

        helped: True if they did, False if they misled, None if that is not known. It is recorded
        at once, whether or not the store counts what recalls return; `accesses` tells it. ids may
        be empty, after a recall that found nothing; then nothing is recorded.

        Raises `errors.InputError`, and `errors.UnknownIdError`; then nothing is recorded.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> id = alice.retain("Bob likes tea.")
        >>> alice.used(id, helped=True)
        >>> alice.accesses(id).used, alice.accesses(id).helped
        (1, 1)
        """
        named = [checked_id(id) for id in one_or_more(ids, "ids")]
        check_count(len(named), "the number of ids", 0, MAX_IDS)
        if helped is not None:
            check_flag(helped, "helped")
        how = {True: ("used", "helped"), False: ("used", "misled"), None: ("used",)}[helped]
        if named:
            self.engine.writable().used(named, how)

    def accesses(self, id: str) -> Accesses:
        """Return how often a memory was returned and used, in all its versions, and when last.

        Recalls are counted in a store that was opened with ``count_accesses=True``; those of the
        last second may be missing. `at` an earlier time it is what was counted by then. Raises
        `errors.UnknownIdError`.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp(), count_accesses=True).agent("alice")
        >>> id = alice.retain("Bob likes tea.")
        >>> recall = alice.recall("Who likes tea?")
        >>> alice.accesses(id).returned
        1
        """
        return self.engine.accesses(checked_id(id))


class MemoryChanges:
    """The methods of `Agent` that change or remove memories."""

    engine: AgentOrCut

    @FILTERS.shown
    def forget(
        self,
        id: str | Sequence[str] | None = None,
        *,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
        **filters: Unpack[Filters],
    ) -> int:
        """Forget memories, as one transaction: nothing returns them from now on. Return how many.

        They are those of ``id``, or those that meet ``filters``, see `Filters`. Facts that were
        drawn from them alone, and opinions that rest on them alone, are forgotten with them, and
        are not counted. `at` an earlier time they are still there. by, why: who does it and for
        which reason, for the log. Raises `errors.UnknownIdError` for an id that does not exist;
        then nothing is forgotten.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> ids = alice.retain_many(["Bob likes tea.", "Bob likes milk."], id=["tea", "milk"])
        >>> alice.forget("milk", by="ann", why="It was a joke.")
        1
        >>> [memory.id for memory in alice.list()]
        ['tea']
        """
        wanted = read_filter("forget", filters)
        if (id is None) is not bool(wanted):
            raise InputError(
                "say what to forget: an id or a filter, such as document_id"
                if id is None
                else "forget takes an id or a filter, got both"
            )
        if id is not None:
            return self._take_away("forget", id, by, why, recorded_at)
        at = optional_micros(recorded_at, "recorded_at")
        return self.engine.writable().take_away_matching(_act("forget", by, why), wanted, at)

    @FILTERS.shown
    def erase(
        self,
        id: str | Sequence[str] | None = None,
        *,
        everything: bool = False,
        by: str,
        why: str,
        preview: bool = False,
        **filters: Unpack[Filters],
    ) -> Erasure:
        """Erase memories: their bytes are taken out of every file of the agent, for good.

        The memories are those that meet all ``filters``, see `Filters`, and ``id``: open and closed
        ones, with every version of their ids. ``everything=True`` erases all that the agent holds
        instead. Facts and events whose only sources are erased go with them, and so do memories
        that `extract` drew from one of them. `at` an earlier time
        these memories are missing, too. Objects that the caller holds, such as a `Recall`, keep
        what they hold; copies of the store are not reached.

        by, why: who erases them and for which reason. The log keeps both, the time and the
        numbers, and nothing of the content. preview: only count what would
        be erased. Raises `errors.UnknownIdError` for an id that does not exist.

        Other memories stay as they are. Scores of recalls are those of an agent whose erased
        memories have said nothing. Writes wait for an erasure, recalls do not. It takes the time
        of a rebuild, about 50 us for each memory of the agent.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> ids = alice.retain_many(["Bob likes tea.", "Bob is ill."], id=["tea", "ill"])
        >>> alice.erase("ill", by="ann", why="Bob asked for it.").memories
        1
        >>> [memory.id for memory in alice.list()]
        ['tea']
        """
        wanted = read_filter("erase", filters)
        check_flag(everything, "everything")
        check_flag(preview, "preview")
        ids = () if id is None else [id] if isinstance(id, str) else as_list(id, "id")
        selection = Selection(
            ids=tuple(checked_id(one) for one in ids), filter=wanted, everything=everything
        )
        check_text(by, "by", MAX_NAME)
        check_text(why, "why", MAX_NAME)
        return self.engine.writable().erase(selection, note(by, why), preview)

    def archive(
        self,
        id: str | Sequence[str],
        *,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> None:
        """Archive one memory or several, as one transaction: they are kept, but not recalled.

        `get` and `history` still return them, and say who archived them and why; `recall` and
        `list` do not return them. Raises `errors.UnknownIdError` for an id that does not exist or
        is archived already; then nothing is archived.
        """
        self._take_away("archive", id, by, why, recorded_at)

    def amend(
        self,
        id: str,
        *,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        valid_until: Moment | EllipsisType | None = ...,
        zone: str | None = None,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> None:
        """Change the tags, metadata, end of validity or zone of a memory; its text stays.

        What is given takes the place of what the memory had, as a whole; ``valid_until=None`` takes
        its end away. zone: where it was said, as for `retain`; its dates are read again there
        ("UTC" takes that back). Nothing is embedded. It is a correction that leaves the text:
        `history` returns the earlier versions, which are "amended", `log` shows an "amend", and
        `at` an earlier time nothing has changed. by, why: as for `forget`.

        Raises `errors.UnknownIdError`, and `errors.InputError` if nothing would change.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> id = alice.retain("Call Bob.", id="todo", tags=["open"])
        >>> alice.amend("todo", tags=["done"], metadata={"minutes": 12}, by="ann")
        >>> [(memory.tags, memory.metadata) for memory in alice.history("todo")]
        [(('open',), {}), (('done',), {'minutes': 12})]
        """
        changes = read_amendment(tags, metadata, valid_until, zone)
        at = optional_micros(recorded_at, "recorded_at")
        act = _act("correct", by, why)
        memory = checked_id(id)
        self.engine.writable().amend(memory, changes, act, at)

    def _take_away(
        self,
        kind: str,
        id: str | Sequence[str],
        by: str | None,
        why: str | None,
        recorded_at: Moment | None,
    ) -> int:
        ids = [id] if isinstance(id, str) else as_list(id, "id", "a str or a list of str")
        at = optional_micros(recorded_at, "recorded_at")
        act = _act(kind, by, why)
        checked = [checked_id(one) for one in ids]
        return self.engine.writable().take_away(act, checked, at)

    def correct(
        self,
        id: str,
        text: str,
        *,
        event_at: Moment | None = None,
        network: str | None = None,
        context: str | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        valid_until: Moment | None = None,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
        embedding: Any = None,
        source: str | None = None,
        trust: str | None = None,
    ) -> None:
        """Correct a memory: it keeps its id, and its text is ``text`` from now on.

        Options that are not given stay as they were; a turn keeps its speaker. `history` returns
        the earlier versions, and `at` an earlier time nothing has changed. by, why: as for
        `forget`. embedding: float[dimension] of the new text; computed, if not given. source,
        trust: of the correction, as for `retain`. The memory then has this source or its former
        one, whichever is trusted less; an unknown source makes it unknown.

        Raises `errors.UnknownIdError`, and `errors.InputError` if nothing would change.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> ids = alice.retain("Bob lives in Oslo.", id="home")
        >>> alice.correct("home", "Bob lives in Rome.", by="ann", why="He said so.")
        >>> [(memory.text, memory.closed and memory.closed.how)
        ...  for memory in alice.history("home")]
        [('Bob lives in Oslo.', 'corrected'), ('Bob lives in Rome.', None)]
        """
        check_text(text, "text", MAX_TEXT)
        given = read_changes(
            event_at, network, context, tags, metadata, valid_until, stamp(source, trust)
        )
        at = optional_micros(recorded_at, "recorded_at")
        act = _act("correct", by, why)
        memory = checked_id(id)
        self.engine.writable().correct(memory, text, given, act, embedding, at)


def _act(kind: str, by: str | None, why: str | None) -> Act:
    check_note(by, why)
    return Act(kind, by, why)
