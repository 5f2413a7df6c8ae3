"""Where does a document stand in a posting list?"""

from recollex_kernels.machine.jit import U16, U32, kernel


@kernel
def position_of(documents: U16 | U32, first: int, end: int, end_document: int) -> int:
    """Return the first position in [first, end) of ascending ``documents`` not below the last."""
    if first < end and documents[end - 1] < end_document:
        return end
    while first < end:
        middle = (first + end) >> 1
        if documents[middle] < end_document:
            first = middle + 1
        else:
            end = middle
    return first
