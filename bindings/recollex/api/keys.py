"""The keys of encrypted agents: 32 bytes, from the caller, a file or the system's keyring."""

import os
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from recollex.api.progress import progress_bar
from recollex_engine.agents import snapshot
from recollex_engine.agents.folder_names import agent_folder, agents_in, kept_name
from recollex_engine.errors import InputError
from recollex_engine.storage import encryption
from recollex_engine.storage.encryption import INSTALL, KEY_BYTES, library
from recollex_engine.storage.lock import WriterLock, absolute


class KeySource(Protocol):
    """An object that knows a key, such as `KeyringKey`."""

    def read(self) -> bytes:
        """Return the key's 32 bytes."""


VARIABLE = "RECOLLEX_KEY"
"""The variable of the environment from which the command line reads a key."""

Key: TypeAlias = bytes | KeySource
"""The key of an agent: 32 bytes, or an object that returns them."""


class KeyringKey:
    """A key in the system's keyring, by the package keyring: ``pip install 'recollex[crypto]'``.

    service, user: under which names the keyring has it.

    >>> import recollex.encryption
    >>> key = recollex.encryption.KeyringKey("my assistant")  # nothing is read yet
    """

    def __init__(self, service: str, user: str = "recollex") -> None:
        self.service = service
        self.user = user

    def create(self) -> "KeyringKey":
        """Make a new key and keep it in the keyring. Raises `errors.InputError` if it has one."""
        keyring = _keyring()
        if keyring.get_password(self.service, self.user) is not None:
            raise InputError(f"the keyring has a key of {self.service!r} already: use read()")
        keyring.set_password(self.service, self.user, new_key().hex())
        return self

    def read(self) -> bytes:
        """Return the key. Raises `errors.InputError` if the keyring has none."""
        found = _keyring().get_password(self.service, self.user)
        if found is None:
            raise InputError(
                f"the keyring has no key of {self.service!r} for {self.user!r}: create() makes one"
            )
        return from_hex(found, f"the keyring's key of {self.service!r}")

    def __repr__(self) -> str:
        return f"KeyringKey({self.service!r}, {self.user!r})"


def _keyring() -> Any:
    try:
        import keyring
    except ImportError as error:
        raise InputError(f"KeyringKey needs the package keyring: {INSTALL}") from error
    return keyring


def new_key() -> bytes:
    """Return a new random key.

    >>> import recollex.encryption
    >>> len(recollex.encryption.new_key())
    32
    """
    return os.urandom(KEY_BYTES)


