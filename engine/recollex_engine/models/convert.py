"""Converting weights into a folder that onnxruntime can run, once a machine and model.

::

    <cache>/models/<name>-<identity>-int8-v1/
        model.onnx         the graph, weights inside
        tokenizer.json     as published, with padding and truncation off
        description.json   the description, and the SHA-256 of the two files above

The name ends in ``-unsigned`` where the weights are: see `processor.saturates`. The vectors and the
fingerprint are the same, so an agent may move from one processor to another.

``<cache>`` is that of `private_files`: a graph is run by native code, so one that another user can
write is not read, but converted anew. A folder is written under a temporary name and renamed, so
another process sees all of it or nothing. If two processes convert at the same time, the second
keeps the first one's folder.
"""

import hashlib
import json
import platform
import secrets
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from llvmlite import binding as llvm

from recollex_engine import private_files
from recollex_engine.errors import InputError, ModelError
from recollex_engine.models.bert import Bert, Floats, read_bert, read_classifier
from recollex_engine.models.description import (
    KNOWN_MODELS,
    ModelDescription,
    from_json,
    known_model,
    read_json,
    to_json,
)
from recollex_engine.models.session import open_session, open_tokenizer
from recollex_engine.models.weights import ModelWeights, find_weights, is_folder, sha256_of
from recollex_engine.waiting import waiting


@cache
def saturates() -> bool:
    """Return whether products with signed 8-bit weights may be wrong here.

    Without VNNI, onnxruntime multiplies unsigned activations by signed weights on x86 with an
    instruction that cuts the sum of two products at 16 bits (`vpmaddubsw`). With unsigned weights
    it takes another one, which is exact and slower.
    """
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    has = llvm.get_host_cpu_features()
    return not (has.get("avx512vnni") or has.get("avxvnni"))


GraphPrecision = Literal["int8", "fp32", "fp16"]
VERSIONS: dict[GraphPrecision, int] = {"int8": 1, "fp32": 1, "fp16": 2}
"""The version of each conversion: raised whenever the same weights would give other vectors."""

_CALIBRATION = """\
The train to Prague leaves at 7:45 on Monday, so please book two seats by the window.
I can't believe it's been three years since we moved to this house!
What did the doctor say about my mother's knee surgery?
def main(): print("hello world")  # a short script
Maria: Thanks, Tom! Your kind words mean a lot to me.
On 14 May 2019 the committee approved a budget of $1,250,000 for the new library.
who won the 1998 world cup
She plays the violin in an orchestra and teaches yoga at weekends.
My favourite food is ramen, but I'm allergic to shellfish.
Error 404: the page you asked for could not be found.
The mitochondrion is the powerhouse of the cell, which produces ATP.
ok
Haha, that's awesome! Congrats on the promotion :)
Remind me to call Dr. Alvarez tomorrow afternoon about the insurance claim.
""".splitlines()
_FILES = ("model.onnx", "tokenizer.json")
_BALANCE = 0.7  # SmoothQuant's alpha: the share of a channel's spread that moves to the weights


@dataclass(frozen=True, slots=True)
class Converted:
    """A model on disk that can be run; ``given``: its graph, if it was not converted here."""

    folder: Path
    description: ModelDescription
    fingerprint: str
    given: Path | None = None

    @property
    def graph(self) -> Path:
        """The file of the graph."""
        return self.given or self.folder / "model.onnx"


def prepare(name_or_folder: str | Path, precision: GraphPrecision = "int8") -> Path:
    """Return the folder of the converted model; convert it first if needed.

    Cost: a few seconds the first time; afterwards hashing the converted files.

    Raises:
        ModelError: the weights cannot be found or read, or the cache cannot be written.
        CorruptError: the weights file is torn.

    """
    return converted(name_or_folder, precision).folder


def converted(
    name_or_folder: str | Path,
    precision: GraphPrecision = "int8",
    scoring: bool = False,
    tokens: bool = False,
) -> Converted:
    """Return the converted model; see `prepare`.

    scoring: convert it as a cross-encoder. tokens: convert it as an encoder that returns a vector
    for each token. The weights are searched only if they are needed, to convert them or for their
    hash.
    """
    if precision not in get_args(GraphPrecision):
        raise InputError(f"precision must be {_one_of(GraphPrecision)}, got {precision!r}")
    known = None if is_folder(name_or_folder) else known_model(str(name_or_folder))
    if known and known.weights_sha256 and not scoring and not tokens:
        place = _place(known, known.weights_sha256[:12], precision)
        if (found := _verified(place)) is not None:
            return found
    weights = find_weights(name_or_folder)
    if scoring:
        as_scorer = replace(weights.description, pooling="score", normalise=False)
        weights = replace(weights, description=as_scorer)
    elif tokens:
        weights = replace(weights, description=replace(weights.description, pooling="tokens"))
    place = _place(weights.description, _identity(weights), precision)
    return _verified(place) or _convert(weights, place, precision)


