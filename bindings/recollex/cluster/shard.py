"""The shared log of a shard's agents: one SlateDB, which one node has open at a time.

SlateDB makes writes durable in the object store, and refuses every write of a former owner. Whose
answers may be trusted meanwhile is ours to say: an owner answers only while it has proved, less
than a second ago, that the shard was not opened after it.
"""

import asyncio
import importlib
import json
import threading
import time
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from recollex.cluster.layout import (
    KEY,
    OWNER,
    PACK,
    ShardOwner,
    SharedAgent,
    SharedRun,
    agent_of,
    prefix_of,
    run_key,
)
from recollex_engine import fork
from recollex_engine.errors import InputError
from recollex_engine.log.home import FencedError

INSTALL = "pip install 'recollex[cluster]'"
DEADLINE = 10.0
"""Seconds for which a call waits for the object store. SlateDB itself would try for ever."""
FLUSHED_RUNS = 128
"""Runs after which the memtable is flushed: who takes the shard over replays the others, each from
an object of its own."""
POLL = "2s"
CHECKPOINT = "4s"
"""How long objects that a compaction replaced are kept at least: longer than an owner takes to see
that it is over (`POLL`), since it reads them until then. An erasure waits as long."""
_BATCH = 1000
_ERASE_TRIES = 40
_ERASE_PAUSE = 0.25

Result = TypeVar("Result")


def slatedb() -> Any:
    """Return SlateDB's module. Raises `InputError` with the line that installs it."""
    try:
        return importlib.import_module("slatedb.uniffi")
    except ImportError as error:
        raise InputError(f"a cluster needs slatedb and obstore: {INSTALL}") from error


class SlateLoop:
    """The event loop of all SlateDBs of a process, on a thread of its own.

    Threads: any number may `run`. Cost: 40 us a call.
    """

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self.loop.run_forever, name="recollex cluster", daemon=True
        )
        self._thread.start()
        self._inherited = False
        fork.register(self)

    def after_fork(self) -> None:
        """Refuse every later call in the child, which has no such thread."""
        self._inherited = True

    def run(self, work: Coroutine[Any, Any, Result], seconds: float = DEADLINE) -> Result:
        """Return what a coroutine returns. Raises `FencedError` if it takes longer."""
        if self._inherited:
            work.close()
            raise fork.refusal("the node")
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result(seconds)
        except TimeoutError as error:  # not cancelled: SlateDB answers it later
            raise FencedError(f"the object store did not answer in {seconds:g} s") from error

    def close(self) -> None:
        """End the thread, once what it was doing is done."""
        if not self._inherited:
            asyncio.run_coroutine_threadsafe(self._finish(), self.loop).result()
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()
            self.loop.close()

    async def _finish(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others, timeout=DEADLINE)


