"""How does an agent think about a question? It recalls, and a language model answers for it."""

from collections.abc import Callable, Mapping
from typing import Any

from recollex.api.arguments import optional_micros
from recollex.api.tools import Tools
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
from recollex_mind.episodic.contexts import Contexts
from recollex_mind.episodic.investigation import Investigation
from recollex_mind.thought import Thought

# How does an agent look for an answer step by step? A language model calls its tools.
MAX_STEPS = 32
LEAST_TOKENS = 2_000
"""Fewer tokens have no room for the instructions, one call of a tool and an answer."""


class Investigating:
    """The method of `Agent` that investigates."""

    engine: AgentOrCut

    def investigate(
        self,
        question: str,
        *,
        max_steps: int = 3,
        mode: str = "iterative",
        max_tokens: int = 16_000,
        reasoning: str = "plain",
        now: Moment | None = None,
    ) -> Investigation:
        """Return what the agent finds out about ``question`` by its tools (REMem 3.2).

        The language model of the store (`recollex.open`) calls tools of `Agent.tools` for at most
        ``max_steps`` steps and answers from what they returned; `Investigation.steps` is the trace.
        Where nothing answers the question, `Investigation.text` is "no information available" and
        ``refused`` is set.

        max_steps: REMem has 3 for recollection and 5 for reasoning over many events. mode:
        "iterative" (REMem-I), or "single" (REMem-S): one semantic search for ten gists and facts,
        then the answer. max_tokens: of all requests to the model and its replies. reasoning: how
        the answer is made: "plain", or "timeline", in the four parts of TISER. now: the time of the
        question.

        A model that fails is a warning, and `Investigation.error`. Ctrl-C, a
        `recollex.Cancellation` and cancelling the task of asyncio give it up. Raises
        `errors.InputError`, also where the store has no model: the tools themselves need none.

        >>> import recollex, tempfile
        >>> alice = recollex.open(tempfile.mkdtemp()).agent("alice")
        >>> alice.investigate("What was the second city that Ann visited?")
        Traceback (most recent call last):
        recollex_engine.errors.InputError: investigate needs a language model: ...
        """
        from recollex_mind.episodic.investigating import Inquiry, investigate, tools_in_words

        check_text(question, "question", MAX_QUERY)
        check_count(max_steps, "max_steps", 1, MAX_STEPS)
        check_count(max_tokens, "max_tokens", LEAST_TOKENS, UNBOUNDED)
        for name, given, known in (
            ("mode", mode, ("iterative", "single")),
            ("reasoning", reasoning, ("plain", "timeline")),
        ):
            if given not in known:
                raise InputError(f"{name} must be one of {', '.join(known)}, got {given!r:.80}")
        agent = self.engine
        model = self.engine.context.llm
        tools = Tools(self.engine)
        at = optional_micros(now, "now")
        if at is None:
            at = agent.recorded_at if isinstance(agent, Cut) else agent.clock()
        if model is None:
            raise InputError(
                "investigate needs a language model: recollex.open(..., llm=recollex.llm(NAME)), "
                "--llm NAME on the command line; the tools of Agent.tools need none"
            )
        schemas = tools.schemas("mcp")
        inquiry = Inquiry(
            question=question,
            max_steps=max_steps,
            mode=mode,
            max_tokens=max_tokens,
            reasoning=reasoning,
            now=at,
            tools=tools_in_words(schemas),
            tool_names=tuple(each["name"] for each in schemas),
        )

        def call(name: str, arguments: Mapping[str, Any]) -> Contexts | str:
            return tools.call(name, arguments)

        return investigate(agent, inquiry, model, call)


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
