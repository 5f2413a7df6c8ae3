"""Claims at cuts of an agent, as training data for a critic of times."""

from collections.abc import Iterator

from recollex.api.agent import Agent
from recollex.api.local_agents import local_engine
from recollex_engine.domain.checks import check_flag
from recollex_engine.mind.critique_data import CritiqueExample, balanced_examples, critique_examples


def critique_data(agent: Agent, *, balanced: bool = False) -> Iterator[CritiqueExample]:
    """Yield the facts of an agent, or of a cut of it, as claims that hold at a moment or do not.

    Each version of each fact is asked at the moments at which one was recorded or closed, and
    before, in and after its valid time; what was corrected meanwhile keeps its evidence, and does
    not hold. A critic of times can be trained on them (MemoTrace); `Agent.think` has one by rule.
    balanced: as many that hold as such that do not. Evidence that was forgotten is left out.

    Cost: some 50 us an example. Raises `errors.InputError` for an agent of a client: open the
    store with ``read_only=True`` beside its server.

    >>> import recollex, tempfile
    >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
    >>> id = alice.facts.add("Alice", "lives_in", "Oslo")
    >>> alice.facts.correct(id, object="Rome", why="misheard")
    >>> for each in recollex.critique_data(alice):
    ...     if each.kind == "lagged":
    ...         print(each.claim, each.holds, each.reason)
    ...         break
    Alice lives in Oslo False corrected
    """
    check_flag(balanced, "balanced")
    examples = critique_examples(local_engine(agent))
    return iter(balanced_examples(examples)) if balanced else examples
