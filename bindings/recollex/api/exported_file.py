"""A file or folder of memories outside of the store: complete or absent, its owner's alone."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from recollex_engine.errors import InputError, StoreFullError
from recollex_engine.storage.disk import store_full
from recollex_engine.storage.unfinished import left_unfinished, lock_unfinished


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a file that takes the place of ``path`` once the body has succeeded.

    It is its owner's alone, as a store is: mode 0600 whatever the umask.
    """
    temporary, lock = _temporary(path), None
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        lock = lock_unfinished(temporary)
        temporary.chmod(0o600)
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except FileNotFoundError as error:
        raise InputError(f"{path} cannot be written: there is no such folder") from error
    except PermissionError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from error
    except StoreFullError:
        raise
    except OSError as error:
        raise store_full(error, path, f"write {path.name}") from error
    finally:
        with suppress(OSError):  # a read-only disk refuses it also where there is no such file
            temporary.unlink()
        if lock is not None:
            os.close(lock)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a folder that is called ``path`` once the body has succeeded; its owner's alone.

    Raises `InputError` if there is something at ``path`` that is no empty folder.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(f"{path} exists: name a folder that is new")
    temporary, lock = _temporary(path), None
    try:
        temporary.mkdir(mode=0o700)
        lock = lock_unfinished(temporary)
        yield temporary
        temporary.replace(path)
    except FileNotFoundError as error:
        raise InputError(f"{path} cannot be written: there is no such folder") from error
    except PermissionError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from error
    except StoreFullError:
        raise
    except OSError as error:
        raise store_full(error, path, f"write {path.name}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _temporary(path: Path) -> Path:
    """Return a new name beside a path, once what killed exports left there is removed."""
    for left in left_unfinished(path.parent, f".{path.name}.", ".tmp"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)
    return path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
