"""Vectors of texts, computed once and kept on disk.

Each model has a folder beside the model's cache, ``<cache>/vectors/<fingerprint>/``. Its file
``keys`` has 16 bytes of SHA-256 for each text, and ``vectors`` has float32[dimension] for each
text, row by row. A text's vector depends on the text and the model alone, so a kept vector is the
vector that the model would give.
"""

import fcntl
import hashlib
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

import recollex
from bench.lib.rundata import cache_folder

KEY = 16  # bytes
CHUNK = 256  # texts embedded between two writes, which an interruption may lose


class KeptVectors:
    """An embedder for `recollex.open` that runs the model only for texts without a kept vector.

    Processes may share the folder: each appends under a lock, and a text that two of them embed at
    once is kept twice. threads: number of threads of each call to `embed`.
    """

    def __init__(
        self,
        encoder: recollex.Encoder | None = None,
        folder: Path | None = None,
        threads: int = 2,
    ) -> None:
        self.encoder = recollex.load_encoder() if encoder is None else encoder
        self.dimension = self.encoder.dimension
        self.fingerprint = self.encoder.fingerprint
        self.thresholds = self.encoder.thresholds
        self.threads = threads
        self.folder = folder or cache_folder() / "vectors" / self.fingerprint
        self.folder.mkdir(parents=True, exist_ok=True)
        self._rows: dict[bytes, int] = {}
        self._vectors = np.empty((0, self.dimension), np.float32)
        self._follow()

    def _follow(self) -> None:
        """Read the rows that are complete, including those that other processes wrote."""
        keys, vectors = self.folder / "keys", self.folder / "vectors"
        if not (keys.exists() and vectors.exists()):
            return
        width = 4 * self.dimension
        known = len(self._vectors)
        rows = min(keys.stat().st_size // KEY, vectors.stat().st_size // width)
        if rows == known:
            return
        shape = (rows, self.dimension)
        self._vectors = np.memmap(vectors, dtype=np.float32, mode="r", shape=shape)
        with keys.open("rb") as file:
            file.seek(known * KEY)
            for row in range(known, rows):
                self._rows[file.read(KEY)] = row

    def _add(self, keys: list[bytes], new: NDArray[np.float32]) -> None:
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            width = 4 * self.dimension
            with (
                (self.folder / "keys").open("ab") as key_file,
                (self.folder / "vectors").open("ab") as vector_file,
            ):
                rows = min(key_file.tell() // KEY, vector_file.tell() // width)
                key_file.truncate(rows * KEY)  # removes an interrupted write
                vector_file.truncate(rows * width)
                vector_file.write(np.ascontiguousarray(new, np.float32).tobytes())
                key_file.write(b"".join(keys))
        self._follow()

    def embed(
        self,
        texts: Sequence[str],
        threads: int = 1,
        progress: Callable[[int], None] | None = None,
    ) -> NDArray[np.float32]:
        """Return float32[len(texts), dimension], as `Encoder.embed`."""
        keys = [_key("passage", text) for text in texts]
        both = zip(keys, texts, strict=True)
        pairs = list({key: text for key, text in both if key not in self._rows}.items())
        with closing(
            tqdm(total=len(pairs), desc="embedding", disable=True if len(pairs) < CHUNK else None)
        ) as bar:
            for first in range(0, len(pairs), CHUNK):
                part = pairs[first : first + CHUNK]
                vectors = self.encoder.embed([text for _, text in part], max(threads, self.threads))
                self._add([key for key, _ in part], vectors)
                bar.update(len(part))
        if progress is not None:
            progress(len(texts))
        return np.array(self._vectors[[self._rows[key] for key in keys]], np.float32).reshape(
            len(texts), self.dimension
        )

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return float32[dimension], as `Encoder.embed_query`."""
        key = _key("query", text)
        if key not in self._rows:
            self._add([key], self.encoder.embed_query(text)[None, :])
        return np.array(self._vectors[self._rows[key]], np.float32)

    def count_tokens(self, text: str) -> int:
        """Return the model's own count."""
        return self.encoder.count_tokens(text)


def _key(kind: str, text: str) -> bytes:
    return hashlib.sha256(f"{kind}\0{text}".encode()).digest()[:KEY]
