"""What does a backup hold? A manifest names the agents, a record for each agent its pieces.

::

    RECOLLEX_BACKUP             {"recollex_backup":1}: the folder, or prefix, is a backup
    backups/00000001.json       manifests, one for each run, numbered 1, 2, 3, ...
    objects/                    records and pieces (see `backup.manifest`)

    manifest = {"format":1,"number":N,"taken_at":AT,"note":{...},"agents":{NAME:{...}},
                "sha256":CHECKSUM}
    record   = {"first":CHAIN,"end":POSITION,"settings":{...},"rows":N,"files":[[PIECE]],
                "vectors":[PIECE][,"key":KEY]}
    KEY      = the content of the file KEY of an encrypted agent, as a string
    PIECE    = [SHA256,SIZE]                                     a record is one, too

A run writes its manifest last, under a number that is free. So no backup is incomplete: until then
the former manifest is the newest one, and every object that it needs is still there.

The objects of a backup: pieces of files, each named by the SHA-256 of its content.

::

    objects/AB/ABCDEF...       the bytes
    objects/AB/ABCDEF....gz    the bytes, compressed by gzip; the name is that of the plain bytes

So equal pieces are stored once, and a stored piece need not be sent again. Each can be checked by
itself: `sha256sum`, after `gunzip -c` if it is compressed.
"""

import hashlib
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from recollex_engine.backup.target import Target
from recollex_engine.domain.settings import Settings
from recollex_engine.errors import CorruptError, FormatError, InputError
from recollex_engine.log.format import Position
from recollex_engine.storage.disk import UNFINISHED
from recollex_engine.storage.formats import unknown_format

OBJECTS = "objects/"
_GZIP = 31  # zlib's wbits for a gzip header without a time, and a checksum at the end
_LEVEL = 6


@dataclass(frozen=True, slots=True)
class Piece:
    """An object: the SHA-256 of its content, the content's size in bytes, and its form."""

    sha256: str
    size: int
    compressed: bool

    @property
    def key(self) -> str:
        """Its key in a target."""
        return f"{OBJECTS}{self.sha256[:2]}/{self.sha256}{'.gz' if self.compressed else ''}"


def piece_of(content: bytes, *, compressed: bool) -> Piece:
    """Return the piece that holds ``content``. Cost: 0.7 ms a megabyte."""
    return Piece(hashlib.sha256(content).hexdigest(), len(content), compressed)


def encoded(piece: Piece, content: bytes) -> bytes:
    """Return the bytes to store for a piece."""
    if not piece.compressed:
        return content
    packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
    return packer.compress(content) + packer.flush()


def read_piece(target: Target, piece: Piece) -> bytes:
    """Return the content of a piece, checked. Raises `CorruptError` if it is lost or damaged."""
    where = f"{target.place}/{piece.key}"
    stored = target.get(piece.key)
    if stored is None:
        raise CorruptError(where, "an object of the backup", "none")
    content = stored
    if piece.compressed:
        unpacker = zlib.decompressobj(wbits=_GZIP)
        try:  # no more than it may hold, whatever the bytes say
            content = unpacker.decompress(stored, piece.size + 1)
        except zlib.error as error:
            raise CorruptError(where, "compressed bytes", f"damage ({error})") from error
    if (found := hashlib.sha256(content).hexdigest()) != piece.sha256:
        raise CorruptError(where, f"content of SHA-256 {piece.sha256}", found)
    return content


FORMAT = 1
MARKER = "RECOLLEX_BACKUP"
MANIFESTS = "backups/"
MOST_BYTES = 1 << 28
"""Bytes of a piece, at most."""
_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class AgentRecord:
    """One agent up to the position ``end`` of its log.

    first: the chain after the first transaction, in hex, which tells agents of one name apart.
    settings: those in force at the end. rows: how many vectors there are. files: the pieces of each
    log file, plain. vectors: the pieces of their rows, `VECTOR_ROWS` in each but the last. key: the
    content of KEY of an encrypted agent, whose pieces are encrypted as its files are, else empty.
    """

    first: str
    end: Position
    settings: Settings
    rows: int
    files: tuple[tuple[Piece, ...], ...]
    vectors: tuple[Piece, ...]
    key: str = ""

    @property
    def pieces(self) -> Iterator[Piece]:
        """All pieces of the agent."""
        for file in self.files:
            yield from file
        yield from self.vectors

    def to_json(self) -> bytes:
        """Return the record's bytes."""
        value = {
            "first": self.first,
            "end": self.end.to_json(),
            "settings": self.settings.to_payload(),
            "rows": self.rows,
            "files": [[(each.sha256, each.size) for each in file] for file in self.files],
            "vectors": [(each.sha256, each.size) for each in self.vectors],
        }
        return orjson.dumps(value | ({"key": self.key} if self.key else {}))

    @staticmethod
    def from_json(data: bytes) -> "AgentRecord":
        """Return the record that `to_json` wrote."""
        value = orjson.loads(data)
        return AgentRecord(
            value["first"],
            Position.from_json(value["end"]),
            _settings(value["settings"]),
            value["rows"],
            tuple(tuple(_piece(each, compressed=True) for each in file) for file in value["files"]),
            tuple(_piece(each, compressed=False) for each in value["vectors"]),
            str(value.get("key", "")),
        )


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """An agent in a manifest: the piece of its record, and its last operation and time."""

    record: Piece
    op: int
    recorded_at: int


