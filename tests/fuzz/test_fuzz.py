"""Bytes that nothing of ours wrote: every reader refuses them with an error of its own.

`make fuzz` tries as many as it is told, changes of the corpus among them. An input that breaks a
target is added to its corpus.
"""

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS

CORPUS = Path(__file__).parent / "corpus"
EXAMPLES = int(os.environ.get("RECOLLEX_FUZZ", "40"))

names = st.sampled_from(sorted(TARGETS))
places = st.floats(0, 1)
changes = st.one_of(
    st.tuples(st.just("set"), places, st.integers(0, 255)),
    st.tuples(st.just("cut"), places, places),
    st.tuples(st.just("insert"), places, st.binary(max_size=12)),
    st.tuples(st.just("number"), places, st.sampled_from([0, 1, 2**31, 2**32 - 1, 2**63 - 1])),
    st.tuples(st.just("repeat"), places, places),
)


def changed(data, how):
    kind, place, value = how
    at = round(place * len(data))
    if kind == "set":
        return data[:at] + bytes([value]) + data[at + 1 :]
    if kind == "insert":
        return data[:at] + value + data[at:]
    if kind == "number":
        return data[:at] + value.to_bytes(8, "little") + data[at + 8 :]
    first, end = sorted((at, round(value * len(data))))
    return data[:first] + data[end:] if kind == "cut" else data[:end] + data[first:]


@st.composite
def inputs(draw, seeds):
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=200))
    data = draw(st.sampled_from(seeds))
    for how in draw(st.lists(changes, max_size=5)):
        data = changed(data, how)
    return data


def corpus(name):
    return [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]


def run(name, data):
    with suppress(*TARGETS[name].errors):
        TARGETS[name].run(data)


@pytest.mark.parametrize("name", TARGETS)
def test_any_bytes_are_read_or_refused(name):
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs((*TARGETS[name].seeds, *corpus(name))))
    def check(data):
        run(name, data)

    check()


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_read(name):
    errors = TARGETS[name].errors if name in ("manifest", "wire") else ()
    for seed in TARGETS[name].seeds:
        with suppress(*errors):
            TARGETS[name].run(seed)


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*/*")), ids=lambda path: path.name)
def test_the_corpus_is_read_or_refused(path):
    run(path.parent.name, path.read_bytes())


def test_every_target_has_a_corpus():
    assert {path.name for path in CORPUS.iterdir()} == set(TARGETS)
