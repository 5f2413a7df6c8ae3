"""A file or folder of memories outside of the store: complete or absent, its owner's alone."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recollex_engine.errors import InputError, StoreFullError
from recollex_engine.storage.disk import Replacement, store_full
from recollex_engine.storage.unfinished import (
    left_unfinished,
    lock_unfinished,
    remove_unfinished_of,
)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a file that takes the place of ``path`` once the body has succeeded.

    It is its owner's alone, as a store is: mode 0600 whatever the umask.
    """
    try:
        remove_unfinished_of(path)
        with Replacement(path, 0o600) as file:
            file.path.chmod(0o600)
            yield file.path
            file.sync()
            file.take_place()
    except FileNotFoundError as error:
        raise InputError(f"{path} cannot be written: there is no such folder") from error
    except PermissionError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from error
    except StoreFullError:
        raise
    except OSError as error:
        raise store_full(error, path, f"write {path.name}") from error


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a folder that is called ``path`` once the body has succeeded; its owner's alone.

    Raises `InputError` if there is something at ``path`` that is no empty folder.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(f"{path} exists: name a folder that is new")
    temporary = _temporary(path)
    lock = None
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
        shutil.rmtree(left, ignore_errors=True)
    return path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