@dataclass(frozen=True, slots=True)
class BackupManifest:
    """One run of a backup.

    taken_at: when it began, in microseconds. note: if the run erased something, the agent, by
    whom and why; else empty.
    """

    number: int
    taken_at: int
    agents: dict[str, AgentEntry]
    note: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Its key in a target."""
        return manifest_key(self.number)

    def to_json(self) -> bytes:
        """Return the manifest's bytes."""
        value: dict[str, Any] = {
            "format": FORMAT,
            "number": self.number,
            "taken_at": self.taken_at,
            "note": self.note,
            "agents": {
                name: {
                    "record": (each.record.sha256, each.record.size),
                    "op": each.op,
                    "recorded_at": each.recorded_at,
                }
                for name, each in self.agents.items()
            },
        }
        value["sha256"] = _checksum(value)
        return orjson.dumps(value, option=orjson.OPT_INDENT_2)


def manifest_key(number: int) -> str:
    """Return the key of the manifest with this number."""
    return f"{MANIFESTS}{number:08}.json"


def numbers(target: Target) -> list[int]:
    """Return the numbers of the backups in a target, ascending."""
    names = (
        each.key.removeprefix(MANIFESTS).removesuffix(".json") for each in target.keys(MANIFESTS)
    )
    return sorted(int(name) for name in names if name.isascii() and name.isdigit())


def read_manifest(target: Target, number: int) -> BackupManifest:
    """Return the manifest with this number.

    Raises `InputError` if there is none, `CorruptError` if it is damaged, `FormatError` if a newer
    version wrote it.
    """
    key = manifest_key(number)
    where = f"{target.place}/{key}"
    data = target.get(key)
    if data is None:
        known = ", ".join(map(str, numbers(target)[-12:]))
        if not known:
            last_manifest(target)  # raises: there is none
        raise InputError(f"there is no backup {number} in {target.place}, only {known}")
    try:
        value = orjson.loads(data)
        if value["format"] != FORMAT:
            raise _newer(where, value["format"])
        if (found := value.pop("sha256")) != (expected := _checksum(value)):
            raise CorruptError(where, f"checksum {expected}", found)
        agents = {
            name: AgentEntry(
                _piece(each["record"], compressed=True), each["op"], each["recorded_at"]
            )
            for name, each in value["agents"].items()
        }
        return BackupManifest(value["number"], value["taken_at"], agents, value["note"])
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise CorruptError(where, "a manifest in JSON", repr(error)) from error


def last_manifest(target: Target) -> BackupManifest:
    """Return the newest manifest. Raises `InputError` where ``target`` is no backup."""
    if not is_backup(target):
        raise InputError(f"there is no backup at {target.place}: recollex backup makes one")
    found = numbers(target)
    if not found:
        raise InputError(f"{target.place} holds no complete backup: run recollex backup again")
    return read_manifest(target, found[-1])


def is_backup(target: Target) -> bool:
    """Return whether a target is a backup, perhaps of a newer version: that is `FormatError`."""
    data = target.get(MARKER)
    if data is None:
        return False
    try:
        found = orjson.loads(data)["recollex_backup"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise CorruptError(f"{target.place}/{MARKER}", "a backup's marker", repr(error)) from error
    if found != FORMAT:
        raise _newer(target.place, found)
    return True


def mark(target: Target) -> None:
    """Make ``target`` a backup. Raises `InputError` for one that holds other files."""
    if is_backup(target):
        return
    other = next((each.key for each in target.keys("") if not each.key.endswith(UNFINISHED)), None)
    if other is not None:
        if is_backup(target):  # another run has just made it
            return
        raise InputError(
            f"{target.place} holds other files ({other}): give a place that is not there yet, is "
            "empty, or holds a backup"
        )
    target.create(MARKER, orjson.dumps({"recollex_backup": FORMAT}))


def _piece(said: Any, *, compressed: bool) -> Piece:
    """Return a piece that a manifest or a record names; `ValueError` if it cannot be one."""
    sha256, size = said
    if not _SHA256.fullmatch(sha256) or not _is_number(size, MOST_BYTES):
        raise ValueError(f"no piece: {said!r}")
    return Piece(sha256, size, compressed)


def _settings(said: dict[str, Any]) -> Settings:
    """Return settings, checked, since file names are made of them; may raise `ValueError`."""
    found = Settings.from_payload(said)
    if not _is_number(found.embedding) or not _is_number(found.dimension):
        raise ValueError(f"no settings: {said!r}")
    return found


def _is_number(value: object, most: int = 1 << 62) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _newer(where: str, found: object) -> FormatError:
    return unknown_format(None, found, FORMAT, where)


def _checksum(value: dict[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def read_record(target: Target, entry: AgentEntry) -> AgentRecord:
    """Return the record of an agent. Raises `CorruptError` if it is lost or damaged."""
    data = read_piece(target, entry.record)
    try:
        return AgentRecord.from_json(data)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        where = f"{target.place}/{entry.record.key}"
        raise CorruptError(where, "the record of an agent", repr(error)) from error
