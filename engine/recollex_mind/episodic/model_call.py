"""The form in which a model calls a tool: reasoning, function, parameters (REMem, Figure 5)."""

from functools import cache
from typing import TYPE_CHECKING, Any

from recollex_engine.errors import InputError

if TYPE_CHECKING:
    from pydantic import BaseModel

MOST_REASONING = 2000
"""Characters of a model's reasoning."""


@cache
def call_type(tools: tuple[str, ...]) -> "type[BaseModel]":
    """Return the type of a call. Raises `InputError` without pydantic.

    Arguments that are left out are null. The schema asks for every name, as endpoints with strict
    schemas do; what is read may lack some. Whether the tool exists and takes them is checked where
    it is called, so that the model is told by the same words as everyone; the schema lists
    ``tools``, which keeps a model that answers by it from inventing one.
    """
    try:
        import pydantic
    except ImportError as error:
        raise InputError(
            "investigating with a model needs pydantic: pip install 'recollex[llm]'"
        ) from error

    def every_name(schema: dict[str, Any]) -> None:
        schema["required"] = list(schema["properties"])

    config = pydantic.ConfigDict(extra="forbid", allow_inf_nan=False, json_schema_extra=every_name)

    class Parameters(pydantic.BaseModel):
        model_config = config

        query: str | None = None
        gist_id: str | int | None = None
        subject: str | None = None
        predicate: str | None = None
        object: str | int | float | bool | None = None
        start_time: str | int | None = None
        end_time: str | int | None = None
        start_operator: str | None = None
        end_operator: str | None = None
        limit: int | str | None = None
        ordering: str | None = None
        offset: int | str | None = None
        aggregation: str | None = None
        answer: str | int | float | bool | None = None

        @pydantic.field_validator("*")
        @classmethod
        def fits(cls, value: Any) -> Any:
            """Refuse a whole number that no prompt and no message can hold."""
            if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
                raise ValueError("a whole number must fit in 64 bits")
            return value

    class ToolUse(pydantic.BaseModel):
        model_config = config

        reasoning: str = pydantic.Field(default="", max_length=MOST_REASONING)
        function: str = pydantic.Field(max_length=200, json_schema_extra={"enum": list(tools)})
        parameters: Parameters = pydantic.Field(default_factory=Parameters)

    return ToolUse
