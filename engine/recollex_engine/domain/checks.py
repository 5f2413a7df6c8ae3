"""Checks of a caller's arguments and their limits: numbers, texts, names, ids, JSON, vectors.

What becomes of half a surrogate pair, which no UTF-8 can hold?
A text that a tool, a model or a program has cut may end within an emoji, and Python, JSON and
JavaScript carry the half on. What others said is mended: the turns of a talk, the messages of a
conversation and of a framework, the lines of a file. Halves that belong together are joined, and
one that is alone becomes "?". What a program writes by itself is refused instead, with its name
(`checks.check_text`): a single text, an id, a tag, a filter, a question.

Which names are the engine's own?
Ids that begin with ``self:`` are those of an agent's profile, which stands in the system prompt of
its thoughts. `mind.profile` alone writes them: no memory, fact, event or episode of a caller has
such an id, and no general operation corrects or archives the fact that has it.

Nothing else is reserved, because nothing else is believed for its name. The engine marks what it
draws with these, and a caller may write the same, as an import does; trust comes from the stamp of
a call and from the memories that are cited, never from a mark::

    metadata    evidence, reasons, participants, relations, extraction, chunk, kind, profile,
                supersedes, made_by (`domain.schema`, `mind.opinions`, `mind.drawing`)
    network     opinion
    id          SESSION#NUMBER-DIGEST of a conversation's messages
    entity      self, the name of the agent in the facts about itself
"""

import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import orjson

from recollex_engine.errors import InputError

T = TypeVar("T")


def mended(value: T) -> T:
    r"""Return a text, or JSON values with texts, without halves of pairs; the same object if whole.

    Values that are nested too deeply stay as they are: their check refuses them. Cost: 0.1 us a
    text.

    >>> mended({"said": "half \ud83d", "both": "\ud83d\udccb" + "!"})
    {'said': 'half ?', 'both': '📋!'}
    """
    try:
        found: T = _mended(value)
    except RecursionError:
        return value
    return found


def mended_turns(turns: Sequence[Any], document: object) -> list[Any]:
    """Return the turns of a talk without halves of pairs; ids stay. The log says how many had one.

    document: the talk's name.
    """
    found = []
    broken = []
    for place, turn in enumerate(turns):
        new = mended(turn)
        if new is not turn and isinstance(new, dict):
            broken.append(place)
            if "id" in turn:
                new["id"] = turn["id"]
        found.append(new)
    if broken:
        logging.getLogger("recollex").warning(
            "%d of %d turns of %r had half of a surrogate pair, and have '?' now: the first is "
            "turns[%d]",
            len(broken),
            len(turns),
            document,
            broken[0],
        )
    return found


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else _mended_text(value)
    if isinstance(value, Mapping):
        items = [(_mended(name), _mended(each)) for name, each in value.items()]
        same = all(
            new[0] is old[0] and new[1] is old[1]
            for new, old in zip(items, value.items(), strict=True)
        )
        return value if same else dict(items)
    if isinstance(value, list | tuple):
        parts = [_mended(each) for each in value]
        same = all(new is old for new, old in zip(parts, value, strict=True))
        return value if same else parts
    return value


def _mended_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return joined.encode("utf-8", "replace").decode()
    return text


MAX_TEXT = 1_000_000
"""Characters in one memory."""
MAX_NAME = 1_000
"""Characters in an id, tag, context, document id, speaker or entity."""
MAX_NAMES = 256
"""Tags, entities or metadata keys of one memory."""
MAX_METADATA = 100_000
"""Bytes of one memory's metadata as JSON."""
MAX_IDS = 10_000
"""Memories, mentions or facts that one operation may name."""
_PLAIN = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
"""Options of orjson: datetimes and dataclasses are refused, because they would be read back as a
str or a dict."""
Vectors = npt.NDArray[np.float32]


