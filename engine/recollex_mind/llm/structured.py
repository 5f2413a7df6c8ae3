"""Answers of a language model that have a type: their schema, their check, and one repair."""

import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from recollex_engine.errors import InputError
from recollex_mind.llm.exchange import Message, Reply
from recollex_mind.llm.prompts import find_prompt

if TYPE_CHECKING:
    from pydantic import BaseModel

Answer = TypeVar("Answer", bound="BaseModel")
_LONGEST_COMPLAINT = 1000
_LONGEST_QUOTE = 20_000
_LONGEST_ANSWER = 1 << 17
"""Characters; the longest answer that is asked for, of 4,096 tokens, has some 20,000."""
_MOST_LISTED = 100  # complaints; beyond these, to list them takes gigabytes


def schema_of(kind: "type[BaseModel]") -> dict[str, Any]:
    """Return the JSON schema of a type. Raises `InputError` without pydantic."""
    if not importlib.util.find_spec("pydantic"):
        raise InputError("answers of a type need pydantic: pip install 'recollex[llm]'")
    return kind.model_json_schema()


def read_answer(kind: type[Answer], reply: Reply) -> Answer | str:
    """Return the answer that a reply holds, or a str that says what is wrong with it."""
    import pydantic

    if reply.finish == "length":
        return "it was cut off, because it is too long: give a shorter one"
    text = reply.text
    if len(text) > _LONGEST_ANSWER:
        return f"it has {len(text)} characters, but may have {_LONGEST_ANSWER}: give a shorter one"
    inner = text[max(0, text.find("{")) : text.rfind("}") + 1] or text
    try:
        return kind.model_validate_json(inner)
    except pydantic.ValidationError as error:
        if error.error_count() > _MOST_LISTED:
            return f"{error.error_count()} of its parts do not fit the schema"
        wrong = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'the answer'}: {each['msg']}"
            for each in error.errors(include_url=False, include_input=False)
        )
        return wrong[:_LONGEST_COMPLAINT]


def to_repair(messages: Sequence[Message], reply: Reply, complaint: str) -> tuple[Message, ...]:
    """Return the messages that ask for the answer again, and say what was wrong with it."""
    said = find_prompt("repair-1").render(complaint=complaint)
    answer = {"role": "assistant", "content": reply.text[:_LONGEST_QUOTE]}
    return (*messages, answer, *said)
