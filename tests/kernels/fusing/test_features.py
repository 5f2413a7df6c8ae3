import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollex_kernels.fusing._neighbourhood import NONE, neighbours
from recollex_kernels.fusing.features import NAMES, asks, best_of_document, moments, scores_of
from tests.kernels.inputs import frozen

settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")

labels = st.sampled_from([0, 1, 0xFFFFFFF0, int(NONE)])
turns = st.lists(st.tuples(labels, st.integers(0, 6), st.integers(0, 1)), max_size=16)


def around(turn, m, reach, window):
    """Before, after, second before, second after: what is met on each side, until one is far."""
    document, said_at, _ = turn[m]
    found = [-1] * 4
    if document == int(NONE):
        return found
    for side, places in enumerate((range(m - 1, -1, -1), range(m + 1, len(turn)))):
        met = []
        for other in places[:reach]:
            if turn[other][0] == document and turn[other][2] == 1:
                if abs(turn[other][1] - said_at) > window:
                    break
                met.append(other)
        for rank, other in enumerate(met[:2]):
            found[2 * rank + side] = other
    return found


@given(turns, st.integers(0, 6), st.integers(0, 4))
@example([(0, 0, 1), (0, 9, 1), (0, 0, 1)], 6, 4)  # a far one ends the walk
def test_neighbours_equal_a_walk_to_both_sides(turn, reach, window):
    found = neighbours(
        frozen(range(len(turn)), np.uint32),
        frozen([document for document, _, _ in turn], np.uint32),
        frozen([said_at for _, said_at, _ in turn], np.int64),
        frozen([visible for _, _, visible in turn], np.uint8),
        reach,
        window,
    )
    assert found.tolist() == [around(turn, m, reach, window) for m in range(len(turn))]


@given(st.lists(st.tuples(labels, st.sampled_from([-2.0, -0.5, 0.0, 0.5, 3.0])), max_size=20))
@example([(0, -1.0), (0, -2.0), (int(NONE), 5.0)])
def test_the_best_of_a_document_is_the_greatest_of_its_entries(entries):
    found = best_of_document(
        frozen([label for label, _ in entries], np.uint32),
        frozen([score for _, score in entries], np.float64),
    )
    assert found.tolist() == [
        0.0 if label == int(NONE) else max(score for other, score in entries if other == label)
        for label, _ in entries
    ]


def test_the_best_of_many_documents():
    rng = np.random.default_rng(0)
    documents = rng.integers(0, 700, 2000).astype(np.uint32)
    scores = rng.standard_normal(2000)
    best = {d: scores[documents == d].max() for d in set(documents.tolist())}
    assert best_of_document(documents, scores).tolist() == [best[d] for d in documents.tolist()]


pieces = st.lists(
    st.sampled_from(["?", "\uff1f", "\u061f", "!", "a", "\u0175", "\uff01", " ", "\n", "\u3000"]),
    max_size=4,
)


@given(st.lists(pieces.map("".join), max_size=8))
@example(["\u061f\r\n", "\u07df", "?", "", " \t"])
def test_asks_is_a_question_mark_at_the_end(texts):
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0] + [len(text) for text in encoded])
    found = asks(
        frozen([*range(len(texts)), -1], np.int64),
        frozen(list(b"".join(encoded)), np.uint8),
        frozen(offsets, np.uint64),
    )
    expected = [int(text.rstrip(" \t\n\r").endswith(("?", "\uff1f", "\u061f"))) for text in texts]
    assert found.tolist() == [*expected, 0]


HOUR = 3_600_000_000
WIDTH = 12.0 * HOUR
BURST = 3.0 * HOUR
scored = st.tuples(st.sampled_from([-1.0, 0.5, 2.0]), st.sampled_from([0, 1, 5, 90, 95, 97, 4000]))


def affinity_oracle(z):
    return math.exp(-(z * z) / 2) if abs(z) <= 8 else 0.0


