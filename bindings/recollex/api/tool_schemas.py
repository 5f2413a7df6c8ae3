"""The tools as JSON Schemas for a language model: names and types are those of the signatures."""

import inspect
import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from recollex.api.argument_names import check_names, near
from recollex.api.tool_texts import ARGUMENTS, TOOLS
from recollex_engine.errors import InputError
from recollex_mind.episodic.exploration import AGGREGATIONS, COMPARISONS, ORDERINGS

FORMS = ("openai", "responses", "mcp")
"""The forms of a schema: OpenAI's chat completions and responses, and MCP."""

_CHOICES = {
    "start_operator": COMPARISONS,
    "end_operator": COMPARISONS,
    "ordering": ORDERINGS,
    "aggregation": tuple(AGGREGATIONS),
}
_LEAST = {"limit": 1, "offset": 0}
_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def tool_schemas(tools: type, form: str) -> list[dict[str, Any]]:
    """Return the schema of each tool of a class, in a form. Raises `InputError`."""
    if form not in FORMS:
        raise InputError(f"form must be one of {', '.join(FORMS)}, got {form!r:.80}")
    return [_in_form(form, name, about, _parameters(tools, name)) for name, about in TOOLS.items()]


def check_call(tools: type, name: object, arguments: object) -> dict[str, Any]:
    """Return the arguments of a call by a model that are given. Raises `InputError`."""
    if name not in TOOLS:
        raise InputError(
            f"there is no tool {name!r:.80}{near(name, TOOLS)} There are {', '.join(TOOLS)}"
        )
    if not isinstance(arguments, Mapping):
        raise InputError(f"the arguments of {name} must be an object, got {arguments!r:.80}")
    known = ARGUMENTS[str(name)]
    check_names(str(name), arguments, known)
    kept = {key: value for key, value in arguments.items() if value is not None and value != ""}
    for key in _LEAST:
        if isinstance(kept.get(key), str) and kept[key].strip().isdecimal():
            kept[key] = int(kept[key])  # models write "5" for 5
    for key in _needed(tools, str(name)):
        if key in known and key not in kept:
            raise InputError(f"{name} needs {key}: {known[key]}")
    return kept


@cache
def _needed(tools: type, name: str) -> list[str]:
    """Return the arguments without a default of a tool; reading a signature takes 20 us."""
    parameters = inspect.signature(getattr(tools, name)).parameters
    return [key for key, each in parameters.items() if each.default is each.empty]


def _in_form(form: str, name: str, about: str, parameters: dict[str, Any]) -> dict[str, Any]:
    if form == "mcp":
        return {"name": name, "description": about, "inputSchema": parameters}
    function = {"name": name, "description": about, "parameters": parameters}
    if form == "responses":
        return {"type": "function", **function}
    return {"type": "function", "function": function}


def _parameters(tools: type, name: str) -> dict[str, Any]:
    """Return the JSON Schema of the arguments of a tool that a model gives."""
    method = getattr(tools, name)
    hints = get_type_hints(method)
    properties = {}
    needed = []
    for key, each in inspect.signature(method).parameters.items():
        if key not in ARGUMENTS[name]:
            continue
        schema: dict[str, Any] = {"description": ARGUMENTS[name][key]}
        kinds = _kinds(hints[key])
        if key in ("start_time", "end_time"):
            kinds = ["string"]
        schema["type"] = kinds[0] if len(kinds) == 1 else kinds
        if key in _CHOICES:
            schema["enum"] = list(_CHOICES[key])
        if key in _LEAST:
            schema["minimum"] = _LEAST[key]
        if each.default is each.empty:
            needed.append(key)
        elif each.default is not None:
            schema["default"] = each.default
        properties[key] = schema
    return {
        "type": "object",
        "properties": properties,
        "required": needed,
        "additionalProperties": False,
    }


def _kinds(hint: Any) -> list[str]:
    """Return the JSON types of an annotation, without null."""
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    return [_JSON_TYPES[each] for each in parts if each in _JSON_TYPES]
