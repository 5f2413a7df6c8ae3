"""How is a memory changed or removed? It is corrected, archived or forgotten."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from recollex.api.arguments import as_list, checked_id, optional_micros
from recollex.api.statements import read_changes
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.domain.act import Act
from recollex_engine.domain.checks import MAX_TEXT, check_note, check_text


class MemoryChanges:
    """The methods of `Agent` that change or remove memories."""

    engine: AgentOrCut

    def forget(
        self,
        id: str | Sequence[str],
        *,
        by: str | None = None,
        why: str | None = None,
        recorded_at: datetime | None = None,
    ) -> None:
        """Forget one memory or several, as one transaction: nothing returns them from now on.

        `at` an earlier time they are still there. by, why: who does it and for which reason, for
        the log. Raises `errors.UnknownIdError` for an id that does not exist; then nothing is
        forgotten.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> ids = alice.retain(["Bob likes tea.", "Bob likes milk."], id=["tea", "milk"])
        >>> alice.forget("milk", by="ann", why="It was a joke.")
        >>> [memory.id for memory in alice.list()]
        ['tea']
        """
        self._take_away("forget", id, by, why, recorded_at)

    def archive(
        self,
        id: str | Sequence[str],
        *,
        by: str | None = None,
        why: str | None = None,
        recorded_at: datetime | None = None,
    ) -> None:
        """Archive one memory or several, as one transaction: they are kept, but not recalled.

        `get` and `history` still return them, and say who archived them and why; `recall` and
        `list` do not return them. Raises `errors.UnknownIdError` for an id that does not exist or
        is archived already; then nothing is archived.
        """
        self._take_away("archive", id, by, why, recorded_at)

    def _take_away(
        self,
        kind: str,
        id: str | Sequence[str],
        by: str | None,
        why: str | None,
        recorded_at: datetime | None,
    ) -> None:
        ids = [id] if isinstance(id, str) else as_list(id, "id", "a str or a list of str")
        at = optional_micros(recorded_at, "recorded_at")
        act, checked = _act(kind, by, why), [checked_id(one) for one in ids]
        self.engine.writable().take_away(act, checked, at)

    def correct(
        self,
        id: str,
        text: str,
        *,
        event_at: datetime | None = None,
        network: str | None = None,
        context: str | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        valid_until: datetime | None = None,
        by: str | None = None,
        why: str | None = None,
        recorded_at: datetime | None = None,
        embedding: Any = None,
    ) -> None:
        """Correct a memory: it keeps its id, and its text is ``text`` from now on.

        Options that are not given stay as they were; a turn keeps its speaker. `history` returns
        the earlier versions, and `at` an earlier time nothing has changed. by, why: as for
        `forget`. embedding: float[dimension] of the new text; computed, if not given.

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
        given = read_changes(event_at, network, context, tags, metadata, valid_until)
        at = optional_micros(recorded_at, "recorded_at")
        act = _act("correct", by, why)
        memory = checked_id(id)
        self.engine.writable().correct(memory, text, given, act, embedding, at)


def _act(kind: str, by: str | None, why: str | None) -> Act:
    check_note(by, why)
    return Act(kind, by, why)