class ShardReader:
    """What is durable in one shard, read without disturbing its owner.

    Its coroutines run on a `SlateLoop`.
    """

    def __init__(self, url: str, number: int) -> None:
        self._slate = slatedb()
        self.number = number
        scheme, _, rest = url.rstrip("/").partition("://")
        address = "file:///" if scheme == "file" else url.rstrip("/")
        below = f"{rest.strip('/')}/" if scheme == "file" else ""
        self._path = f"{below}shards/{number:05}"
        self._store = self._slate.ObjectStore.resolve(address)
        self._admin = self._slate.AdminBuilder(self._path, self._store).build()
        self._db: Any = None

    async def open(self) -> None:
        """Open the shard as it is now; one that no node has had yet is empty."""
        try:
            if await self.epoch_now(new=True):
                self._db = await self._slate.DbReaderBuilder(self._path, self._store).build()
        except self._slate.Error as error:
            raise self._fenced(error) from error

    async def close(self) -> None:
        """Close the shard; another node may take it at once."""
        if self._db is not None:
            db = self._db
            self._db = None
            with suppress(self._slate.Error, TimeoutError):
                await asyncio.wait_for(db.shutdown(), DEADLINE)

    async def epoch_now(self, *, new: bool = False) -> int:
        """Return the epoch of the last opening; 0 for a shard that is ``new``."""
        try:
            manifest = await self._admin.read_manifest(None)
        except self._slate.Error:
            if new:
                return 0
            raise
        return 0 if manifest is None else int(manifest.writer_epoch)

    async def read(self, agent: str) -> SharedAgent:
        """Return what is durable of an agent."""
        return SharedAgent.of(await self._rows(agent), agent)

    async def agents(self) -> list[str]:
        """Return the agents of the shard. Cost: one seek for each."""
        found: list[str] = []
        after: bytes | None = prefix_of("") + b"\xff"
        if self._db is None:
            return []
        try:
            while True:
                everything = self._slate.KeyRange(
                    start=after, start_inclusive=True, end=None, end_inclusive=False
                )
                rows = await (await self._db.scan(everything)).next_batch(1)
                if not rows:
                    return found
                found.append(agent_of(rows[0].key))
                after = prefix_of(found[-1]) + b"\xff"
        except self._slate.Error as error:
            raise self._fenced(error) from error

    async def _rows(self, agent: str) -> dict[bytes, bytes]:
        slate = self._slate
        everything = slate.KeyRange(
            start=None, start_inclusive=False, end=None, end_inclusive=False
        )
        rows: dict[bytes, bytes] = {}
        if self._db is None:
            return rows
        try:
            scan = await self._db.scan_prefix(prefix_of(agent), everything)
            while batch := await scan.next_batch(_BATCH):
                rows |= {each.key: each.value for each in batch}
        except slate.Error as error:
            raise self._fenced(error) from error
        return rows

    def _fenced(self, error: Exception) -> FencedError:
        return FencedError(f"shard {self.number}: {error}")


