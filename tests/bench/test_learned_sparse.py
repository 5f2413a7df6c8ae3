"""The sparse model by numpy, on a made-up one, and the measure of a list with its evidence."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy", reason="scipy is in the extra bench")

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from bench.lib.splade import Splade
from bench.tables.learned_sparse import Listed

WORDS = ["[UNK]", "ann", "eats", "rye", "bread", "today"]
WIDTH = 4


def made_up(folder: Path) -> Path:
    """Write a model of one layer and two heads with random weights."""
    generator = np.random.default_rng(3)
    layer = "bert.encoder.layer.0"
    shapes: dict[str, tuple[int, ...]] = {
        "bert.embeddings.word_embeddings.weight": (len(WORDS), WIDTH),
        "bert.embeddings.position_embeddings.weight": (16, WIDTH),
        "bert.embeddings.token_type_embeddings.weight": (2, WIDTH),
        "cls.predictions.bias": (len(WORDS),),
    }
    for name, rows, columns in (
        *((f"{layer}.attention.self.{part}", WIDTH, WIDTH) for part in ("query", "key", "value")),
        (f"{layer}.attention.output.dense", WIDTH, WIDTH),
        (f"{layer}.intermediate.dense", 8, WIDTH),
        (f"{layer}.output.dense", WIDTH, 8),
        ("cls.predictions.transform.dense", WIDTH, WIDTH),
    ):
        shapes |= {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}
    for name in (
        *("bert.embeddings", f"{layer}.attention.output", f"{layer}.output"),
        "cls.predictions.transform",
    ):
        shapes |= {f"{name}.LayerNorm.gamma": (WIDTH,), f"{name}.LayerNorm.beta": (WIDTH,)}
    header, body = {}, b""
    for name, shape in shapes.items():
        raw = generator.normal(size=shape).astype("<f4").tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": shape,
            "data_offsets": [len(body), len(body) + len(raw)],
        }
        body += raw
    told = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(len(told).to_bytes(8, "little") + told + body)
    config = {"num_attention_heads": 2, "num_hidden_layers": 1}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    vocabulary = {word: place for place, word in enumerate(WORDS)}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def test_a_text_expands_alike_alone_among_others_and_for_some_pieces(tmp_path: Path) -> None:
    model = Splade(made_up(tmp_path))
    texts = ["ann eats rye bread today", "bread", "ann eats"]
    every = np.arange(len(WORDS))
    together = model.expand(texts, every)
    alone = np.concatenate([model.expand([text], every) for text in texts])
    assert np.allclose(together, alone, atol=1e-5)
    assert together.min() >= 0
    assert together.max() > 0
    assert np.allclose(model.expand(texts, np.array([4, 1])), together[:, [4, 1]], atol=1e-6)


def test_the_sparse_evidence_lifts_a_candidate_by_its_weight() -> None:
    count = 12
    sparse = np.zeros(count)
    sparse[11] = 1.0
    scores = np.linspace(1.2, 0.1, count)
    units = tuple(map(str, range(count)))
    one = Listed("made up", 12, scores, np.zeros(count), sparse, frozenset({"11"}), units)
    assert one.measured((0.0, 1.0), False) == (0.0, 0.0)
    assert one.measured((2.0, 1.0), False) == (1.0, 1.0)
