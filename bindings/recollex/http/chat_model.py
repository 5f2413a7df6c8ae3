"""A language model that answers in its own words, over OpenAI's protocol; optional."""

import importlib.util
import os
from typing import Any

from recollex_engine.errors import InputError, ModelError

SECONDS = 60.0
"""Seconds within which the model must answer."""


class ChatModel:
    """A model at an endpoint that speaks OpenAI's protocol (OpenAI's own if ``base_url`` is None).

    The key is taken from OPENAI_API_KEY; an endpoint at ``base_url`` may need none. Needs ``pip
    install 'recollex[llm]'``, and raises `InputError` without it. A failed request is not repeated.
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
        """Return the model's answer to messages. Raises `ModelError` if there is none."""
        import openai

        told: Any = messages
        try:
            answer = await self._client.chat.completions.create(model=self.name, messages=told)
            content = answer.choices[0].message.content
        except (openai.OpenAIError, ValueError) as error:  # ValueError: the body is not JSON
            raise ModelError(f"{self.name} did not answer: {type(error).__name__}") from error
        except (AttributeError, IndexError, TypeError) as error:  # another JSON body, or no choices
            raise ModelError(f"{self.name} answered what is no chat completion") from error
        if not isinstance(content, str) or not content.strip():
            raise ModelError(f"{self.name} answered nothing")
        return content.strip()

    async def close(self) -> None:
        """Close the connections that are kept between questions."""
        await self._client.close()
