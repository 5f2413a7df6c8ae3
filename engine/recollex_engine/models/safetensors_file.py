"""Reading safetensors files: eight bytes of header length, a JSON header, the tensors' bytes.

::

    file   = uint64 n (little-endian) | n bytes of JSON | data
    header = {name: {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...}

Offsets count from the first byte of ``data``; ``__metadata__`` is not a tensor.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollex_engine.errors import CorruptError, ModelError

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
_POINTER = b"version https://git-lfs"
_MAX_HEADER = 100_000_000  # the format's own bound


def read_tensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """Return every floating-point tensor of a safetensors file, as float32, by name.

    Tensors stored as float32 are maps of the file and cost nothing until they are read; other
    types are converted. Integer tensors (position ids) are left out: an encoder does not need them.

    Raises:
        CorruptError: the file is torn, or its header contradicts its size.
        ModelError: the file cannot be opened.

    """
    try:
        data = np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError) as error:  # numpy refuses to map an empty file with ValueError
        raise ModelError(f"{path}: {error}") from error
    again = f"fetch it again: hf download OWNER/NAME {path.name} --local-dir {path.parent}"
    if data[: len(_POINTER)].tobytes() == _POINTER:
        again = f"that is a pointer of Git LFS: git -C {path.parent} lfs pull"
    length = int(data[:8].view("<u8")[0]) if data.size >= 8 else _MAX_HEADER
    if length > min(_MAX_HEADER, data.size - 8):
        found_bytes = f"{data.size} bytes; {again}"
        raise CorruptError(path, "a safetensors header within the file", found_bytes)
    try:
        header: dict[str, Any] = json.loads(data[8 : 8 + length].tobytes())
        header.pop("__metadata__", None)
        body = data[8 + length :]
        found = {name: _tensor(body, entry) for name, entry in header.items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CorruptError(path, "a whole safetensors file", f"{error}; {again}") from error
    return {name: tensor for name, tensor in found.items() if tensor is not None}


def _tensor(body: NDArray[np.uint8], entry: dict[str, Any]) -> NDArray[np.float32] | None:
    if entry["dtype"] not in _DTYPES:
        return None
    begin, end = entry["data_offsets"]
    dtype = np.dtype(_DTYPES[entry["dtype"]])
    shape = tuple(entry["shape"])
    if not 0 <= begin <= end <= body.size:
        raise ValueError(f"{shape} of {dtype} at bytes {begin}:{end} of {body.size}")
    raw = np.frombuffer(body[begin:end], dtype=dtype).reshape(shape)  # ValueError: other sizes
    if entry["dtype"] == "BF16":  # the upper half of a float32
        return (raw.astype(np.uint32) << 16).view(np.float32)
    return raw.astype(np.float32, copy=False)
