"""A log against a model, through full disks, crashes and reopening."""

import errno
import os
import shutil

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from recollex_engine.errors import StoreFullError
from recollex_engine.log import writer as log_module
from recollex_engine.log.files import compressed_path, plain_path
from recollex_engine.log.format import START
from recollex_engine.log.writer import LogWriter
from tests.engine.log.notes import contents, note
from tests.engine.log.whole_log import LogReader


class Log(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(log_module, "WORTH_COMPRESSING", range(600, 1 << 20))
        self.folder = Log.root / str(next(Log.number))
        self.log = LogWriter(self.folder, durability="off")
        self.model = []
        self.positions = [self.log.position]
        self.starts = [self.log.position]
        self.follower = LogReader(self.folder).follow(START)
        self.followed = []
        self.clock = 0

    @rule(sizes=st.lists(st.sampled_from([0, 1, 300]), min_size=1, max_size=4))
    def append(self, sizes):
        self.clock += 1
        operations = [note(n, size) for n, size in enumerate(sizes)]
        self.positions.append(self.log.append(self.clock, operations))
        self.starts.append(self.log.position)
        self.model.append((self.clock, [("note", n) for n in range(len(sizes))]))

    @rule(written=st.integers(0, 200))
    def append_to_a_full_disk(self, written):
        real = os.pwrite
        budget = [written]

        def limited(fd, data, offset):
            if not budget[0]:
                raise OSError(errno.ENOSPC, "no space left")
            part = data[: budget[0]]
            budget[0] -= len(part)
            return real(fd, part, offset)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "pwrite", limited)
            with pytest.raises(StoreFullError):
                self.log.append(self.clock + 1, [note(9, 300)])

    @rule()
    def rotate(self):
        if self.log.rotate_if_larger(400):
            self.positions[-1] = self.log.position
            self.starts.append(self.log.position)  # the one before the seal stays good

    @rule()
    def compress(self):
        self.log.compress_sealed()

    @rule(data=st.data(), tail=st.sampled_from([b"", b"{", b'{"op":', b"\0\0\n\0"]))
    def reopen_after_a_crash(self, data, tail):
        end = self.log.position
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(log_module, "WORTH_COMPRESSING", range(0))
            self.log.close()
        if (plain := plain_path(self.folder, end.file)).exists():
            with plain.open("ab") as file:
                file.write(tail)
        start = data.draw(st.sampled_from([None, *self.starts]))
        self.log = LogWriter(self.folder, start, durability="off")
        assert self.log.position == end

    @rule(data=st.data())
    def reopen(self, data):
        end = self.log.position
        written = self.log._file is not None
        self.log.close()
        if written:
            small = end.offset < log_module.WORTH_COMPRESSING.start
            assert plain_path(self.folder, end.file).exists() == small
            assert compressed_path(self.folder, end.file).exists() != small
        start = data.draw(st.sampled_from([None, *self.starts]))
        self.log = LogWriter(self.folder, start, durability="off")
        assert self.log.position == end

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def read_from_a_position_to_an_op(self, data):
        start = data.draw(st.integers(0, len(self.model)))
        until = data.draw(st.integers(start, len(self.model)))
        read = LogReader(self.folder).transactions(self.positions[start], self.positions[until].op)
        assert [t.recorded_at for t in read] == [at for at, _ in self.model[start:until]]

    @rule()
    def follow(self):
        for t in self.follower.read_new(self.log.position.op):
            self.followed.append((t.recorded_at, [(o.kind, o.payload["n"]) for o in t.operations]))
        assert self.followed == self.model

    @invariant()
    def the_log_holds_what_was_appended(self):
        assert contents(self.folder, verify=True) == self.model

    def teardown(self):
        self.log.close()
        self.follower.close()
        self.patch.undo()


@pytest.fixture(autouse=True, scope="module")
def root(tmp_path_factory):
    import itertools

    Log.root = tmp_path_factory.mktemp("machines")
    Log.number = itertools.count()
    yield
    shutil.rmtree(Log.root)


TestLog = Log.TestCase
TestLog.settings = settings(max_examples=30, stateful_step_count=12, deadline=None)
