"""How does a value become bytes? MessagePack, with five extension types.

::

    1  moment    int64, big-endian: microseconds since 1970 UTC
    2  duration  int64, big-endian: microseconds
    3  array     dtype "2" | "4" | "8" (float16, 32, 64), uint8 dimensions, uint32 big-endian each,
                 then the numbers, little-endian, in C order
    4  deflated  uint32 big-endian length, then zlib of an array's payload
    5  record    MessagePack of a str, the name in `records`, and of a map, the fields

MessagePack's own timestamp (extension type -1) is read as a moment and never written. There is no
other type: no pickle, and no class that is not in the table. Tuples arrive as lists, except in
records, whose fields have types.
"""

import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NoReturn

import msgpack
import numpy as np
import numpy.typing as npt

from recollex.remote.wire.records import ALL, name_of, read_record, record
from recollex_engine.clock import EPOCH, MICROSECOND, from_micros, in_zone, to_micros, zone_of
from recollex_engine.errors import InputError, ProtocolError

MOMENT = 1
DURATION = 2
ARRAY = 3
DEFLATED = 4
RECORD = 5
MAX_DEPTH = 64
"""Containers within containers, at most; a record is a container."""
MAX_INFLATED = 64 << 20
"""Bytes of all deflated arrays of one value, inflated, at most."""

_INT64 = struct.Struct(">q")
_pack_int64 = _INT64.pack
_new = tuple.__new__
_ExtType = msgpack.ExtType
_UINT32 = struct.Struct(">I")
_KINDS = {np.dtype(f"<f{kind}"): str(kind).encode() for kind in (2, 4, 8)}
_DTYPES: dict[int, np.dtype[Any]] = {kind[0]: dtype for dtype, kind in _KINDS.items()}
_RECORD_HEAD = struct.Struct(">BIb")
_TWO = bytes((0x92,))
_RECALL = bytes((0xA6,)) + b"Recall"
_LEVEL = 1
_AS_DATETIME = 3
"""Of `msgpack.unpackb`: a timestamp is read as a datetime; OverflowError if that is impossible."""
_NO_TIME = "a timestamp must lie in the years 1 to 9999"
_LARGE = 1 << 18


def encode(value: object, deflate: bool = False) -> bytes:
    """Return a value as bytes. ``deflate``: compress arrays of more than a kilobyte.

    Raises `InputError` for a value that cannot be sent.

    >>> from datetime import UTC
    >>> decode(encode({"at": datetime(2024, 5, 1, tzinfo=UTC), "tags": ("a", "b")}))
    {'at': datetime.datetime(2024, 5, 1, 0, 0, tzinfo=datetime.timezone.utc), 'tags': ['a', 'b']}
    """
    try:
        return _encoded(value, _deflating if deflate else _plain)
    except UnicodeEncodeError as error:
        raise InputError(f"a text is not valid Unicode: {error}") from None
    except OverflowError:
        raise InputError("a whole number must lie in [-2**63, 2**64)") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"a value cannot be sent: {error}") from None


def decode(data: bytes | bytearray | memoryview, allowed: Mapping[str, str] = ALL) -> Any:
    """Return the value that `encode` wrote; ``allowed``: the records that may be in it.

    Arrays are read-only and share the memory of ``data``. Raises `ProtocolError` for other bytes,
    and the error of a record's class for fields that it does not accept.
    """
    decoder = Decoder(allowed)
    value = decoder.decode(data)
    if decoder.refused is not None:
        raise decoder.refused
    return value


def decode_plain(data: bytes) -> Any:
    """Return a value without extension types. Raises `ProtocolError` for other bytes."""
    try:
        return msgpack.unpackb(data, ext_hook=_refused, strict_map_key=True)
    except (msgpack.UnpackException, ValueError, TypeError) as error:
        raise ProtocolError(f"not a message: {str(error)[:200]}") from None


def _refused(code: int, data: bytes) -> NoReturn:
    raise ProtocolError("here extension types have no place")


