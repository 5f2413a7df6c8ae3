"""Vectors at a given cosine with the question's."""

import numpy as np
import numpy.typing as npt

DIMENSION = 64


def at_cosine(cosine: float, place: int) -> npt.NDArray[np.float32]:
    """Return a unit vector of this cosine with the question's, which is the first axis.

    place: in [0, 62]; vectors of other places share nothing else.
    """
    vector = np.zeros(DIMENSION, np.float32)
    vector[0], vector[1 + place] = cosine, np.sqrt(1 - cosine**2)
    return vector
