"""How are an agent's files encrypted? Its data key in the file KEY, and the cipher of pages.

Every piece is sealed alone::

    sealed  = nonce ciphertext tag           12 random bytes, as long as the plain bytes, 16 bytes
    subkey  = HKDF-Expand(SHA-256, data key, info = purpose)                      (RFC 5869)

``bound`` is authenticated with the piece: its number, so that it cannot be put in another place.

A nonce must never be used twice under one subkey. It is random, so neither a crash nor a fork nor a
restored copy can repeat it but by chance: for n pieces under one subkey with probability
n^2 / 2^97. A purpose covers up to 2^20 numbers (see `purpose_of`); if each of them is written 16
times, that is 2^-49.

Which key are an agent's files encrypted with? A data key of its own, in the file KEY.

::

    KEY      {"recollex_key":1,"id":ID,"wrapped":WRAPPED}
    ID       = 16 random bytes, hex
    WRAPPED  = the data key, sealed with the caller's key and bound to ID, hex (see `cipher`)

The caller's key opens KEY and nothing else, so another key can take its place by replacing KEY.
Without KEY, or without the caller's key, nothing of the agent can be read.

The files of an agent are encrypted from its creation, or not at all: `cipher_at` tells for every
file, so no code that reads or writes one can forget it. It finds the agents that this process has
unlocked; an agent is unlocked as long as its `Cipher` is in use.
"""

import hmac
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import orjson

from recollex_engine import fork
from recollex_engine.errors import CorruptError, EncryptionError, InputError
from recollex_engine.storage.disk import Bytes, replace_file, system_errors
from recollex_engine.storage.formats import unknown_format

KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16
OVERHEAD = NONCE_BYTES + TAG_BYTES
"""Bytes by which a sealed piece is longer than the plain one."""
INSTALL = "pip install 'recollex[crypto]'"

_NUMBERS = 20  # bits of a number within one purpose
_MOST_SUBKEYS = 256  # that are kept
_LAST_NUMBER = (1 << _NUMBERS) - 1
_NUMBER = struct.Struct("<Q")


def purpose_of(name: bytes, number: int) -> bytes:
    """Return the purpose of the piece with this number, of pieces that are numbered from 0 on.

    >>> purpose_of(b"log", 5), purpose_of(b"log", 1 << 20)
    (b'log 0', b'log 1')
    """
    return b"%b %d" % (name, number >> _NUMBERS)


def bound_to(number: int) -> bytes:
    """Return the bytes that bind a piece to its number."""
    return _NUMBER.pack(number)