class Undecoded(bytes):
    """The bytes of a record within a recall that was not decoded yet; see `Decoder`."""

    __slots__ = ()

    def read(self) -> Any:
        """Return the record, as `decode` would have."""
        return decode(_RECORD_HEAD.pack(0xC9, len(self), RECORD) + self)


class Decoder:
    """Decodes the values of one connection. Threads: one at a time.

    later: the trace and signs of a recall, which few callers read, are returned as `Undecoded`, and
    checked when they are read. refused: the error of a record of the last value that its class did
    not accept, or of a timestamp that no datetime can hold, None if there was none. None stands in
    the place of that record, so a server can answer the request that held it.
    """

    def __init__(self, allowed: Mapping[str, str] = ALL, later: bool = False) -> None:
        self._allowed = allowed
        self._later = later
        self._depth = 0
        self._inflated = 0
        self.refused: InputError | None = None

    def decode(self, data: bytes | bytearray | memoryview) -> Any:
        """Return one value, as the function `decode` does; errors of records are in ``refused``."""
        self.refused = None
        self._inflated = 0
        try:
            try:
                return _unpacked(data, self.extension)
            except OverflowError:
                self.refused = InputError(_NO_TIME)
                return _unpacked(data, self.extension, timestamp=0)
        except (msgpack.UnpackException, ValueError, TypeError, struct.error) as error:
            raise ProtocolError(f"not a message: {str(error)[:200]}") from None

    def extension(self, code: int, data: bytes) -> Any:
        """Return the value of an extension type; the hook of a `msgpack.Unpacker`."""
        if code == MOMENT:
            return _time(data)
        if code == RECORD:
            return self._record(data)
        if code == ARRAY:
            return _array(data)
        if code == DEFLATED:
            found = _inflated(data, MAX_INFLATED - self._inflated)
            self._inflated += len(found)
            return _array(found)
        if code == DURATION:
            return MICROSECOND * _INT64.unpack(data)[0]
        raise ProtocolError(f"extension types are -1 and 1 to 5, got {code}")

    def _record(self, data: bytes) -> Any:
        self._depth += 1
        try:
            if self._depth > MAX_DEPTH:
                raise ProtocolError(f"records may be nested up to {MAX_DEPTH} deep")
            later = self._later and data.startswith(_RECALL)
            name, values = _unpacked(_TWO + data, self._within if later else self.extension)
            return read_record(name, values, self._allowed)
        except InputError as error:
            self.refused = self.refused or error
            return None
        except OverflowError:
            self.refused = self.refused or InputError(_NO_TIME)
            return None
        except msgpack.ExtraData:
            raise ProtocolError("a record is a str and a map, and nothing after them") from None
        finally:
            self._depth -= 1

    def _within(self, code: int, data: bytes) -> Any:
        """Return the value of an extension type within a recall; records are not decoded yet."""
        return Undecoded(data) if code == RECORD else self.extension(code, data)


def _unpacked(
    data: bytes | bytearray | memoryview,
    extension: Callable[[int, bytes], Any],
    timestamp: int = _AS_DATETIME,
) -> Any:
    return msgpack.unpackb(data, ext_hook=extension, timestamp=timestamp, strict_map_key=True)


def _time(data: bytes) -> datetime:
    """Return a moment, in its zone if the payload names one."""
    if len(data) == 8:
        return from_micros(_INT64.unpack(data)[0])
    return in_zone(_INT64.unpack(data[:8])[0], str(data[8:], "utf-8"))


