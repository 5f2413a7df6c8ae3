"""The table through which kernels read the posting lists of all segments, see `_segment_table`."""

from collections.abc import Sequence

import numpy as np

from recollex_kernels.machine.jit import I64
from recollex_kernels.words._segment_table import FIELDS, FIRST
from recollex_kernels.words._segment_table import Lists as Lists
from recollex_kernels.words._segment_table import Texts as Texts
from recollex_kernels.words._segment_table import slices_in as slices_in


def table(segments: Sequence[Lists]) -> I64:
    """Return the table of ``segments``: int64[S, 14], valid as long as their arrays live."""
    rows = np.zeros((len(segments), FIELDS), np.int64)
    for row, lists in zip(rows, segments, strict=True):
        arrays, (first, end) = lists[:-2], lists[-2:]
        starts = lists[0]
        documents = lists[2]
        dense = lists[5]
        row[:FIRST] = [array.ctypes.data for array in arrays]
        row[FIRST:] = first, end, len(starts) - 1, len(documents), len(dense)
    return rows


def places(texts: Texts) -> I64:
    """Return the addresses and lengths of arrays that stay alive: int64[7, 2]."""
    return np.array([(array.ctypes.data, len(array)) for array in texts], np.int64)
