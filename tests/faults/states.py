"""Makes the states that a crash can leave of a recording.

A process that dies leaves everything that it wrote. A machine that loses power leaves, for each
file, what the last flush covered; of the bytes written since, each sector of 512 or 4,096 bytes may
have reached the disk or not, in any order, and a file that had grown may hold zeros. For each
folder, it leaves the names that the last flush of the folder covered. Of later changes of names a
journaling file system leaves the first few of all of them; POSIX allows any of them in any folder.
A flush that failed covers nothing, and what had been written before it is never written again.
"""

import hashlib
import random
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import Literal

from tests.faults.recorder import Event, Promise, Tree

Names = Literal["all", "journal", "flushed", "any"]
Bytes = Literal["all", "flushed", "512", "4096", "zeros", "first"]

NAMES: tuple[Names, ...] = ("all", "journal", "flushed", "any")
BYTES: tuple[Bytes, ...] = ("all", "flushed", "512", "4096", "zeros", "first")
KILLED = "killed"
LOST = "flushed names, flushed bytes, draw 0"
"""The state in which nothing is on the disk but what was flushed."""


@dataclass
class _File:
    """durable: the bytes that are on the disk. versions: the bytes after each later change.

    written: the ranges that were written since a flush failed; None if none failed.
    """

    durable: bytes = b""
    versions: list[bytes] = field(default_factory=list)
    written: list[tuple[int, int]] | None = None

    @property
    def now(self) -> bytes:
        return self.versions[-1] if self.versions else self.durable

    def change(self, event: Event) -> None:
        now = self.now
        if event.kind == "truncate":
            self.versions.append(now[: event.offset].ljust(event.offset, b"\0"))
            return
        end = event.offset + len(event.data)
        before = now[: event.offset].ljust(event.offset, b"\0")
        self.versions.append(before + event.data + now[end:])
        if self.written is not None:
            self.written.append((event.offset, end))

    def fail(self) -> None:
        """Take in a failed flush: the system forgets what it had to write."""
        self.written = []

    def sync(self) -> None:
        if self.written is None:
            self.durable, self.versions = self.now, []
        elif self.versions:
            self.durable = self._reachable()
            self.versions = [self.now]

    def _reachable(self) -> bytes:
        """Return the most that can be on the disk."""
        now = self.now
        if self.written is None:
            return now
        held = bytearray(self.durable.ljust(len(now), b"\0")[: len(now)])
        for start, end in self.written:
            held[start:end] = now[start:end]
        return bytes(held)

    def after_power_loss(self, how: Bytes, rng: random.Random) -> bytes:
        if not self.versions or how == "all":
            return self._reachable()
        if how == "flushed":
            return self.durable
        versions = self.versions if self.written is None else [self._reachable()]
        if how == "first":
            return rng.choice(versions)
        if how == "zeros":
            return self.durable.ljust(max(map(len, versions)), b"\0")
        sector = int(how)
        versions = [self.durable, *versions]
        size = len(rng.choice(versions))
        parts = []
        for start in range(0, size, sector):
            part = rng.choice(versions)[start : min(start + sector, size)]
            parts.append(part.ljust(min(sector, size - start), b"\0"))
        return b"".join(parts)


@dataclass
class _Folder:
    """durable: the names on the disk. now: the names that processes see."""

    durable: dict[str, int] = field(default_factory=dict)
    now: dict[str, int] = field(default_factory=dict)


_Change = tuple[int, tuple[tuple[int, str, int | None], ...]]


