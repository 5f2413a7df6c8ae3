"""Amendments in a transaction keep what was computed of the text."""

import numpy as np

import recollex
from tests.engine.faults.small_store import Model


def test_an_amendment_needs_no_vector(tmp_path):
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(8)) as store:
        agent = store.agent("a")
        agent.retain("Tea.", id="t", embedding=np.arange(8.0))
        with agent.transaction(by="ann") as tx:
            tx.amend("t", tags=["y"])
        (memory,) = agent.recall("tea?", query_embedding=np.arange(8.0), explain=True)
        assert memory.tags == ("y",) and abs(memory.scores["semantic"] - 1) < 1e-3


def test_texts_that_stay_are_not_embedded_again(tmp_path):
    model = Model()
    with recollex.open(tmp_path / "s", embedder=model) as store:
        agent = store.agent("a")
        agent.retain_many([f"Told {n}. {'It rained. ' * 400}" for n in range(3)], id=list("abc"))
        del model.embedded[:]
        with agent.transaction() as tx:
            tx.retain("Bob called.", id="new")
            tx.amend("b", tags=["y"])
            tx.correct("c", "Told otherwise.")
            tx.amend("a", metadata={"n": 1})
        assert model.embedded == ["Bob called.", "Told otherwise."]
        view = agent.engine.view()
        for id, text in (("a", "Told 0. "), ("new", "Bob called."), ("c", "Told otherwise.")):
            memory = agent.get(id)
            assert memory.text.startswith(text)
        first = view.buffer("first_row")
        rows = [
            view.vectors[int(first[m]) : int(first[m + 1])].tobytes()
            for m in range(view.memories)
            if view.columns.text(m).startswith(("Told 0.", "Told 1."))
        ]
        assert len(rows) == 4 and len(set(rows)) == 2
        assert agent.verify().ok
