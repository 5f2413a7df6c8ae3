"""Rows that are compared and then added are encoded once."""

import numpy as np

import recollex
from recollex_engine.state import row_codes
from recollex_engine.state.row_codes import RowEncoder, encode_rows
from tests.bindings.word_vectors import WordVectors


def rows(seed):
    drawn = np.random.default_rng(seed).standard_normal((3, 384)).astype(np.float16)
    return drawn.view(np.uint16)


def equal(codes, vectors):
    expected = encode_rows(vectors)
    return all(np.array_equal(codes[name], items) for name, items in expected.items())


def test_rows_that_were_compared_are_not_encoded_again():
    encoder, vectors = RowEncoder(), rows(1)
    codes = encoder.to_compare(vectors)
    assert equal(codes, vectors)
    assert encoder.to_add(vectors) is codes
    assert encoder.to_add(vectors) is not codes  # it keeps nothing then


def test_other_rows_than_those_that_were_compared_are_encoded():
    encoder = RowEncoder()
    encoder.to_compare(rows(1))
    assert equal(encoder.to_add(rows(2)), rows(2))
    encoder.to_compare(rows(3))
    encoder.to_compare(rows(4))
    assert equal(encoder.to_add(rows(3)), rows(3))


def test_a_memory_is_encoded_once(tmp_path, monkeypatch):
    encoded = []

    def noted(vectors):
        encoded.append(len(vectors))
        return encode_rows(vectors)

    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        alice = store.agent("alice")
        alice.retain("Ann has a boat.")
        alice.retain("Ann has a second boat.")  # the first rows are coded when these are compared
        monkeypatch.setattr(row_codes, "encode_rows", noted)
        alice.retain("Ann sold a boat.")
        assert encoded == [1]
