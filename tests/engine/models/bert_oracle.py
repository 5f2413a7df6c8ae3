"""BERT in float64, one text at a time: the oracle of the exported graphs."""

import math

import numpy as np

erf = np.vectorize(math.erf)


def linear(tensors, x, name):
    return x @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]


def encoded(tensors, ids, types, heads):
    """Return the last hidden states: Vaswani et al., 2017, equations 1 and 2, with GELU; post-norm.

    tensors: float64, by the names of a BERT without a head.
    """

    def norm(x, name):
        x = x - x.mean(axis=1, keepdims=True)
        x = x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-12)
        return x * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    x = tensors["embeddings.word_embeddings.weight"][ids]
    x = x + tensors["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + tensors["embeddings.token_type_embeddings.weight"][types], "embeddings.LayerNorm")
    size = x.shape[1] // heads
    layers = {name.split(".")[2] for name in tensors if name.startswith("encoder.layer.")}
    for n in range(len(layers)):
        layer = f"encoder.layer.{n}"
        q, k, v = (
            linear(tensors, x, f"{layer}.attention.self.{part}")
            for part in ("query", "key", "value")
        )
        seen = np.empty_like(x)
        for h in range(heads):
            part = slice(h * size, (h + 1) * size)
            scores = np.exp(q[:, part] @ k[:, part].T / math.sqrt(size))
            seen[:, part] = scores / scores.sum(axis=1, keepdims=True) @ v[:, part]
        attended = linear(tensors, seen, f"{layer}.attention.output.dense")
        x = norm(x + attended, f"{layer}.attention.output.LayerNorm")
        wide = linear(tensors, x, f"{layer}.intermediate.dense")
        wide = wide * (1 + erf(wide / math.sqrt(2))) / 2
        x = norm(x + linear(tensors, wide, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    return x
