"""Moving to another model: what was told stays, its vectors are the new model's."""

import errno
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

import recollex
from recollex_engine.errors import (
    InputError,
    LockedError,
    ModelError,
    ModelMismatchError,
    StoreFullError,
)
from recollex_engine.log.writer import LogWriter
from recollex_engine.storage import disk
from recollex_engine.storage.vectors_file import HEADER_BYTES
from recollex_engine.writing import checkpoint, maintenance, reembedding
from tests.engine.log.whole_log import LogReader

START = datetime(2024, 5, 1, tzinfo=UTC)
STEP = timedelta(hours=1)
WORDS = "tea ink owl fig oak bay elm jam".split()  # noqa: SIM905
LONG = " And so on, for ever and ever." * 40


class Model(recollex.GivenVectors):
    """A text's vector depends on the text and the model's name alone; links are chosen by none."""

    def __init__(self, name: str, dimension: int, fails_after: int = 1 << 40) -> None:
        super().__init__(dimension, links=False)
        self.fingerprint = f"{name}@1"
        self.left = fails_after
        self.embedded: list[str] = []

    def embed(self, texts, threads=1, progress=None):
        self.left -= len(texts)
        if self.left < 0:
            raise ModelError("the model fell silent")
        self.embedded += texts
        if progress is not None:
            progress(len(texts))
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str):
        total = np.full(self.dimension, 1e-3)
        for word in text.lower().replace(".", "").split():
            seed = list(f"{self.fingerprint} {word}".encode())
            total += np.random.default_rng(seed).normal(size=self.dimension)
        return (total / np.linalg.norm(total)).astype(np.float32)


MODELS = (("a", 32), ("b", 64), ("c", 32))


def answers(agent: recollex.Agent, now: datetime) -> list[object]:
    said: list[object] = []
    for query in ("Where is the tea", "owl and oak", "Ann said fig"):
        found = agent.recall(query, now=now, exact=True, explain=True)
        assert not found.trace.errors
        said.append(list(found))
    return said


def vectors_of(agent: recollex.Agent) -> bytes:
    """The vectors in force; the file may hold others behind them."""
    path, counted = agent.engine.replica().vectors_path, agent.stats().passages
    return path.read_bytes()[HEADER_BYTES:][: 2 * agent.engine.dimension * counted]