def moment_oracle(x, hours, noted, anchors):
    """Memories by their ordinals; the equation, with what lies beyond 8 widths left out."""
    best = sorted(range(len(x)), key=lambda i: (-x[i], i))[:anchors]
    near = []
    for m, t in enumerate(hours):
        apart = [(1 / rank, t - hours[i]) for rank, i in enumerate(best, 1) if i != m]
        affinity = sum(
            w * (affinity_oracle(h / 12) - noted[m] * affinity_oracle(h / 3)) for w, h in apart
        )
        weights, others = (
            sum(1 / rank for rank in range(1, len(best) + 1)),
            sum(w for w, _ in apart),
        )
        near.append(affinity * weights / others if apart else 0.0)
    return [a / max(1.5, *near) for a in near]


@given(st.lists(st.tuples(scored, st.integers(0, 1)), max_size=80), st.integers(1, 9))
def test_moments_equal_the_affinity_to_the_others(entries, anchors):
    x, hours = [x for (x, _), _ in entries], [hour for (_, hour), _ in entries]
    noted = [note for _, note in entries]
    found = moments(
        frozen(x, np.float64),
        frozen([hour * HOUR for hour in hours], np.int64),
        frozen(noted, np.uint8),
        anchors,
        WIDTH,
        BURST,
    )
    assert found.tolist() == pytest.approx(moment_oracle(x, hours, noted, anchors), abs=1e-12)


@pytest.mark.parametrize("note", [0, 1])
def test_one_moment_prefers_no_memory(note):
    noted = np.full(40, note, np.uint8)
    found = moments(np.arange(40.0), np.zeros(40, np.int64), noted, 30, WIDTH, BURST)
    assert found.tolist() == pytest.approx([1.0 - note] * 40)


