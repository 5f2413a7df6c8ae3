"""The vectors of surfaces, and which of them are the nearest to another vector."""

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from recollex_engine.ranking.arms import CASCADE_ROWS, ArmList, Mask, cascade_sizes
from recollex_engine.state.row_codes import four_bits
from recollex_engine.state.surfaces import Surfaces
from recollex_kernels.vectors.cascade import cascade_of_rows
from recollex_kernels.vectors.nearest import scan_top


class SurfaceVectors:
    """The vectors of the allowed ones of the first ``held`` surfaces, as kernels take them.

    kind: the number in `SURFACE_KINDS` of all that are allowed. every: whether all of that kind are
    allowed; None to find out, a byte for each.

    Threads: may be shared.
    """

    def __init__(
        self,
        surfaces: Surfaces,
        held: int,
        dimension: int,
        allowed: Mask,
        kind: int,
        every: bool | None = None,
    ) -> None:
        self._surfaces = surfaces
        self._held = held
        self._allowed = allowed
        self._of = of = surfaces.with_vectors(held) if held else np.empty(0, np.uint32)
        self._cascade: partial[Any] | None = None
        if not len(of):
            return
        rows = len(of)
        self._vectors = vectors = surfaces.vectors(rows, dimension)
        self._codes = codes = four_bits(surfaces.array, rows, dimension)
        if rows <= CASCADE_ROWS:
            return
        places, own, signs = surfaces.of_kind(kind, rows, dimension)
        whole = bool(allowed[own].all()) if every is None else every
        self._cascade = partial(
            cascade_of_rows, vectors, codes[0], codes[1], signs, places, own, whole, of, allowed
        )

    def nearest(
        self, query: npt.NDArray[np.float32], floor: float, budget: int, *, exact: bool = False
    ) -> ArmList:
        """Return the allowed surfaces that are nearest to a vector.

        They reach a cosine of ``floor``; ``budget`` of them at most. exact: compare every vector.
        """
        rows = len(self._of)
        if not rows:
            return ArmList.empty()
        if exact or self._cascade is None:
            first = self._surfaces.first_vector(self._held)
            held = self._vectors, self._codes, 0, rows, self._of, first, self._allowed
            found = scan_top(*held, query, floor, budget)
        else:
            found = self._cascade(query, floor, budget, *cascade_sizes(budget))
        memories, near, scores = found
        return ArmList(memories, scores, near)
