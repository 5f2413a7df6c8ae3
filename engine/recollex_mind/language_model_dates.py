"""Ranges of time found by a language model, at any endpoint that speaks OpenAI's protocol."""

import importlib.util
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from typing import TYPE_CHECKING, Any

from recollex_engine.dates.locales import check_zone
from recollex_engine.dates.periods import DAY
from recollex_engine.dates.time_range import EARLIEST, LATEST, TimeRange, local_time, utc_micros
from recollex_engine.errors import InputError, LanguageModelError, ModelError
from recollex_mind.llm.language_model import Keeping, ModelLimits, open_language_model
from recollex_mind.llm.prompts import find_prompt

if TYPE_CHECKING:
    from pydantic import BaseModel

PROMPT = "dates-1"
MOST_TOKENS = 300
"""Of an answer."""


@dataclass(frozen=True, slots=True)
class LanguageModelDates:
    """Asks a language model which range of time a question is about (TEMPR 3.1.4).

    ``model`` is its name at the endpoint ``base_url`` (OpenAI's own if None), which may be a local
    server; ``api_key`` is taken from OPENAI_API_KEY if None. The question and the time are sent.
    The answer is checked. `ModelError` is raised if the answer is not the JSON that was asked for
    or its end is before its start, and if the endpoint fails or is silent for ``timeout`` seconds;
    a recall reports the error in its trace. A request that fails is not repeated; an answer that is
    not what was asked for is asked for once more, within the same time. Times are those of ``tz``.

    Needs ``pip install 'recollex[llm]'``; raises `InputError` without it.

    Cost: one request a question, often hundreds of milliseconds.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = None
    timeout: float = 5.0
    tz: tzinfo | None = None
    _client: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Make the client; nothing is sent yet."""
        missing = [name for name in ("openai", "pydantic") if not importlib.util.find_spec(name)]
        if missing:
            raise InputError(
                f"LanguageModelDates needs {' and '.join(missing)}: pip install 'recollex[llm]'"
            )
        if not isinstance(self.model, str) or not self.model.strip():
            raise InputError(f"model must be its name at the endpoint, got {self.model!r}")
        if not isinstance(self.timeout, int | float) or not self.timeout > 0:
            raise InputError(f"timeout must be more than 0 seconds, got {self.timeout!r}")
        check_zone(self.tz)
        key = self.api_key or os.environ.get("OPENAI_API_KEY")
        limits = ModelLimits(deadline=float(self.timeout), attempts=1)
        client = open_language_model(self.model, self.base_url, key, limits, Keeping(), None)
        object.__setattr__(self, "_client", client)

    @property
    def name(self) -> str:
        """Return "llm:" and the model's name."""
        return f"llm:{self.model}"

    def close(self) -> None:
        """Close the connections that are kept open between questions."""
        self._client.close()

    def find(self, text: str, now: int) -> TimeRange | None:
        """Return the range of time that ``text`` is about, or None if it names none.

        Raises `ModelError` as the class says.
        """
        local = local_time(now, self.tz or UTC)
        if local is None or not text.strip():
            return None
        messages = find_prompt(PROMPT).render(
            now=f"{local:%Y-%m-%d %H:%M}", weekday=f"{local:%A}", question=text
        )
        try:
            answer: Any = self._client.ask_for(
                _answer_type(), messages, operation="dates", most_tokens=MOST_TOKENS
            )
        except LanguageModelError as error:
            if error.reason not in ("malformed", "truncated"):
                raise
            raise ModelError(f"{self.name} answered what is no range: {error}") from error
        if not answer.found:
            return None
        return self._range(answer, text, now)

    def _range(self, answer: Any, text: str, now: int) -> TimeRange:
        """Return the range of an answer that found one."""
        try:
            start = EARLIEST if answer.first is None else self._moment(answer.first, last=False)
            if answer.last is not None:
                end = self._moment(answer.last, last=True)
            else:
                end = now if start < now else LATEST
        except (ValueError, OverflowError) as error:
            raise ModelError(f"{self.name} answered what is not a time: {error}") from error
        if answer.first is None and answer.last is None:
            raise ModelError(
                f"{self.name} found a time but gave neither its first nor its last day"
            )
        if start >= end:
            raise ModelError(
                f"{self.name} answered a range that ends before it begins: "
                f"{answer.first} to {answer.last}"
            )
        at = text.find(answer.words or "")
        if not answer.words or at < 0:
            return TimeRange(start, end, text, (0, len(text)))
        return TimeRange(start, end, answer.words, (at, at + len(answer.words)))

    def _moment(self, written: str, *, last: bool) -> int:
        """Return the start of a day, or its end if it is the last day; a moment unchanged."""
        when = datetime.fromisoformat(written)
        if when.tzinfo is not None:
            when = when.astimezone(self.tz or UTC).replace(tzinfo=None)
        if last and len(written) == len("2023-05-07"):
            when += DAY
        elif last and when.time().isoformat() == "23:59:59":
            when += timedelta(seconds=1)
        return utc_micros(when, self.tz or UTC)


@cache
def _answer_type() -> "type[BaseModel]":
    """Return the type of the answer that a model must give."""
    import pydantic

    class Range(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="forbid", strict=True)

        found: bool
        words: str | None
        first: str | None
        last: str | None

    return Range
