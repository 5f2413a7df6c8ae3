"""How does an agent look for an answer step by step? A language model calls its tools."""

from collections.abc import Mapping
from typing import Any

from recollex.api.arguments import optional_micros
from recollex.api.tools import Tools
from recollex_engine.agents.cut import AgentOrCut, Cut
from recollex_engine.clock import Moment
from recollex_engine.domain.checks import check_count, check_text
from recollex_engine.domain.question import MAX_QUERY, UNBOUNDED
from recollex_engine.errors import InputError
from recollex_mind.episodic.contexts import Contexts
from recollex_mind.episodic.investigation import Investigation

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
