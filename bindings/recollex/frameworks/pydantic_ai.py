"""Pydantic AI: a toolset by which a model retains, recalls, corrects and forgets.

Needs ``pip install 'recollex[pydantic-ai]'``.
"""

from collections.abc import Callable, Mapping
from typing import Any

from recollex.frameworks import adapter_calls as tools
from recollex.frameworks.adapter_calls import awaited
from recollex_engine.errors import InputError, UnknownIdError

try:
    from pydantic_ai import FunctionToolset, ModelRetry
except ImportError as error:
    raise ImportError(
        "recollex.frameworks.pydantic_ai needs pydantic-ai-slim: "
        "pip install 'recollex[pydantic-ai]'"
    ) from error


class RecollexToolset(FunctionToolset[Any]):
    """The tools `retain`, `recall`, `correct` and `forget` over the memories of an agent.

    agent: of `recollex.open`, `recollex.connect` or `recollex.aio`. by: who the log says changed
    something. read_only: offers `recall` alone. options: of `Agent.recall`, such as
    {"max_tokens": 500}. toolset: of `FunctionToolset`, such as {"id": "memory"}.

    What recollex refuses is told to the model, which may try again. What it retains has the source
    "assistant".

    ::

        Agent(model, toolsets=[RecollexToolset(store.agent("alice"))])

    >>> sorted(RecollexToolset(None).tools)
    ['correct', 'forget', 'recall', 'retain']
    """

    def __init__(
        self,
        agent: Any,
        *,
        by: str = "pydantic-ai",
        read_only: bool = False,
        limit: int = 10,
        options: Mapping[str, Any] | None = None,
        toolset: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(**(toolset or {}))
        self.agent: Any = agent

        async def retain(text: str, tags: list[str] | None = None) -> str:
            id = await _told(agent.retain, text, tags=tags or (), source="assistant")
            return f"remembered as {id}"

        async def recall(query: str, tags: list[str] | None = None) -> str:
            wanted = {"limit": limit, **(options or {}), "tags": tags or ()}
            return tools.lines(await _told(agent.recall, query, **wanted))

        async def correct(id: str, text: str, why: str) -> str:
            await _told(agent.correct, id, text, why=why, by=by, source="assistant")
            return "corrected"

        async def forget(id: str, why: str) -> str:
            await _told(agent.forget, id, why=why, by=by)
            return "forgotten"

        self.add_function(recall, description=tools.RECALL)
        if not read_only:
            self.add_function(retain, description=tools.RETAIN)
            self.add_function(correct, description=tools.CORRECT)
            self.add_function(forget, description=tools.FORGET)


async def _told(method: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
    """Call a method; what it refuses, the model is told."""
    try:
        return await awaited(method, *args, **options)
    except (InputError, UnknownIdError) as error:
        raise ModelRetry(str(error)) from error
