"""The posting lists of some documents, as a table of segments takes them."""

from recollex_kernels.words.impacts import grade_postings
from recollex_kernels.words.postings import divide_postings


def graded_lists(starts, documents, counts, lengths, first, end):
    """Return `recollex_kernels.words.segments.Lists` of what `build_postings` returned."""
    codes, limits, dense, greatest, columns = grade_postings(
        starts, documents, counts, lengths, first, end, 0.9, 0.4
    )
    begins, cuts, numbers, dense_cuts = divide_postings(starts, documents, dense, first, end)
    rest = dense, dense_cuts, greatest, columns, first, end
    return begins, cuts, numbers, codes, limits, *rest
