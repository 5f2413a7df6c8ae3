"""Writes what the JavaScript client has of the tables of the Python package.

``python -m bindings.js.declarations`` writes the methods, the errors and the types of
``bindings/js/src`` anew; a test compares them with what stands there.
"""

import importlib
import inspect
import json
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from recollex.api.proxies import Method
from recollex.remote.client import calls
from recollex.remote.wire.error_codec import ERRORS
from recollex.remote.wire.methods import METHODS
from recollex.remote.wire.received import looked_up
from recollex.remote.wire.records import ALL
from recollex_engine.errors import RecollexError
from recollex_engine.recall.memory import FIELDS
from recollex_engine.recall.memory_columns import COLUMNS
from recollex_kernels.memories.gathering import ROWS

SOURCE = Path(__file__).parent / "src"
HEAD = "// Made of the Python package's tables by `python -m bindings.js.declarations`.\n"
OF_STORE = ("agents", "store.recall", "delete_agent")
"""Methods that the store has, written by hand in `store.js`."""
SERVER = ("ping", "metrics")
"""Methods of the protocol that are in no table."""
LOCAL = {"stream"}
"""Arguments that cannot be sent."""
RESERVED = {"default"}
"""Names of arguments that are words of JavaScript."""
VECTORS = {"embedding", "query_embedding"}
SPECIAL = {
    "FactList": "export type FactList = { facts: Fact[]; entities: number[]; op: number };",
    "JointRecall": (
        "export interface JointRecall {\n"
        "  query: string;\n"
        "  recalls: Record<string, Recall>;\n"
        "  order: [string, number][];\n"
        "  tokens: number;\n"
        "  token_counter: string;\n"
        "  confidence: number | null;\n"
        "  readonly memories: Memory[];\n"
        "  toPrompt(options?: { min_confidence?: number }): string;\n"
        "}"
    ),
}


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(each.capitalize() for each in others)


def row(method: Method[..., Any]) -> dict[str, Any]:
    """Return what the client must know of a method."""
    found: dict[str, Any] = {"group": method.group, "scope": method.scope}
    positional = [
        each.name
        for each in method.parameters.values()
        if each.kind is each.POSITIONAL_OR_KEYWORD and each.name not in LOCAL
    ]
    found["positional"] = positional
    found["needed"] = sum(name in method.needed for name in positional)
    if is_listed(method):
        found["chunks"] = True
    if method.pairs:
        found["pairs"] = True
    if method.name in calls.SAFE_METHODS:
        found["idempotent"] = True
    return found


def is_listed(method: Method[..., Any]) -> bool:
    """Return whether the result may come in chunks; that of a write comes as a whole."""
    return method.chunks and method.scope == "read"


def methods() -> str:
    """Return `methods.js`."""
    table = {name: row(method) for name, method in METHODS.items()}
    plain = {"group": "server", "scope": "read", "positional": [], "needed": 0}
    table |= dict.fromkeys(SERVER, plain)
    for name in OF_STORE:
        table[name]["group"] = "store"
    # Of the words of operations in objects, and of the classes of records.
    words = {
        "words": sorted(kind.word for kind in calls.OPERATIONS if kind.__name__ != "Retain"),
        "kinds": sorted(kind.__name__ for kind in calls.OPERATIONS),
    }
    lines = [f"  {json.dumps(name)}: {json.dumps(each)},\n" for name, each in table.items()]
    return (
        f"{HEAD}\n/** Name in the protocol -> the method. */\n"
        f"export const METHODS = {{\n{''.join(lines)}}};\n\n"
        "/** The operations that change nothing when they are recorded again. */\n"
        f"export const IDEMPOTENT_OPERATIONS = {json.dumps(words)};\n"
    )


def errors() -> str:
    """Return `errors.js`."""
    written = [
        f"{HEAD}\n"
        "/** The base of every error. Its fields are those that the server sent. */\n"
        "export class RecollexError extends Error {\n"
        "  constructor(message, fields = {}, cause = undefined) {\n"
        "    super(message, cause === undefined ? undefined : { cause });\n"
        "    Object.assign(this, fields);\n"
        "    this.name = new.target.name;\n"
        "  }\n}\n"
    ]
    written += [
        f"\n/** {first_line(kind)} */\nexport class {name} extends {parent(kind)} {{}}\n"
        for name, kind in in_order()
    ]
    return "".join(written)