def check_count(value: object, name: str, least: int, most: int) -> None:
    """Raise `InputError` unless ``value`` is a whole number in [least, most]."""
    if type(value) is int and least <= value <= most:  # the common case
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{name} must be an int, got {type(value).__name__}")
    if not least <= value <= most:
        raise InputError(f"{name} must lie in [{least}, {most}], got {value}")


def check_number(value: object, name: str, least: float, most: float) -> None:
    """Raise `InputError` unless ``value`` is a finite number in [least, most]."""
    if type(value) is float and least <= value <= most:  # the common case; NaN fails it
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name} must be a number, got {type(value).__name__}")
    if not (math.isfinite(value) and least <= value <= most):
        raise InputError(f"{name} must lie in [{least:g}, {most:g}], got {value}")


def check_text(value: object, name: str, limit: int) -> None:
    """Raise `InputError` unless ``value`` is a text of 1 to ``limit`` characters in UTF-8."""
    if not isinstance(value, str):
        raise InputError(f"{name} must be a str, got {type(value).__name__}")
    if not value or value.isspace():
        raise InputError(f"{name} is empty: give at least one character that is not a space")
    if len(value) > limit:
        raise InputError(
            f"{name} may have up to {limit:,} characters, got {len(value):,}: split it"
        )
    if value.isascii():
        return
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{name} has a lone surrogate at character {error.start} and is not valid Unicode; "
            f"repair it with {name}.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')"
        ) from None


def check_note(by: object, why: object) -> None:
    """Raise `InputError` unless ``by`` (who did it) and ``why`` (the reason) are acceptable."""
    for value, name in ((by, "by"), (why, "why")):
        if value is not None:
            check_text(value, name, MAX_NAME)


def check_ids(values: object, name: str) -> None:
    """Raise `InputError` unless ``values`` is a list of up to `MAX_IDS` ids."""
    if values == ():  # as most are
        return
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputError(f"{name} must be a list of ids, got {type(values).__name__}")
    if len(values) > MAX_IDS:
        raise InputError(f"{name} may have up to {MAX_IDS:,} items, got {len(values):,}")
    for value in values:
        check_text(value, name, MAX_NAME)


def check_flag(value: object, name: str) -> None:
    """Raise `InputError` unless ``value`` is True or False."""
    if not isinstance(value, bool):
        raise InputError(f"{name} must be True or False, got {value!r}")


def check_model(value: object) -> None:
    """Raise `InputError` unless this is the name or the folder of a model."""
    if not isinstance(value, str | Path) or not str(value).strip():
        raise InputError(f"model must be the name or the folder of a model, got {value!r}")


def check_kind(value: object, name: str, kind: type, example: str) -> None:
    """Raise `InputError` unless ``value`` is of a class; ``example`` is how one is written."""
    if not isinstance(value, kind):
        raise InputError(f"{name} must be a {kind.__name__}, such as {example}, got {value!r}")


def check_methods(value: object, name: str, methods: Sequence[str], example: str) -> None:
    """Raise `InputError` unless ``value`` is an object with these methods and properties."""
    if isinstance(value, type) or any(not hasattr(value, each) for each in methods):
        raise InputError(
            f"{name} must be an object with {', '.join(methods)}, such as {example}, got {value!r}"
        )


def check_names(values: object, name: str) -> None:
    """Raise `InputError` unless ``values`` is a short list of names."""
    if values == ():
        return
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputError(
            f"{name} must be a list of str, got {type(values).__name__}: {name}=['travel'] is one"
        )
    if len(values) > MAX_NAMES:
        raise InputError(f"{name} may have up to {MAX_NAMES} items, got {len(values)}")
    for value in values:
        check_text(value, name, MAX_NAME)


