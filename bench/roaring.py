"""Are Roaring bitmaps a better set of memories than lists and byte masks?

Claim: none; docs/decisions quotes this table.

Command: python -m bench.roaring [--rows N ...] [--json] [--out FILE]

Check: before any clock starts, all ways give the same set for every pair of sets.

A filter ends as a mask of one byte for each memory, since the kernels of all arms read one. Now a
set is kept as a list of uint32, or as such a mask if at least one memory in eight is in it (see
`recollex_engine` at ``state.filter_indexes``). The rivals are pyroaring's `BitMap` after
``run_optimize`` and one bit a memory in numpy's bytes. "to mask" is the time until the mask stands.
Sets are drawn at random, as tags are, or are runs of 200, as the turns of a document are. Rival and
own code run alternately; each time is the least of several.
"""

import time
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from bench.lib.latency import Page, Section, claim, finish, parse, with_one_thread
from recollex_kernels.memories.filters import keep_listed

SHARES = (0.001, 0.01, 0.1, 0.5)
REPEATS = 15
RUN = 200
FREQUENT = 8
SEED = 5

Mask = npt.NDArray[np.uint8]


def main() -> None:
    with_one_thread()
    arguments = parse(__doc__, (1_000_000, 10_000_000)).parse_args()
    kept: list[dict[str, Any]] = []
    combined: list[dict[str, Any]] = []
    for size in arguments.rows:
        for kind in ("random", "runs"):
            sets = {share: drawn(size, share, kind) for share in SHARES}
            kept += [keep(size, kind, share, members) for share, members in sets.items()]
            combined += combine(size, kind, sets)
    finish(page(arguments.rows, kept, combined), arguments)


def drawn(size: int, share: float, kind: str) -> npt.NDArray[np.uint32]:
    """Return the members of a set, ascending: uint32[about size * share]."""
    rng = np.random.default_rng([SEED, size, int(share * 1000), kind == "runs"])
    if kind == "random":
        return np.flatnonzero(rng.random(size, np.float32) < share).astype(np.uint32)
    runs = np.flatnonzero(rng.random(size // RUN) < share)
    return (runs[:, None] * RUN + np.arange(RUN)).ravel().astype(np.uint32)


class Lists:
    """A set as recollex keeps it: its members, and their mask if they are many."""

    def __init__(self, size: int, members: npt.NDArray[np.uint32]) -> None:
        self.members = members
        self.mask: Mask | None = None
        if len(members) * FREQUENT >= size:
            self.mask = np.zeros(size, np.uint8)
            self.mask[members] = 1

    @property
    def bytes(self) -> int:
        return self.members.nbytes + (0 if self.mask is None else self.mask.nbytes)

    def narrowed(self, mask: Mask) -> Mask:
        """Return the mask of those of ``mask`` that are in the set."""
        if self.mask is not None:
            return mask & self.mask
        out = np.zeros_like(mask)
        keep_listed(self.members, mask, out)
        return out


def mask_of(found: BitMap, size: int) -> Mask:
    """Return a set's mask, the quickest way from pyroaring to numpy."""
    out = np.zeros(size, np.uint8)
    out[array_of(found)] = 1
    return out


def array_of(found: BitMap) -> npt.NDArray[np.uint32]:
    """Return the members of a set."""
    return np.frombuffer(found.to_array(), np.uint32)


def least(call: Callable[[], Any]) -> float:
    """Return the least microseconds of a call."""
    times = []
    for _ in range(REPEATS):
        before = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - before)
        if sum(times) > 3e9:
            break
    return min(times) / 1000


def roaring(members: npt.NDArray[np.uint32]) -> BitMap:
    made = BitMap(
        array("I", members.tobytes())
    )  # a list or an array of numpy takes 20 times as long
    made.run_optimize()
    return made


def packed(size: int, members: npt.NDArray[np.uint32]) -> Mask:
    mask = np.zeros(size, np.uint8)
    mask[members] = 1
    return np.packbits(mask)


def keep(size: int, kind: str, share: float, members: npt.NDArray[np.uint32]) -> dict[str, Any]:
    """Return what keeping one set takes, in each way."""
    bitmap, lists = roaring(members), Lists(size, members)
    return {
        "memories": size,
        "set": f"{kind}, {share:.1%}",
        "KB now": lists.bytes / 1000,
        "KB roaring": len(bitmap.serialize()) / 1000,
        "KB bits": size / 8000,
        "make us now": least(lambda: Lists(size, members)),
        "make us roaring": least(lambda: roaring(members)),
    }


def combine(
    size: int, kind: str, sets: dict[float, npt.NDArray[np.uint32]]
) -> list[dict[str, Any]]:
    """Return what it takes to intersect sets, to subtract one, and to count."""
    everything = np.ones(size, np.uint8)
    rows = []
    for several in ((0.001,), (0.1,), (0.5,), (0.01, 0.1), (0.1, 0.5), (0.01, 0.1, 0.5)):
        lists = [Lists(size, sets[share]) for share in several]
        bitmaps = [roaring(sets[share]) for share in several]
        bits = [packed(size, sets[share]) for share in several]

        def now(lists: list[Lists] = lists) -> Mask:
            mask = everything
            for each in lists:
                mask = each.narrowed(mask)
            return mask

        def roared(bitmaps: list[BitMap] = bitmaps) -> BitMap:
            return BitMap.intersection(*bitmaps) if len(bitmaps) > 1 else bitmaps[0]

        def anded(bits: list[Mask] = bits) -> Mask:
            found = bits[0]
            for each in bits[1:]:
                found = found & each
            return np.unpackbits(found, count=size)

        expected = np.flatnonzero(now())
        assert np.array_equal(array_of(roared()), expected)
        assert np.array_equal(np.flatnonzero(anded()), expected)
        assert np.array_equal(np.flatnonzero(mask_of(roared(), size)), expected)
        rows.append(
            {
                "memories": size,
                "sets": f"{kind}, " + " and ".join(f"{share:.1%}" for share in several),
                "us now, to mask": least(now),
                "us bits, to mask": least(anded),
                "us roaring, to mask": least(lambda: mask_of(roared(), size)),
                "us now, to count": least(lambda: int(np.count_nonzero(now()))),
                "us roaring, to count": least(lambda: len(roared())),
                "us now, to rows": least(lambda: np.flatnonzero(now().view(np.bool_))),
                "us roaring, to rows": least(lambda: array_of(roared())),
            }
        )
    return rows


def page(sizes: list[int], kept: list[dict[str, Any]], combined: list[dict[str, Any]]) -> Page:
    return Page(
        "roaring",
        claim(__doc__),
        "python -m bench.roaring --rows " + " ".join(map(str, sizes)),
        [Section("Keeping a set", kept), Section("Intersecting sets", combined)],
        [],
        ["bits: one bit a memory, numpy's packbits."],
        ("pyroaring",),
        {"repeats": REPEATS, "run": RUN},
    )


if __name__ == "__main__":
    main()