def in_order() -> list[tuple[str, type[RecollexError]]]:
    """Return the errors below the base, each after its parent."""
    found = [(name, kind) for name, kind in ERRORS.items() if kind is not RecollexError]
    return sorted(found, key=lambda each: (len(each[1].__mro__), each[0]))


def parent(kind: type[RecollexError]) -> str:
    return next(base.__name__ for base in kind.__mro__[1:] if base.__name__ in ERRORS)


def first_line(of: object) -> str:
    return (inspect.getdoc(of) or "").partition("\n")[0].replace("``", "`").replace("*/", "* /")


def memory_fields() -> str:
    """Return `fields.js`: how each field of a memory is read from the columns of a recall."""
    lines = []
    for name, told in FIELDS.items():
        if name in ("id", "text", "score") or not told.sent:
            continue
        found: dict[str, Any] = {"name": name, "form": told.form.name}
        if told.row >= 0:
            found["row"] = told.row
        elif name in COLUMNS and (absent := COLUMNS[name].absent) is not None:
            found["absent"] = absent
        if told.form.names:
            found["names"] = told.form.names
        lines.append(f"  {json.dumps(found)},\n")
    return (
        f"{HEAD}\n/** Rows of the column `numbers`. */\nexport const ROWS = {ROWS};\n\n"
        "/** The fields of a memory that columns of their own, or rows of `numbers`, hold. */\n"
        f"export const FIELDS = [\n{''.join(lines)}];\n"
    )


def declarations() -> str:
    """Return `types.d.ts`: the records, the errors and the methods of an agent."""
    parts = [
        HEAD,
        'import type { Duration, Listed, Moment, Recall } from "./index.js";\n',
        "/** A time that is sent: a Date, a Moment, or ISO 8601. */\n"
        "export type Time = Date | string;\n",
        "/** Numbers of an embedding. */\n"
        "export type Vector = Float32Array | Float64Array | readonly number[];\n",
        *(interface(name) for name in sorted(ALL) if name != "Recall"),
        kinds(),
        "/** The base of every error. Its fields are those that the server sent. */\n"
        "export class RecollexError extends Error {\n"
        "  constructor(message: string, fields?: object, cause?: unknown);\n}\n",
        *(error(name, kind) for name, kind in in_order()),
        *(group(name) for name in groups()),
        "/** The groups of an agent. */\nexport interface Groups {\n"
        + "".join(f"  readonly {name}: {title(name)};\n" for name in groups() if name)
        + "}\n",
    ]
    return "\n".join(parts)


def kinds() -> str:
    names = "".join(f"  {name}: {name};\n" for name in sorted(ALL))
    return f"/** Name of a record -> what it is. */\nexport interface Records {{\n{names}}}\n"


def interface(name: str) -> str:
    """Return the declaration of a record."""
    if name in SPECIAL:
        return SPECIAL[name] + "\n"
    kind = getattr(importlib.import_module(ALL[name]), name)
    assert is_dataclass(kind), name
    hints = get_type_hints(kind)
    found = {
        each.name: ts(hints[each.name], False)
        for each in fields(kind)
        if each.init and each.name != "view"
    }
    if name in ("Fact", "Event"):  # see PROTOCOL.md
        for each in looked_up(kind):
            found[each] = ts(get_type_hints(vars(kind)[each].fget)["return"], False)
    lines = "".join(f"  {each}: {what};\n" for each, what in found.items())
    generic = "<Item = unknown>" if getattr(kind, "__parameters__", ()) else ""
    return f"/** {first_line(kind)} */\nexport interface {name}{generic} {{\n{lines}}}\n"


def error(name: str, kind: type[RecollexError]) -> str:
    """Return the declaration of an error, whose fields are those that its constructor sets."""
    source = inspect.getsource(kind)
    names = [
        line.strip().removeprefix("self.").partition(" =")[0].partition(":")[0]
        for line in source.splitlines()
        if line.strip().startswith("self.") and " = " in line
    ]
    known = {"retry_after": "number", "begun": "boolean"}
    lines = "".join(f"  readonly {each}: {known.get(each, 'string')};\n" for each in names)
    return f"/** {first_line(kind)} */\nexport class {name} extends {parent(kind)} {{\n{lines}}}\n"


def groups() -> list[str]:
    """Return the groups of an agent's methods; "" is the agent itself."""
    return list(dict.fromkeys(method.group for method in METHODS.values()))


def title(group: str) -> str:
    """Return the name of the type of a group's methods."""
    return f"{group.capitalize().removesuffix('s') or 'Agent'}Methods"


