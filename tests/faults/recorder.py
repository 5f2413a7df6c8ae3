"""Records what a workload asks of the disk: the calls of `os` that change something below a folder.

The engine writes through calls of `os` alone (see `recollex_engine.storage.disk`), except for
usearch's graphs, which are read back when they are flushed, and for flushes that are begun
(`recollex_engine.storage.pooled_file`). These are recorded where they begin, as flushes of the
files in one order and then in the other; where they end, a failure is told. So the recording is
whole, and `Recording.tree` after its last event equals the folder to the byte; `recording` asserts
that.
"""

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recollex_engine.log import durability

Tree = dict[str, bytes | None]
"""Files by their path below the folder, with their bytes; folders with None."""


@dataclass(frozen=True, slots=True)
class Promise:
    """What callers rely on from now on, of the store in folder ``place``.

    acknowledged, durable: the operations up to which all outlive the process, and the machine.
    gone: bytes that no file may hold any more. readable: whether a reader must be able to open it.
    """

    place: str
    acknowledged: int = 0
    durable: int = 0
    gone: tuple[bytes, ...] = ()
    readable: bool = True


@dataclass(frozen=True, slots=True)
class Event:
    """One change, or a promise.

    kind: write, truncate, sync and sync_failed of file ``node``; names: entries of folder ``node``
    that change together, each to a node or None; folder_sync of folder ``node``; promise.
    """

    kind: str
    node: int = 0
    offset: int = 0
    data: bytes = b""
    entries: tuple[tuple[int, str, int | None], ...] = ()
    makes: str = ""
    promise: Promise | None = None


@dataclass
class Recording:
    """The events below ``root``, in order; node 0 is the root itself.

    fails_at: the calls to refuse by their number, or how many bytes a write may take. fails_from:
    the first of all calls to refuse. counts: whether calls are numbered at present.

    Threads: any number; events of one file come in the order of its calls.
    """

    root: Path
    start: Tree = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    fails_at: dict[int, OSError | int] = field(default_factory=dict)
    fails_from: tuple[int, OSError] | None = None
    calls: int = 0
    counts: bool = True
    before_sync: Any = None

    def __post_init__(self) -> None:
        self.lock = threading.RLock()
        self.nodes: dict[str, int] = {"": 0}
        self.sizes: dict[int, int] = {}
        self.fds: dict[int, tuple[int, str]] = {}
        self.made = 0
        for path, data in sorted(tree_of(self.root).items()):
            self.start[path] = data
            self.made += 1
            self.nodes[path] = self.made
            self.sizes[self.made] = len(data or b"")

    def promise(self, promise: Promise) -> None:
        """Note what callers rely on from now on."""
        with self.lock:
            self.events.append(Event("promise", promise=promise))

    def heal(self) -> None:
        """Refuse nothing any more."""
        self.fails_at, self.fails_from = {}, None

    def below(self, path: Any, dir_fd: int | None = None) -> str | None:
        """Return a path relative to the root; None if it lies elsewhere."""
        if isinstance(path, int):
            return None
        name = os.fsdecode(path)
        if dir_fd is not None:
            held = self.fds.get(dir_fd)
            if held is None:
                return None
            return f"{held[1]}/{name}".lstrip("/")
        root = os.fspath(self.root)
        full = os.path.abspath(name)  # noqa: PTH100 - no links are followed
        if full == root:
            return ""
        return full[len(root) + 1 :] if full.startswith(root + "/") else None

    def folder_of(self, path: str) -> tuple[int, str]:
        """Return the folder's node, and the name in it."""
        folder, _, name = path.rpartition("/")
        return self.nodes[folder], name

    def new(self, path: str, makes: str) -> int:
        """Note that a file or folder appears at ``path``."""
        self.made += 1
        folder, name = self.folder_of(path)
        self.nodes[path] = self.made
        self.sizes[self.made] = 0
        self.events.append(
            Event("names", self.made, entries=((folder, name, self.made),), makes=makes)
        )
        return self.made

    def write(self, node: int, data: bytes, offset: int) -> None:
        """Note a write."""
        self.events.append(Event("write", node, offset, data))
        self.sizes[node] = max(self.sizes[node], offset + len(data))

    def move(self, old: str, new: str) -> None:
        """Note a rename, of a file or a whole folder."""
        node = self.nodes[old]
        entries = ((*self.folder_of(old), None), (*self.folder_of(new), node))
        self.events.append(Event("names", entries=entries))
        for path in [p for p in self.nodes if p == old or p.startswith(old + "/")]:
            self.nodes[new + path[len(old) :]] = self.nodes.pop(path)

    def remove(self, path: str) -> None:
        """Note that a name is gone."""
        self.events.append(Event("names", entries=((*self.folder_of(path), None),)))
        del self.nodes[path]

    def read_back(self, fd: int) -> tuple[int, str] | None:
        """Return the node of a descriptor that was opened beside the recorder, with its bytes."""
        with contextlib.suppress(OSError):
            place = Path(f"/proc/self/fd/{fd}").readlink()
            path = self.below(place)
            if path is None:
                return None
            node = self.nodes.get(path)
            if node is None:
                node = self.new(path, "file")
            if not self.sizes[node]:  # usearch has written it by its name
                self.write(node, place.read_bytes(), 0)
            return node, path
        return None


