"""Which models are in the cache of this machine, are they intact, and how fast are they?"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from recollex_engine.errors import ModelError
from recollex_engine.models.backends import Precision
from recollex_engine.models.convert import cache_folder, damage
from recollex_engine.models.description import KNOWN_MODELS, ModelDescription, read_json
from recollex_engine.models.embedders import EMBEDDERS
from recollex_engine.models.encoder import load_encoder
from recollex_engine.models.weights import find_weights

_QUESTION = "Where did she move to after the summer?"
_TEXT = "On the way home they talked about the new house, the garden and what it would cost. "
_REPEATS = 50


@dataclass(frozen=True, slots=True)
class CachedModel:
    """A converted model in the cache.

    kind: "encoder" or "cross-encoder". fingerprint, kind and source are empty if they cannot be
    read. bytes: the size of its files. damage: what is wrong with it, None if it is intact.
    """

    folder: Path
    fingerprint: str
    kind: str
    source: str
    bytes: int
    damage: str | None


def cached_models() -> Iterator[CachedModel]:
    """Yield the converted models in the cache, ordered by the name of their folder.

    Cost: reading every file once, to hash it.
    """
    home = cache_folder()
    folders = sorted(home.iterdir()) if home.is_dir() else []
    for folder in folders:
        if folder.name.startswith(".") or not folder.is_dir():
            continue
        size = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
        wrong = damage(folder)
        try:
            record: dict[str, Any] = read_json(folder / "description.json")
            scores = record["model"]["pooling"] == "score"
        except (ModelError, KeyError, TypeError):
            yield CachedModel(folder, "", "", "", size, wrong or "its description cannot be read")
            continue
        kind = "cross-encoder" if scores else "encoder"
        found = str(record.get("fingerprint", "")), kind, str(record.get("source", ""))
        yield CachedModel(folder, *found, size, wrong)


def missing_models() -> list[tuple[ModelDescription, str]]:
    """Return the known models without weights here, each with the command that fetches them."""
    absent = []
    for description in KNOWN_MODELS:
        try:
            find_weights(description.name)
        except ModelError as error:
            absent.append((description, str(error).splitlines()[1].strip()))
    return absent


def packaged_models() -> list[tuple[str, str, str | None]]:
    """Return models that a package carries and runs: name, what it is, the command to install it.

    The command is None if it is installed.
    """
    return [
        (row.name, row.about, row.install if find_spec(row.package) is None else None)
        for row in EMBEDDERS
        if row.about
    ]


@dataclass(frozen=True, slots=True)
class EncoderSpeed:
    """How fast an encoder runs.

    query_p50, query_p99: milliseconds of a question. texts_per_second: texts of ``tokens`` tokens.
    """

    fingerprint: str
    query_p50: float
    query_p99: float
    texts_per_second: float
    tokens: int


def measure_encoder(name_or_folder: str | Path, precision: Precision) -> EncoderSpeed:
    """Return how fast an encoder runs here, on one thread. Cost: about a second."""
    encoder = load_encoder(name_or_folder, precision)
    encoder.embed([_TEXT])
    taken = []
    for n in range(_REPEATS):
        question = f"{_QUESTION[: -1 - n % 3]} {n}?"  # a new one each time: results are cached
        started = time.perf_counter()
        encoder.embed_query(question)
        taken.append((time.perf_counter() - started) * 1000)
    texts = [f"{_TEXT}{n}." for n in range(_REPEATS)]
    started = time.perf_counter()
    encoder.embed(texts)
    seconds = time.perf_counter() - started
    p50, p99 = np.percentile(taken, [50, 99]).tolist()
    tokens = encoder.count_tokens(texts[0])
    return EncoderSpeed(encoder.fingerprint, p50, p99, len(texts) / seconds, tokens)
