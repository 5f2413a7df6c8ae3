"""Every compiled pattern of the packages, and strings that make a careless one slow."""

import ast
import functools
import importlib
import inspect
import random
import re
from collections.abc import Callable, Iterator
from re import _constants as ops
from re import _parser
from time import process_time
from typing import Any, NamedTuple

from tests.test_layers import MODULES

UNITS = (
    *("a", "A", "Aa ", "a ", "A ", "Ann ", "a'", "a-", "a_", "1", "1 ", "1-", "1.", "1,", "12:"),
    *("123-45-6789 ", "2024-05-05 ", "May 5, 2024, ", "5 May ", "1.2.", "a.", "A. ", "a@", "a.b@"),
    *(" ", "\n", "\t", "\r", "\n\n", " \n", "\u00a0", "\u2028", '"', '" ', '"a', "'", "''", "'a "),
    *("\u201c", "\u201d", "\u2019", "\u00ab", "[", "]", "[]", "[[", "(", ")", "()", "{", "<", ">"),
    *("<a ", "<!--", "[a](", "#", "*", "_", "`", "|", "\\", "/", ".", ". ", "..", "!", "?", "? "),
    *(",", ", ", ",a", ";", ":", "-", "- ", "--", "\u2013", "=", "&", "+", "%", "@", "$", "\0"),
    *("\u30ab", "\u30fc", "\u30ab\u30fb", "\u3042", "\u6f22", "\ud55c", "\u0627", "\u304a"),
    *("\u30ab\u3055", "\u300a", "\u300e", "\u0627\u0628\u0646 ", "\u05d0", "\u0e01", "\u0915"),
    *(
        "\u0301",
        "a\u0301",
        "\u200d",
        "\u200b",
        "\U0001f600",
        "\u00e4",
        "\u0130",
        "\u03a3",
        "\ufb01",
    ),
    *("I am ", "my ", "tea cup ", "the ", "and ", "of ", "not ", "to ", "from ", "in ", "since "),
    *("is A and ", "Mr. ", "last ", "days ", "I ", "we ", "said ", "who ", "when ", "you "),
)
"""What a hostile text repeats, beside what is made of each pattern."""
_LETTERS = "aA1_ -.,'\"\n\u30ab\u6f22\u0627\u00e9\u0301\u2019(["
_OF_CATEGORY = {
    ops.CATEGORY_DIGIT: "1",
    ops.CATEGORY_NOT_DIGIT: "a",
    ops.CATEGORY_SPACE: " ",
    ops.CATEGORY_NOT_SPACE: "a",
    ops.CATEGORY_WORD: "a",
    ops.CATEGORY_NOT_WORD: " ",
}
_METHODS = ("match", "fullmatch", "search", "findall", "finditer", "split", "sub", "subn")
_CALL = re.compile(rf"\b(\w+)\.({'|'.join(_METHODS)})\b")
Search = Callable[[Any], object]


class Found(NamedTuple):
    """A pattern of the packages: where it is, and how it is asked."""

    place: str
    pattern: re.Pattern[Any]
    search: Search


@functools.cache
def patterns() -> list[Found]:
    """Return every pattern that a module holds: in its names, their fields and elements."""
    found: dict[re.Pattern[Any], Found] = {}
    public: dict[str, set[str]] = {}
    for path in MODULES.values():
        _note_calls(path.read_text(encoding="utf-8"), public)
    for name, path in MODULES.items():
        source = path.read_text(encoding="utf-8")
        if not re.search(r"\bre\.", source):  # it makes no pattern
            continue
        try:
            module = importlib.import_module(name)
        except ImportError as error:  # a framework or a package that is not installed
            assert (error.name or "").split(".")[0] not in ("recollex", "recollex_engine"), error
            continue
        tree = ast.parse(source)
        asked: dict[str, set[str]] = {}
        _note_calls(source, asked)
        held = list(vars(module).items())
        held += [(f"{each}()", made) for each, made in _made(module, tree)]
        for variable, value in held:
            for pattern, method in _within(value, set()):
                only = (asked if variable.startswith("_") else public).get(variable, set())
                method = method or (min(only) if len(only) == 1 else None)
                if pattern not in found:
                    found[pattern] = Found(f"{name}.{variable}", pattern, _search(pattern, method))
        for pattern, method in _written(tree):
            found.setdefault(pattern, Found(name, pattern, _search(pattern, method)))
    return list(found.values())


def _note_calls(source: str, asked: dict[str, set[str]]) -> None:
    """Add the methods that a source calls of each name."""
    for variable, method in _CALL.findall(source):
        asked.setdefault(variable, set()).add(method)


def _made(module: Any, tree: ast.Module) -> Iterator[tuple[str, object]]:
    """Yield what the functions without arguments return that compile a pattern on first use."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and "re.compile(" in ast.unparse(node):
            function = getattr(module, node.name)
            if not inspect.signature(function).parameters:
                yield node.name, function()


def _written(tree: ast.Module) -> Iterator[tuple[re.Pattern[Any], str]]:
    """Yield the patterns that are written where they are used: ``re.sub("a+", ..)``."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.")):
            continue
        method = ast.unparse(node.func).removeprefix("re.")
        if method in _METHODS and isinstance(node.args[0], ast.Constant):
            flags = next((word.value for word in node.keywords if word.arg == "flags"), None)
            yield re.compile(node.args[0].value, eval(ast.unparse(flags)) if flags else 0), method