def check_metadata(value: object, name: str) -> None:
    """Raise `InputError` unless ``value`` is a dict of str to JSON values."""
    if not isinstance(value, dict):
        raise InputError(f"{name} must be a dict, got {type(value).__name__}")
    if len(value) > MAX_NAMES:
        raise InputError(f"{name} may have up to {MAX_NAMES} keys, got {len(value)}")
    if not value:
        return
    try:
        raw = orjson.dumps(value, option=_PLAIN)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{name} is not JSON: {error}") from None
    if b"null" in raw and _has_nan(value):
        raise InputError(f"{name} holds a NaN or an infinity, which JSON has no word for")
    if len(raw) > MAX_METADATA:
        raise InputError(f"{name} may take up to {MAX_METADATA:,} bytes as JSON, got {len(raw):,}")


def _has_nan(value: object) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(_has_nan(item) for item in value.values())
    return isinstance(value, list | tuple) and any(_has_nan(item) for item in value)


def check_embeddings(value: object, name: str, count: int, dimension: int) -> Vectors:
    """Return ``value`` as float32[count, dimension], each row of length 1.

    Raises `InputError` for another shape, a NaN, an infinity, or a row of zeros, which has no
    direction.
    """
    vectors = _numbers(value, name, f"({count}, {dimension})")
    if vectors.shape != (count, dimension):
        raise InputError(f"{name} must have shape ({count}, {dimension}), got {vectors.shape}")
    wide = vectors.astype(np.float64)
    norms = np.sqrt(np.square(wide).sum(axis=1))
    if not np.isfinite(norms).all():
        row = int(np.argmin(np.isfinite(norms)))
        raise InputError(
            f"{name} holds a NaN or an infinity, or a number beyond float32, in row {row}"
        )
    if count and norms.min() < 1e-12:
        raise InputError(f"{name} is all zeros in row {norms.argmin()}: it has no direction")
    unit: Vectors = (wide / norms[:, None]).astype(np.float32)
    return unit


def check_embedding(value: object, name: str, dimension: int) -> Vectors:
    """Return ``value`` as float32[dimension] of length 1; raises as `check_embeddings` does.

    A vector that already has length 1 is not copied. The result is read-only, whether the caller or
    a model made it: numba compiles a kernel once more for what can be written.
    """
    if isinstance(value, np.ndarray) and value.dtype == np.float32:
        vector: Vectors = np.ascontiguousarray(value)
    else:
        vector = _numbers(value, name, f"({dimension},)")
    if vector.shape != (dimension,):
        raise InputError(f"{name} must have shape ({dimension},), got {vector.shape}")
    square = float(vector.dot(vector))
    if not abs(square - 1) < 1e-6:  # also true of a NaN, which is refused there
        vector = check_embeddings(vector[None], name, 1, dimension)[0]
    unit: Vectors = vector.view()
    unit.flags.writeable = False
    return unit


def _numbers(value: object, name: str, shape: str) -> Vectors:
    """Return ``value`` as float32 of any shape; numbers beyond float32 become infinity.

    An array of float32 is returned as it is.
    """
    try:
        found = np.asarray(value)
        if found.dtype == np.float32:
            return found
        if found.dtype.kind in "iuf" or found.size == 0:
            with np.errstate(over="ignore"):
                return found.astype(np.float32)
        what = f"items of {found.dtype}"
    except (TypeError, ValueError, OverflowError):  # ragged, or not made of numbers at all
        what = type(value).__name__
    raise InputError(f"{name} must be numbers of shape {shape}, got {what}")


PROFILE_IDS = "self:"
"""The start of the ids of an agent's profile."""


def is_reserved(id: str) -> bool:
    """Return whether an id is one of the engine's own."""
    return id.startswith(PROFILE_IDS)


def check_given_id(id: object, name: str = "id") -> None:
    """Raise `InputError` unless an id is a text that a caller may give."""
    check_text(id, name, MAX_NAME)
    assert isinstance(id, str)
    refuse_reserved(id, name)


def refuse_reserved(id: str, name: str = "id") -> None:
    """Raise `InputError` for an id of the engine's own."""
    if id.startswith(PROFILE_IDS):
        raise InputError(
            f"{name} may not begin with {PROFILE_IDS!r}, which is reserved for an agent's profile, "
            f"got {id!r:.80}: give another id; profile.set writes the profile"
        )
