"""How does an agent's folder become what the cluster has, and the cluster what is written?

An agent's folder is prepared once in each ownership of its shard, at its first use: it is
kept if its log ends where the shared log does, in the same start of the machine (nothing in it is
flushed, so a loss of power may take any part of it), and made anew from the pack and the runs
otherwise. While it is open, each flush sends a run. A pack takes the place of many runs.
"""

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path

from recollex.cluster.layout import SharedAgent, SharedRun, packs_of, shard_of
from recollex.cluster.shard import Shard, ShardReader, SlateLoop
from recollex_engine.agents.folder_names import agents_in, remove_tree
from recollex_engine.agents.store import create_store
from recollex_engine.backup.agent_backup import read_agent
from recollex_engine.backup.backup import Objects
from recollex_engine.backup.manifest import OBJECTS, AgentRecord
from recollex_engine.backup.restoring import write_agent
from recollex_engine.backup.target import Target
from recollex_engine.errors import CorruptError, InputError
from recollex_engine.log.files import file_numbers, plain_path
from recollex_engine.log.format import START, encode_header
from recollex_engine.log.home import FencedError, Run
from recollex_engine.log.reader import LogFollower
from recollex_engine.state.replica import LOG
from recollex_engine.storage.disk import make_folder, replace_file
from recollex_engine.storage.encryption import NAME as KEY_FILE
from recollex_engine.storage.encryption import is_encrypted, read_key_file
from recollex_engine.storage.unfinished import INSIDE, unfinished_folder
from recollex_engine.storage.vectors_file import HEADER_BYTES

PACK_BYTES = 256 << 10
"""Bytes of an agent's runs after which they are packed, if that is a quarter of its pack."""
FIRST_VECTORS = "vectors.f16"
"""The file of vectors of an agent that has moved to no other model: one that has is packed."""
BOOT = "/proc/sys/kernel/random/boot_id"
BOOTED = "SHARED"
"""File of an agent's folder that names the start of the machine in which it was prepared."""


CACHE = "CLUSTER"
"""File of a node's folder that names its cluster: what is in the folder may be removed."""


def take_for_cache(folder: Path, url: str) -> None:
    """Mark a folder as the cache of a cluster's node.

    Raises `InputError` for a folder that has agents of its own, or is the cache of another cluster:
    a node removes what its cluster does not have.
    """
    mark = folder / CACHE
    if mark.exists():
        if (found := mark.read_text("utf-8")) != url:
            raise InputError(f"{folder} is a cache of the cluster {found}: give another folder")
        return
    if agents_in(folder):
        raise InputError(
            f"{folder} is a store with agents of its own, which a node would remove: give a folder "
            f"that is empty or not there; `recollex cluster import {url} {folder}` copies a store"
        )
    create_store(folder)
    replace_file(mark, url.encode())


def boot_id() -> bytes:
    """Return what tells this start of the machine from others; empty where nothing does."""
    try:
        return Path(BOOT).read_bytes()
    except OSError:
        return b""