class Shard(ShardReader):
    """One shard, from its opening by this node until it is closed or another node opens it.

    url: of the cluster. owner: who opens it. flush: the time in which runs share a write to the
    object store, such as "20ms".
    """

    def __init__(self, url: str, number: int, owner: ShardOwner, flush: str = "20ms") -> None:
        super().__init__(url, number)
        self.owner = owner
        self.former: ShardOwner | None = None
        """Who had the shard before, and did not hand it over."""
        self.answers_from: float = 0.0
        """When no former owner can answer a read any more, on the monotonic clock."""
        self.epoch: int = 0
        """SlateDB's number of this opening: later owners have greater ones."""
        self.proved_at: float = 0.0
        """When it was last certain that no other node had the shard, on the monotonic clock."""
        self._flush = flush
        self._runs = 0

    async def open(self) -> None:
        """Take the shard: every later write of a former owner is refused.

        Raises `FencedError` if another node took it at the same moment, or no store answers.
        """
        try:
            before = await self.epoch_now(new=True)
            settings = self._slate.Settings.default()
            options = json.loads(settings.to_json_string())
            compactor = options["compactor_options"]
            compactor |= {"poll_interval": "1s", "checkpoint_lifetime": CHECKPOINT}
            compactor["worker"]["compactions_poll_interval"] = "1s"
            for name, value in {
                "flush_interval": self._flush,
                "manifest_poll_interval": POLL,
                "l0_sst_size_bytes": 16 << 20,
                "max_unflushed_bytes": 64 << 20,
                "object_store_max_retries": 5,
                "compactor_options": compactor,
            }.items():
                settings.set(name, json.dumps(value))
            builder = self._slate.DbBuilder(self._path, self._store)
            builder.with_settings(settings)
            self._db = await builder.build()
            began = time.monotonic()
            self.epoch = await self.epoch_now()
            former = await self._db.get(OWNER)
            self.former = None if former is None else ShardOwner.from_bytes(former)
        except self._slate.Error as error:
            raise self._fenced(error) from error
        if self.epoch != before + 1:
            await self.close()
            raise FencedError(f"two nodes opened shard {self.number} at once")
        self.proved_at = began
        batch = self._slate.WriteBatch()
        batch.put(OWNER, self.owner.to_bytes())
        await self._write(batch)

    async def hand_over(self) -> None:
        """Say that this owner answers no more, and let another node take the shard at once."""
        with suppress(FencedError):
            batch = self._slate.WriteBatch()
            batch.delete(OWNER)
            await self._write(batch)
        await self.close()

    @property
    def is_open(self) -> bool:
        """Whether SlateDB has the shard open, as far as it knows."""
        return self._db is not None and self._db.status().close_reason is None

    async def prove(self) -> bool:
        """Note that the node owned the shard when this call began; return False if it does not."""
        began = time.monotonic()
        try:
            if not self.is_open or await self.epoch_now() != self.epoch:
                return False
        except self._slate.Error:
            return True  # the store does not answer: the last proof grows old
        self.proved_at = began
        return True

    async def append(self, agent: str, run: SharedRun, key: bytes | None) -> None:
        """Return once a run is durable; ``key``: of an encrypted agent whose first run it is."""
        batch = self._slate.WriteBatch()
        batch.put(run_key(agent, run.op), run.to_bytes())
        if key is not None:
            batch.put(prefix_of(agent) + KEY, key)
        await self._write(batch)
        self._runs += 1
        if self._runs % FLUSHED_RUNS == 0:
            self._flushing = asyncio.ensure_future(self._flush_memtable())

    async def put_pack(self, agent: str, pack: bytes, runs: tuple[int, ...]) -> None:
        """Replace an agent's pack, and remove the runs that it holds, by their last operations."""
        batch = self._slate.WriteBatch()
        batch.put(prefix_of(agent) + PACK, pack)
        for op in runs:
            batch.delete(run_key(agent, op))
        await self._write(batch)

    async def delete(self, agent: str) -> None:
        """Remove all that the shard has of an agent."""
        batch = self._slate.WriteBatch()
        for key in await self._rows(agent):
            batch.delete(key)
        await self._write(batch)

    async def forget(self) -> None:
        """Return once what was deleted is in no object of the shard any more.

        All is merged into one sorted run, and every object that it does not need is removed.
        """
        slate = self._slate
        await self._flush_memtable()
        try:
            manifest = await self._admin.read_manifest(None)
            sources = [slate.SourceId.SST_VIEW(each.id) for each in manifest.l0]
            sources += [slate.SourceId.SORTED_RUN(each.id) for each in manifest.compacted]
            target = min((each.id for each in manifest.compacted), default=0)
            await self._admin.submit_compaction(slate.CompactionSpec.TIERED(b"", sources, target))
            for _ in range(_ERASE_TRIES):
                manifest = await self._admin.read_manifest(None)
                if not manifest.l0 and len(manifest.compacted) <= 1:
                    break
                await asyncio.sleep(_ERASE_PAUSE)
            now = slate.GarbageCollectorDirectoryOptions(
                interval_ms=None, min_age_ms=0, dry_run=False
            )
            for _ in range(_ERASE_TRIES):
                await self._admin.run_gc_once(
                    slate.GarbageCollectorOptions(
                        manifest_options=now,
                        wal_options=now,
                        wal_fence_options=None,
                        compacted_options=now,
                        compactions_options=now,
                        detach_options=None,
                    )
                )
                if not await self._admin.list_checkpoints(None):
                    break
                await asyncio.sleep(_ERASE_PAUSE)
        except slate.Error as error:
            raise self._fenced(error) from error

    async def _write(self, batch: Any) -> None:
        if self._db is None:
            raise FencedError(f"shard {self.number} is another node's")
        began = time.monotonic()
        try:
            handle = await self._db.write(batch)
            await handle.await_durable()
        except self._slate.Error as error:
            raise self._fenced(error) from error
        self.proved_at = max(self.proved_at, began)

    async def _flush_memtable(self) -> None:
        slate = self._slate
        try:
            await self._db.flush_with_options(
                slate.FlushOptions(flush_type=slate.FlushType.MEM_TABLE)
            )
        except slate.Error as error:
            raise self._fenced(error) from error
