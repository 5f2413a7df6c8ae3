"""The items of a column that a checksum covers."""

import numpy as np

from recollex_engine.state.integrity import known_at


class Closing(np.ndarray):
    """Items of which another thread closes the first while they are compared."""

    def __gt__(self, op):
        later = np.asarray(self) > op
        np.asarray(self)[0] = 9
        return later


def test_what_is_closed_meanwhile_counts_as_open():
    """A memory that was closed between the look and the copy got into the checksum.

    The manifest then named a sum that no file had, and the columns were rebuilt with a warning
    after the next kill.
    """
    items = np.array([0, 3, 7], np.int64).view(Closing)
    assert known_at(items, 5).tolist() == [0, 3, 0]


def test_items_are_as_they_are_without_an_operation():
    items = np.array([0, 3, 7], np.int64)
    assert known_at(items, None) is items