class Moves(RuleBasedStateMachine):
    """The twin was told the same, from the beginning, under the model that is in force."""

    @initialize(tail=st.sampled_from([4, 1 << 40]))
    def start(self, tail: int) -> None:
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(reembedding, "BATCH", 3)
        self.patch.setattr(checkpoint, "TAIL_ROWS", tail)
        self.patch.setattr(maintenance, "CLOSING_TAIL", 6)
        self.patch.setattr(os, "fsync", lambda fd: None)
        self.patch.setattr(os, "fdatasync", lambda fd: None)
        self.home = Path(tempfile.mkdtemp())
        self.folder = self.home / "s" / "agents" / "a"
        self.now, self.model, self.told = START, MODELS[0], []
        self.moments: list[datetime] = []
        self.open()
        self.retain([("m0", "The tea is here.")])

    def open(self) -> None:
        self.store = self.opened(self.home / "s", Model(*self.model))
        self.agent = self.store.agent("a")

    def opened(self, path: Path, model: Model) -> recollex.Store:
        return recollex.open(path, embedder=model, durability="off", clock=lambda: self.now)

    def teardown(self) -> None:
        if hasattr(self, "patch"):
            try:
                self.compare()
            finally:
                self.store.close()
                self.patch.undo()
                shutil.rmtree(self.home)

    def compare(self) -> None:
        assert self.agent.verify().problems == ()
        now = self.now
        with self.opened(self.home / "twin", Model(*self.model)) as store:
            twin = store.agent("a")
            for at, call in self.told:
                self.now = at
                call(twin)
            assert twin.list(limit=1000) == self.agent.list(limit=1000)
            assert vectors_of(twin) == vectors_of(self.agent)
            for moment in self.moments[:: max(1, len(self.moments) // 2)]:
                self.now = max(now, moment)
                assert answers(self.agent.at(moment), moment) == answers(twin.at(moment), moment)
        self.now = now
        shutil.rmtree(self.home / "twin")

    def tell(self, call) -> None:
        self.now += STEP
        self.told.append((self.now, call))
        call(self.agent)
        self.moments.append(self.now + STEP / 2)
        self.now += STEP

    @rule(
        texts=st.lists(
            st.tuples(
                st.sampled_from([f"m{n}" for n in range(9)]),
                st.sampled_from([f"Ann: the {a} of {b}." for a in WORDS for b in WORDS]),
            ),
            min_size=1,
            max_size=5,
            unique_by=lambda each: each[0],
        ),
        long=st.booleans(),
    )
    def retain(self, texts, long=False) -> None:
        ids = [id for id, _ in texts]
        said = [text + LONG * long for _, text in texts]
        self.tell(lambda agent: agent.retain(said, id=ids, event_at=START))

    @rule(place=st.integers(0, 8))
    def forget(self, place: int) -> None:
        held = self.agent.list(limit=9)
        if place < len(held):
            self.tell(lambda agent: agent.forget(held[place].id))

    @rule()
    def fold(self) -> None:
        self.agent.checkpoint()

    @rule(model=st.sampled_from(MODELS), fails_after=st.sampled_from([0, 4, 7, 1 << 40]))
    def move(self, model, fails_after: int) -> None:
        """Move beside a reader; where the model falls silent, the old vectors go on serving."""
        self.store.close()
        before = answers_of_reader(self.home / "s", self.model, self.now)
        moving = Model(*model, fails_after)
        with recollex.open(
            self.home / "s", embedder=Model(*self.model), read_only=True, clock=lambda: self.now
        ) as store:
            reader = store.agent("a")
            assert answers(reader, self.now) == before
            try:
                made = reembedding.reembed(self.folder, "a", moving, self.micros, 1)
                assert made == len(moving.embedded)
            except ModelError:
                assert answers(reader, self.now) == before
            else:
                if model != self.model:
                    with pytest.raises(
                        ModelMismatchError, match=f"reembed .*{model[0]}@1|{model[0]}@1"
                    ):
                        reader.recall("tea")
                    self.model = model
        self.now += STEP
        self.open()

    def micros(self) -> int:
        return int(self.now.timestamp() * 1e6)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.open()
        self.compare()


def answers_of_reader(path: Path, model: tuple[str, int], now: datetime) -> list[object]:
    with recollex.open(path, embedder=Model(*model), read_only=True) as store:
        return answers(store.agent("a"), now)


def test_what_was_told_stays_and_the_vectors_are_the_new_models():
    run_state_machine_as_test(
        Moves, settings=settings(max_examples=30, stateful_step_count=10, deadline=None)
    )


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with recollex.open(tmp_path / "s", embedder=Model("a", 32)) as opened:
        agent = opened.agent("a")
        agent.retain(
            [f"Number {n} of the {WORDS[n % 8]}." for n in range(40)],
            id=[f"m{n}" for n in range(40)],
        )
        agent.checkpoint()
        agent.retain("The last of the tea." + LONG, id="last")
    return tmp_path / "s"


def move(store: Path, model: Model) -> int:
    return recollex.reembed(store, "a", embedder=model)


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


def test_a_call_that_was_interrupted_goes_on_where_it_was(store, monkeypatch):
    monkeypatch.setattr(reembedding, "BATCH", 4)
    with pytest.raises(ModelError, match="silent"):
        move(store, Model("b", 64, fails_after=19))
    with recollex.open(store, embedder=Model("a", 32)) as opened:  # serves, and takes in more
        opened.agent("a").retain("One more of the owl.", id="more")
        assert opened.agent("a").recall("One more of the owl")[0].id == "more"
    model = Model("b", 64)
    assert move(store, model) == len(model.embedded)
    assert model.embedded[0] == "Number 16 of the tea." and model.embedded[-1].startswith(
        "One more"
    )


def test_what_is_damaged_or_of_another_model_is_made_anew(store, monkeypatch):
    monkeypatch.setattr(reembedding, "BATCH", 4)
    folder = store / "agents/a"
    with pytest.raises(ModelError):
        move(store, Model("b", 64, fails_after=19))
    with (folder / "vectors-2.f16").open("r+b") as file:
        file.seek(HEADER_BYTES + 5 * 128)
        file.write(b"\1\2")
    with (folder / "vectors-2.progress").open("ab") as record:
        record.write(b'{"rows": 4, "te')  # torn
    with pytest.raises(ModelError):
        move(store, model := Model("b", 64, fails_after=9))
    assert model.embedded[0] == "Number 4 of the oak."
    model = Model("c", 32)
    assert move(store, model) == len(model.embedded)
    assert model.embedded[0] == "Number 0 of the tea."


def test_a_writer_is_waited_for_by_nobody_and_what_it_wrote_is_kept_for_the_next_call(store):
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


def test_two_at_once_are_refused(store):
    class Second(Model):
        def embed(self, texts, threads=1, progress=None):
            with pytest.raises(LockedError, match="another reembed: wait"):
                move(store, Model("c", 32))
            return super().embed(texts, threads, progress)

    assert move(store, Second("b", 64))


@pytest.mark.parametrize("fails", ["vectors-2.f16", "vectors-2.progress", "00000001.jsonl"])
def test_a_full_disk_changes_nothing_and_the_next_call_goes_on(store, monkeypatch, fails):
    def full(fd, data, offset, _real=os.pwrite):
        if Path(f"/proc/self/fd/{fd}").readlink().name.startswith(fails):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return _real(fd, data, offset)

    with monkeypatch.context() as patch:
        patch.setattr(disk.os, "pwrite", full)
        with pytest.raises(StoreFullError, match="No space left"):
            move(store, Model("b", 64))
    with recollex.open(store, embedder=Model("a", 32)) as opened:
        assert opened.agent("a").verify().problems == ()
        assert opened.agent("a").recall("Number 7 of the jam")[0].id == "m7"
    model = Model("b", 64)
    move(store, model)
    assert bool(model.embedded) == (fails != "00000001.jsonl")
    with recollex.open(store, embedder=Model("b", 64)) as opened:
        assert opened.agent("a").verify().problems == ()


def test_an_agent_that_is_not_there_and_one_without_a_memory(tmp_path, store):
    with pytest.raises(InputError, match="no agent 'x' in"):
        recollex.reembed(store, "x", embedder=Model("b", 64))
    assert not (store / "agents/x").exists()
    with recollex.open(tmp_path / "e", embedder=Model("a", 32)) as opened:
        opened.agent("a").facts.add("Ann", "likes", "tea")
    assert recollex.reembed(tmp_path / "e", "a", embedder=Model("b", 64)) == 0
    with recollex.open(tmp_path / "e", embedder=Model("b", 64)) as opened:
        opened.agent("a").retain("Ann has tea.", id="m")
        assert opened.agent("a").recall("tea")[0].id == "m"


def test_given_vectors_are_replaced_and_cannot_replace(tmp_path, store):
    with recollex.open(tmp_path / "g", embedder=recollex.GivenVectors(8)) as opened:
        opened.agent("a").retain(["Ann has tea.", "Bob has ink."], embedding=np.eye(2, 8))
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


CHILD = """
import sys
import recollex
from recollex_engine.writing import reembedding
sys.path.insert(0, sys.argv[2])
from test_reembedding import Model
reembedding.BATCH = 1
class Slow(Model):
    def embed(self, texts, threads=1, progress=None):
        import time
        time.sleep(0.03)
        return super().embed(texts, threads, progress)
print("ready", flush=True)
print(recollex.reembed(sys.argv[1], "a", embedder=Slow("b", 64)), flush=True)
"""


def test_killed_at_any_moment_it_goes_on_and_ends(store):
    rng = random.Random(5)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    record = store / "agents/a/vectors-2.progress"
    for run in range(4):
        before = record.stat().st_size if record.exists() else 0
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(store), str(Path(__file__).parent)],
            stdout=subprocess.PIPE,
            env=environment,
        )
        assert child.stdout.readline() == b"ready\n"
        if run < 3:
            deadline = time.monotonic() + 20
            while not record.exists() or record.stat().st_size <= before + 300:
                assert time.monotonic() < deadline
                time.sleep(0.002)
            time.sleep(rng.uniform(0, 0.04))
            child.kill()
        said = child.stdout.read()
        child.wait()
        child.stdout.close()
        if run < 3:
            with recollex.open(store, embedder=Model("a", 32)) as opened:
                agent = opened.agent("a")
                assert agent.verify().problems == ()
                assert agent.recall("Number 7 of the jam", exact=True)[0].id == "m7"
                agent.retain(f"Run {run}.", id=f"run{run}")
                total = agent.stats().passages
    assert 0 < int(said) < total  # something was kept of the runs that were killed
    with recollex.open(store, embedder=Model("b", 64)) as opened:
        agent = opened.agent("a")
        assert agent.verify().problems == () and agent.stats().passages == total


