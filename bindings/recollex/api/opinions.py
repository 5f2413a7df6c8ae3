"""What an agent thinks: opinions, which are formed, superseded, and read with their chains."""

from collections.abc import Sequence

from recollex.api.arguments import as_names, checked_id, checked_note, one_or_more, optional_micros
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import Moment
from recollex_engine.domain.checks import MAX_NAME, MAX_TEXT, check_count, check_number, check_text
from recollex_engine.domain.filter import Filter
from recollex_engine.domain.question import MAX_LIMIT
from recollex_engine.domain.schema import OPINION
from recollex_engine.errors import InputError
from recollex_mind.opinions import (
    Forming,
    Opinion,
    chain_of,
    form,
    get_opinion,
    read_formed_at,
    read_opinion,
    weighed,
)
from recollex_mind.profile import read_profile

MAX_REASONS = 32


class Opinions:
    """The opinions of an agent, from `Agent.opinions` (Memora 2.1.3).

    An opinion is a memory of the network "opinion": `Agent.recall` finds it, `forget` and `erase`
    remove it. It does not change once it is formed: `correct` and `amend` refuse it, and a later
    opinion supersedes it.
    """

    def __init__(self, agent: AgentOrCut) -> None:
        self._agent = agent

    def form(
        self,
        text: str,
        *,
        confidence: float,
        reasons: str | Sequence[str] = (),
        evidence: str | Sequence[str] = (),
        entities: Sequence[str] = (),
        supersedes: str | None = None,
        formed_at: Moment | None = None,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> str:
        """Form an opinion under the agent's present profile, and return its id.

        confidence: in [0, 1]. reasons: texts, kept with it and found by recalls. evidence: ids of
        memories that it rests on; its trust is that of the least trusted of them, and at most that
        of "assistant". supersedes: the id of an opinion that this one takes the place of: that one
        is archived in the same transaction, and `chain` reads both. If it says the same with the
        same confidence, reasons and evidence, nothing is recorded and its id is returned.

        Raises `errors.UnknownIdError`, and `errors.InputError`.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> first = alice.opinions.form("Remote work is good.", confidence=0.7,
        ...                             reasons=["No commute."])
        >>> later = alice.opinions.form("Remote work is lonely.", confidence=0.6, supersedes=first)
        >>> [(opinion.text, opinion.confidence) for opinion in alice.opinions.chain(first)]
        [('Remote work is good.', 0.7), ('Remote work is lonely.', 0.6)]
        """
        check_text(text, "text", MAX_TEXT)
        check_number(confidence, "confidence", 0, 1)
        said = one_or_more(reasons, "reasons")
        if len(said) > MAX_REASONS:
            raise InputError(f"reasons may have up to {MAX_REASONS} items, got {len(said)}")
        for each in said:
            check_text(each, "reasons", MAX_NAME)
        forming = Forming(
            text.strip(),
            float(confidence),
            said,
            tuple(checked_id(each) for each in one_or_more(evidence, "evidence")),
            as_names(entities, "entities"),
            None if supersedes is None else checked_id(supersedes),
            read_formed_at(formed_at),
        )
        return self._record(forming, by, why, recorded_at)

    def weigh(
        self,
        id: str,
        *,
        supporting: str | Sequence[str] = (),
        contradicting: str | Sequence[str] = (),
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> str:
        """Weigh an opinion against memories for and against it; return the id of what it becomes.

        A new opinion supersedes it, with the same text and another confidence: each memory of full
        weight doubles or halves its odds. What the user said weighs 1, what a tool said 0.75,
        anything else 0.5, and an opinion that times its own confidence; a memory that is among the
        evidence already does not count again. If nothing counts, nothing is recorded.

        Raises `errors.UnknownIdError`, and `errors.InputError` for an opinion without confidence.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> study = alice.retain("The team ships more from home.", source="user")
        >>> first = alice.opinions.form("Remote work is good.", confidence=0.5)
        >>> alice.opinions.get(alice.opinions.weigh(first, supporting=study)).confidence
        0.6667
        """
        for_it, against = (
            tuple(checked_id(each) for each in one_or_more(given, name))
            for given, name in ((supporting, "supporting"), (contradicting, "contradicting"))
        )
        _, forming = weighed(self._agent, checked_id(id), for_it, against)
        return self._record(forming, by, why, recorded_at)

    def get(self, id: str) -> Opinion:
        """Return an opinion, superseded or not. Raises `errors.UnknownIdError`."""
        return get_opinion(self._agent, checked_id(id))

    def chain(self, id: str) -> list[Opinion]:
        """Return how an opinion came about: all that one superseded another, oldest first.

        ``id``: of any of them. Opinions that were forgotten end the chain.
        """
        return chain_of(self._agent, checked_id(id))

    def find(
        self, *, min_confidence: float = 0.0, after: str | None = None, limit: int = 100
    ) -> list[Opinion]:
        """Return the opinions that are held now, in the order in which they were recorded.

        min_confidence: in [0, 1]; above 0, opinions without a confidence are left out. after: the
        id of the last opinion of the page before; limit: the most that a page is made from.
        """
        check_number(min_confidence, "min_confidence", 0, 1)
        check_count(limit, "limit", 1, MAX_LIMIT)
        last = None if after is None else checked_id(after)
        held = self._agent.list(last, limit, Filter(network=(OPINION,)), False)
        opinions = map(read_opinion, held)
        return [each for each in opinions if (each.confidence or 0.0) >= min_confidence]

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the opinions that `Agent.think` forms are recorded; return whether they are.

        seconds: the longest wait; None for as long as it takes. Closing the store waits as well.
        """
        if seconds is not None:
            check_number(seconds, "seconds", 0, 86_400)
        return self._agent.context.work.wait(self._agent.name, seconds)

    def _record(
        self, forming: Forming, by: str | None, why: str | None, recorded_at: Moment | None
    ) -> str:
        note = checked_note(by, why)
        at = optional_micros(recorded_at, "recorded_at")
        profile = read_profile(self._agent.name, self._agent.facts(None, None))
        return form(self._agent, forming, profile, note, at)