class Cipher:
    """Seals and opens pieces with an agent's data key.

    Threads: any number.

    >>> cipher = Cipher(bytes(32))
    >>> sealed = cipher.seal(b"notes", b"tea", b"1")
    >>> cipher.open(b"notes", sealed, b"1"), cipher.open(b"notes", sealed, b"2")
    (b'tea', None)
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._subkeys: dict[bytes, Any] = {}

    def is_equal(self, other: "Cipher") -> bool:
        """Return whether both have the same key."""
        return hmac.compare_digest(self._key, other._key)

    def seal(self, purpose: bytes, data: Bytes, bound: bytes) -> bytes:
        """Return ``data`` sealed. Cost: 2 us, and 0.12 ms a megabyte."""
        nonce = os.urandom(NONCE_BYTES)
        sealed: bytes = self._subkey(purpose).encrypt(nonce, data, bound)
        return nonce + sealed

    def open(self, purpose: bytes, sealed: Bytes, bound: bytes) -> bytes | None:
        """Return what was sealed with this purpose and these bound bytes; None if it was not.

        Cost: 1 us, and 0.12 ms a megabyte.
        """
        if len(sealed) < OVERHEAD:
            return None
        try:
            found: bytes = self._subkey(purpose).decrypt(
                sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], bound
            )
        except library().exceptions.InvalidTag:
            return None
        return found

    def seal_each(self, name: bytes, first: int, pieces: Sequence[Bytes]) -> list[bytes]:
        """Return pieces sealed that are numbered from ``first`` on; see `purpose_of`.

        Cost: 1.6 us each, where `seal` takes 2.5.
        """
        nonces = os.urandom(NONCE_BYTES * len(pieces))
        sealed = []
        for place, piece in enumerate(pieces):
            number = first + place
            if not place or not number & _LAST_NUMBER:
                encrypt = self._subkey(purpose_of(name, number)).encrypt
            nonce = nonces[place * NONCE_BYTES : (place + 1) * NONCE_BYTES]
            sealed.append(nonce + encrypt(nonce, piece, _NUMBER.pack(number)))
        return sealed

    def open_each(self, name: bytes, first: int, sealed: Sequence[Bytes]) -> list[bytes | None]:
        """Return what `seal_each` sealed, None for each piece that it did not.

        Cost: 1.6 us each, where `open` takes 2.5.
        """
        tampered = library().exceptions.InvalidTag
        found: list[bytes | None] = []
        for place, piece in enumerate(sealed):
            number = first + place
            if not place or not number & _LAST_NUMBER:
                decrypt = self._subkey(purpose_of(name, number)).decrypt
            try:
                found.append(
                    decrypt(piece[:NONCE_BYTES], piece[NONCE_BYTES:], _NUMBER.pack(number))
                )
            except tampered:
                found.append(None)
        return found

    def _subkey(self, purpose: bytes) -> Any:
        found = self._subkeys.get(purpose)
        if found is None:
            made = library()
            info = made.HKDFExpand(made.SHA256(), KEY_BYTES, purpose)
            found = made.AESGCM(info.derive(self._key))
            if len(self._subkeys) >= _MOST_SUBKEYS:
                self._subkeys = {}
            self._subkeys[purpose] = found
        return found


class _CipherLibrary:
    """The parts of the package cryptography that are used here."""

    def __init__(self) -> None:
        from cryptography import exceptions
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

        self.exceptions = exceptions
        self.AESGCM = AESGCM
        self.SHA256 = SHA256
        self.HKDFExpand = HKDFExpand


_library: _CipherLibrary | None = None


def library() -> _CipherLibrary:
    """Return the package cryptography. Raises `InputError` with the line that installs it."""
    global _library
    if _library is None:
        try:
            _library = _CipherLibrary()
        except ImportError as error:
            raise InputError(f"encryption needs the package cryptography: {INSTALL}") from error
    return _library


NAME = "KEY"
VERSION = 1

_ID_BYTES = 16
_WRAPPING = b"recollex data key"
_DEPTH = 2  # folders between a file and its agent's folder, at most

_entering = fork.lock()
_unlocked: "WeakValueDictionary[str, Cipher]" = WeakValueDictionary()


def cipher_at(path: Path | str) -> Cipher | None:
    """Return the cipher of the agent that a file belongs to; None if it is not unlocked.

    Cost: 0.2 us while no agent of the process is unlocked, else 5 us.
    """
    if not _unlocked:
        return None
    place = os.path.abspath(path)  # noqa: PTH100 - a tenth of the time of Path.absolute
    for _ in range(_DEPTH + 1):
        found = _unlocked.get(place)
        if found is not None:
            return found
        place = os.path.dirname(place)  # noqa: PTH120
    return None


def cipher_for_writing(path: Path) -> Cipher | None:
    """Return what `cipher_at` returns for a file that is about to be written.

    Raises `EncryptionError` if it belongs to an encrypted agent that is not unlocked. Cost: 5 us.
    """
    found = cipher_at(path)
    if found is None and (locked_at := next(filter(is_encrypted, path.parents[:_DEPTH]), None)):
        raise locked(locked_at)
    return found


def is_encrypted(folder: Path) -> bool:
    """Return whether an agent's folder has a KEY."""
    return (folder / NAME).exists()


def create_key(folder: Path, key: bytes) -> Cipher:
    """Make the data key of a new agent, durably, and unlock the agent."""
    data_key = os.urandom(KEY_BYTES)
    _write(folder, os.urandom(_ID_BYTES), data_key, key)
    return _enter(folder, Cipher(data_key))


def unlock(folder: Path, key: bytes | None) -> Cipher:
    """Return the cipher of an agent that has a KEY, and unlock it.

    Raises `EncryptionError` without a key, or for another one, `CorruptError` for a damaged KEY.
    """
    return _enter(folder, Cipher(_data_key(folder, key)))


