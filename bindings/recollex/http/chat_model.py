"""Who answers in words of its own? A language model behind OpenAI's protocol, if one is set."""

import importlib.util
import os
from typing import Any

from recollex_engine.errors import InputError, ModelError

SECONDS = 60.0
"""Seconds within which a model must have answered."""


class ChatModel:
    """A model at an endpoint that speaks OpenAI's protocol (its own if ``base_url`` is None).

    Its key is taken from OPENAI_API_KEY, which an endpoint of one's own may do without. Needs
    ``pip install 'recollex[llm]'``; raises `InputError` without it. Nothing is tried twice.
    Threads: one event loop's.
    """

    def __init__(self, model: str, base_url: str | None = None) -> None:
        if not importlib.util.find_spec("openai"):
            raise InputError("a language model needs openai: pip install 'recollex[llm]'")
        import openai

        self.name = model
        try:
            key = os.environ.get("OPENAI_API_KEY") or ("none" if base_url else None)
            self._client = openai.AsyncOpenAI(
                api_key=key, base_url=base_url, timeout=SECONDS, max_retries=0
            )
        except openai.OpenAIError as error:
            raise InputError(f"no client for {base_url or 'OpenAI'}: {error}") from error

    async def answer(self, messages: list[dict[str, str]]) -> str:
        """Return what the model says to messages. Raises `ModelError` where it says nothing."""
        import openai

        told: Any = messages
        try:
            answer = await self._client.chat.completions.create(model=self.name, messages=told)
            content = answer.choices[0].message.content
        except (openai.OpenAIError, ValueError) as error:  # the latter: a body that is no JSON
            raise ModelError(f"{self.name} did not answer: {type(error).__name__}") from error
        except (AttributeError, IndexError, TypeError) as error:  # a page, or no choices
            raise ModelError(f"{self.name} answered what is no chat completion") from error
        if not isinstance(content, str) or not content.strip():
            raise ModelError(f"{self.name} answered nothing")
        return content.strip()

    async def close(self) -> None:
        """Close the connections that are kept between questions."""
        await self._client.close()
