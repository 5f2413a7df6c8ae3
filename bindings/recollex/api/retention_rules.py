"""How long, and how many, memories does an agent keep? Rules that it applies to itself."""

from collections.abc import Sequence

from recollex.api.arguments import checked_note
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.domain.removal import Expiry, Retention, check_rules


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