def _one_of(choices: Any) -> str:
    *most, last = map(repr, get_args(choices))
    return f"{', '.join(most)} or {last}"


def _identity(weights: ModelWeights) -> str:
    """Return 12 hex digits that change whenever the model's vectors may change.

    For a known model they are a hash of the weights. For another model they are a hash of the
    weights, the description, the tokenizer and the config, because these files may be edited too.
    """
    if weights.description in KNOWN_MODELS:
        return weights.sha256[:12]
    recipe = {**to_json(weights.description), "weights_sha256": weights.sha256}
    recipe["tokenizer"] = hashlib.sha256(_tokenizer(weights.folder).encode()).hexdigest()
    recipe["config"] = read_json(weights.folder / "config.json")
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()[:12]


def cache_folder() -> Path:
    """Return the folder of the converted models.

    Raises `ModelError` if no folder is private.
    """
    folder = private_files.cache_folder("models")
    if folder is None:
        raise ModelError("there is no private cache: set RECOLLEX_CACHE to a folder of your own")
    return folder


def _place(description: ModelDescription, identity: str, precision: GraphPrecision) -> Path:
    name = description.name.replace("/", "--")
    weights = "-unsigned" if precision == "int8" and saturates() else ""
    return cache_folder() / f"{name}-{identity}-{precision}-v{VERSIONS[precision]}{weights}"


