"""Surfaces are kept: through reopening, backups, encryption, erasure, moves and versions."""

import copy
import pickle
import shutil
from datetime import UTC, datetime

import pytest

import recollex
from tests.bindings.word_vectors import WordVectors
from tests.engine.facts.told_surfaces import told

ALL = ("memory", "fact", "event", "episode")


def answers(agent):
    return [
        [(hit.kind, hit.item.id, hit.text, hit.score, hit.ranks) for hit in found]
        for question in ("Where does Ann live?", "tea", "Who moved?")
        for found in (
            agent.recall(question, kinds=ALL[1:], exact=True).hits,
            agent.facts.search(question),
            agent.events.search(question),
        )
    ]


def test_they_survive_reopening_rebuilding_and_a_snapshot(tmp_path):
    embedder = WordVectors()
    with recollex.open(tmp_path / "s", embedder=embedder) as store:
        alice = store.agent("a")
        told(alice)
        expected = answers(alice)
        alice.checkpoint()
        assert answers(alice) == expected and alice.verify().problems == ()
        then = datetime.now(UTC)
        alice.snapshot(then, tmp_path / "copy")
        alice.facts.add("Eve", "likes", "tea")
        assert answers(alice) != expected and answers(alice.at(then)) == expected
    with recollex.open(tmp_path / "copy", embedder=embedder, read_only=True) as store:
        assert answers(store.agent("a")) == expected
    with recollex.open(tmp_path / "s", embedder=embedder) as store:
        later = answers(store.agent("a"))
    home = tmp_path / "s" / "agents" / "a"
    for path in home.iterdir():
        if path.name not in ("log", "vectors.f16"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    with recollex.open(tmp_path / "s", embedder=embedder) as store:
        assert answers(store.agent("a")) == later and store.agent("a").verify().problems == ()


def test_a_backup_holds_them_and_a_recall_of_them_is_pickled(tmp_path):
    embedder = WordVectors()
    with recollex.open(tmp_path / "s", embedder=embedder) as store:
        alice = store.agent("a")
        told(alice)
        expected = answers(alice)
        found = alice.recall("Where does Ann live?", kinds=ALL)
        for copied in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
            assert copied.hits == found.hits and copied.to_prompt() == found.to_prompt()
        store.backup(tmp_path / "backup")
    recollex.restore(tmp_path / "backup", tmp_path / "restored")
    with recollex.open(tmp_path / "restored", embedder=embedder) as store:
        assert answers(store.agent("a")) == expected


def test_an_encrypted_agent_is_searched_and_nothing_said_is_readable(tmp_path):
    embedder, key = WordVectors(), bytes(range(32))
    with recollex.open(tmp_path, embedder=embedder, key=key) as store:
        told(store.agent("a"))
        expected = answers(store.agent("a"))
        store.agent("a").checkpoint()
    with recollex.open(tmp_path, embedder=embedder, key=key, read_only=True) as store:
        assert answers(store.agent("a")) == expected
    vector = embedder.embed_query("Ann lives in Rome").astype("<f2").tobytes()
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert all(vector not in data and b"rome" not in data.lower() for data in files)


def test_an_erased_fact_leaves_no_word_and_no_vector(tmp_path):
    embedder = WordVectors()
    with recollex.open(tmp_path, embedder=embedder) as store:
        alice = store.agent("a")
        memory = alice.retain("Ann keeps a quokka.", id="m1")
        alice.facts.add("Ann", "keeps", recollex.Text("a quokka"), evidence=memory)
        alice.facts.add("Ben", "likes", "tea")
        alice.checkpoint()
        assert alice.erase("m1", by="ann", why="asked for").facts == 1
        assert [hit.text for hit in alice.facts.search("quokka")] == ["Ben likes tea"]
        alice.checkpoint()
        assert alice.verify().problems == ()
        alice.facts.add("Eve", "likes", "tea")
        assert len(alice.facts.search("tea")) == 2
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert all(b"quokka" not in data for data in files)


class Renamed(WordVectors):
    """Another model: the vectors of `WordVectors`, in the opposite direction of its components."""

    def __init__(self):
        super().__init__()
        self.fingerprint = "other-64"

    def embed_query(self, text):
        return super().embed_query(text)[::-1].copy()


def test_a_move_to_another_model_embeds_them_again_also_in_a_snapshot_of_before(tmp_path):
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        told(store.agent("a"))
        expected = answers(store.agent("a"))
        then = datetime.now(UTC)
        store.agent("a").facts.add("Eve", "owns", "a boat")
    assert recollex.reembed(tmp_path / "s", "a", embedder=Renamed()) == 13  # 6 names
    assert recollex.reembed(tmp_path / "s", "a", embedder=Renamed()) == 0
    with recollex.open(tmp_path / "s", embedder=Renamed()) as store:
        alice = store.agent("a")
        found = answers(alice.at(then))
        assert [[hit[:3] for hit in each] for each in found] == [
            [hit[:3] for hit in each] for each in expected
        ]
        assert [hit[3] for each in found for hit in each] == pytest.approx(
            [hit[3] for each in expected for hit in each], abs=1e-3
        )
        assert alice.verify().problems == ()
        alice.snapshot(then, tmp_path / "copy")
    with recollex.open(tmp_path / "copy", embedder=Renamed()) as store:
        copied = answers(store.agent("a"))  # its last operation is a microsecond later
    assert [hit[:3] for each in copied for hit in each] == [hit[:3] for e in found for hit in e]
    assert [hit[3] for each in copied for hit in each] == pytest.approx(
        [hit[3] for each in found for hit in each]
    )


def test_an_interrupted_move_is_completed_by_the_next(tmp_path, monkeypatch):
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        told(store.agent("a"))

    def fails(*_):
        raise RuntimeError("killed here")

    with monkeypatch.context() as patch:
        patch.setattr("recollex_engine.agents.agent.Agent.add_surfaces", fails)
        with pytest.raises(RuntimeError, match="killed here"):
            recollex.reembed(tmp_path, "a", embedder=Renamed())
    with recollex.open(tmp_path, embedder=Renamed(), read_only=True) as store:
        assert store.agent("a").facts.search("tea") == []
    assert recollex.reembed(tmp_path, "a", embedder=Renamed()) == 8  # 4 names
    with recollex.open(tmp_path, embedder=Renamed()) as store:
        assert store.agent("a").facts.search("tea")[0].item.id == "f2"


def test_without_a_model_the_words_are_searched(tmp_path):
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(8)) as store:
        alice = store.agent("a")
        alice.facts.add("Ann", "likes", "tea")
        alice.facts.add("Ben", "likes", "boats")
        assert [hit.ranks for hit in alice.facts.search("tea")] == [{"keyword": 1}]
        assert alice.verify().problems == ()
