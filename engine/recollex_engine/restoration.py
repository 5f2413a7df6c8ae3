"""What if the vectors file was lost? The texts are in the log, so the model makes them again."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from recollex_engine.errors import CorruptError
from recollex_engine.log_format import START
from recollex_engine.log_reader import LogFollower
from recollex_engine.settings import Settings
from recollex_engine.vectors_file import VectorsReader, VectorsWriter, checksum


def restore_vectors(folder: Path, log: Path, path: Path, embedder: Any) -> int:
    """Embed again what the log says and ``path`` lacks; return how many rows that were.

    Batches whose bytes still have the checksum that the log holds are kept. Warns, naming the
    rows, since vectors that a caller had given are replaced by the model's own.
    """
    settings: Settings | None = None
    texts: list[str] = []
    batches: list[tuple[int, int, str]] = []
    for transaction in LogFollower(log, START).read_new():
        for operation in transaction.operations:
            payload = operation.payload or {}
            if operation.kind == "create":
                settings = Settings.from_payload(payload)
            elif operation.kind == "retain" and payload:
                if said := payload.get("vectors"):
                    batches.append((len(texts), len(texts) + said["rows"], said["sha256"]))
                text = payload["text"]
                spans = payload.get("passages") or [(0, len(text))]
                texts += [text[start:end] for start, end in spans]
    if settings is None:
        return 0
    held = VectorsReader(path, settings.dimension)
    rows = np.zeros((len(texts), settings.dimension), np.float16)
    lost: list[int] = []
    for first, end, expected in batches:
        try:
            rows[first:end] = held.rows(end)[first:]
        except (CorruptError, FileNotFoundError):
            lost += range(first, end)
            continue
        if checksum(rows[first:end]) != expected:
            lost += range(first, end)
    if not lost:
        return 0
    warnings.warn(
        f"{folder}: vectors of {len(lost)} of {len(texts)} passages are lost (rows {lost[0]} to "
        f"{lost[-1]}); embedding their texts again with {embedder.fingerprint}",
        RuntimeWarning,
        stacklevel=2,
    )
    rows[lost] = embedder.embed([texts[row] for row in lost])
    if not path.exists() or path.stat().st_size < 64:
        path.unlink(missing_ok=True)
    with VectorsWriter(path, settings.dimension, 0) as writer:
        writer.append(rows)
        writer.sync()
    return len(lost)
