"""What one bit a component of rows and four levels of a query say: a quicker guess than in _bits.

Of a turned query q (see ``_bits``) each component becomes s (1/2 + m) in steps of t: s its sign, m
1 where its size is above t, the root of the mean of its squares, which is nearly the step that
loses least of normal components. A row's bits are b in {-1, 1}, x tells where b and s differ, so
    <b, q>  ~  t (D/2 + sum m - S),   S = the number of x + 2 * the number of x and m
whole numbers but for t, which is the same for all rows. What is compared is
    (D + 2 sum m - 2 S) |v|^2 / <b, v>
It takes two thirds of the time of three bits, and a third more proposed rows hold what theirs hold.

The planes of a query are words like a row's: where it is negative no bit of s, and m. Beyond D both
are 0, as a row's bits are.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from recollex_kernels._jit import F32, I32, U64, kernel
from recollex_kernels._prefetch import ask_for

_BUILD: Any = _cgutils  # its functions carry no types
_WORD, _LONG = ir.IntType(32), ir.IntType(64)
_MIXED = 6  # words of a row that are summed in vector code: 384 components
_AHEAD = 512  # words asked of memory before they are read: by itself it stops at the page's end
PLANES = 2
TOGETHER = 8
"""Rows whose sums are computed at once."""


@kernel
def encode_levels(turned: F32, out_planes: U64) -> int:
    """Fill the planes of a turned query, s and m, and return D + 2 sum m.

    They are repeated as the words of rows are: ``out_planes[p, j]`` is word j mod W of plane p.

    Shapes: turned float32[D]; out_planes uint64[PLANES, TOGETHER * W]. Cost: O(D).
    """
    width, words = turned.shape[0], out_planes.shape[1] // TOGETHER
    square = 0.0
    for j in range(width):
        square += np.float64(turned[j]) * np.float64(turned[j])
    out_planes[:, :] = np.uint64(0)
    total = int(width)
    for j in range(width):
        q = np.float64(turned[j])
        large = int(q * q * width > square)
        total += 2 * large
        out_planes[0, j // 64] |= np.uint64(q >= 0) << np.uint64(j % 64)
        out_planes[1, j // 64] |= np.uint64(large) << np.uint64(j % 64)
    for j in range(words, out_planes.shape[1]):
        out_planes[0, j], out_planes[1, j] = out_planes[0, j - words], out_planes[1, j - words]
    return int(total)


def _vector(element: Any, n: int) -> Any:
    return ir.VectorType(element, n)


def _load(b: Any, base: Any, offset: Any) -> Any:
    loaded = b.load(b.bitcast(b.gep(base, [offset]), _vector(_LONG, TOGETHER).as_pointer()))
    loaded.align = 8
    return loaded


def _counted(b: Any, word: Any, planes: list[Any]) -> Any:
    """Return S of each word."""
    kind = ir.FunctionType(word.type, [word.type])
    name = "llvm.ctpop." + ("i64" if word.type == _LONG else f"v{TOGETHER}i64")
    count = _BUILD.get_or_insert_function(b.module, kind, name)
    differs = b.xor(word, planes[0])
    large = b.call(count, [b.and_(differs, planes[1])])
    return b.add(b.add(large, large), b.call(count, [differs]))


def _splat(value: int) -> Any:
    return ir.Constant(_vector(_LONG, TOGETHER), [value] * TOGETHER)


def _sums_of_rows(b: Any, lanes: Any) -> Any:
    """Return the sum of each row's bytes: those of words 6 r to 6 r + 5, then two that are 0."""
    size = 8 * TOGETHER
    order = []
    for row in range(TOGETHER):
        words = range(_MIXED * row, _MIXED * (row + 1))
        order += [*(word % TOGETHER * 8 + word // TOGETHER for word in words), 6, 7]
    held = b.bitcast(lanes, _vector(ir.IntType(8), size))
    of_rows = b.shuffle_vector(held, held, ir.Constant(_vector(_WORD, size), order))
    bytes_ = b.bitcast(of_rows, lanes.type)
    even = _splat(0x00FF00FF00FF00FF)
    sums = b.add(b.and_(bytes_, even), b.and_(b.lshr(bytes_, _splat(8)), even))
    sums = b.add(sums, b.lshr(sums, _splat(32)))
    return b.and_(b.add(sums, b.lshr(sums, _splat(16))), _splat(0xFFFF))


def _sums_code(typing: Any, bits: Any, first: Any, groups: Any, planes: Any, out: Any) -> Any:
    if any(array.layout != "C" for array in (bits, planes, out)):
        raise TypingError("bits, planes and sums must be C-contiguous")

    def build(context: Any, b: Any, signature: Any, args: Any) -> Any:
        matrix = context.make_array(signature.args[0])(context, b, args[0])
        words = b.extract_value(matrix.shape, 1)
        query = context.make_array(signature.args[3])(context, b, args[3]).data
        to = context.make_array(signature.args[4])(context, b, args[4]).data
        apart = b.mul(words, _LONG(TOGETHER))  # between two planes
        base = b.gep(matrix.data, [b.mul(args[1], words)])
        with b.if_else(b.icmp_signed("==", words, _LONG(_MIXED))) as (mixed, plain):
            with mixed:
                loaded = [
                    [_load(b, query, _LONG(TOGETHER * (_MIXED * p + i))) for p in range(PLANES)]
                    for i in range(_MIXED // 2)  # then they repeat: 3 * 8 = 4 * 6
                ]
                with _BUILD.for_range(b, args[2]) as loop:
                    group = b.gep(base, [b.mul(loop.index, _LONG(TOGETHER * _MIXED))])
                    for i in range(_MIXED):  # a cache line each
                        ask_for(b, b.gep(group, [_LONG(_AHEAD + TOGETHER * i)]), kept=0)
                    lanes = None  # byte i of lane l is S of word 8 i + l, at most 192
                    for i in range(_MIXED):
                        word = _load(b, group, _LONG(TOGETHER * i))
                        whole = _counted(b, word, loaded[i % (_MIXED // 2)])
                        shifted = b.shl(whole, _splat(8 * i))
                        lanes = shifted if lanes is None else b.or_(lanes, shifted)
                    place = b.gep(to, [b.mul(loop.index, _LONG(TOGETHER))])
                    place = b.bitcast(place, _vector(_WORD, TOGETHER).as_pointer())
                    sums = b.trunc(_sums_of_rows(b, lanes), _vector(_WORD, TOGETHER))
                    b.store(sums, place).align = 4
            with plain:
                total_at = _BUILD.alloca_once_value(b, _LONG(0))
                rows = b.mul(args[2], _LONG(TOGETHER))
                with _BUILD.for_range(b, rows) as loop:
                    row = b.gep(base, [b.mul(loop.index, words)])
                    b.store(_LONG(0), total_at)
                    with _BUILD.for_range(b, words) as inner:
                        at = [b.add(inner.index, b.mul(apart, _LONG(p))) for p in range(PLANES)]
                        own = [b.load(b.gep(query, [each])) for each in at]
                        more = _counted(b, b.load(b.gep(row, [inner.index])), own)
                        b.store(b.add(b.load(total_at), more), total_at)
                    b.store(b.trunc(b.load(total_at), _WORD), b.gep(to, [loop.index]))
        return context.get_dummy_value()

    return types.void(bits, types.int64, types.int64, planes, out), build


level_sums = cast(Callable[[U64, int, int, U64, I32], None], intrinsic(_sums_code))
"""Writes S of ``groups`` times `TOGETHER` rows, from ``first`` on, to the front of ``out``."""
