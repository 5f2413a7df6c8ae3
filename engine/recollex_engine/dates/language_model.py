"""Ranges of time found by a language model, at any endpoint that speaks OpenAI's protocol."""

import importlib.util
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from typing import TYPE_CHECKING, Any

from recollex_engine.dates.periods import DAY
from recollex_engine.dates.time_range import EARLIEST, LATEST, TimeRange, local_time, utc_micros
from recollex_engine.errors import InputError, ModelError

if TYPE_CHECKING:
    from pydantic import BaseModel

_INSTRUCTIONS = """\
You find which stretch of time a question to a memory asks about.
Now it is {now} ({weekday}).
Answer with one JSON object and nothing else:
{{"found": true or false, "words": the words of the question that say when, copied exactly,
 "first": the first day "YYYY-MM-DD" or moment "YYYY-MM-DDTHH:MM" of that time,
 "last": its last day, or the moment at which it ends}}
"found" is false, and the rest null, if the question names no time; do not guess one.
"first" is null for a time without a beginning ("before 2020"), "last" for one that lasts until
now. "last week" is the calendar week before this one, Monday to Sunday; "last spring" is 1 March to
31 May of the previous year; "in June" is the latest June that has begun."""


@dataclass(frozen=True, slots=True)
class LanguageModelDates:
    """Asks a language model which range of time a question is about (TEMPR 3.1.4).

    ``model`` is its name at the endpoint ``base_url`` (OpenAI's own if None), which may be a local
    server; ``api_key`` is taken from OPENAI_API_KEY if None. The question and the time are sent.
    The answer is checked. `ModelError` is raised if the answer is not the JSON that was asked for
    or its end is before its start, and if the endpoint fails or is silent for ``timeout`` seconds;
    a recall reports the error in its trace. No request is repeated. Times are those of ``tz``.

    Needs ``pip install 'recollex[llm]'``; raises `InputError` without it.

    Cost: one request a question, often hundreds of milliseconds.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = None
    timeout: float = 5.0
    tz: tzinfo = UTC
    _client: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Make the client; nothing is sent yet."""
        missing = [name for name in ("openai", "pydantic") if not importlib.util.find_spec(name)]
        if missing:
            raise InputError(
                f"LanguageModelDates needs {' and '.join(missing)}: pip install 'recollex[llm]'"
            )
        if not self.timeout > 0:
            raise InputError(f"timeout must be more than 0 seconds, got {self.timeout}")
        import openai

        try:
            client = openai.OpenAI(
                base_url=self.base_url,
                api_key=self.api_key,
                timeout=self.timeout,
                max_retries=0,
            )
        except openai.OpenAIError as error:
            raise InputError(f"no client for {self.base_url or 'OpenAI'}: {error}") from error
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
        import pydantic

        local = local_time(now, self.tz)
        if local is None or not text.strip():
            return None
        content = self._ask(text, local)
        try:
            answer: Any = _answer_type().model_validate_json(content)
        except pydantic.ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise ModelError(
                f"{self.name} answered what is no range: {first['msg']}, got {content[:200]!r}"
            ) from error
        if not answer.found:
            return None
        return self._range(answer, text, now)

    def _ask(self, text: str, local: datetime) -> str:
        import openai

        said = _INSTRUCTIONS.format(now=f"{local:%Y-%m-%d %H:%M}", weekday=f"{local:%A}")
        try:
            answer = self._client.chat.completions.create(
                model=self.model,
                temperature=0,
                messages=[
                    {"role": "system", "content": said},
                    {"role": "user", "content": text},
                ],
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": "range", "schema": _answer_type().model_json_schema()},
                },
            )
            content = answer.choices[0].message.content
        except (openai.OpenAIError, ValueError) as error:  # the latter: a body that is no JSON
            kind = type(error).__name__
            raise ModelError(f"{self.name} did not answer: {kind}: {error}") from error
        except (AttributeError, IndexError, TypeError) as error:  # a page, or no choices
            raise ModelError(f"{self.name} answered what is no chat completion") from error
        if not isinstance(content, str) or not content:
            raise ModelError(f"{self.name} answered nothing")
        return content[max(0, content.find("{")) : content.rfind("}") + 1] or content

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
            when = when.astimezone(self.tz).replace(tzinfo=None)
        if last and len(written) == len("2023-05-07"):
            when += DAY
        elif last and when.time().isoformat() == "23:59:59":
            when += timedelta(seconds=1)
        return utc_micros(when, self.tz)


@cache
def _answer_type() -> "type[BaseModel]":
    """Return the type of the answer that a model must give."""
    import pydantic

    class Answer(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(extra="forbid", strict=True)

        found: bool
        words: str | None
        first: str | None
        last: str | None

    return Answer