def _default(deflate: bool) -> Callable[[object], Any]:
    """Return what gives `msgpack.Packer` a value that it can encode in place of one it cannot."""

    def default(value: object) -> Any:
        if type(value) is datetime and value.tzinfo is UTC:  # as most are, at half of the cost
            return _new(_ExtType, (MOMENT, _pack_int64((value - EPOCH) // MICROSECOND)))
        return _extended(value, default, deflate)

    return default


_plain = _default(deflate=False)
_deflating = _default(deflate=True)

_encoders: dict[Callable[[object], Any], list[msgpack.Packer]] = {_plain: [], _deflating: []}
"""Packers that are not in use; making one costs as much as encoding a memory."""


def _encoded(value: object, default: Callable[[object], Any]) -> bytes:
    spare = _encoders[default]
    try:
        packer = spare.pop()  # one step, under the interpreter's lock
    except IndexError:
        packer = msgpack.Packer(default=default)
    kind: Any = type(value)
    found = _record_encoder(kind)
    if found is None:
        data: bytes = packer.pack(value)
    else:  # as by `default`, which would need a second packer
        head, fields_of = found
        data = packer.pack_ext_type(RECORD, head + packer.pack(fields_of(value)))
    if len(data) < _LARGE:  # a packer that encoded more keeps the memory for it
        spare.append(packer)
    return data


@lru_cache(1024)
def _record_encoder(kind: Any) -> tuple[bytes, Callable[[Any], dict[str, Any]]] | None:
    """Return the first bytes of a class's records and what gives their fields; None if not sent."""
    name = name_of(kind)
    return None if name is None else (bytes(msgpack.packb(name)), record(name).fields_of)


def _extension(code: int, data: bytes) -> msgpack.ExtType:
    """Return a `msgpack.ExtType` without its checks, which cost more than all the rest."""
    return _new(_ExtType, (code, data))


def _extended(value: Any, default: Callable[[object], Any], deflate: bool) -> Any:
    """Return what MessagePack can encode in place of a value that it cannot."""
    kind: Any = type(value)
    if (found := _record_encoder(kind)) is not None:
        head, fields_of = found
        return _extension(RECORD, head + _encoded(fields_of(value), default))
    if isinstance(value, datetime):
        zone = zone_of(value) or ""
        return _extension(MOMENT, _INT64.pack(to_micros(value, "a time")) + zone.encode())
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return _array_extension(value, deflate)
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, timedelta):
        return _extension(DURATION, _INT64.pack(value // MICROSECOND))
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence | Iterator):
        return list(value)
    raise InputError(f"a {type(value).__name__} cannot be sent to a server")


def _array_extension(value: Any, deflate: bool) -> msgpack.ExtType:
    dtype = value.dtype.newbyteorder("<")
    if dtype not in _KINDS:
        dtype = np.dtype("<f8")
    head = _KINDS[dtype] + bytes([value.ndim]) + b"".join(map(_UINT32.pack, value.shape))
    data = head + np.ascontiguousarray(value, dtype).tobytes()
    if deflate and len(data) > 1024:
        return _extension(DEFLATED, _UINT32.pack(len(data)) + zlib.compress(data, _LEVEL))
    return _extension(ARRAY, data)


def _array(data: bytes) -> npt.NDArray[Any]:
    if len(data) < 2 or data[0] not in _DTYPES or len(data) < 2 + 4 * data[1]:
        raise ProtocolError("an array begins with its type, its dimensions and their lengths")
    dtype = _DTYPES[data[0]]
    start = 2 + 4 * data[1]
    shape = struct.unpack_from(f">{data[1]}I", data, 2)
    expected = dtype.itemsize
    for length in shape:
        expected *= length
    found = len(data) - start
    if found != expected:
        raise ProtocolError(f"an array of shape {shape} has {expected} bytes, got {found}")
    return np.frombuffer(data, dtype, offset=start).reshape(shape)


def _inflated(data: bytes, most: int) -> bytes:
    (length,) = _UINT32.unpack_from(data)
    if length > most:
        raise ProtocolError(f"deflated arrays may have {MAX_INFLATED:,} bytes, got {length:,} more")
    try:
        found = zlib.decompressobj().decompress(data[4:], length + 1)
    except zlib.error as error:
        raise ProtocolError(f"a deflated array is broken: {error}") from None
    if len(found) != length:
        raise ProtocolError(f"a deflated array says that it has {length:,} bytes, and has not")
    return found
