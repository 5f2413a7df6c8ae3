"""Who is an agent? Its profile, which is read, set, and grows by what it is told of itself."""

import warnings

from recollex.api.arguments import checked_note, optional_micros
from recollex_engine import fork
from recollex_engine.agents.cut import AgentOrCut
from recollex_engine.clock import Moment
from recollex_engine.domain.checks import MAX_TEXT, check_text
from recollex_engine.errors import InputError, LanguageModelError
from recollex_mind.profile import BACKGROUND, MAX_BACKGROUND, Profile, profile_changes
from recollex_mind.profile import read_profile as read


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
