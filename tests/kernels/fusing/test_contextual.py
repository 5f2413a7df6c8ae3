"""All the parts of a recall's candidates in one call, against its pieces one after the other."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_kernels.fusing._neighbourhood import surround, weigh
from recollex_kernels.fusing.contextual import contextual, standing
from recollex_kernels.fusing.features import NAMES, NONE, SPEAKER, scores_of
from recollex_kernels.graph.association import associations
from recollex_kernels.words.segments import FIELDS
from tests.kernels.circles import strangers_among
from tests.kernels.inputs import kept, read_only

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

HOUR = 3_600_000_000
SHARE, HUB, BUDGET, WIDENED, REACH, WINDOW, PLACE = 4.4, 3, 5, 4, 6, 9 * HOUR, 3
SURE = 2.5
ASIDE = np.arange(len(NAMES)) % 2 == 1
MOMENT = 5, 12.0 * HOUR, 3.0 * HOUR
NEAR = np.empty(0, np.uint32), np.empty(0, np.float32)


class Agent:
    """Some memories of up to two rows, who and what they name, and what a question finds."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        n = self.n = int(rng.integers(1, 90))
        few = np.array([0, 1, 2, int(NONE)], np.uint32)
        texts = [text.encode() for text in rng.choice(["a?", "b", "", "c\uff1f\n"], n).tolist()]
        rows = np.cumsum([0, *rng.integers(1, 3, n)])
        vectors = (rng.integers(-2, 3, (int(rows[-1]), 40)) / 8).astype(np.float16)
        self.found = rng.integers(0, n, int(rng.integers(1, 30))).astype(np.uint32)
        asked = (
            *(np.zeros((0, FIELDS), np.int64), np.empty(0, np.float32)),
            np.diff(rows).astype(np.uint32),
            *(np.arange(rows[-1] + 1, dtype=np.uint64), rng.choice(few[:3], int(rows[-1]))),
            *(0.5, 0.25, np.array([2, 0], np.uint32), np.array([2.0, 0.5], np.float32)),
        )
        self.said = (
            *(asked, 0.7, read_only(vectors.view(np.uint16)), rows.astype(np.uint32)),
            *(read_only(rng.integers(-2, 3, 40).astype(np.float32)), 0.2, 0.3),
            strangers_among(n, rng),
        )
        mentions = [rng.choice(5, int(rng.integers(0, 3)), replace=False) for _ in range(n)]
        self.mentions = chained(mentions)
        self.seeds = int(rng.integers(0, 4))
        self.document, self.speaker = rng.choice(few, n), rng.choice(few, n)
        self.said_at = rng.integers(0, 90, n) * HOUR
        self.visible = rng.choice(np.array([0, 1, 1], np.uint8), n)
        self.allowed = rng.choice(np.array([0, 1], np.uint8), n) & self.visible
        self.texts = (
            np.frombuffer(b"".join(texts) + b"!", np.uint8).copy(),
            np.cumsum([0, *map(len, texts)]).astype(np.uint64),
            rng.choice(np.array([0, 1, 2, 40], np.uint32), n),
            np.array([-3.0, -0.5, 0.0]),
        )
        self.named = np.sort(rng.choice([0, 1, 2], int(rng.integers(0, 3)), replace=False))
        start = self.said_at + rng.choice([0, -HOUR, HOUR], n)
        self.events = start, start + rng.choice([0, 1, 40 * HOUR], n)
        self.range = sorted(int(hour) * HOUR for hour in rng.integers(0, 90, 2))
        self.now = int(rng.integers(0, 120)) * HOUR
        self.weights = rng.choice([0.0, 0.3, -1.5, 2.0], len(NAMES))
        role = rng.choice(np.array([0, 1, 2], np.uint8), n)
        self.asked_role = int(rng.choice([0, 1, 2]))
        self.talk = self.document, self.said_at, self.speaker, role, self.visible
        self.admitted = self.allowed, int(rng.choice([0, self.allowed.sum()]))
        for each in (
            *self.said,
            *self.mentions,
            *self.texts,
            *self.events,
            *vars(self).values(),
        ):
            if isinstance(each, np.ndarray):
                kept(each)

    def whole(self):
        pulse = self.seeds, HUB, BUDGET
        return contextual(
            *((self.found, NEAR), self.said, self.mentions, self.talk, self.admitted, self.texts),
            *(
                (*self.events, *self.range),
                (self.named.astype(np.uint32), self.asked_role),
            ),
            (self.now, 50.0 * HOUR),
            (SHARE, (WIDENED, REACH, WINDOW), MOMENT, pulse, PLACE, SURE, ASIDE.astype(np.uint8)),
            *(self.weights, np.full(5, NONE, np.uint32)),
        )

    def in_pieces(self):
        weighed = brought, b, c = weigh((self.found, NEAR), self.n, self.said)
        associated, activation = np.empty(0, np.uint32), np.empty(0)
        if self.seeds:
            associated, activation = associations(
                *(brought, SHARE * b + c, self.mentions, self.admitted, self.n),
                *((self.seeds, HUB, BUDGET), np.full(5, NONE, np.uint32)),
            )
        around = surround(
            *(weighed, SHARE, associated, self.talk, self.allowed),
            *((WIDENED, REACH, WINDOW), self.said),
        )
        members, b, c, places, _ = around
        named = self.named.astype(np.uint32)
        best = max([0.0, *(SHARE * b + c)[places].tolist()])
        weights = self.weights.copy()
        if best < SURE:
            weights[ASIDE] *= best / SURE
        seen = (
            around,
            SHARE * b + c,
            members[places].astype(np.int64),
            (associated, activation),
            self.talk,
            self.texts,
            self.said[3],
            (*self.events, *self.range),
            (named, self.asked_role),
            MOMENT,
            (self.now, 50.0 * HOUR),
        )
        table, scores, order = scores_of(seen, weights)
        signs = standing(
            *(
                members,
                b,
                c,
                SHARE,
                places,
                PLACE,
                self.speaker,
                named,
                scores,
                weights[SPEAKER],
            )
        )
        memories = members[places[order]]
        return memories, scores[order], associated, activation, signs, table, order


def chained(of_memories):
    """The columns of mentions as the engine keeps them: CSR, and chains newest first."""
    head, entity, memory, previous = [int(NONE)] * 5, [], [], []
    for m, of in enumerate(of_memories):
        for e in sorted(of.tolist()):
            previous.append(head[e])
            head[e] = len(entity)
            entity.append(e)
            memory.append(m)
    offsets = np.cumsum([0, *map(len, of_memories)]).astype(np.uint64)
    return offsets, *(np.array(each, np.uint32) for each in (entity, memory, previous, head))


@given(st.integers(0, 2**32 - 1))
def test_equals_its_pieces_to_the_bit(seed):
    agent = Agent(seed)
    memories, scores, associated, activation, signs, table, order = agent.in_pieces()
    found = agent.whole()
    assert found[0].tolist() == memories.tolist()
    assert found[1].tolist() == scores.tolist()
    assert found[2].tolist() == associated.tolist()
    assert found[3].tolist() == activation.astype(np.float32).tolist()
    assert found[4].tolist() == signs.tolist()
    assert found[5].tolist() == table.tolist()
    assert found[6].tolist() == order.tolist()
