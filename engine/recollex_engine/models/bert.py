"""The layers of a BERT encoder (Devlin et al., 2019), read from weights and checked by shape."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollex_engine.errors import ModelError
from recollex_engine.models.description import read_json
from recollex_engine.models.safetensors_file import read_tensors

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Linear:
    """``y = x @ weight + bias``: weight float32[inputs, outputs], bias float32[outputs]."""

    weight: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Norm:
    """``y = (x - mean) / sqrt(variance + epsilon) * scale + shift`` over a token's values."""

    scale: Floats
    shift: Floats
    epsilon: float


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: attention, add and norm, two linears with a GELU between, add and norm.

    ``query_key_value`` computes query, key and value at once, side by side. The query is already
    divided by the square root of the size of a head.
    """

    query_key_value: Linear
    attention_output: Linear
    attention_norm: Norm
    intermediate: Linear
    output: Linear
    output_norm: Norm


@dataclass(frozen=True, slots=True)
class Classifier:
    """An encoder that scores a pair: ``classify(tanh(pool(first token's hidden state)))``.

    pool D -> D, classify D -> 1.
    """

    bert: "Bert"
    pool: Linear
    classify: Linear


@dataclass(frozen=True, slots=True)
class Bert:
    """A whole encoder: words float32[V, D], positions float32[P, D] (with token type 0 added).

    types float32[T, D]: the difference of each token type to type 0; the first row is 0.
    """

    words: Floats
    positions: Floats
    types: Floats
    embedding_norm: Norm
    layers: tuple[Layer, ...]
    heads: int

    @property
    def dimension(self) -> int:
        """The length D of a hidden state."""
        return int(self.words.shape[1])


def read_bert(folder: Path) -> Bert:
    """Return the encoder whose ``config.json`` and ``model.safetensors`` are in ``folder``.

    Raises:
        ModelError: it is not a BERT of the supported kind, or a tensor is missing or has another
            shape.
        CorruptError: the weights file is torn.

    """
    config = _Config(folder)
    parts = _Tensors(folder)
    size = config.size
    tensor = parts.tensor
    linear = parts.linear

    def norm(name: str) -> Norm:
        scale, shift = (tensor(f"{name}.{part}", size) for part in ("weight", "bias"))
        return Norm(scale, shift, config.epsilon)

    def layer(name: str) -> Layer:
        query, key, value = (
            linear(f"{name}.attention.self.{part}", size, size)
            for part in ("query", "key", "value")
        )
        root = np.float32(np.sqrt(size / config.heads))
        return Layer(
            query_key_value=Linear(
                np.concatenate([query.weight / root, key.weight, value.weight], axis=1),
                np.concatenate([query.bias / root, key.bias, value.bias]),
            ),
            attention_output=linear(f"{name}.attention.output.dense", size, size),
            attention_norm=norm(f"{name}.attention.output.LayerNorm"),
            intermediate=linear(f"{name}.intermediate.dense", size, config.wide),
            output=linear(f"{name}.output.dense", config.wide, size),
            output_norm=norm(f"{name}.output.LayerNorm"),
        )

    types = tensor("embeddings.token_type_embeddings.weight", config.types, size)
    positions = tensor("embeddings.position_embeddings.weight", config.positions, size)
    return Bert(
        words=tensor("embeddings.word_embeddings.weight", config.words, size),
        positions=positions + types[0],
        types=types - types[0],
        embedding_norm=norm("embeddings.LayerNorm"),
        layers=tuple(layer(f"encoder.layer.{n}") for n in range(config.layers)),
        heads=config.heads,
    )


def read_classifier(folder: Path) -> Classifier:
    """Return the encoder in ``folder`` with the head that scores a pair.

    Raises:
        ModelError: as `read_bert`, or there is no head, or it has several labels.
        CorruptError: the weights file is torn.

    """
    bert = read_bert(folder)
    parts = _Tensors(folder)
    labels = parts.rows_of("classifier.weight")
    if labels != 1:
        raise ModelError(f"{parts.path}: the classifier has {labels} labels, a cross-encoder has 1")
    if len(bert.types) < 2:
        raise ModelError(f"{parts.path}: one token type, a cross-encoder tells two texts apart")
    return Classifier(
        bert,
        pool=parts.linear("pooler.dense", bert.dimension, bert.dimension),
        classify=parts.linear("classifier", bert.dimension, 1),
    )


class _Tensors:
    """The tensors of a weights file, by their names without the prefix "bert."."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "model.safetensors"
        self._tensors = read_tensors(self.path)
        self._prefix = "bert." if "bert.embeddings.word_embeddings.weight" in self._tensors else ""

    def _find(self, name: str) -> Floats:
        head = name.startswith("classifier.")
        whole = name if head else self._prefix + name
        found = self._tensors.get(whole)
        if found is None:
            why = "it is no cross-encoder" if head else "config.json calls for it"
            raise ModelError(f"{self.path}: no tensor {whole!r}; {why}")
        return found

    def rows_of(self, name: str) -> int:
        return len(self._find(name))

    def tensor(self, name: str, *shape: int) -> Floats:
        found = self._find(name)
        if found.shape != shape:
            raise ModelError(
                f"{self.path}: {name} has shape {found.shape}, config.json says {shape}"
            )
        return found

    def linear(self, name: str, inputs: int, outputs: int) -> Linear:
        weight = self.tensor(f"{name}.weight", outputs, inputs).T
        return Linear(weight, self.tensor(f"{name}.bias", outputs))


class _Config:
    """The numbers of ``config.json``; unsupported values are refused."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "config.json"
        self.values = read_json(self.path)
        self._only("model_type", "bert", "bert")
        self._only("hidden_act", "gelu", "gelu")
        self._only("position_embedding_type", "absolute", "absolute")
        self.size = self._number("hidden_size")
        self.wide = self._number("intermediate_size")
        self.layers = self._number("num_hidden_layers")
        self.heads = self._number("num_attention_heads")
        self.words = self._number("vocab_size")
        self.positions = self._number("max_position_embeddings")
        self.types = self._number("type_vocab_size")
        self.epsilon = float(self.values.get("layer_norm_eps", 1e-12))
        if self.size % self.heads:
            raise ModelError(f"{self.path}: {self.heads} heads do not divide {self.size} values")

    def _number(self, key: str) -> int:
        value: Any = self.values.get(key)
        if not isinstance(value, int) or value < 1:
            raise ModelError(f"{self.path}: {key} must be a positive integer, got {value!r}")
        return value

    def _only(self, key: str, accepted: str, default: str) -> None:
        value = self.values.get(key, default)
        folder = self.path.parent
        if value != accepted:
            raise ModelError(
                f"{self.path}: {key} is {value!r}, only {accepted!r} is built: choose a model of "
                f"the BERT family; an encoder of another runs as sentence-transformers:{folder} "
                "(pip install 'recollex[sentence-transformers]'), a cross-encoder from its graph "
                f"(optimum-cli export onnx --task text-classification --model {folder} FOLDER)"
            )
