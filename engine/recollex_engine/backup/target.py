"""Where is a backup kept? A target: a folder, or a bucket of an object store.

A target maps keys to bytes. A key is a path with slashes. A key holds all of its bytes or is not
there, whatever crashes.
"""

import contextlib
import errno
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from recollex_engine.errors import CorruptError, InputError, LockedError, StoreFullError
from recollex_engine.storage.disk import FileSink, flush_folder, make_folder, store_full
from recollex_engine.storage.lock import WriterLock

_LOCK = "LOCK"
_LOCK_SECONDS = 600.0  # a sweep of many objects takes minutes
_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS)


@dataclass(frozen=True, slots=True)
class Stored:
    """A key of a target, and when it was written, in seconds since 1970."""

    key: str
    written_at: float


class Target(Protocol):
    """What a backup needs of the place that it is kept in.

    Threads: any number, in any process.
    """

    @property
    def place(self) -> str:
        """Names the target in messages."""

    def get(self, key: str) -> bytes | None:
        """Return the bytes of a key; None if there are none."""

    def written_at(self, key: str) -> float | None:
        """Return when a key was written, in seconds since 1970; None if it is not there."""

    def put(self, key: str, data: bytes) -> None:
        """Write a key, or replace it. It is durable after the next `create`."""

    def create(self, key: str, data: bytes) -> bool:
        """Write a key that is not there, durably, after all that was put before; see `alone`.

        Returns whether it was not there. Of several calls at once one returns True.
        """

    def alone(self) -> AbstractContextManager[None]:
        """Return a context manager in which no other process creates or sweeps.

        An object store has no such lock: there, objects that a sweep without grace removes may be
        those of a run that ends at the same time.
        """

    def keys(self, prefix: str) -> list[Stored]:
        """Return the keys below ``prefix``, which ends with a slash, or all for ""; sorted."""

    def delete(self, keys: Iterable[str]) -> None:
        """Remove keys, after all that was put before is durable; missing ones are left out."""


class FolderTarget:
    """A target that is a folder: a key is a file. It is made when it is first written to.

    A file is written under another name, flushed and renamed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._unflushed: set[Path] = set()

    @property
    def place(self) -> str:
        """The folder's path."""
        return str(self.folder)

    def get(self, key: str) -> bytes | None:
        """Return the bytes of a file; None if there is none."""
        path = self.folder / key
        try:
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno in _REFUSED:
                raise InputError(f"{path} cannot be read: {error.strerror}") from error
            raise CorruptError(path, "a file that can be read", error.strerror) from error

    def written_at(self, key: str) -> float | None:
        """Return when a file was written; None if there is none."""
        try:
            return (self.folder / key).stat().st_mtime
        except OSError:
            return None

    def put(self, key: str, data: bytes) -> None:
        """Write a file; see `Target.put`."""
        with self._writing():
            path = self.folder / key
            self._write(path, data).rename(path)
            self._unflushed.add(path.parent)

    def create(self, key: str, data: bytes) -> bool:
        """Write a file that is not there, within `alone`; see `Target.create`."""
        with self._writing():
            path = self.folder / key
            self._flush()
            written = self._write(path, data)
            if path.exists():
                written.unlink()
                return False
            written.rename(path)
            flush_folder(path.parent)
            return True

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the folder's lock file during the body; wait for another holder."""
        until = time.monotonic() + _LOCK_SECONDS
        while True:
            try:
                with self._writing():
                    make_folder(self.folder)
                    lock = WriterLock(self.folder / _LOCK)
                break
            except LockedError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)
        with lock:
            yield

    def keys(self, prefix: str) -> list[Stored]:
        """Return the files below a folder; see `Target.keys`."""
        found = []
        for place, _, names in os.walk(self.folder / prefix):
            for name in names:
                path = Path(place, name)
                with contextlib.suppress(FileNotFoundError):
                    key = path.relative_to(self.folder).as_posix()
                    found.append(Stored(key, path.stat().st_mtime))
        return sorted((each for each in found if each.key != _LOCK), key=lambda each: each.key)

    def delete(self, keys: Iterable[str]) -> None:
        """Remove files; see `Target.delete`."""
        with self._writing():
            self._flush()
            folders = set()
            for key in keys:
                path = self.folder / key
                path.unlink(missing_ok=True)
                folders.add(path.parent)
            for folder in folders:
                with contextlib.suppress(FileNotFoundError):
                    flush_folder(folder)

    def _flush(self) -> None:
        while self._unflushed:
            flush_folder(next(iter(self._unflushed)))
            self._unflushed.pop()

    def _write(self, path: Path, data: bytes) -> Path:
        """Write the bytes under another name, flushed; return its path."""
        make_folder(path.parent)
        temporary = path.with_name(f"{path.name}.{os.urandom(6).hex()}.tmp")
        try:
            with FileSink(temporary) as sink:
                sink.write(data)
                sink.sync()
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        return temporary

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except StoreFullError as error:
            if error.errno in _REFUSED:
                raise self._refusal(error.strerror) from error
            raise
        except OSError as error:
            if error.errno in (*_REFUSED, errno.ENOTDIR):
                raise self._refusal(error.strerror) from error
            raise store_full(error, self.folder, "write the backup") from error

    def _refusal(self, reason: object) -> InputError:
        return InputError(
            f"the backup {self.folder} cannot be written to ({reason}): give a folder that can be"
        )