STEPS = {
    "the op is logged": (LogWriter, "append"),
    "it is on the disk": (LogWriter, "sync"),
    "the manifest is gone": (Path, "unlink"),
    "the old file is removed": (reembedding, "remove_former"),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_around_the_change_leaves_the_old_state_or_the_new_one(store, monkeypatch, step):
    """Of each step, before it and after it; a crash is an error that nobody catches."""
    owner, name = STEPS[step]
    real = getattr(owner, name)
    for late in (False, True):
        path = store.with_name(f"{store.name}-{late}")
        shutil.copytree(store, path)

        def crash(*given, late=late, **options):
            if isinstance(given[0], Path) and given[0].name not in ("MANIFEST", "a"):
                return real(*given, **options)
            if late:
                real(*given, **options)
            raise RuntimeError("crashed")

        with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="crashed"):
            patch.setattr(owner, name, crash)
            move(path, Model("b", 64))
        moved = step != "the op is logged" or late
        assert in_force(path) == ("b" if moved else "a")
        for read_only in (True, False, False):
            with recollex.open(path, embedder=Model(*MODELS[moved]), read_only=read_only) as opened:
                agent = opened.agent("a")
                assert agent.verify().problems == ()
                assert agent.recall("Number 7 of the jam", exact=True)[0].id == "m7"
        if moved:
            assert not (path / "agents/a/vectors.f16").exists()


def in_force(store: Path) -> str:
    kinds = [
        operation.kind
        for transaction in LogReader(store / "agents/a/log").transactions()
        for operation in transaction.operations
    ]
    return "b" if "reembed" in kinds else "a"


def test_a_reader_in_another_process_serves_the_old_vectors_then_says_what_to_do(store):
    code = """
import sys, time
import recollex
sys.path.insert(0, sys.argv[2])
from test_reembedding import Model
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
        [sys.executable, "-c", code, str(store), str(Path(__file__).parent)],
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
