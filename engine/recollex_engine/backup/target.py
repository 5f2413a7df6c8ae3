"""Where is a backup kept? In a target: a folder, or a bucket of an object store.

A target maps keys to bytes. A key is a path with slashes. A key holds all of its bytes or is not
there, whatever crashes.

A target that is a bucket of an object store: S3, Google's, Azure's, by the package obstore.
A key is written by one request, so it is whole or not there. Pieces are sent by a few threads.
"""

import contextlib
import errno
import importlib
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias
from urllib.parse import unquote, urlsplit

from recollex_engine.errors import (
    CorruptError,
    DisconnectedError,
    ForbiddenError,
    InputError,
    LockedError,
    StoreFullError,
    UnauthorizedError,
)
from recollex_engine.storage.disk import (
    REFUSED,
    FileSink,
    flush_file,
    flush_folder,
    make_folder,
    store_full,
    unfinished_path,
)
from recollex_engine.storage.lock import WriterLock

_LOCK = "LOCK"
_THREADS = 8
_MOST_PENDING = 8 * _THREADS
_LOCK_SECONDS = 600.0  # a sweep of many objects takes minutes


Data = Callable[[], bytes]
"""Returns the bytes of a key; called if they are written."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A key of a target, and when it was written, in seconds since 1970."""

    key: str
    written_at: float


@dataclass(slots=True)
class Written:
    """How many keys were written, and their size in bytes."""

    objects: int = 0
    size: int = 0

    def add(self, data: bytes) -> None:
        """Count a key."""
        self.objects += 1
        self.size += len(data)


class Target(Protocol):
    """What a backup needs of the place that it is kept in.

    Threads: any number, in any process.
    """

    written: Written
    """What `put` has written."""

    @property
    def place(self) -> str:
        """Names the target in messages."""

    def get(self, key: str) -> bytes | None:
        """Return the bytes of a key; None if there are none."""

    def written_at(self, key: str) -> float | None:
        """Return when a key was written, in seconds since 1970; None if it is not there."""

    def put(self, key: str, data: Data, unless_after: float = math.inf) -> None:
        """Write a key, or replace it; perhaps in the background, until `flush`.

        unless_after: a key that was written after this time, in seconds, stays as it is.
        """

    def flush(self) -> None:
        """Return once all that was put is there, and durable. Raises the error of a `put`."""

    def discard(self) -> None:
        """Give up what was put and is not there yet: the run has failed."""

    def has_all(self, keys: Iterable[str]) -> bool:
        """Return whether all of these keys are there."""

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
    """A target that is a folder: a key is a file. It is made when it is first written to, private.

    A file is written under another name, flushed and renamed; a few threads flush, since a disk
    flushes several files in the time of one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.written = Written()
        self._pending: list[tuple[Path, Path]] = []  # a file's name until it is flushed, its own
        self._unflushed: set[Path] = set()  # folders with new names

    @property
    def place(self) -> str:
        """The folder's path."""
        return str(self.folder)

    def get(self, key: str) -> bytes | None:
        """Return the bytes of a file; None if there is none."""
        path = self.folder / key
        try:
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            if error.errno in REFUSED:
                raise InputError(f"{path} cannot be read: {error.strerror}") from error
            raise CorruptError(path, "a file that can be read", error.strerror) from error

    def written_at(self, key: str) -> float | None:
        """Return when a file was written; None if there is none."""
        try:
            return (self.folder / key).stat().st_mtime
        except OSError:
            return None

    def put(self, key: str, data: Data, unless_after: float = math.inf) -> None:
        """Write a file; see `Target.put`."""
        if (self.written_at(key) or -math.inf) > unless_after:
            return
        with self._writing():
            path = self.folder / key
            content = data()
            self._pending.append((self._write(path, content), path))
            self.written.add(content)
            if len(self._pending) >= _MOST_PENDING:
                self._settle()

    def flush(self) -> None:
        """Flush new files, name them, and flush their folders; see `Target.flush`."""
        with self._writing():
            self._settle()
            while self._unflushed:
                flush_folder(next(iter(self._unflushed)))
                self._unflushed.pop()

    def discard(self) -> None:
        """Remove files that have no name of their own yet; see `Target.discard`."""
        while self._pending:
            with contextlib.suppress(OSError):
                self._pending.pop()[0].unlink()

    def has_all(self, keys: Iterable[str]) -> bool:
        """Return whether all of these files are there."""
        return all((self.folder / key).exists() for key in keys)

    def create(self, key: str, data: bytes) -> bool:
        """Write a file that is not there, within `alone`; see `Target.create`."""
        self.flush()
        with self._writing():
            path = self.folder / key
            written = self._write(path, data)
            flush_file(written)
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
                    make_folder(self.folder, private=True)
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
        self.flush()
        with self._writing():
            folders = set()
            for key in keys:
                path = self.folder / key
                path.unlink(missing_ok=True)
                folders.add(path.parent)
            for folder in folders:
                with contextlib.suppress(FileNotFoundError):
                    flush_folder(folder)

    def _write(self, path: Path, data: bytes) -> Path:
        """Write the bytes under another name; return its path."""
        make_folder(path.parent, private=True)
        temporary = unfinished_path(path)
        try:
            with FileSink(temporary) as sink:
                sink.write(data)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        return temporary

    def _settle(self) -> None:
        """Flush the files that were put, and give them their own names.

        A file that a sweep has removed meanwhile is left out; `has_all` says so.
        """
        if len(self._pending) > 1:
            with ThreadPoolExecutor(_THREADS) as pool:
                list(pool.map(flush_file, [written for written, _ in self._pending]))
        elif self._pending:
            flush_file(self._pending[0][0])
        while self._pending:
            written, path = self._pending[-1]
            with contextlib.suppress(FileNotFoundError):
                written.rename(path)
            self._unflushed.add(path.parent)
            self._pending.pop()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except StoreFullError as error:
            if error.errno in REFUSED:
                raise self._refusal(error.strerror) from error
            raise
        except OSError as error:
            if error.errno in (*REFUSED, errno.ENOTDIR):
                raise self._refusal(error.strerror) from error
            raise store_full(error, self.folder, "write the backup") from error

    def _refusal(self, reason: object) -> InputError:
        return InputError(
            f"the backup {self.folder} cannot be written to ({reason}): give a folder that can be"
        )


