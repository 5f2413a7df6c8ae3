"""Vectors that were lost or changed, and are embedded again."""

import os
from pathlib import Path

import numpy as np
import pytest

import recollex
from recollex_engine.errors import CorruptError
from recollex_engine.log.files import plain_path
from tests.engine.faults.small_store import D, Model, answers, assert_holds, contents, opened, text


def lose_vectors(path, how):
    if how == "lost":
        path.unlink()
    elif how == "header":
        path.write_bytes(b"x" + path.read_bytes()[1:])
    elif how == "empty":
        os.truncate(path, 0)
    elif how == "short":
        os.truncate(path, path.stat().st_size - 2 * D * 7)
    elif how == "last":
        with path.open("r+b") as file:
            file.seek(-5, os.SEEK_END)
            file.write(b"\0\1")


@pytest.mark.parametrize("how", ["lost", "header", "empty", "short", "last"])
def test_lost_vectors_are_embedded_again(path, folder, embedded, how):
    file = folder / "vectors.f16"
    before = file.read_bytes()
    lose_vectors(file, how)
    with (
        pytest.raises(CorruptError, match=r"vectors.f16: expected"),
        opened(path, embedder=Model(), read_only=True) as agent,
    ):
        agent.recall("tea")
    model = Model()
    with pytest.warns(
        RuntimeWarning, match=r"of 1?\d of \d+ passages \(rows \d+ to \d+\) are lost"
    ):
        store = recollex.open(path, embedder=model)
        agent = store.agent("a")
    assert set(model.embedded) & {text(n) for n in range(10, 14)}
    assert (text(0) in model.embedded) == (how in ("lost", "header", "empty"))
    assert file.read_bytes() == before
    assert_holds(agent, embedded)
    agent.retain(text(20), id="m20")
    agent.checkpoint()
    now = contents(agent), answers(agent)
    store.close()
    for read_only in (True, False):
        with opened(path, embedder=Model(), read_only=read_only) as agent:
            assert_holds(agent, now)


class Newer(Model):
    """The same model on another machine: its last bits differ."""

    def embed_query(self, text):
        vector = super().embed_query(text) + np.float32(1e-3)
        return vector / np.linalg.norm(vector)


def test_vectors_made_again_may_differ_and_may_be_lost_again(path, folder, embedded):
    for _ in range(2):
        os.truncate(folder / "vectors.f16", 64 + 2 * D * 11)  # inside the long memory's batch
        model = Newer()
        with pytest.warns(RuntimeWarning, match="are lost"):
            store = recollex.open(path, embedder=model)
            agent = store.agent("a")
        assert text(0) not in model.embedded
        assert contents(agent) == embedded[0]
        assert agent.verify().problems == ()
        found = agent.recall(text(12), exact=True)
        assert found[0].id == "m12"
        now = answers(agent)
        agent.checkpoint()
        assert agent.verify().problems == () and answers(agent) == now
        store.close()
        with opened(path, embedder=Newer(), read_only=True) as agent:
            assert answers(agent) == now and agent.verify().problems == ()


def test_a_crash_while_vectors_are_made_again_hides_nothing(path, folder, embedded, monkeypatch):
    (folder / "vectors.f16").unlink()
    for step, last in (("unlink", "MANIFEST"), ("rename", "vectors.f16.restored")):
        real = getattr(Path, step)
        with monkeypatch.context() as patch, pytest.warns(RuntimeWarning, match="are lost"):

            def crash(self, *_, _real=real, _last=last, **options):
                if self.name == _last:
                    raise RuntimeError("crashed")
                return _real(self, *_, **options)

            patch.setattr(Path, step, crash)
            with pytest.raises(RuntimeError, match="crashed"):
                recollex.open(path, embedder=Newer()).agent("a")
    with pytest.warns(RuntimeWarning, match="are lost"):
        store = recollex.open(path, embedder=Newer())
        agent = store.agent("a")
    assert contents(agent) == embedded[0] and agent.verify().problems == ()
    assert [name.name for name in folder.glob("vectors*")] == ["vectors.f16"]
    store.close()


def test_vectors_that_no_model_made_are_missed_by_name(path, folder, held):
    data = (folder / "vectors.f16").read_bytes()
    log_before = plain_path(folder / "log", 1).read_bytes()
    for change in (lambda f: f.unlink(), lambda f: f.write_bytes(data[:-1])):
        change(folder / "vectors.f16")
        for _ in range(2):  # nothing is locked or half done after the first
            with pytest.raises(CorruptError) as caught:
                recollex.open(path, embedder=recollex.GivenVectors(D)).agent("a")
            assert "given-32 cannot make them: put the file back" in str(caught.value)
            assert "of 46 passages" in str(caught.value)
        assert plain_path(folder / "log", 1).read_bytes() == log_before
    (folder / "vectors.f16").write_bytes(data)
    with opened(path) as agent:
        assert_holds(agent, held)


def change_a_vector(folder):
    with (folder / "vectors.f16").open("r+b") as file:
        file.seek(64 + 2 * D * 3 + 6)
        file.write(b"\7")


def test_a_vector_changed_in_the_middle_is_found_and_embedded_again(path, folder, embedded):
    change_a_vector(folder)
    with (
        pytest.warns(RuntimeWarning, match=r"vectors.f16: expected checksum .* are wrong"),
        opened(path, embedder=Model(), read_only=True) as agent,
    ):
        problems = agent.verify().problems
        assert any(each.startswith("vectors of rows 0 to 9: the log has") for each in problems)
        assert contents(agent) == embedded[0]
    with pytest.warns(RuntimeWarning, match=r"vectors of 10 of 1\d passages \(rows 0 to 9\)"):
        store = recollex.open(path, embedder=Model())
        agent = store.agent("a")
    assert_holds(agent, embedded)
    store.close()


def test_a_changed_vector_that_no_model_made_is_named_and_the_others_serve(path, folder, held):
    change_a_vector(folder)
    for read_only in (True, False):
        with pytest.warns(RuntimeWarning, match=r"vectors.f16: expected checksum"):
            store = recollex.open(path, embedder=recollex.GivenVectors(D), read_only=read_only)
            agent = store.agent("a")
            assert contents(agent) == held[0]
        assert any("vectors of rows" in each for each in agent.verify().problems)
        store.close()
