"""What is where in a cluster's bucket?

::

    cluster.json               {"recollex_cluster":1,"shards":N}, written once
    nodes/<name>               the last heartbeat of a node: name, address, a counter, a start
    shards/<number>/           a SlateDB: the shared log of the shard's agents
    packs/<agent>/objects/...  pieces of an agent, in the format of a backup (`backup.manifest`)

    key   = length name kind           in a shard's SlateDB
    length = uint16, big-endian: bytes of the agent's name, in UTF-8
    kind  = "K"                        the content of the KEY of an encrypted agent
          | "P"                        the pack: an `AgentRecord` of the agent so far
          | "R" op                     a run after it; op is its last operation, uint64, big-endian
    run   = MessagePack of the fields of `SharedRun`, in order

Of the agent without a name "O" is the owner that answers: MessagePack of its name, address and
start; there is none once it has handed the shard over.

A shard is a set of agents with one shared log: an agent is in shard blake2b(name) mod N, for ever.
"""

import hashlib
import re
import struct
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Self

import msgpack
import orjson

from recollex_engine.backup.target import Target, open_target
from recollex_engine.domain.checks import check_count
from recollex_engine.errors import CorruptError, InputError
from recollex_engine.log.home import Run

FORMAT = 1
MOST_SHARDS = 65_536
SETTINGS = "cluster.json"
NODES = "nodes/"
KEY = b"K"
PACK = b"P"
RUN = b"R"
_OP = struct.Struct(">Q")
_LENGTH = struct.Struct(">H")
OWNER = _LENGTH.pack(0) + b"O"


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """What is the same for all nodes, for ever. shards: how many there are."""

    shards: int


def create_cluster(url: str, shards: int = 64) -> ClusterSettings:
    """Make an empty cluster at the address of a bucket, or file:///folder.

    shards: 8 to 16 for each core that will ever write. Raises `InputError` if there is one.

    >>> import tempfile
    >>> create_cluster(f"file://{tempfile.mkdtemp()}/memory", shards=8)
    ClusterSettings(shards=8)
    """
    check_count(shards, "shards", 1, MOST_SHARDS)
    target = bucket(url)
    with target.alone():
        data = orjson.dumps({"recollex_cluster": FORMAT, "shards": shards})
        if not target.create(SETTINGS, data):
            raise InputError(f"{url} is a cluster already: recollex cluster status shows it")
    return ClusterSettings(shards)


def read_cluster(url: str) -> ClusterSettings:
    """Return the settings of a cluster. Raises `InputError` if there is none at ``url``."""
    data = bucket(url).get(SETTINGS)
    if data is None:
        raise InputError(f"there is no cluster at {url}: recollex cluster create makes one")
    try:
        found = orjson.loads(data)
        if found["recollex_cluster"] != FORMAT:
            raise InputError(f"{url} is a cluster of format {found['recollex_cluster']}, not 1")
        return ClusterSettings(int(found["shards"]))
    except (ValueError, KeyError, TypeError) as error:
        raise CorruptError(f"{url}/{SETTINGS}", "the settings of a cluster", repr(error)) from error


def bucket(url: str, below: str = "") -> Target:
    """Return what is below a key of a bucket. Raises `InputError` for another kind of address."""
    if not isinstance(url, str) or "://" not in url or re.match("file://[^/]", url):
        raise InputError(f"a cluster is at s3://bucket/prefix or file:///folder, got {url!r}")
    return open_target(f"{url.rstrip('/')}/{below}" if below else url)


def shard_of(agent: str, shards: int) -> int:
    """Return the shard of an agent.

    >>> shard_of("alice", 64)
    9
    """
    return int.from_bytes(hashlib.blake2b(agent.encode(), digest_size=8).digest()) % shards


def prefix_of(agent: str) -> bytes:
    """Return how all keys of an agent begin, and no others."""
    name = agent.encode()
    return _LENGTH.pack(len(name)) + name


def run_key(agent: str, op: int) -> bytes:
    """Return the key of the run whose last operation is ``op``."""
    return prefix_of(agent) + RUN + _OP.pack(op)


def agent_of(key: bytes) -> str:
    """Return the agent that a key is of."""
    (length,) = _LENGTH.unpack_from(key)
    return key[_LENGTH.size : _LENGTH.size + length].decode()


def packs_of(url: str, agent: str) -> Target:
    """Return where the pieces of an agent are: they are shared with no other agent."""
    return bucket(url, f"packs/{hashlib.blake2b(agent.encode(), digest_size=16).hexdigest()}")


@dataclass(frozen=True, slots=True)
class _Packed:
    """A record that is stored as the MessagePack of its fields, in order."""

    def to_bytes(self) -> bytes:
        """Return the value of its key."""
        packed: bytes = msgpack.packb(astuple(self))
        return packed

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the record that `to_bytes` wrote."""
        return cls(*msgpack.unpackb(data))


@dataclass(frozen=True, slots=True)
class ShardOwner(_Packed):
    """A node that answers for a shard. start: tells its process from later ones of its name."""

    name: str
    address: str
    start: str


@dataclass(frozen=True, slots=True)
class SharedRun(_Packed):
    """A run as a shard has it.

    first_op, op: its first and last operation. recorded_at, chain: of the last one. node, epoch:
    who wrote it, in which ownership. lines: of the log. header, rows: the first bytes of the file
    of vectors, and those of the run's rows; both empty if it has none.
    """

    first_op: int
    op: int
    recorded_at: int
    chain: bytes
    node: str
    epoch: int
    lines: bytes
    header: bytes
    rows: bytes

    @classmethod
    def of(cls, run: Run, node: str, epoch: int, header: bytes) -> "SharedRun":
        """Return what is stored of a run; ``header``: empty if it has no rows."""
        end = run.end
        said = (end.op, end.recorded_at, end.chain, node, epoch)
        return cls(run.first_op, *said, run.lines, header, run.rows)

    @property
    def size(self) -> int:
        """Its bytes, nearly."""
        return len(self.lines) + len(self.rows)


@dataclass(frozen=True, slots=True)
class SharedAgent:
    """What a shard has of one agent. key, pack: as stored, None if there is none."""

    key: bytes | None
    pack: bytes | None
    runs: tuple[SharedRun, ...]

    @classmethod
    def of(cls, rows: Mapping[bytes, bytes], agent: str) -> "SharedAgent":
        """Return what the keys and values of an agent say, which come in order."""
        prefix = prefix_of(agent)
        runs = [each for key, each in rows.items() if key[len(prefix) :].startswith(RUN)]
        return cls(
            rows.get(prefix + KEY),
            rows.get(prefix + PACK),
            tuple(SharedRun.from_bytes(each) for each in runs),
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is no such agent."""
        return self.pack is None and not self.runs
