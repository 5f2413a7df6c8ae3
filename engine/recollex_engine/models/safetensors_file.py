"""Reading the tensors of a safetensors file; its errors say how to fetch the file again."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recollex_engine.errors import CorruptError, ModelError

_FLOATS = ("F64", "F32", "F16", "BF16")
_POINTER = b"version https://git-lfs"


def read_tensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """Return every floating-point tensor of a safetensors file, as float32, by name.

    Integer tensors (position ids) are left out: an encoder does not need them.

    Raises:
        CorruptError: the file is torn, or its header contradicts its size.
        ModelError: the file cannot be opened.

    """
    import ml_dtypes  # noqa: F401 - a model is being converted; with it numpy knows bfloat16
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            return {
                name: np.asarray(file.get_tensor(name), np.float32)
                for name in file.keys()  # noqa: SIM118 - it is no mapping
                if file.get_slice(name).get_dtype() in _FLOATS
            }
    except OSError as error:
        raise ModelError(f"{path}: {error}") from error
    except SafetensorError as error:
        found = f"{error}; {_again(path)}"
        raise CorruptError(path, "a whole safetensors file", found) from error


def _again(path: Path) -> str:
    """Return what to do about a file that is not whole."""
    with path.open("rb") as file:
        if file.read(len(_POINTER)) == _POINTER:
            return f"that is a pointer of Git LFS: git -C {path.parent} lfs pull"
    return f"fetch it again: hf download OWNER/NAME {path.name} --local-dir {path.parent}"