def tree_of(root: Path) -> Tree:
    """Return what is below a folder, without locks, whose bytes mean nothing to a later process."""
    tree: Tree = {}
    for place, folders, files in os.walk(root):
        for name in folders:
            tree[os.path.relpath(Path(place, name), root)] = None
        for name in files:
            path = Path(place, name)
            tree[os.path.relpath(path, root)] = path.read_bytes()
    return tree


class _Calls:
    """The calls of `os` as they are recorded."""

    def __init__(self, recording: Recording) -> None:
        self.held = recording
        self.begun = 0
        self.real = {name: getattr(os, name) for name in _NAMES}

    def _fail(self) -> int | None:
        """Count a call; raise the error that is due, or return how many bytes to write."""
        held = self.held
        if not held.counts:
            return None
        held.calls += 1
        due = held.fails_at.get(held.calls)
        if held.fails_from is not None and held.calls >= held.fails_from[0]:
            due = held.fails_from[1]
        if isinstance(due, OSError):
            raise OSError(due.errno, os.strerror(due.errno or 0))
        return due

    def open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        held = self.held
        with held.lock:
            name = held.below(path, dir_fd)
            if name is None:
                return int(self.real["open"](path, flags, mode, dir_fd=dir_fd))
            self._fail()
            fd = int(self.real["open"](path, flags, mode, dir_fd=dir_fd))
            node = held.nodes.get(name)
            if node is None:
                node = held.new(name, "file")
            elif flags & os.O_TRUNC and held.sizes[node]:
                held.events.append(Event("truncate", node, 0))
                held.sizes[node] = 0
            held.fds[fd] = node, name
            return fd

    def close(self, fd: int) -> None:
        with self.held.lock:
            self.held.fds.pop(fd, None)
            self.real["close"](fd)

    def pwrite(self, fd: int, data: Any, offset: int) -> int:
        held = self.held
        with held.lock:
            if fd not in held.fds:
                return int(self.real["pwrite"](fd, data, offset))
            most = self._fail()
            given = memoryview(data).cast("B")[:most]
            count = int(self.real["pwrite"](fd, given, offset))
            held.write(held.fds[fd][0], bytes(given[:count]), offset)
            return count

    def ftruncate(self, fd: int, size: int) -> None:
        held = self.held
        with held.lock:
            if fd in held.fds:
                self._fail()
            self.real["ftruncate"](fd, size)
            if fd in held.fds:
                node = held.fds[fd][0]
                held.events.append(Event("truncate", node, size))
                held.sizes[node] = size

    def truncate(self, path: Any, size: int) -> None:
        held = self.held
        with held.lock:
            name = held.below(path)
            if name is not None:
                self._fail()
            self.real["truncate"](path, size)
            if name is not None:
                held.events.append(Event("truncate", held.nodes[name], size))
                held.sizes[held.nodes[name]] = size

    def fsync(self, fd: int) -> None:
        self._sync("fsync", fd)

    def fdatasync(self, fd: int) -> None:
        self._sync("fdatasync", fd)

    def _sync(self, call: str, fd: int) -> None:
        held = self.held
        with held.lock:
            found = held.fds.get(fd) or held.read_back(fd)
        if found is None:
            self.real[call](fd)
            return
        node, path = found
        if held.before_sync is not None:
            held.before_sync(path)  # outside the lock: it may wait for other threads' calls
        with held.lock:
            is_folder = (held.root / path).is_dir()
            try:
                self._fail()
            except OSError:
                if not is_folder:
                    held.events.append(Event("sync_failed", node))
                raise
            # The disk of the test is memory: there is nothing to wait for.
            held.events.append(Event("folder_sync" if is_folder else "sync", node))

    def begin_flush(self, fds: Sequence[int]) -> "_Begun | None":
        """Flush files of the recording; others are flushed by the caller."""
        if any(fd not in self.held.fds for fd in fds):
            return None
        failed = []
        self.begun += 1
        for fd in fds if self.begun % 2 else reversed(fds):
            try:
                self._sync("fdatasync", fd)
            except OSError as error:
                failed.append(error)
        return _Begun(failed)

    def rename(self, old: Any, new: Any, **options: Any) -> None:
        held = self.held
        with held.lock:
            names = held.below(old), held.below(new)
            if names[0] is not None:
                self._fail()
            self.real["rename"](old, new, **options)
            if names[0] is not None and names[1] is not None:
                held.move(names[0], names[1])

    def unlink(self, path: Any, *, dir_fd: int | None = None) -> None:
        self._remove("unlink", path, dir_fd)

    def rmdir(self, path: Any, *, dir_fd: int | None = None) -> None:
        self._remove("rmdir", path, dir_fd)

    def _remove(self, call: str, path: Any, dir_fd: int | None) -> None:
        held = self.held
        with held.lock:
            name = held.below(path, dir_fd)
            if name is not None:
                self._fail()
            self.real[call](path, dir_fd=dir_fd)
            if name is not None:
                held.remove(name)

    def mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        held = self.held
        with held.lock:
            name = held.below(path, dir_fd)
            if name is not None:
                self._fail()
            self.real["mkdir"](path, mode, dir_fd=dir_fd)
            if name is not None:
                held.new(name, "folder")


class _Begun:
    """A flush that was begun, in place of `begun_flush.BegunFlush`."""

    is_whole = True

    def __init__(self, failed: list[OSError]) -> None:
        self._failed = failed

    def wait(self) -> None:
        """Raise the error of the last file whose flush failed."""
        for error in reversed(self._failed):
            raise error


_NAMES = ("open close pwrite ftruncate truncate fsync fdatasync rename unlink rmdir mkdir").split()  # noqa: SIM905
_begin_flush = durability.begin_flush


@contextlib.contextmanager
def recording(root: Path) -> Iterator[Recording]:
    """Record what the body changes below ``root``, and assert that nothing was missed."""
    held = Recording(root)
    calls = _Calls(held)
    for name in _NAMES:
        setattr(os, name, getattr(calls, name))
    durability.begin_flush = calls.begin_flush  # type: ignore[assignment]
    try:
        yield held
    finally:
        for name in _NAMES:
            setattr(os, name, calls.real[name])
        durability.begin_flush = _begin_flush


def refusal(number: int) -> OSError:
    """Return an error to raise at a call, for `Recording.fails_at`."""
    return OSError(number, os.strerror(number))
