"""A store whose passages have word pieces, and its memories as candidates."""

from datetime import UTC, datetime

import numpy as np

import recollex
from recollex_engine.ranking.reranking import Candidates
from recollex_engine.state.word_pieces import find_pieces
from tests.engine.models.conftest import SIZE

START = datetime(2024, 5, 1, tzinfo=UTC)
LONG = " ".join(f"Ann moved to Oslo in rain {n}, and the cat sat by a window." for n in range(40))
MANY = "ann-" * 400  # 800 tokens, and one word
TURNS = [
    {"speaker": "Ann", "text": "The cat sat.", "at": START.isoformat(), "id": "t0"},
    {"speaker": "Bob", "text": LONG, "at": START.isoformat(), "id": "t1"},
    {"speaker": "[SEP]", "text": "rain?", "at": START.isoformat(), "id": "t2"},
]
QUERY = "what did ann say ?"


def filled(folder, encoder):
    with recollex.open(folder, embedder=encoder) as store:
        agent = store.agent("ann")
        agent.retain("Ann moved to Oslo.", id="m0", event_at=START)
        agent.retain_many([LONG, MANY, "rain"], id=["m1", "m2", "m3"], context="a talk: é")
        agent.retain_dialogue(TURNS, document_id="d")
        agent.correct("m0", "Ann moved to Paris.", why="she said so")
        agent.forget("m3")
        assert agent.verify().ok


def everything(view):
    """Return every memory of a view as candidates, with a vector that chooses a passage."""
    memories = np.arange(view.memories, dtype=np.uint32)
    vector = np.ones(SIZE, np.float32)
    return Candidates(QUERY, view, memories, np.ones(len(memories)), 0, vector)


def plain(encoder, text):
    encoder._tokenizer.no_truncation()
    try:
        return encoder._tokenizer.encode(text, add_special_tokens=False).ids
    finally:
        encoder._tokenizer.enable_truncation(encoder.max_length)


def read(view, rows, encoder):
    """Return the ids of rows as a view finds them."""
    found = find_pieces(view, np.array(rows, np.uint32), encoder.vocabulary)
    return [
        found.ids[first:end].tolist()
        for first, end in zip(found.starts.tolist(), found.ends.tolist(), strict=True)
    ]
