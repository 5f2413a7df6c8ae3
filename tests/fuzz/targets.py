"""What is read from outside: each target takes any bytes, and may raise only what it names.

A target is a function of bytes. ``seeds`` are valid inputs. The files in ``corpus/<target>`` are
inputs that broke it once, and inputs whose refusal chance rarely finds: a number out of bounds, a
field of another type, a header of another version. Both are changed a little.
"""

import shutil
import tempfile
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import orjson

from recollex.api.dsl import OperationParser
from recollex.remote.wire import messages
from recollex.remote.wire.codec import decode, encode
from recollex_engine.dates.time_range import find_event_range, find_range
from recollex_engine.domain.settings import Settings
from recollex_engine.errors import CorruptError, FormatError, InputError, ProtocolError
from recollex_engine.log.format import (
    START,
    Head,
    HeadFile,
    decode_record,
    encode_header,
    encode_transaction,
)
from recollex_engine.log.reader import LogFollower
from recollex_engine.state.manifest import NAME, GraphEntry, Manifest, SegmentEntry, _checksum
from recollex_engine.storage.column import Column
from recollex_engine.storage.commit_word import CommitWord
from recollex_engine.storage.content_file import read_arrays, write_arrays
from recollex_engine.storage.vectors_file import VectorsReader, VectorsWriter

DAMAGE = (CorruptError, FormatError)
SHM = Path("/dev/shm")
AT = 1_763_000_000_000_000


@dataclass(frozen=True)
class Target:
    """A function to call with any bytes; errors: what it may raise."""

    run: Callable[[bytes], object]
    errors: tuple[type[Exception], ...]
    seeds: tuple[bytes, ...]


@contextmanager
def folder():
    """Yield a folder in memory."""
    place = Path(tempfile.mkdtemp(prefix="recollex-fuzz-", dir=SHM if SHM.is_dir() else None))
    try:
        yield place
    finally:
        shutil.rmtree(place)


def in_file(read: Callable[[Path], object], name: str) -> Callable[[bytes], object]:
    """Return a target that reads a file of this name, with the bytes as its content."""

    def run(data: bytes) -> object:
        with folder() as place:
            path = place / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
            return read(path)

    return run


def made(write: Callable[[Path], object], name: str) -> bytes:
    """Return the bytes of a file that ``write`` makes in a folder."""
    with folder() as place:
        write(place)
        return (place / name).read_bytes()


def read_log(path: Path) -> int:
    follower = LogFollower(path.parent, verify=True)
    try:
        return sum(len(each.operations) for each in follower.read_new())
    finally:
        follower.close()


def a_log() -> bytes:
    header = encode_header(1, START)
    payloads = [("retain", b'{"text":"Tea.","id":"m"}'), ("forget", b'{"memories":[0]}')]
    lines, _ = encode_transaction(START, AT, payloads, b"s" * 32)
    return header + lines


def use_arrays(path: Path) -> list[bytes]:
    return [each.tobytes() for each in read_arrays(path)[0].values()]


def write_vectors(place: Path) -> None:
    with VectorsWriter(place / "vectors", 4) as writer:
        writer.append(np.ones((3, 4), np.float16))


def write_head(place: Path) -> None:
    file = HeadFile(place / "log")
    file.write(Head(7, AT, bytes(32)))
    file.close()


def read_head(path: Path) -> object:
    file = HeadFile(path.parent / "log")
    try:
        return file.read()
    finally:
        file.close()


def a_manifest(place: Path) -> None:
    settings = Settings("m", 4, "english", 1, "words", embedding=2)
    counts = {"text": 3, "id": 1, "memory_of_row": 1}
    segments = (SegmentEntry(0, 0, 1, "segment-0000/postings-1"),)
    graphs = (GraphEntry("graphs/hnsw-0", 0, 1, 8),)
    Manifest(1, START, settings, counts, {"ids": 1}, segments, graphs, {"text": 7}).write(place)


def read_manifest(path: Path) -> object:
    """Read it with the checksum that fits, so that its fields are looked at."""
    with suppress(ValueError):
        values = orjson.loads(path.read_bytes())
        if isinstance(values, dict) and values.pop("sha256", None) is not None:
            with suppress(TypeError):
                path.write_bytes(orjson.dumps(values | {"sha256": _checksum(values)}))
    found = Manifest.read(path.parent)
    return None if found is None else found.has_all_columns


def parse_operations(data: bytes) -> object:
    return OperationParser(now=lambda: AT).parse_lines(data.decode("utf-8", "replace").split("\n"))


def read_dates(data: bytes) -> object:
    text = data.decode("utf-8", "replace")
    return find_range(text, AT), find_event_range(text, AT, month_first=True)


def read_message(data: bytes) -> object:
    return messages.read_message(decode(data))


REQUEST = messages.request(3, "recall", "ann", {"query": "tea"}, {"timeout": 1.0})
OPERATIONS = (
    b'{"op": "RETAIN", "id": "m", "text": "Tea.", "event_at": "2024-05-01"}',
    b'{"op": "BEGIN", "by": "ann"}\n{"op": "UPSERT_EDGE", "subject": "Ann", "predicate": "is",'
    b' "object": {"text": "here"}, "valid": "from 1811 to 1827", "confidence": 0.9}\n'
    b'{"op": "COMMIT"}',
)
DATES = tuple(
    text.encode()
    for text in (
        "last Friday at 5 pm",
        "from March 3rd to the 9th of May 2021, in two weeks",
        "12/31/1999 or 3.4.2025, in the late 80s, since Easter 2020",
        "yesterday, 29 February 2023, the day after tomorrow at noon",
    )
)

TARGETS = {
    "log": Target(in_file(read_log, "log/00000001.jsonl"), DAMAGE, (a_log(),)),
    "record": Target(decode_record, (), (a_log().splitlines()[1],)),
    "manifest": Target(in_file(read_manifest, NAME), DAMAGE, (made(a_manifest, NAME),)),
    "head": Target(in_file(read_head, "HEAD"), DAMAGE, (made(write_head, "HEAD"),)),
    "commit": Target(
        in_file(lambda path: CommitWord(path).op, "COMMIT"),
        DAMAGE,
        (made(lambda place: CommitWord(place / "COMMIT", writable=True), "COMMIT"),),
    ),
    "packs": Target(
        in_file(use_arrays, "postings"),
        DAMAGE,
        (
            made(
                lambda place: write_arrays(
                    place / "p",
                    {"a": np.arange(5, dtype=np.uint32), "b": np.ones(3, np.float32)},
                    {"terms": 2},
                ),
                "p",
            ),
        ),
    ),
    "column": Target(
        in_file(lambda path: Column("<u4", path, 3).array.tobytes(), "column"), DAMAGE, (bytes(12),)
    ),
    "vectors": Target(
        in_file(lambda path: VectorsReader(path, 4).rows(3).tobytes(), "vectors"),
        DAMAGE,
        (made(write_vectors, "vectors"),),
    ),
    "operations": Target(parse_operations, (InputError,), OPERATIONS),
    "dates": Target(read_dates, (), DATES),
    "wire": Target(
        read_message,
        (ProtocolError, InputError),
        (REQUEST, encode({"at": datetime(2024, 5, 1, tzinfo=UTC), "v": np.ones(3, np.float32)})),
    ),
}
