"""How often was a memory returned or used? Counted beside the memory, and told by the caller."""

from collections.abc import Sequence

from recollex.api.arguments import checked_id, one_or_more
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.domain.checks import MAX_IDS, check_count, check_flag
from recollex_engine.state.accesses import Accesses


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