def open_key(folder: Path, key: bytes | None) -> Cipher | None:
    """Return the cipher of an agent, unlocked; None for one that is not encrypted.

    Raises `EncryptionError` without the key of an encrypted agent, and for a key that is given for
    one that is not.
    """
    if is_encrypted(folder):
        return unlock(folder, key)
    if key is not None:
        raise EncryptionError(
            f"{folder} has no {NAME}, so it is not encrypted, or {NAME} is lost: open it without a "
            "key, which says so; recollex.encryption.copy makes an encrypted copy"
        )
    return None


def open_or_create_key(folder: Path, key: bytes | None, *, has_log: bool) -> Cipher | None:
    """Do what `open_key` does; a new agent is encrypted from its creation, if a key is given.

    The caller holds the agent's lock file, and the cipher as long as it uses the agent's files.
    """
    if not has_log and key is not None and not is_encrypted(folder):
        return create_key(folder, key)
    return open_key(folder, key)


def replace_key(folder: Path, key: bytes, new: bytes) -> None:
    """Let ``new`` open the agent from now on, in place of ``key``. No other file changes."""
    data_key = _data_key(folder, key)
    _write(folder, os.urandom(_ID_BYTES), data_key, new)


def share_key(folder: Path, source: Path) -> Cipher | None:
    """Give a new folder the KEY of the agent in ``source``, if it has one, and unlock it."""
    cipher = cipher_for_writing(source / NAME)
    if cipher is None:
        return None
    replace_file(folder / NAME, read_key_file(source))
    return _enter(folder, cipher)


def put_key_file(folder: Path, data: bytes, key: bytes | None) -> Cipher:
    """Write the KEY of a copy into a new folder, and unlock it; raises as `unlock`."""
    replace_file(folder / NAME, data)
    return unlock(folder, key)


def read_key_file(folder: Path) -> bytes:
    """Return the bytes of an agent's KEY."""
    with system_errors(folder / NAME):
        return (folder / NAME).read_bytes()


def locked(path: Path) -> EncryptionError | CorruptError:
    """Return the error for an encrypted file, or agent, that was opened without a key."""
    if any(map(is_encrypted, (path, *path.parents[:_DEPTH]))):
        return EncryptionError(f"{path} is encrypted: give the key that it was made with")
    return CorruptError(path, f"the file {NAME} of the agent, since this is encrypted", "none")


def _enter(folder: Path, cipher: Cipher) -> Cipher:
    """Make the cipher known for the files below a folder; an equal one that is known stays."""
    place = _place(folder)
    with _entering:
        known = _unlocked.get(place)
        if known is not None and known.is_equal(cipher):
            return known
        _unlocked[place] = cipher
        return cipher


def _place(folder: Path) -> str:
    return os.path.abspath(folder)  # noqa: PTH100


def _write(folder: Path, id: bytes, data_key: bytes, key: bytes) -> None:
    wrapped = Cipher(key).seal(_WRAPPING, data_key, id)
    said = {"recollex_key": VERSION, "id": id.hex(), "wrapped": wrapped.hex()}
    replace_file(folder / NAME, orjson.dumps(said))


def _data_key(folder: Path, key: bytes | None) -> bytes:
    path = folder / NAME
    id, wrapped = _parsed(path, read_key_file(folder))
    if key is None:
        raise locked(folder)
    data_key = Cipher(key).open(_WRAPPING, wrapped, id)
    if data_key is None:
        raise EncryptionError(
            f"this is not the key of {folder}, or {path.name} was altered: give the key that the "
            f"agent was made with, or put {path.name} back from a copy"
        )
    return data_key


def _parsed(path: Path, data: bytes) -> tuple[bytes, bytes]:
    try:
        said: dict[str, Any] = orjson.loads(data)
        if said["recollex_key"] != VERSION:
            raise unknown_format(path, said["recollex_key"], VERSION)
        return bytes.fromhex(said["id"]), bytes.fromhex(said["wrapped"])
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptError(path, "the fields of a key", repr(error)) from error
