"""SPLADE (Formal et al., 2021) by numpy: the weights of the words that a text might also use.

A BERT with its masked-language head gives each token a logit for every piece of the vocabulary.
The weight of piece v for a text is

    w[v] = max over tokens t of ln(1 + max(0, logit[t, v]))

The question is no text of the model: its pieces weigh their idf. So a recall would run no model.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf
from tokenizers import Tokenizer

LONGEST = 256
"""Tokens that are read of a text."""
BATCH = 4096
"""Tokens of one pass."""

Floats = NDArray[np.float32]


class Splade:
    """Reads a folder with ``config.json``, ``tokenizer.json`` and ``model.safetensors``."""

    def __init__(self, folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.heads: int = config["num_attention_heads"]
        self.layers: int = config["num_hidden_layers"]
        self.weights = _tensors(folder / "model.safetensors")
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(LONGEST)
        self.tokenizer.no_padding()

    def pieces(self, text: str) -> list[int]:
        """Return the ids of a text's pieces, in order, without the special ones."""
        found = self.tokenizer.encode(text, add_special_tokens=False).ids
        return [int(id) for id in found]

    def expand(self, texts: Sequence[str], vocabulary: NDArray[np.int64]) -> Floats:
        """Return float32[texts, vocabulary]: the weight of each of these pieces in each text."""
        found = np.zeros((len(texts), len(vocabulary)), np.float32)
        read = [text.ids for text in self.tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(texts)), key=lambda place: len(read[place]))
        start = 0
        while start < len(order):
            end = start + 1
            while end < len(order) and (end + 1 - start) * len(read[order[end]]) <= BATCH:
                end += 1
            batch = order[start:end]
            found[batch] = self._weigh([read[place] for place in batch], vocabulary)
            start = end
        return found

    def _weigh(self, texts: Sequence[Sequence[int]], vocabulary: NDArray[np.int64]) -> Floats:
        length = max(map(len, texts))
        ids = np.zeros((len(texts), length), np.int64)
        real = np.zeros((len(texts), length), bool)
        for place, text in enumerate(texts):
            ids[place, : len(text)], real[place, : len(text)] = text, True
        take = self.weights
        table = take["bert.embeddings.word_embeddings.weight"]
        x = table[ids] + take["bert.embeddings.position_embeddings.weight"][:length]
        x = self._norm(
            "bert.embeddings", x + take["bert.embeddings.token_type_embeddings.weight"][0]
        )
        hidden = np.where(real, 0, np.float32(-1e9))[:, None, None, :].astype(np.float32)
        for layer in range(self.layers):
            x = self._layer(f"bert.encoder.layer.{layer}", x, hidden)
        x = x[real]  # only the tokens that there are
        head = "cls.predictions"
        x = self._norm(f"{head}.transform", _gelu(self._linear(f"{head}.transform.dense", x)))
        logits = x @ table[vocabulary].T + take[f"{head}.bias"][vocabulary]
        ends = np.cumsum([len(text) for text in texts])
        best = np.maximum.reduceat(logits, np.concatenate([[0], ends[:-1]]), axis=0)
        weights: Floats = np.log1p(np.maximum(best, 0)).astype(np.float32)
        return weights

    def _layer(self, name: str, x: Floats, hidden: Floats) -> Floats:
        texts, length, width = x.shape
        share = width // self.heads

        def split(part: str) -> Floats:
            said = self._linear(f"{name}.attention.self.{part}", x)
            return said.reshape(texts, length, self.heads, share).transpose(0, 2, 1, 3)

        near = split("query") @ split("key").transpose(0, 1, 3, 2) / np.float32(share**0.5) + hidden
        near = np.exp(near - near.max(axis=-1, keepdims=True))
        near /= near.sum(axis=-1, keepdims=True)
        seen = (near @ split("value")).transpose(0, 2, 1, 3).reshape(texts, length, width)
        out = f"{name}.attention.output"
        x = self._norm(out, x + self._linear(f"{out}.dense", seen))
        wide = _gelu(self._linear(f"{name}.intermediate.dense", x))
        return self._norm(f"{name}.output", x + self._linear(f"{name}.output.dense", wide))

    def _linear(self, name: str, x: Floats) -> Floats:
        said: Floats = x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return said

    def _norm(self, name: str, x: Floats) -> Floats:
        scale = self.weights[f"{name}.LayerNorm.gamma"]
        x = x - x.mean(axis=-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(1e-12))
        said: Floats = x * scale + self.weights[f"{name}.LayerNorm.beta"]
        return said


def _gelu(x: Floats) -> Floats:
    said: Floats = x * np.float32(0.5) * (1 + erf(x * np.float32(0.5**0.5)))
    return said


def _tensors(path: Path) -> dict[str, Floats]:
    """Return the float32 tensors of a safetensors file: a length, a JSON header, raw arrays."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + size])
    body = memoryview(raw)[8 + size :]
    tensors = {}
    for name, told in header.items():
        if name != "__metadata__":
            start, end = told["data_offsets"]
            tensors[name] = np.frombuffer(body[start:end], "<f4").reshape(told["shape"])
    return tensors