INSTALL = "pip install 'recollex[cloud]'"

_MOST_REQUESTS = 2 * _THREADS
_DELETED_AT_ONCE = 1000
_NO_BUCKET = ("NoSuchBucket", "ContainerNotFound")  # what S3 and Azure call it
_RETRIES = {"max_retries": 5}


def import_obstore() -> Any:
    """Return the module obstore. Raises `InputError` with the line that installs it."""
    try:
        importlib.import_module("obstore.store")
        return importlib.import_module("obstore")
    except ImportError as error:
        raise InputError(f"a backup in an object store needs obstore: {INSTALL}") from error


class ObjectStoreTarget:
    """A target in an object store.

    ``store``: an object of `obstore.store`. ``place``: its address, for messages.
    """

    def __init__(self, store: Any, place: str) -> None:
        self._obstore = import_obstore()
        self._missing = (FileNotFoundError, self._obstore.exceptions.NotFoundError)
        self._store = store
        self._place = place.rstrip("/")
        self._pool: ThreadPoolExecutor | None = None
        self._pending: deque[Future[None]] = deque()
        self._counting = threading.Lock()
        self.written = Written()

    @classmethod
    def at(cls, address: str) -> "ObjectStoreTarget":
        """Return the target at an address such as s3://bucket/prefix.

        Credentials, region and endpoint are read from the variables of the environment that the
        store's own tools read, such as AWS_ACCESS_KEY_ID.
        """
        obstore = import_obstore()
        try:
            store = obstore.store.from_url(address, retry_config=_RETRIES)
        except (obstore.exceptions.BaseError, ValueError) as error:
            raise InputError(f"{address} is no address of an object store: {error}") from error
        return cls(store, address)

    @property
    def place(self) -> str:
        """The address."""
        return self._place

    def get(self, key: str) -> bytes | None:
        """Return the bytes of a key; None if there are none."""
        with self._calling():
            try:
                return bytes(self._store.get(key).bytes())
            except self._missing:
                return None

    def written_at(self, key: str) -> float | None:
        """Return when a key was written; None if it is not there."""
        with self._calling():
            try:
                return float(self._store.head(key)["last_modified"].timestamp())
            except self._missing:
                return None

    def put(self, key: str, data: Data, unless_after: float = float("inf")) -> None:
        """Write a key in the background; see `Target.put`."""
        if len(self._pending) >= _MOST_REQUESTS:
            self._pending.popleft().result()
        self._pending.append(self._threads().submit(self._put, key, data, unless_after))

    def flush(self) -> None:
        """Wait for the keys that are being written; see `Target.flush`."""
        while self._pending:
            self._pending.popleft().result()

    def discard(self) -> None:
        """Send nothing more, and wait for what is being sent; see `Target.discard`."""
        for each in self._pending:
            each.cancel()
        wait(self._pending)
        self._pending.clear()

    def has_all(self, keys: Iterable[str]) -> bool:
        """Return whether all of these keys are there."""
        return all(at is not None for at in self._threads().map(self.written_at, keys))

    def create(self, key: str, data: bytes) -> bool:
        """Write a key that is not there; see `Target.create`."""
        self.flush()
        exceptions = self._obstore.exceptions
        with self._calling():
            try:
                self._store.put(key, data, mode="create")
                return True
            except (FileExistsError, exceptions.AlreadyExistsError, exceptions.PreconditionError):
                return False
            except (NotImplementedError, exceptions.NotSupportedError) as error:
                raise InputError(
                    f"{self._place} cannot write a key only if it is not there, which a backup "
                    "needs: give another store"
                ) from error

    def alone(self) -> AbstractContextManager[None]:
        """Return a context manager that does nothing; see `Target.alone`."""
        return nullcontext()

    def keys(self, prefix: str) -> list[Stored]:
        """Return the keys below a prefix; see `Target.keys`."""
        found = []
        with self._calling():
            for chunk in self._store.list(prefix or None, chunk_size=1000):
                found += [Stored(each["path"], each["last_modified"].timestamp()) for each in chunk]
        return sorted(found, key=lambda each: each.key)

    def delete(self, keys: Iterable[str]) -> None:
        """Remove keys; see `Target.delete`."""
        self.flush()
        chosen = list(keys)
        with self._calling():
            for first in range(0, len(chosen), _DELETED_AT_ONCE):
                try:
                    self._store.delete(chosen[first : first + _DELETED_AT_ONCE])
                except self._missing:  # one by one: which others were removed is not known
                    for key in chosen[first : first + _DELETED_AT_ONCE]:
                        self._delete_one(key)

    def _delete_one(self, key: str) -> None:
        try:
            self._store.delete(key)
        except self._missing:
            return

    def _put(self, key: str, data: Data, unless_after: float) -> None:
        if unless_after != float("inf") and (self.written_at(key) or 0.0) > unless_after:
            return
        content = data()
        with self._calling():
            self._store.put(key, content)
        with self._counting:
            self.written.add(content)

    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="recollex backup")
        return self._pool

    @contextmanager
    def _calling(self) -> Iterator[None]:
        """Turn the errors of obstore into those of recollex."""
        exceptions = self._obstore.exceptions
        try:
            yield
        except (PermissionError, exceptions.PermissionDeniedError) as error:
            raise ForbiddenError(f"{self._place}: {_first_line(error)}") from error
        except exceptions.UnauthenticatedError as error:
            raise UnauthorizedError(f"{self._place}: {_first_line(error)}") from error
        except self._missing as error:
            raise InputError(f"there is no {self._place}: {_first_line(error)}") from error
        except exceptions.InvalidPathError as error:
            raise CorruptError(self._place, "keys of a backup", _first_line(error)) from error
        except exceptions.BaseError as error:
            if any(name in str(error) for name in _NO_BUCKET):
                raise InputError(f"there is no {self._place}: {_first_line(error)}") from error
            raise DisconnectedError(f"{self._place}: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


# Which target does a path or an address name? A folder, or a bucket of an object store.
class ObjectStore(Protocol):
    """An object of `obstore.store`, for credentials that the environment does not have."""

    def head(self, path: str) -> Any:
        """Return what is known of one object."""


BackupPlace: TypeAlias = str | os.PathLike[str] | ObjectStore
"""Where a backup is: a folder, an address such as s3://bucket/prefix, or an object store."""


def open_target(given: BackupPlace) -> Target:
    """Return the target at a path, an address, or of an object of `obstore.store`.

    An address is s3://, gs:// or az:// with a bucket and a prefix, or file:// with a path. Raises
    `InputError` for a file, for an address of another form, and without obstore.
    """
    if type(given).__module__.split(".")[0] == "obstore":
        return ObjectStoreTarget(given, repr(given))
    if not isinstance(given, str | os.PathLike) or not isinstance(os.fspath(given), str):
        raise InputError(f"a backup is in a folder or at an address, got {type(given).__name__}")
    text = os.fspath(given)
    if not text:
        raise InputError('the path of the backup is empty: write "." for the folder you are in')
    if "://" in text:
        parts = urlsplit(text)
        if parts.scheme != "file":
            return ObjectStoreTarget.at(text)
        text = unquote(parts.path)
    folder = Path(text)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: a backup is a folder")
    return FolderTarget(folder)
