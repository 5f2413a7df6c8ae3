"""A target that is a bucket of an object store: S3, Google's, Azure's, by the package obstore.

A key is written by one request, so it is whole or not there. Pieces are sent by a few threads.
"""

import importlib
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from recollex_engine.backup.target import Data, Stored, Written
from recollex_engine.errors import (
    CorruptError,
    DisconnectedError,
    ForbiddenError,
    InputError,
    UnauthorizedError,
)

INSTALL = "pip install 'recollex[cloud]'"
_THREADS = 8
_MOST_PENDING = 2 * _THREADS
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
        if len(self._pending) >= _MOST_PENDING:
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
