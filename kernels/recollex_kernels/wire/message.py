"""Where does a MessagePack value end, and is it safe to read?

A decoder allocates what a value's headers claim, and five kilobytes can claim arrays of 2**32 - 1
items, 1,024 deep. So bytes from a client are checked here first, without allocating. A value is
decoded once all of it is there, and then it holds every item that it claims.
"""

import numpy as np
import numpy.typing as npt

from recollex_kernels.machine.jit import kernel

INCOMPLETE, WHOLE, MALFORMED, TOO_DEEP, TOO_LARGE, TOO_MANY = range(6)
"""What `value_end` finds."""
AT, DEPTH, ITEMS, FRAMES = range(4)
"""Places in the state: the next byte, open containers, values so far, the first container."""


@kernel
def value_end(
    data: npt.NDArray[np.uint8],
    most_bytes: int,
    most_items: int,
    record: int,
    state: npt.NDArray[np.int64],
) -> int:
    """Return one of the constants above; if `WHOLE`, the value ends before ``state[AT]``.

    Reads one value from the first byte of ``data`` on, or goes on where the last call ran out
    of bytes. ``record``: the extension type whose payload is two values, which are checked
    too; other payloads are passed over. `TOO_LARGE`, `TOO_MANY`: it claims more than
    ``most_bytes`` bytes or ``most_items`` values, whether or not they are there.

    Shapes: data uint8[N], the value's bytes so far; state int64[FRAMES + 2 * D], zeroed at the
    beginning of a value; D is how deep containers may stand in containers, and of each two numbers
    are kept: values that it still lacks, and the byte at which it must end, 0 for any.

    Cost: O(values) time, no allocation; every byte is read once, over all calls.
    """
    n = data.shape[0]
    deepest = (state.shape[0] - FRAMES) // 2
    while True:
        at = state[AT]
        depth = state[DEPTH]
        if state[ITEMS] > 0:  # close the containers that are complete
            while depth > 0 and state[FRAMES + 2 * depth - 2] == 0:
                end = state[FRAMES + 2 * depth - 1]
                if end != 0 and end != at:
                    return MALFORMED
                depth -= 1
            state[DEPTH] = depth
            if depth == 0:
                return WHOLE
        if at >= n:
            return INCOMPLETE
        b = data[at]
        size = 0  # bytes of a length that follow
        fixed = 0  # bytes after it that are part of the value
        count = np.int64(0)  # values that a container holds
        bytes_of = np.int64(0)  # bytes of a payload
        is_container = False
        is_extension = False
        if b <= 0x7F or b >= 0xE0 or b == 0xC0 or b == 0xC2 or b == 0xC3:
            pass
        elif b <= 0x8F:
            is_container = True
            count = np.int64(2 * (b & 0x0F))
        elif b <= 0x9F:
            is_container = True
            count = np.int64(b & 0x0F)
        elif b <= 0xBF:
            bytes_of = np.int64(b & 0x1F)
        elif b == 0xC1:
            return MALFORMED
        elif b <= 0xC6:
            size = 1 << (b - 0xC4)
        elif b <= 0xC9:
            size = 1 << (b - 0xC7)
            is_extension = True
        elif b <= 0xCB:
            fixed = 4 << (b - 0xCA)
        elif b <= 0xCF:
            fixed = 1 << (b - 0xCC)
        elif b <= 0xD3:
            fixed = 1 << (b - 0xD0)
        elif b <= 0xD8:
            bytes_of = np.int64(1 << (b - 0xD4))
            is_extension = True
        elif b <= 0xDB:
            size = 1 << (b - 0xD9)
        else:
            size = 2 << ((b - 0xDC) & 1)
            is_container = True
        head = at + 1 + size + (1 if is_extension else 0)
        if head > n:
            return INCOMPLETE
        if size > 0:
            length = np.int64(0)
            for place in range(at + 1, at + 1 + size):
                length = (length << 8) | np.int64(data[place])
            if is_container:
                count = length * 2 if b >= 0xDE else length
            else:
                bytes_of = length
        is_record = is_extension and data[head - 1] == record
        least = count if is_container else bytes_of + fixed  # an item is at least one byte
        if head + least > most_bytes:
            return TOO_LARGE
        if state[ITEMS] + 1 + count > most_items:
            return TOO_MANY
        if not is_container and not is_record and head + bytes_of + fixed > n:
            return INCOMPLETE
        state[ITEMS] += 1
        if depth > 0:
            state[FRAMES + 2 * depth - 2] -= 1
        if is_container or is_record:
            if depth == deepest:
                return TOO_DEEP
            state[FRAMES + 2 * depth] = 2 if is_record else count
            state[FRAMES + 2 * depth + 1] = head + bytes_of if is_record else 0
            state[DEPTH] = depth + 1
            state[AT] = head
        else:
            state[AT] = head + bytes_of + fixed
