"""Who is an agent and what does it think? Its profile, and its opinions with their chains."""

import warnings
from collections.abc import Sequence

from recollex.api.arguments import as_names, checked_id, checked_note, one_or_more, optional_micros
from recollex_engine import fork
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import Moment
from recollex_engine.domain.checks import MAX_NAME, MAX_TEXT, check_count, check_number, check_text
from recollex_engine.domain.filter import Filter
from recollex_engine.domain.question import MAX_LIMIT
from recollex_engine.domain.schema import OPINION
from recollex_engine.errors import InputError, LanguageModelError
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
from recollex_mind.profile import BACKGROUND, MAX_BACKGROUND, Profile, profile_changes, read_profile
from recollex_mind.profile import read_profile as read


# Who is an agent? Its profile, which is read, set, and grows by what it is told of itself.
class AgentProfile:
    """The profile of an agent, from `Agent.profile` (Memora 4).

    It sways how the agent thinks and which opinions it forms, never what it recalls. Each change is
    in the log, with who made it and why.
    """

    def __init__(self, agent: AgentOrCut) -> None:
        self._agent = agent
        self._merging = fork.lock()

    def get(self, *, as_recorded: Moment | None = None) -> Profile:
        """Return the profile: 0.5 for every trait and no background, where nothing was set.

        as_recorded: as it was at this recorded time.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> alice.profile.get().personality["openness"]
        0.5
        """
        at = optional_micros(as_recorded, "as_recorded")
        return read(self._agent.name, self._agent.facts(at, None))

    def set(
        self,
        *,
        openness: float | None = None,
        conscientiousness: float | None = None,
        extraversion: float | None = None,
        agreeableness: float | None = None,
        neuroticism: float | None = None,
        bias_strength: float | None = None,
        background: str | None = None,
        by: str | None = None,
        why: str | None = None,
        recorded_at: Moment | None = None,
    ) -> Profile:
        """Set parts of the profile, as one transaction, and return all of it.

        What is not given stays as it is. The traits and the bias strength lie in [0, 1].
        background: who the agent is, in the first person, of up to 500 characters; "" removes it.
        Raises `errors.InputError`.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> alice.profile.set(openness=0.9, background="I am an engineer.", by="ann").traits[0]
        'very high openness to new ideas'
        """
        personality = {
            "openness": openness,
            "conscientiousness": conscientiousness,
            "extraversion": extraversion,
            "agreeableness": agreeableness,
            "neuroticism": neuroticism,
            "bias_strength": bias_strength,
        }
        changes = profile_changes(personality, background)
        note = checked_note(by, why)
        at = optional_micros(recorded_at, "recorded_at")
        self._agent.writable().transact(changes, [note] * len(changes), at)
        return self.get()

    def merge_background(
        self, content: str, *, by: str | None = None, why: str | None = None
    ) -> Profile:
        """Merge what is new into the background, and return the profile (Memora 4.4).

        The language model of the store merges it, and where the new text contradicts the old one,
        the new one stays. Without a model, or if it fails (then with a warning), rules do: the text
        is put in the first person and appended, without what is there already; of what can be so
        only once, such as where one was born, the new text stays.

        Raises `errors.InputError` for a background that would have more than 500 characters.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> profile = alice.profile.merge_background("You were born in Colorado. You cook.")
        >>> alice.profile.merge_background("You were born in Texas.").background
        'I was born in Texas. I cook.'
        """
        from recollex_mind.background import merged_by_model, merged_by_rule

        check_text(content, "content", MAX_TEXT)
        note = checked_note(by, why)
        agent = self._agent.writable()
        with self._merging:
            current = self.get().background
            model = agent.context.llm
            merged = None
            if model is not None:
                try:
                    merged = merged_by_model(model, current, content)
                except LanguageModelError as error:
                    warnings.warn(
                        f"the background was merged by rule: {error}", RuntimeWarning, stacklevel=2
                    )
            if merged is None or len(merged) > MAX_BACKGROUND:
                merged = merged_by_rule(current, content)
            if len(merged) > MAX_BACKGROUND:
                raise InputError(
                    f"a background may have up to {MAX_BACKGROUND} characters, and would have "
                    f"{len(merged):,}: profile.set({BACKGROUND}=...) replaces it"
                )
            changes = profile_changes({}, merged)
            agent.transact(changes, [note] * len(changes))
            return self.get()


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
