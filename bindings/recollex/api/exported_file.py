"""A file of memories outside of the store: complete or absent, and readable by its owner alone."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from recollex_engine.errors import InputError, StoreFullError
from recollex_engine.storage.disk import store_full


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a file that takes the place of ``path`` once the body has succeeded.

    It is its owner's alone, as a store is: mode 0600 whatever the umask.
    """
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
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