def damage(place: Path) -> str | None:
    """Return what is wrong with the converted model in folder ``place``; None if it is intact.

    It is intact if its files are whole, and private. Cost: reading its files once.
    """
    if (why := _exposure(place)) is not None:
        return why
    try:
        record = read_json(place / "description.json")
        for file, digest in record["files"].items():
            if (found := sha256_of(place / file)) != digest:
                return f"{file}: expected sha256 {digest}, found {found}"
        from_json(record["model"])
        str(record["fingerprint"])
    except (ModelError, OSError, KeyError, TypeError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"
    return None


def _exposure(place: Path) -> str | None:
    """Return what `private_files.exposure` says of the folder ``place``, or of a file there."""
    parts = (place, *(place / name for name in ("description.json", *_FILES)))
    return next(filter(None, map(private_files.exposure, parts)), None)


def _verified(place: Path) -> Converted | None:
    """Return the model in ``place`` if it is intact, else None."""
    if damage(place) is not None:
        return None
    try:
        record = read_json(place / "description.json")
        return Converted(place, from_json(record["model"]), record["fingerprint"])
    except (ModelError, KeyError, TypeError):  # another process has replaced it meanwhile
        return None


def _convert(weights: ModelWeights, place: Path, precision: GraphPrecision) -> Converted:
    name = weights.description.name
    if (why := _exposure(place)) is not None:
        private_files.warn(why)
    if sys.stderr.isatty():
        print(f"recollex: converting {name} for this machine, once ...", file=sys.stderr)
    try:
        work = _beside(place)
        private_files.make_folder(work)
    except OSError as error:
        raise ModelError(
            f"cannot write {place.parent} ({error}): set RECOLLEX_CACHE to a folder you can write"
        ) from error
    try:
        with waiting(lambda: f"converting {name}"):
            _write(weights, work, precision)
            _publish(work, place)
    except OSError as error:
        raise ModelError(
            f"cannot convert into {place.parent} ({error}): make room there, or set RECOLLEX_CACHE "
            "to a folder that has some"
        ) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    found = _verified(place)
    if found is None:
        raise ModelError(f"{place} is not what was just written there: remove it and try again")
    return found


def _write(weights: ModelWeights, work: Path, precision: GraphPrecision) -> None:
    description = weights.description
    tokenizer = _tokenizer(weights.folder)
    private_files.write(work / "tokenizer.json", tokenizer.encode())
    private_files.write(work / "model.onnx", _graph(weights, tokenizer, precision))
    name = description.name
    identity = _identity(weights)
    record: dict[str, Any] = {
        "fingerprint": f"{name}@{identity}-{precision}-v{VERSIONS[precision]}",
        "weights_sha256": weights.sha256,
        "source": weights.source,
        "files": {file: sha256_of(work / file) for file in _FILES},
        "model": to_json(description),
    }
    private_files.write(work / "description.json", json.dumps(record, indent=1).encode())


def _publish(work: Path, place: Path) -> None:
    """Rename ``work`` to ``place``, unless another process has put an intact model there."""
    for _ in range(3):
        try:
            work.rename(place)
            return
        except OSError:
            if _verified(place) is not None:
                return
            damaged = _beside(place)
            with suppress(OSError):  # another process may be doing the same
                place.rename(damaged)
            shutil.rmtree(damaged, ignore_errors=True)
    work.rename(place)


def _beside(place: Path) -> Path:
    return place.with_name(f".{place.name}-{secrets.token_hex(4)}")


def _tokenizer(folder: Path) -> str:
    """Return ``tokenizer.json`` without padding and truncation, which the encoder sets."""
    values = read_json(folder / "tokenizer.json")
    return json.dumps({**values, "padding": None, "truncation": None}, ensure_ascii=False)


def _graph(weights: ModelWeights, tokenizer: str, precision: GraphPrecision) -> bytes:
    from recollex_engine.models.onnx_graph import (  # onnx: conversion only
        float_graph,
        float_score_graph,
        int8_graph,
        int8_score_graph,
    )

    scoring = weights.description.pooling == "score"
    classifier = read_classifier(weights.folder) if scoring else None
    bert = classifier.bert if classifier else read_bert(weights.folder)
    if bert.dimension != weights.description.dimension:
        raise ModelError(
            f"{weights.folder}: {weights.description.name} has {weights.description.dimension} "
            f"dimensions, config.json says {bert.dimension}"
        )
    words = open_tokenizer(tokenizer, weights.folder / "tokenizer.json")
    if words.get_vocab_size() > len(bert.words):
        raise ModelError(
            f"{weights.folder}: tokenizer.json has {words.get_vocab_size()} words, "
            f"the weights {len(bert.words)}"
        )
    if classifier:
        if precision != "int8":
            return float_score_graph(classifier, half=precision == "fp16")
        spreads = _spreads(bert, float_score_graph(classifier, taps=True), words)
        return int8_score_graph(classifier, spreads, not saturates())
    pooling = weights.description.pooling
    normalise = weights.description.normalise
    if precision != "int8":
        return float_graph(bert, pooling, normalise, half=precision == "fp16")
    tapped = float_graph(bert, "mean", False, taps=True)
    spreads = _spreads(bert, tapped, words)
    return int8_graph(bert, pooling, normalise, spreads, not saturates())


def _spreads(bert: Bert, tapped: bytes, tokenizer: Any) -> Mapping[int, Floats]:
    """Return the smoothing factors: one for each channel of each input that a norm gives.

    The inputs are those of ``query_key_value`` and ``intermediate``, layer by layer.

    Equation (SmoothQuant, Xiao et al., 2023, equation 4), over the calibration sentences:
        s[j] = max|x[j]|^a / max|w[j]|^(1 - a),  a = 0.7
    divided by its geometric mean and rounded to a power of two. So the scaling is exact, and the
    last bits of another machine's arithmetic do not change the graph. ``tapped`` is the float graph
    with its taps; one with token types reads each sentence together with the next one.
    """
    session = open_session(tapped)
    in_pairs = "token_type_ids" in [part.name for part in session.get_inputs()]
    tokenizer.enable_truncation(len(bert.positions))
    largest = np.zeros((2 * len(bert.layers), bert.dimension), dtype=np.float32)
    for sentence, following in zip(_CALIBRATION, _CALIBRATION[1:] + _CALIBRATION[:1], strict=True):
        encoding = tokenizer.encode(sentence, following if in_pairs else None)
        ids = np.array([encoding.ids], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        if in_pairs:
            inputs["token_type_ids"] = np.array([encoding.type_ids], dtype=np.int64)
        taps = session.run(None, inputs)[1:]
        largest = np.maximum(largest, [np.abs(tap[0]).max(axis=0) for tap in taps])
    linears = [
        part for layer in bert.layers for part in (layer.query_key_value, layer.intermediate)
    ]
    return {n: _spread(seen, linears[n].weight) for n, seen in enumerate(largest)}


def _spread(seen: Floats, weight: Floats) -> Floats:
    tiny = np.float32(1e-6)
    rows = np.maximum(np.abs(weight).max(axis=1), tiny)
    logs = _BALANCE * np.log2(np.maximum(seen, tiny)) - (1 - _BALANCE) * np.log2(rows)
    powers: Floats = np.exp2(np.clip(np.rint(logs - logs.mean()), -8, 8)).astype(np.float32)
    return powers
