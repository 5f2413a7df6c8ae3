"""A writer's column against a model, over files that are sometimes mapped."""

import errno
import itertools
import os

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from recollex_engine.errors import StoreFullError
from recollex_engine.storage.column import Column
from recollex_engine.storage.encryption import create_key

CHANGED = 4_000_000_000


class Columns(RuleBasedStateMachine):
    """A writer's column and a model, over files that are sometimes large enough to be mapped."""

    folder = "plain"
    fixed = False

    def __init__(self):
        super().__init__()
        self.path = Columns.root / self.folder / str(next(Columns.number))
        self.column = Column("<u4", fixed=self.fixed)
        self.model = []
        self.stored = []
        self.handed_out = []

    @rule(value=st.integers(0, 2**32 - 1))
    def append(self, value):
        self.column.append(value)
        self.model.append(value)

    @rule(n=st.sampled_from([0, 1, 17, 5000, 40_000]))
    def extend(self, n):
        self.column.extend(np.arange(n))
        self.model.extend(range(n))

    @rule(data=st.data())
    def change(self, data):
        if self.model and not self.fixed:
            index = data.draw(st.integers(0, len(self.model) - 1))
            self.column.set(index, CHANGED)
            self.model[index] = CHANGED

    @rule(sync=st.booleans(), data=st.data())
    def checkpoint(self, sync, data):
        count = data.draw(st.integers(self.column.stored, len(self.model)))
        self.column.persist(self.path, count, sync=sync)
        self.column.write_back(sync=sync)
        self.stored = self.model[:count]

    @rule(at=st.integers(0, 100))
    def fail_to_persist(self, at):
        real = os.pwrite
        before = (self.column.stored, self.column.count)

        def partly(fd, data, offset):
            real(fd, data[:at], offset)
            raise OSError(errno.ENOSPC, "full")

        if self.column.count > self.column.stored:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(os, "pwrite", partly)
                with pytest.raises(StoreFullError):
                    self.column.persist(self.path)
            assert (self.column.stored, self.column.count) == before

    @rule()
    def hand_out(self):
        self.handed_out.append((self.column.array, np.array(self.model, "<u4")))

    @rule()
    def reopen(self):
        path = self.path if self.stored else None
        self.column = Column("<u4", path, len(self.stored), fixed=self.fixed)
        self.model = list(self.stored)

    @invariant()
    def holds_what_the_model_holds(self):
        assert self.column.count == len(self.model)
        assert np.array_equal(self.column.array, np.array(self.model, "<u4"))
        for array, expected in self.handed_out:
            assert len(array) == len(expected)
            assert ((array == expected) | (array == CHANGED)).all()


class EncryptedColumns(Columns):
    """The same of an encrypted agent; a file of a column that changes is replaced."""

    folder = "encrypted"


class EncryptedFixedColumns(EncryptedColumns):
    """The same, of columns whose items never change: pages are appended."""

    fixed = True


@pytest.fixture(autouse=True, scope="module")
def root(tmp_path_factory):
    Columns.root = tmp_path_factory.mktemp("machines")
    Columns.number = itertools.count()
    for name in ("plain", "encrypted"):
        (Columns.root / name).mkdir()
    held = create_key(Columns.root / "encrypted", bytes(32))
    yield
    del held


TestColumns = Columns.TestCase
TestEncryptedColumns = EncryptedColumns.TestCase
TestEncryptedFixedColumns = EncryptedFixedColumns.TestCase
for case in (TestColumns, TestEncryptedColumns, TestEncryptedFixedColumns):
    case.settings = settings(max_examples=30, stateful_step_count=12, deadline=None)


@pytest.mark.parametrize("folder", ["plain", "encrypted"])
def test_an_item_changes_that_a_failed_checkpoint_meant_to_cover(folder, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "full")

    path = Columns.root / folder / "covered"
    column = Column("<u4")
    column.extend(range(17))
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        with pytest.raises(StoreFullError):
            column.persist(path)
    column.set(9, CHANGED)
    column.persist(path, 5)
    column.write_back()
    assert Column("<u4", path, 5).array.tolist() == [0, 1, 2, 3, 4]
    column.persist(path)
    assert Column("<u4", path, 17).array.tolist() == column.array.tolist()