class Bank:
    """Some memories, some of them members, of whom some are candidates, and what is asked."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        n = self.n = int(rng.integers(1, 50))
        few = np.array([0, 1, 2, int(NONE)], np.uint32)
        self.texts = [str(text) for text in rng.choice(["a?", "b", "", "c\uff1f\n"], n)]
        self.document, self.speaker = rng.choice(few, n), rng.choice(few, n)
        self.words = rng.choice(np.array([0, 1, 2, 40], np.uint32), n)
        self.said_at = rng.integers(0, 90, n) * HOUR
        self.event_start = self.said_at + rng.choice([0, -HOUR, HOUR], n)
        self.event_end = self.event_start + rng.choice([0, 1, 40 * HOUR], n)
        self.members = np.sort(rng.choice(n, int(rng.integers(1, n + 1)), replace=False))
        m = len(self.members)
        self.keyword, self.semantic = rng.choice([0, 0.25, 1], m), rng.choice([-1, 0, 0.5], m)
        self.places = np.sort(rng.choice(m, int(rng.integers(1, m + 1)), replace=False))
        count = len(self.places)
        self.beside = rng.integers(-1, m, (count, 3))
        chosen = rng.choice(count, int(rng.integers(0, count + 1)), replace=False)
        self.associated = self.members[self.places[chosen]]
        self.activation = rng.choice([0.25, 0.5], len(chosen))
        self.role = rng.choice(np.array([0, 0, 1, 2, 4], np.uint8), n)
        self.asked_role = int(rng.choice([0, 1, 2]))
        rows = rng.choice([1, 1, 3], n)
        self.first_row = np.cumsum([0, *rows]).astype(np.uint32)
        self.named = np.array(rng.choice([0, 1, 2], int(rng.integers(0, 3)), replace=False))
        self.range = sorted(int(hour) * HOUR for hour in rng.integers(0, 90, 2))
        self.now = int(rng.integers(0, 120)) * HOUR
        self.weights = rng.choice([0.0, 0.3, -1.5, 2.0], len(NAMES))

    def found(self):
        encoded = [text.encode() for text in self.texts]
        offsets = np.cumsum([0] + [len(text) for text in encoded])
        members = (
            self.members.astype(np.uint32),
            self.keyword.astype(np.float64),
            self.semantic.astype(np.float64),
            self.places,
            self.beside,
        )
        seen = (
            members,
            4.4 * members[1] + members[2],
            self.members[self.places],
            (self.associated.astype(np.uint32), self.activation),
            (self.document, self.said_at, self.speaker, self.role, np.ones(self.n, np.uint8)),
            (
                frozen(list(b"".join(encoded)), np.uint8),
                offsets.astype(np.uint64),
                self.words,
                frozen([-3.0, -0.5, 0.0], np.float64),
            ),
            self.first_row,
            (self.event_start, self.event_end, *self.range),
            (self.named.astype(np.uint32), self.asked_role),
            (5, WIDTH, BURST),
            (self.now, 50.0 * HOUR),
        )
        return scores_of(seen, self.weights)

    def goes_on(self, m, i):
        """Whether what stands before candidate ``i`` has the speaker of ``m``, who is known."""
        place = self.beside[i][0]
        if place < 0 or self.speaker[m] == int(NONE):
            return False
        return self.speaker[m] == self.speaker[self.members[place]]

    def expected(self, i):
        """The parts of candidate ``i``, each as the docstring says it."""
        x = [4.4 * b + c for b, c in zip(self.keyword, self.semantic, strict=True)]
        at = self.places[i]
        m = self.members[at]
        document, said = self.document[m], self.said_at[m]
        own = [x[a] for a, o in enumerate(self.members) if self.document[o] == document]
        times = [int(self.said_at[self.members[place]]) // HOUR for place in self.places]
        noted = [self.speaker[self.members[place]] == int(NONE) for place in self.places]
        start, end = self.range
        since, until = self.event_start[m], self.event_end[m]
        asking = [text.strip().endswith(("?", "\uff1f")) for text in self.texts]
        received = dict(zip(self.associated.tolist(), self.activation.tolist(), strict=True))
        before = self.beside[i][0]
        roles = {int(self.role[self.members[place]]) for place in self.places}
        with_other = bool(roles - {0, self.asked_role})
        several = len(roles - {0}) > 1
        return {
            "keyword": self.keyword[at],
            "addressed_keyword": self.keyword[at],
            "semantic": self.semantic[at],
            **{
                name: x[place] if place >= 0 and not (two and self.goes_on(m, i)) else 0
                for name, place, two in zip(
                    ("before", "after", "before_two"),
                    self.beside[i],
                    (False, False, True),
                    strict=True,
                )
            },
            "document": max(own) if document != int(NONE) else 0,
            "question": asking[m],
            "addressed_question": asking[m],
            "answer": before >= 0 and asking[self.members[before]],
            "brevity": [-3.0, -0.5, 0.0][min(int(self.words[m]), 2)],
            "speaker": self.speaker[m] in self.named,
            "association": received.get(int(m), 0),
            "moment": moment_oracle([x[place] for place in self.places], times, noted, 5)[i],
            "in_range": since < end and (until > start or since >= start),
            "dated": since != said,
            "recency": math.exp(-max(self.now - said, 0) / (50 * HOUR)),
            "role": self.asked_role == self.role[m] != 0 and with_other,
            "passages": math.log(self.first_row[m + 1] - self.first_row[m])
            * (several and self.role[m] != 0),
        }


@given(st.integers(0, 2**32 - 1))
def test_the_parts_are_what_each_is_said_to_be(seed):
    bank = Bank(seed)
    parts, scores, order = bank.found()
    for i in range(len(bank.places)):
        expected = [
            weight * part
            for weight, part in zip(bank.weights, bank.expected(i).values(), strict=True)
        ]
        assert tuple(bank.expected(i)) == NAMES
        assert parts[:, i].tolist() == pytest.approx(expected, rel=1e-12, abs=1e-12)
        total = 0.0
        for part in parts[:, i]:
            total += part
        assert scores[i] == total
    newest_first = sorted(range(len(scores)), key=lambda i: (-scores[i], -i))
    assert order.tolist() == newest_first


def test_of_equal_candidates_the_newer_comes_first():
    bank = Bank(1)
    bank.weights[:] = 0
    _, scores, order = bank.found()
    assert not scores.any() and order.tolist() == list(range(len(scores)))[::-1]