class Machine:
    """A disk at some moment of a recording."""

    def __init__(self, start: Tree) -> None:
        self.files: dict[int, _File] = {}
        self.folders: dict[int, _Folder] = {0: _Folder()}
        self.pending: list[_Change] = []  # changes of names that no flush has covered
        self.count = 0
        self.promises: dict[str, Promise] = {}  # by their place
        nodes = {"": 0}
        for number, (path, data) in enumerate(start.items(), 1):
            nodes[path] = number
            if data is None:
                self.folders[number] = _Folder()
            else:
                self.files[number] = _File(data)
        for path, number in list(nodes.items())[1:]:
            folder, _, name = path.rpartition("/")
            self.folders[nodes[folder]].durable[name] = number
            self.folders[nodes[folder]].now[name] = number

    def advance(self, event: Event) -> None:
        """Take in the next event."""
        if event.kind == "names":
            if event.makes == "folder":
                self.folders[event.node] = _Folder()
            elif event.makes == "file":
                self.files[event.node] = _File()
            self.count += 1
            self.pending.append((self.count, event.entries))
            for folder, name, node in event.entries:
                _set(self.folders[folder].now, name, node)
        elif event.kind == "folder_sync":
            self._sync_folder(event.node)
        elif event.promise is not None:
            self.promises[event.promise.place] = event.promise
        elif event.kind == "sync":
            self.files[event.node].sync()
        elif event.kind == "sync_failed":
            self.files[event.node].fail()
        else:
            self.files[event.node].change(event)

    def _sync_folder(self, node: int) -> None:
        self.folders[node].durable = dict(self.folders[node].now)
        rest = []
        for number, entries in self.pending:
            left = tuple(entry for entry in entries if entry[0] != node)
            if left:
                rest.append((number, left))
        self.pending = rest

    def tree(self) -> Tree:
        """Return what a process sees, and what is left when it dies."""
        return self._walk(
            {node: folder.now for node, folder in self.folders.items()},
            lambda file: file.now,
        )

    def after_power_loss(self, names: Names, how: Bytes, rng: random.Random) -> Tree:
        """Return a state that a loss of power may leave now."""
        if names == "all":
            folders = {node: folder.now for node, folder in self.folders.items()}
        else:
            folders = {node: dict(folder.durable) for node, folder in self.folders.items()}
            kept = self._kept(names, rng)
            for _, entries in kept:
                for folder, name, node in entries:
                    _set(folders[folder], name, node)
        return self._walk(folders, lambda file: file.after_power_loss(how, rng))

    def _kept(self, names: Names, rng: random.Random) -> list[_Change]:
        if names == "flushed" or not self.pending:
            return []
        if names == "journal":
            return self.pending[: rng.randint(0, len(self.pending))]
        return [change for change in self.pending if rng.random() < 0.5]

    def _walk(self, folders: dict[int, dict[str, int]], data_of) -> Tree:  # type: ignore[no-untyped-def]
        tree: Tree = {}
        chosen: dict[int, bytes] = {}  # two names of one file show the same bytes
        places = [(0, "")]
        seen = {0}
        while places:
            at, path = places.pop()
            for name, node in folders[at].items():
                full = f"{path}/{name}" if path else name
                if node in self.folders:
                    if node not in seen:
                        seen.add(node)
                        tree[full] = None
                        places.append((node, full))
                else:
                    if node not in chosen:
                        locks = name == "LOCK"  # its bytes mean nothing to a later process
                        chosen[node] = b"" if locks else data_of(self.files[node])
                    tree[full] = chosen[node]
        return tree


def _set(names: dict[str, int], name: str, node: int | None) -> None:
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node


@dataclass(frozen=True, slots=True)
class State:
    """A state to check. at: the number of events before it; how: what happened.

    promises: what was promised when it happened; killed: whether the machine went on.
    """

    at: int
    how: str
    tree: Tree
    promises: tuple[Promise, ...]

    @property
    def killed(self) -> bool:
        """Whether the process died and the machine went on."""
        return self.how == KILLED

    def least(self, place: str) -> int:
        """Return the last operation that the store in ``place`` must hold."""
        for promise in self.promises:
            if promise.place == place:
                return promise.acknowledged if self.killed else promise.durable
        return 0

    def content(self) -> bytes:
        """Return a hash of the files."""
        parts = (
            path.encode() + (b"/" if data is None else _hash(data))
            for path, data in sorted(self.tree.items())
        )
        return hashlib.blake2b(b"\0".join(parts), digest_size=16).digest()


@lru_cache(4096)
def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def states(
    start: Tree,
    events: Sequence[Event],
    seed: int,
    draws: int = 1,
    share: float = 1.0,
    chosen: Container[tuple[int, str]] | None = None,
) -> Iterator[State]:
    """Yield every prefix, and the states after a loss of power at each.

    draws: how many states are drawn at random of each kind that has choices. Each has a name, and
    does not depend on which others are made. chosen: only these, by `State.at` and `State.how`.
    """
    machine = Machine(start)
    for at, event in enumerate(events, 1):
        machine.advance(event)
        promises = tuple(machine.promises.values())
        if event.kind != "promise" and (chosen is None or (at, KILLED) in chosen):
            yield State(at, KILLED, machine.tree(), promises)
        if share < 1.0 and random.Random(f"{seed} {at}").random() >= share:
            continue
        for draw, names, how in product(range(draws), NAMES, BYTES):
            if draw and names in ("all", "flushed") and how in ("all", "flushed", "zeros"):
                continue  # nothing of it is chance
            name = f"{names} names, {how} bytes, draw {draw}"
            if chosen is None or (at, name) in chosen:
                rng = random.Random(f"{seed} {at} {name}")
                yield State(at, name, machine.after_power_loss(names, how, rng), promises)
