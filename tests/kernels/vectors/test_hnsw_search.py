import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.vectors._four_bits import encode_query
from recollex_kernels.vectors.codes import encode
from recollex_kernels.vectors.hnsw import (
    ARRIVED,
    OTHER_ROWS,
    TOO_FAR,
    near_rows,
    places_of,
    slot_rows,
)
from tests.kernels.inputs import kept, read_only

D, CONNECTIVITY, ABOVE = 8, 2, 16


class World:
    """A graph of nodes with random neighbours, with some missing, and its file."""

    def __init__(self, seed, n, first_row, keys=None):
        random = np.random.default_rng(seed)
        self.n, self.first_row = n, first_row
        self.levels = np.minimum(random.geometric(0.6, n) - 1, 3).astype(np.int16)
        self.start = int(self.levels.argmax())
        self.top = int(self.levels[self.start])
        self.links = []
        for level in self.levels.tolist():
            own = []
            for at in range(level + 1):
                most = 2 * CONNECTIVITY if at == 0 else CONNECTIVITY
                members = np.flatnonzero(self.levels >= at)
                chosen = random.choice(members, random.integers(0, most + 1))
                own.append([int(slot) + (n if random.random() < 0.05 else 0) for slot in chosen])
            self.links.append(own)
        few = random.integers(-2, 3, (n + first_row, D)) / 4  # forces ties
        self.vectors = few.astype(np.float16).view(np.uint16)
        self.query = read_only((random.integers(-3, 4, D) / 4).astype(np.float32))
        self.keys = np.arange(first_row, first_row + n) if keys is None else keys
        self.places = np.empty(n, np.int64)
        self.nodes = read_only(self.written())
        count = n + first_row
        self.codes, self.steps = np.empty((count, D // 2), np.uint8), np.empty(count, np.float32)
        spare = np.empty((2, count), np.float32)
        encode(self.vectors, self.codes, self.steps, *spare)
        for array in (self.nodes, self.codes, self.steps, self.query):
            kept(array)

    def written(self):
        head = b"some bytes before"
        parts = [head]
        for key, level, links in zip(self.keys, self.levels, self.links, strict=True):
            parts.append(int(key).to_bytes(8, "little") + int(level).to_bytes(2, "little"))
            for at, slots in enumerate(links):
                most = 2 * CONNECTIVITY if at == 0 else CONNECTIVITY
                room = np.zeros(most, np.uint32)
                room[: len(slots)] = slots
                parts.append(np.uint32(len(slots)).tobytes() + room.tobytes())
        data = b"".join(parts)
        assert places_of(self.levels, CONNECTIVITY, len(head), self.places) == len(data)
        return np.frombuffer(data, np.uint8).copy()

    def rows(self, allowed, wide, most, farthest=10**6, own_rows=()):
        memories = np.arange(self.n + self.first_row, dtype=np.uint32)
        state, rows = near_rows(
            (
                *(self.nodes, self.places, np.array(own_rows, np.uint32), self.first_row),
                *(CONNECTIVITY, self.top, self.start),
            ),
            (self.codes, self.steps, memories),
            allowed,
            self.query,
            wide,
            most,
            farthest,
        )
        return state, sorted(rows.tolist())

    def estimates(self):
        codes = np.empty(D, np.int8)
        step, _, _, shift = encode_query(self.query, codes)
        halves = np.hstack([self.codes & 15, self.codes >> 4]).astype(np.int32)
        whole = (2 * (halves @ codes.astype(np.int32)) - shift).astype(np.float32)
        return (self.steps * np.float32(step)) * whole

    def walked(self, allowed, wide, most):
        """What a walk finds, told slowly, and from how many nodes it went on."""
        estimates = self.estimates()[self.keys]
        slots, kept, hops = [self.start], [], 0
        for level in range(self.top, -1, -1):
            wanted = wide if level == 0 else ABOVE
            seen, front, best, hops = set(slots), [], [], 0
            while slots:
                for slot in slots:
                    own = (estimates[slot], -slot)
                    if len(best) < wanted or own > min(best):
                        front.append(own)
                    if level == 0 and not allowed[self.keys[slot]]:
                        continue
                    if level == 0:
                        kept.append((-estimates[slot], len(kept), int(self.keys[slot])))
                    best = sorted([*best, own])[-wanted:]
                slots = []
                while front and not slots:
                    own = max(front)
                    if len(best) == wanted and own < min(best):
                        break
                    hops += 1
                    front.remove(own)
                    for other in self.links[-own[1]][level]:
                        if other < self.n and other not in seen:
                            seen.add(other)
                            slots.append(other)
            slots = [-slot for _, slot in best]
        return sorted(row for _, _, row in sorted(kept)[:most]), hops


worlds = st.builds(World, st.integers(0, 10**6), st.integers(1, 60), st.integers(0, 5))


@settings(deadline=None)
@given(worlds, st.data())
def test_a_walk_goes_on_from_the_best_until_they_are_below_the_wanted(world, data):
    allowed = np.array(
        data.draw(st.lists(st.integers(0, 1), min_size=world.n + 5, max_size=world.n + 5)), np.uint8
    )
    wide, most = data.draw(st.integers(1, 20)), data.draw(st.integers(1, 30))
    expected, hops = world.walked(allowed, wide, most)
    estimates = world.estimates()
    for farthest in (10**6, hops):
        state, rows = world.rows(allowed, wide, most, farthest)
        assert state == ARRIVED
        assert allowed[rows].all()
        assert len(set(rows)) == len(expected)
        assert sorted(estimates[rows]) == sorted(estimates[expected])  # of equal ones any
    assert world.rows(allowed, wide, most, hops - 1) == (TOO_FAR, []) or not hops


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(0, 5))
def test_slots_out_of_order_are_noticed_and_can_be_told(seed, n, first_row):
    order = first_row + np.random.default_rng(seed).permutation(n)
    world = World(seed, n, first_row, order)
    found = np.empty(n, np.uint32)
    slot_rows(world.nodes, world.places, found)
    assert found.tolist() == order.tolist()
    allowed = np.ones(n + first_row, np.uint8)
    expected, _ = world.walked(allowed, n, n)
    assert world.rows(allowed, n, n, own_rows=order) == (ARRIVED, expected)
    in_order = (order == np.arange(first_row, first_row + n)).all()
    state, rows = world.rows(allowed, n, n)
    reached = {int(np.flatnonzero(order == row)[0]) for row in expected}
    noticed = any(order[slot] != first_row + slot for slot in reached)
    assert state == (OTHER_ROWS if noticed else ARRIVED)
    assert not in_order or rows == expected


@settings(deadline=None, max_examples=30)
@given(worlds, st.data())
def test_a_damaged_file_is_walked_within_its_bounds(world, data):
    nodes = world.nodes.copy()
    for _ in range(20):
        nodes[data.draw(st.integers(0, len(nodes) - 1))] = data.draw(st.integers(0, 255))
    world.nodes = read_only(nodes[: data.draw(st.integers(world.places[-1] + 14, len(nodes)))])
    allowed = np.ones(world.n + world.first_row, np.uint8)
    _, rows = world.rows(allowed, 10, 10)
    assert all(world.first_row <= row < world.n + world.first_row for row in rows)
