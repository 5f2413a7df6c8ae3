"""Writes the small store that `test_old_stores` opens, with the recollex on the path.

::

    git worktree add /tmp/old REVISION
    cd /tmp/old
    PYTHONPATH=kernels:engine:bindings python .../tests/engine/data/write_store.py TARGET.tar.gz

With a second argument, a key in hexadecimal digits, the agent is encrypted.

An agent ann: four memories at four days, m3 forgotten, a checkpoint, then m1 replaced. Where the
revision can erase, m4 was erased before.
"""

import io
import sys
import tarfile
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

import recollex

TEXTS = ["Ann moved to Oslo.", "Ben plays the cello.", "Carol lives in Rome.", "Ann has a puppy."]


def day(number: int) -> datetime:
    return datetime(2024, 1, number, tzinfo=UTC)


class GivenVectors:
    """The embedder of revisions that have none for given vectors."""

    dimension = 8
    fingerprint = "given-8"

    def embed(self, texts: list[str], threads: int = 1, progress: object = None) -> object:
        raise AssertionError("vectors are given")

    def embed_query(self, text: str) -> object:
        raise AssertionError("vectors are given")

    def count_tokens(self, text: str) -> int:
        return len(text.split())


def write(folder: Path, key: str | None = None) -> None:
    kind = getattr(recollex, "GivenVectors", None)
    embedder = GivenVectors() if kind is None else kind(8)
    options = {} if key is None else {"key": bytes.fromhex(key)}
    with recollex.open(folder, embedder=embedder, **options) as store:
        ann = store.agent("ann")
        vectors = np.eye(8, dtype=np.float32)
        for place, text in enumerate(TEXTS):
            ann.retain(
                text,
                id=f"m{place}",
                event_at=day(place + 1),
                recorded_at=day(place + 1),
                embedding=vectors[place],
                tags=["old"],
                metadata={"place": place},
            )
        ann.forget("m3")
        if hasattr(ann, "erase"):
            ann.retain("Zymurgy.", id="m4", embedding=vectors[5])
            ann.erase("m4", by="ann", why="asked for")
        ann.checkpoint()
        ann.retain("Ben sold the cello.", id="m1", event_at=day(8), embedding=vectors[4])


def pack(folder: Path, target: Path) -> None:
    """Write the files of a store, in order and without times, to an archive."""
    with tarfile.open(target, "w:gz", compresslevel=9, format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                info = tarfile.TarInfo(f"store/{path.relative_to(folder).as_posix()}")
                data = path.read_bytes()
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        write(Path(made) / "store", *sys.argv[2:])
        pack(Path(made) / "store", Path(sys.argv[1]))
