"""How does an agent think about a question? It recalls, and a language model answers for it."""

from collections.abc import Callable

from recollex.api.arguments import optional_micros
from recollex_engine.agents.cut import AgentOrCut, Cut
from recollex_engine.clock import Moment
from recollex_engine.domain.checks import (
    MAX_TEXT,
    check_count,
    check_flag,
    check_number,
    check_text,
)
from recollex_engine.domain.question import MAX_BUDGET, MAX_QUERY, UNBOUNDED
from recollex_engine.domain.trust import trust_number
from recollex_engine.errors import InputError
from recollex_mind.thought import Thought


class ThinkingMethods:
    """The method of `Agent` that thinks."""

    engine: AgentOrCut

    def think(
        self,
        question: str,
        *,
        thinking_budget: int = 50,
        max_tokens: int = 4096,
        context: str | None = None,
        stream: Callable[[str], object] | None = None,
        min_confidence: float = 0.15,
        trust: str | None = None,
        now: Moment | None = None,
        form_opinions: bool = True,
    ) -> Thought:
        """Return what the agent thinks about ``question``, in its own character (Memora 4.3).

        It recalls from the networks agent, world and opinion, and the language model of the store
        (`recollex.open`) answers from that and from the agent's profile. Labels that the answer
        cites are checked against what was recalled, and what they cite against the time that the
        question asks about; the model gets one chance to repair what is wrong. Without a model, or
        if it fails (with a warning), ``Thought.text`` is None.

        thinking_budget: as for `recall`. max_tokens: of the memories in the prompt: half for the
        world, a quarter for each of the others. context: what else bears on the question. stream:
        called with each piece of the answer as it comes; an answer that was streamed is checked,
        and not repaired. min_confidence: if the recall's confidence is lower, the model is not
        asked, and the answer says what was looked for. trust: the least trust of the memories.
        form_opinions: record the opinions that the answer expresses, in the background; an agent
        as of a time records none. That they are to be formed is recorded before the answer is
        returned, so that the next opening forms them if the process is killed. See `Opinions.wait`.

        Ctrl-C, a `recollex.Cancellation` and cancelling the task of asyncio give it up. Raises
        `errors.InputError`.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> thought = alice.think("Who runs the maps team?")
        >>> thought.refused, thought.text[:13]
        (True, 'I do not know')
        """
        from recollex_mind.opinion_forming import begin
        from recollex_mind.thinking import Asking, think

        check_text(question, "question", MAX_QUERY)
        check_count(thinking_budget, "thinking_budget", 1, MAX_BUDGET)
        check_count(max_tokens, "max_tokens", 1, UNBOUNDED)
        check_number(min_confidence, "min_confidence", 0, 1)
        check_flag(form_opinions, "form_opinions")
        if context is not None:
            check_text(context, "context", MAX_TEXT)
        if stream is not None and not callable(stream):
            raise InputError(
                f"stream must be a function of a piece of text, got {type(stream).__name__}"
            )
        asking = Asking(
            question,
            thinking_budget,
            max_tokens,
            context,
            float(min_confidence),
            0 if trust is None else trust_number(trust),
            optional_micros(now, "now"),
        )
        agent = self.engine
        model = self.engine.context.llm
        thought = think(agent, asking, model, stream)
        if thought.text is None or thought.refused or isinstance(agent, Cut):
            return thought
        if form_opinions and model is not None and not agent.context.read_only:
            begin(agent, thought, model)
        return thought