class AgentHome:
    """The home of one agent's log during one ownership of its shard; see `log.home.LogHome`."""

    def __init__(self, homes: "ShardHomes", shard: Shard, agent: str, folder: Path) -> None:
        self._homes = homes
        self._shard = shard
        self._agent = agent
        self._folder = folder
        self.pack: AgentRecord | None = None
        self.runs: list[int] = []
        """The last operations of the runs that the pack does not hold."""
        self.unpacked: int = 0
        """Bytes of these runs."""
        self.is_new: bool = True
        """Whether the shard has nothing of the agent."""
        self._failed = False
        self._sending = threading.Lock()

    def append(self, run: Run) -> None:
        """Send a run; one after which earlier bytes differ is sent as a pack of the whole agent."""
        with self._sending:
            self._check()
            try:
                if run.rewritten:
                    self._pack(run.end.op, fresh=True)
                    self._homes.loop.run(self._shard.forget(), seconds=60)
                else:
                    key = self._key() if self.is_new else None
                    header = self._header() if run.rows else b""
                    sent = SharedRun.of(run, self._homes.node, self._shard.epoch, header)
                    self._homes.loop.run(self._shard.append(self._agent, sent, key))
                    self.runs.append(sent.op)
                    self.unpacked += sent.size
                if self.is_new:
                    replace_file(self._folder / BOOTED, boot_id(), durable=False)
                    self.is_new = False
            except BaseException as error:
                self._failed = True
                self._homes.failed(self._shard, error)
                if isinstance(error, OSError):
                    raise
                raise FencedError(f"agent {self._agent!r}: {error}") from error

    def holds(self, shard: Shard, folder: Path) -> bool:
        """Return whether a folder is as this home left it, in the same ownership."""
        return self._shard is shard and not self._failed and (self.is_new or folder.exists())

    @property
    def wants_packing(self) -> bool:
        """Whether the runs are many enough to be packed."""
        held = 0 if self.pack is None else sum(each.size for each in self.pack.pieces)
        return self.unpacked > max(PACK_BYTES, held // 4)

    def pack_now(self) -> None:
        """Put the agent so far into a pack. Writers may go on; raises `FencedError`."""
        with self._sending:
            self._check()
            if self.runs:
                self._pack(self.runs[-1], fresh=False)

    def _pack(self, op: int, *, fresh: bool) -> None:
        """Put the pieces first, then let the pack name them; only these are kept."""
        target = packs_of(self._homes.url, self._agent)
        objects = Objects(target, None, fresh=True)
        base = None if fresh else self.pack
        record = read_agent(self._folder, base, base, objects.add, op)
        if record is None or record.end.op != op:
            raise CorruptError(self._folder / LOG, f"operation {op}", "another end")
        target.flush()
        work = self._shard.put_pack(self._agent, record.to_json(), tuple(self.runs))
        self._homes.loop.run(work)
        self.pack = record
        self.runs = []
        self.unpacked = 0
        _sweep(target, {each.key for each in record.pieces})

    def _header(self) -> bytes:
        name = FIRST_VECTORS if self.pack is None else self.pack.settings.vectors_file
        with (self._folder / name).open("rb") as file:
            return file.read(HEADER_BYTES)

    def _key(self) -> bytes | None:
        return read_key_file(self._folder) if is_encrypted(self._folder) else None

    def _check(self) -> None:
        if self._failed or not self._homes.owns(self._shard):
            raise FencedError(f"the shard of agent {self._agent!r} is another node's")


class ShardHomes:
    """The homes of the agents of a node; see `log.home.LogHomes`.

    url: of the cluster. node: its name. shards: those that the node has open, by number; the node
    adds and removes them. failed(shard, error): called when a run could not be sent.
    """

    def __init__(
        self,
        url: str,
        node: str,
        count: int,
        loop: SlateLoop,
        failed: Callable[[Shard, BaseException], None],
    ) -> None:
        self.url = url
        self.node = node
        self.loop = loop
        self.failed = failed
        self.shards: dict[int, Shard] = {}
        self._count = count
        self._homes: dict[str, AgentHome] = {}
        self._lock = threading.Lock()
        self._preparing: dict[str, threading.Lock] = {}

    def owns(self, shard: Shard) -> bool:
        """Return whether the node has this opening of a shard."""
        return self.shards.get(shard.number) is shard

    def shard(self, agent: str) -> Shard:
        """Return the shard of an agent. Raises `FencedError` if another node has it."""
        shard = self.shards.get(shard_of(agent, self._count))
        if shard is None:
            raise FencedError(f"the shard of agent {agent!r} is another node's")
        return shard

    def prepare(self, agent: str, folder: Path) -> AgentHome:
        """Make the folder of an agent what its shard has; see `log.home.LogHomes.prepare`."""
        with self._lock:
            lock = self._preparing.setdefault(agent, threading.Lock())
        with lock:
            shard = self.shard(agent)
            home = self._homes.get(agent)
            if home is not None and home.holds(shard, folder):
                return home
            shared = self.loop.run(shard.read(agent))
            if not _is_equal(folder, shared):
                if folder.exists():
                    remove_tree(folder)
                if not shared.is_empty:
                    build(folder, shared, packs_of(self.url, agent))
            home = AgentHome(self, shard, agent, folder)
            home.is_new = shared.is_empty
            home.pack = None if shared.pack is None else AgentRecord.from_json(shared.pack)
            home.runs = [each.op for each in shared.runs]
            home.unpacked = sum(each.size for each in shared.runs)
            self._homes[agent] = home
            return home

    def prepared(self, number: int) -> list[str]:
        """Return the agents of a shard that were prepared."""
        with self._lock:
            return [name for name in self._homes if shard_of(name, self._count) == number]

    def agents(self) -> list[str]:
        """Return all agents of the cluster, sorted: those of other nodes as the bucket has them."""
        return sorted(self.loop.run(self._agents(), seconds=60))

    async def _agents(self) -> list[str]:
        found = []
        for number in range(self._count):
            shard = self.shards.get(number)
            if shard is not None:
                found += await shard.agents()
                continue
            reader = ShardReader(self.url, number)
            await reader.open()
            try:
                found += await reader.agents()
            finally:
                await reader.close()
        return found

    def drop(self, agent: str, folder: Path) -> None:
        """Forget an agent that is closed, and remove its folder: another node has its shard."""
        self._homes.pop(agent, None)
        with contextlib.suppress(OSError):
            remove_tree(folder)

    def delete(self, agent: str) -> None:
        """Remove an agent, whose folder is gone, from the cluster; return once nothing is left."""
        shard = self.shard(agent)
        self._homes.pop(agent, None)
        self.loop.run(shard.delete(agent))
        _sweep(packs_of(self.url, agent), set())
        self.loop.run(shard.forget(), seconds=60)

    def pack_many(self) -> None:
        """Pack the agents whose runs became many."""
        for home in list(self._homes.values()):
            if home.wants_packing:
                with contextlib.suppress(FencedError, FileNotFoundError):
                    home.pack_now()


def _sweep(target: Target, named: set[str]) -> None:
    """Remove the pieces of an agent that its pack does not name."""
    target.delete([each.key for each in target.keys(OBJECTS) if each.key not in named])


def end_of_log(log: Path, *, verify: bool = False) -> tuple[int, bytes]:
    """Return the last operation of a log, and the chain after it, which is rehashed to verify."""
    follower = LogFollower(log, verify=verify)
    try:
        for _ in follower.read_records():
            pass
    finally:
        follower.close()
    return follower.position.op, follower.position.chain


def _is_equal(folder: Path, shared: SharedAgent) -> bool:
    """Return whether a folder ends where the shared log does, and was prepared since the start."""
    log = folder / LOG
    if shared.is_empty or not log.is_dir() or not (boot := boot_id()):
        return False
    with contextlib.suppress(OSError, CorruptError):
        return (folder / BOOTED).read_bytes() == boot and end_of_log(log) == end_of(shared)
    return False


def end_of(shared: SharedAgent) -> tuple[int, bytes]:
    """Return the last operation of an agent, and the chain after it."""
    if shared.runs:
        return shared.runs[-1].op, shared.runs[-1].chain
    assert shared.pack is not None
    end = AgentRecord.from_json(shared.pack).end
    return end.op, end.chain


def build(folder: Path, shared: SharedAgent, pieces: Target) -> None:
    """Make an agent's folder from its pack and the runs after it.

    pieces: the target of the pack's pieces. Raises `CorruptError` if runs are missing, or a piece.
    """
    pack = None if shared.pack is None else AgentRecord.from_json(shared.pack)
    last = 0 if pack is None else pack.end.op
    for run in shared.runs:
        if run.first_op != last + 1:
            raise CorruptError(folder, f"operation {last + 1} in the shared log", run.first_op)
        last = run.op
    make_folder(folder.parent)
    with unfinished_folder(folder.parent.parent, INSIDE) as new:
        if pack is not None:
            write_agent(pieces, pack, new)
        else:
            make_folder(new / LOG)
            header = encode_header(1, START, shared.key is not None)
            plain_path(new / LOG, 1).write_bytes(header)
        if (key := _key_of(shared, pack)) is not None:
            (new / KEY_FILE).write_bytes(key)
        with plain_path(new / LOG, file_numbers(new / LOG)[-1]).open("ab") as log:
            for run in shared.runs:
                log.write(run.lines)
        name = FIRST_VECTORS if pack is None else pack.settings.vectors_file
        _append_rows(new, shared.runs, name)
        (new / BOOTED).write_bytes(boot_id())
        new.rename(folder)


def _key_of(shared: SharedAgent, pack: AgentRecord | None) -> bytes | None:
    if shared.key is not None:
        return shared.key
    return pack.key.encode() if pack is not None and pack.key else None


def _append_rows(folder: Path, runs: tuple[SharedRun, ...], name: str) -> None:
    """Append the rows of runs to the file of vectors, which is made if there are any."""
    with_rows = [run for run in runs if run.rows]
    if not with_rows:
        return
    path = folder / name
    if not path.exists():
        path.write_bytes(with_rows[0].header)
    with path.open("ab") as vectors:
        for run in with_rows:
            vectors.write(run.rows)