def _within(value: object, seen: set[int]) -> Iterator[tuple[re.Pattern[Any], str | None]]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern):
        yield value, None
    elif inspect.isbuiltin(value) and isinstance(value.__self__, re.Pattern):
        yield value.__self__, value.__name__
    elif isinstance(value, functools.partial):
        yield from _within((value.func, value.args, value.keywords), seen)
    elif isinstance(value, dict):
        yield from _within((*value.keys(), *value.values()), seen)
    elif isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from _within(each, seen)
    elif inspect.isfunction(value):
        cells = [cell.cell_contents for cell in value.__closure__ or () if _is_full(cell)]
        yield from _within((cells, value.__defaults__, value.__kwdefaults__), seen)
    elif (value if inspect.isclass(value) else type(value)).__module__.startswith("recollex"):
        slots = [getattr(value, name, None) for name in getattr(value, "__slots__", ())]
        fields = getattr(value, "__dict__", {})
        yield from _within((slots, list(dict(fields).values())), seen)


def _is_full(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _search(pattern: re.Pattern[Any], method: str | None) -> Search:
    """Return the method that a module asks, where it keeps only that; else all matches."""
    if method in ("match", "fullmatch", "search"):
        return getattr(pattern, method)

    def each(text: Any) -> None:
        for _ in pattern.finditer(text):
            pass

    return each


def units(pattern: re.Pattern[Any], count: int, seed: int = 0) -> set[tuple[str, str]]:
    """Return what comes once, and what is repeated after it, in texts hostile to a pattern."""
    chance = random.Random(seed)
    written = pattern.pattern
    text = written.decode("latin-1") if isinstance(written, bytes) else written
    tree = _parser.parse(
        text, pattern.flags & ~re.UNICODE if isinstance(written, bytes) else pattern.flags
    )
    found: set[tuple[str, str]] = set()
    for _ in range(count):
        whole = _sample(tree, chance, found, "")
        for cut in {len(whole), len(whole) - 1, 1, len(whole) // 2}:
            found.add(("", whole[:cut]))
    return {(before, unit) for before, unit in found if unit}


def _sample(tree: Any, chance: random.Random, found: set[tuple[str, str]], before: str) -> str:
    """Return a text that a pattern may match; add what its unbounded repeats invite."""
    text = ""
    for op, value in tree:
        if op is ops.LITERAL:
            text += chr(value)
        elif op is ops.NOT_LITERAL:
            text += next(each for each in chance.sample(_LETTERS, 2) if ord(each) != value)
        elif op is ops.ANY:
            text += chance.choice(_LETTERS)
        elif op is ops.IN:
            text += _of_class(value, chance)
        elif op is ops.BRANCH:
            text += _sample(chance.choice(value[1]), chance, found, before + text)
        elif op is ops.SUBPATTERN:
            text += _sample(value[3], chance, found, before + text)
        elif op is ops.ATOMIC_GROUP:
            text += _sample(value, chance, found, before + text)
        elif op in (ops.ASSERT,):
            if value[0] > 0:
                _sample(value[1], chance, found, before + text)
        elif op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            least, most, body = value
            times = chance.randint(least, min(most, least + 1)) if most else 0
            one = _sample(body, chance, found, before + text)
            if most is ops.MAXREPEAT or most > 50:
                found |= {("", one), (before + text, one), ("", before + text + one)}
                found |= {("", before + text)}
            text += one * times
    return text


def _of_class(items: Any, chance: random.Random) -> str:
    chosen = ""
    if items[0][0] is ops.NEGATE:
        barred = re.compile(_class_text(items[1:]))
        return next((x for x in chance.sample(_LETTERS, len(_LETTERS)) if not barred.match(x)), "a")
    op, value = chance.choice(items)
    if op is ops.LITERAL:
        chosen = chr(value)
    elif op is ops.RANGE:
        chosen = chr(chance.randint(*value))
    elif op is ops.CATEGORY:
        chosen = _OF_CATEGORY[value]
    return chosen


def _class_text(items: Any) -> str:
    text = ""
    for op, value in items:
        if op is ops.LITERAL:
            text += re.escape(chr(value))
        elif op is ops.RANGE:
            text += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        else:
            name = str(value).removeprefix("CATEGORY_")
            letter = name.removeprefix("NOT_")[0].lower()
            text += "\\" + (letter.upper() if name.startswith("NOT_") else letter)
    return f"[{text}]"


def seconds(call: Callable[[], object], enough: float, tries: int = 3) -> float:
    """Return the processor time of a call, the least of some; at once where it is little."""
    least = float("inf")
    for _ in range(tries):
        start = process_time()
        call()
        least = min(least, process_time() - start)
        if least <= enough:
            break
    return least
