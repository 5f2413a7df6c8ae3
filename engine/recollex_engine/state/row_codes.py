"""The codes of vectors, of passages and statements: four bits and one bit a component."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.domain.schema import words
from recollex_kernels.vectors.cascade import encode_signs
from recollex_kernels.vectors.codes import FourBits, OneBit, encode


@dataclass(frozen=True, slots=True)
class PassageColumns:
    """The columns of passages that new ones are compared with, by the names of `schema`."""

    memory_of_row: npt.NDArray[np.uint32]
    code4: npt.NDArray[np.uint8]
    code_step: npt.NDArray[np.float32]
    code_norm: npt.NDArray[np.float32]
    code_loss: npt.NDArray[np.float32]
    code1: npt.NDArray[np.uint64]
    code_factor: npt.NDArray[np.float32]


def encode_rows(vectors: npt.NDArray[np.uint16]) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of `schema.CODE` for some rows, by name, ``code_factor`` last.

    ``vectors`` uint16[n, dimension]: float16 bit patterns. Cost: 5 us a row of 384 components.
    """
    count, dimension = vectors.shape
    codes = np.empty((count, dimension // 2), np.uint8)
    steps, norms, losses = (np.empty(count, np.float32) for _ in range(3))
    encode(vectors, codes, steps, norms, losses)
    bits = np.empty((count, words(dimension)), np.uint64)
    factors = np.empty(count, np.float32)
    encode_signs(vectors, bits, factors)
    return {
        "code4": codes.reshape(-1),
        "code_step": steps,
        "code_norm": norms,
        "code_loss": losses,
        "code1": bits.reshape(-1),
        "code_factor": factors,
    }


def four_bits(column: Callable[[str], npt.NDArray[Any]], rows: int, dimension: int) -> FourBits:
    """Return the codes of four bits a component, with their steps, norms and losses.

    column: returns a column of `schema.CODE`, with its spare capacity, by name.
    """
    width = dimension // 2
    codes = column("code4")[: rows * width].reshape(rows, width)
    return codes, column("code_step"), column("code_norm"), column("code_loss")


def one_bit(column: Callable[[str], npt.NDArray[Any]], rows: int, dimension: int) -> OneBit:
    """Return the codes of one bit a component, with their factors; column: as for `four_bits`."""
    width = words(dimension)
    return column("code1")[: rows * width].reshape(rows, width), column("code_factor")


class RowEncoder:
    """Encodes rows that are compared before they are added: once, if the array is the same.

    Threads: one at a time.
    """

    def __init__(self) -> None:
        self._compared: tuple[npt.NDArray[np.uint16], dict[str, npt.NDArray[Any]]] | None = None

    def to_compare(self, vectors: npt.NDArray[np.uint16]) -> dict[str, npt.NDArray[Any]]:
        """Return what `encode_rows` does, and keep it until the next call."""
        codes = encode_rows(vectors)
        self._compared = vectors, codes
        return codes

    def to_add(self, vectors: npt.NDArray[np.uint16]) -> dict[str, npt.NDArray[Any]]:
        """Return what `encode_rows` does, and keep nothing."""
        known = self._compared
        self._compared = None
        return known[1] if known is not None and known[0] is vectors else encode_rows(vectors)