def group(name: str) -> str:
    """Return the declaration of the methods of a group."""
    own = [each for each in METHODS.values() if each.group == name and each.name not in OF_STORE]
    return f"export interface {title(name)} {{\n{''.join(map(declared, own))}}}\n"


def declared(method: Method[..., Any]) -> str:
    """Return the declaration of a method; of one with optional places, for both ways to call it."""
    signature = inspect.signature(method.function, eval_str=True)
    known = dict(list(signature.parameters.items())[1:])
    if method.takes_options:
        recall = inspect.signature(METHODS["recall"].function, eval_str=True).parameters
        known = {k: v for k, v in known.items() if v.kind is not v.VAR_KEYWORD} | {
            each.name: each for each in recall.values() if each.kind is each.KEYWORD_ONLY
        }
    known = {each: value for each, value in known.items() if each not in LOCAL}
    places = [each for each in known.values() if each.kind is each.POSITIONAL_OR_KEYWORD]
    others = [each for each in known.values() if each not in places]
    result = ts(signature.return_annotation, False)
    result = f"Listed<{result}, {item(result)}>" if is_listed(method) else f"Promise<{result}>"
    name = camel(method.name.rpartition(".")[2])
    needed = [each for each in places if each.default is each.empty]
    said = f"  /** {first_line(method.function)} */\n"
    found = f"{said}  {name}({arguments(places, others)}): {result};\n"
    if len(needed) < len(places):
        rest = [each for each in places if each not in needed]
        found += f"  {name}({arguments(needed, [*rest, *others])}): {result};\n"
    return found


def item(result: str) -> str:
    if result == "FactList":
        return "Fact"
    return f"({result})[number]"


def arguments(places: list[inspect.Parameter], others: list[inspect.Parameter]) -> str:
    wanted = any(each.default is each.empty for each in others)
    found = [
        f"{each.name}{'_' if each.name in RESERVED else ''}{'' if wanted else mark(each)}: "
        f"{argument(each)}"
        for each in places
    ]
    if others:
        lines = "; ".join(f"{each.name}{mark(each)}: {argument(each)}" for each in others)
        found.append(f"options{'' if wanted else '?'}: {{ {lines} }}")
    return ", ".join(found)


def mark(each: inspect.Parameter) -> str:
    return "" if each.default is each.empty else "?"


def argument(each: inspect.Parameter) -> str:
    return "Vector | null" if each.name in VECTORS else ts(each.annotation, True)


PLAIN: dict[Any, str] = {
    **{str: "string", int: "number", float: "number", bool: "boolean", bytes: "Uint8Array"},
    **{type(None): "null", None: "null", Any: "any", object: "unknown", timedelta: "Duration"},
}


def ts(kind: Any, sent: bool) -> str:
    """Return the type of an annotation. sent: of an argument, which may be less exact."""
    if kind in PLAIN:
        return PLAIN[kind]
    if kind is datetime:
        return "Time" if sent else "Moment"
    origin = get_origin(kind)
    given = get_args(kind)
    if origin in (Union, types.UnionType):
        found = [ts(each, sent) for each in given if each is not types.EllipsisType]
        if sent and "Time" in found:
            found = [each for each in found if each != "string"]
        return " | ".join(dict.fromkeys(found))
    if origin is Literal:
        return " | ".join(json.dumps(each) for each in given)
    if origin is tuple and given[1:] != (Ellipsis,):
        return f"[{', '.join(ts(each, sent) for each in given)}]"
    if origin in (tuple, list, Sequence, Iterable, frozenset, set):
        each = ts(given[0], sent)
        each = f"({each})" if " | " in each or each.startswith("readonly") else each
        return f"readonly {each}[]" if sent else f"{each}[]"
    if origin in (Mapping, dict):
        return f"Record<string, {ts(given[1], sent)}>"
    if origin is np.ndarray or kind is np.ndarray:
        return "Float32Array | Float64Array"
    if origin is Callable:
        return "never"
    if isinstance(kind, TypeVar):
        return "Item"
    name = getattr(origin or kind, "__name__", "")
    if name in ALL:
        of = f"<{', '.join(ts(each, sent) for each in given)}>" if given else ""
        return f"{name}{of}"
    return OTHER.get(name, "unknown")


OTHER = {"Preset": "string"}
"""Classes that travel in another form: a preset by its name."""
FILES = {
    "methods.js": methods,
    "errors.js": errors,
    "fields.js": memory_fields,
    "types.d.ts": declarations,
}


def main() -> None:
    for name, made in FILES.items():
        (SOURCE / name).write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    main()