def read_key(path: str | os.PathLike[str]) -> bytes:
    """Return the key in a file: 64 hexadecimal digits, or 32 bytes.

    Raises `errors.InputError` for a file that holds anything else, or that cannot be read.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"the key in {path} cannot be read: {error.strerror}") from None
    if len(data) == KEY_BYTES:
        return data
    return from_hex(data.decode("ascii", "replace"), f"the file {path}")


def write_key(path: str | os.PathLike[str]) -> None:
    """Write a new key to a new file, as `read_key` reads it; its owner alone may read it.

    Raises `errors.InputError` if there is such a file, or it cannot be made.
    """
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w", encoding="ascii") as file:
            file.write(new_key().hex() + "\n")
            file.flush()
            os.fsync(fd)
    except OSError as error:
        raise InputError(f"the key cannot be written to {path}: {error.strerror}") from None


def from_hex(text: str, what: str) -> bytes:
    """Return the key that 64 hexadecimal digits spell; ``what`` has them, for the message."""
    try:
        found = bytes.fromhex(text.strip())
    except ValueError:
        found = b""
    if len(found) != KEY_BYTES:
        size = len(text.strip())
        raise InputError(f"{what} must hold 64 hexadecimal digits, got {size} other characters")
    return found


def given_key(path: str | None) -> bytes | None:
    """Return the key in a file, else the one in the variable RECOLLEX_KEY; None without both."""
    if path is not None:
        return read_key(path)
    said = os.environ.get(VARIABLE)
    return from_hex(said, VARIABLE) if said else None


def key_bytes(given: Key | None, name: str = "key") -> bytes | None:
    """Return the 32 bytes of a key; None where none is given. The message never has the key."""
    if given is None:
        return None
    if not isinstance(given, bytes):
        read = getattr(given, "read", None)
        if not callable(read):
            raise InputError(
                f"{name} must be 32 bytes, or an object such as recollex.encryption.KeyringKey, "
                f"got {type(given).__name__}"
            )
        given = read()
    if not isinstance(given, bytes) or len(given) != KEY_BYTES:
        found = len(given) if isinstance(given, bytes) else type(given).__name__
        raise InputError(f"{name} must be {KEY_BYTES} bytes, got {found}")
    library()  # or the package is missing
    return given


def _needed(given: Key | None, name: str) -> bytes:
    """Return the 32 bytes of a key; raises `InputError` where none is given."""
    found = key_bytes(given, name)
    if found is None:
        raise InputError(
            f"{name} must be 32 bytes, got None: recollex.encryption.copy makes an encrypted agent "
            "of a plain one, and a plain one of an encrypted one"
        )
    return found


def rekey(
    path: str | os.PathLike[str], agent_id: str = "default", *, key: Key, new_key: Key
) -> None:
    """Let ``new_key`` open an agent of the store at ``path``, and ``key`` no longer.

    Only the file KEY is replaced. Copies and backups that were made before keep the old one: `copy`
    makes an agent that no earlier key opens, of files that no earlier copy shares. Raises
    `errors.LockedError` if a writer has the agent open, and `errors.EncryptionError` for a wrong
    key.

    >>> import recollex, recollex.encryption, tempfile
    >>> first, second = recollex.encryption.new_key(), recollex.encryption.new_key()
    >>> folder = tempfile.mkdtemp()
    >>> with recollex.open(folder, key=first) as store:
    ...     ids = store.agent("alice").retain("Bob likes tea.")
    >>> recollex.encryption.rekey(folder, "alice", key=first, new_key=second)
    >>> with recollex.open(folder, key=second) as store:
    ...     store.agent("alice").stats().memories
    1
    """
    before = _needed(key, "key")
    after = _needed(new_key, "new_key")
    folder = _existing(path, agent_id)
    if not encryption.is_encrypted(folder):
        raise InputError(f"agent {agent_id!r} is not encrypted: recollex.encryption.copy does that")
    with WriterLock(folder / "LOCK"):
        encryption.replace_key(folder, before, after)


def copy(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    agent_id: str | None = None,
    *,
    key: Key | None = None,
    new_key: Key | None = None,
) -> list[str]:
    """Copy agents from the store at ``source`` to the one at ``target``, with another key.

    Returns the ids of the agents that were copied: ``agent_id``, or all. key: with which they are
    encrypted in ``source``; None: they are not. new_key: with which the copies are encrypted; None:
    they are not. So a plain agent becomes an encrypted one, or an encrypted one plain, with its
    past, its facts and its erasures. The data key of an encrypted copy is new.

    No writer may have the agents open: `errors.LockedError`. ``target`` may hold other agents.
    ``source`` is not changed. Remove it afterwards, and the backups of it. Deleted files of a disk
    may be restored by tools until the disk has written over them.

    >>> import recollex, recollex.encryption, tempfile
    >>> folder, key = tempfile.mkdtemp(), recollex.encryption.new_key()
    >>> with recollex.open(folder + "/plain") as store:
    ...     ids = store.agent("alice").retain("Bob likes tea.", id="tea")
    >>> recollex.encryption.copy(folder + "/plain", folder + "/encrypted", new_key=key)
    ['alice']
    >>> with recollex.open(folder + "/encrypted", key=key) as store:
    ...     store.agent("alice").get("tea").text
    'Bob likes tea.'
    """
    before = key_bytes(key)
    after = key_bytes(new_key, "new_key")
    place = absolute(source)
    names = agents_in(place) if agent_id is None else [kept_name(place, agent_id)]
    for name in names:
        folder = _existing(source, name)
        with progress_bar(None, f"copying {name}", "operations") as progress:
            snapshot.recrypt(folder, name, absolute(target), before, after, progress)
    return names


def _existing(path: str | os.PathLike[str], agent_id: str) -> Path:
    folder = agent_folder(absolute(path), agent_id)
    if not (folder / "log").is_dir():
        raise InputError(f"there is no agent {agent_id!r} in {path}")
    return folder
