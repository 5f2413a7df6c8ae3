import itertools
import os
import threading

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from recollex_engine.errors import CorruptError, InputError, StoreFullError
from recollex_engine.storage import dictionary as dictionary_module
from recollex_engine.storage.dictionary import INDEX_FROM, NONE, Dictionary

WORDS = [f"word {n}" for n in range(3000)]


@pytest.fixture
def stored(tmp_path):
    dictionary = Dictionary()
    dictionary.add_many(WORDS)
    dictionary.persist(tmp_path, "terms", 1)
    return Dictionary(tmp_path, "terms", len(WORDS), 1)


def test_numbers_are_dense_in_the_order_of_arrival(stored):
    assert stored.get_many(WORDS).tolist() == list(range(len(WORDS)))
    assert stored.intern("word 7") == 7
    assert stored.intern("new") == len(WORDS)
    assert stored.strings([0, 2999, 3000]) == ["word 0", "word 2999", "new"]
    assert stored.get("absent") is None
    assert stored.get_many(["absent", "new", "word 1"]).tolist() == [NONE, 3000, 1]
    assert stored.get_many([]).tolist() == []


def test_strings_that_were_sought_together_are_not_hashed_again(stored, monkeypatch):
    sought = ["word 1", "absent", "word 2999", "late", *WORDS[:20], "absent"]
    assert stored.look_up(sought) == [1, NONE, 2999, NONE, *range(20), NONE]
    hashed = []
    real = dictionary_module._digest
    monkeypatch.setattr(
        dictionary_module, "_digest", lambda data: hashed.append(data) or real(data)
    )
    assert stored.get("absent") is None
    assert [stored.get("word 1"), stored.get("word 2999")] == [1, 2999] and hashed == []
    assert stored.intern("late") == 3000 == stored.get("late")
    assert Dictionary().look_up(["absent"] * 20) == [NONE] * 20
    assert stored.look_up([]) == []


def test_a_checkpoint_keeps_the_strings_that_are_looked_up_until_they_are_many(
    stored, tmp_path, monkeypatch
):
    stored.look_up(WORDS[:20]), stored.intern("late")
    monkeypatch.setattr(dictionary_module, "_CACHED", 40)
    for generation, asked, kept in ((2, 10, 20), (3, 30, 31), (4, 50, 0), (5, 50, 0)):
        assert stored.look_up([*WORDS[:asked], "late", "absent"]) == [*range(asked), 3000, NONE]
        stored.persist(tmp_path, "terms", generation)
        stored.adopt(generation)
        assert len(stored._known) == kept


def test_the_empty_string_and_every_script(tmp_path):
    dictionary = Dictionary()
    strings = ["", "a", "é", "日本", "a\0b", "😀", " "]
    assert [dictionary.intern(each) for each in strings] == list(range(7))
    dictionary.persist(tmp_path, "x", 1)
    again = Dictionary(tmp_path, "x", 7, 1)
    assert again.strings(range(7)) == strings
    assert [again.get(s) for s in strings] == list(range(7))


def test_a_small_dictionary_has_no_index_file_and_an_empty_one_no_file(tmp_path):
    dictionary = Dictionary()
    dictionary.persist(tmp_path, "x", 1)
    assert list(tmp_path.iterdir()) == []
    dictionary.intern("a")
    dictionary.persist(tmp_path, "x", 2)
    dictionary.adopt(2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x.heap", "x.offsets"]
    assert Dictionary(tmp_path, "x", 1, 2).get("a") == 0


def test_opening_reads_no_string(stored, tmp_path, monkeypatch):
    monkeypatch.setattr(dictionary_module, "_digest", None)
    Dictionary(tmp_path, "terms", len(WORDS), 1)


@pytest.mark.parametrize("damage", ["absent", "short", "magic", "older"])
def test_without_a_fitting_index_it_is_computed(stored, tmp_path, damage):
    path = tmp_path / "terms.index-1"
    data = path.read_bytes()
    if damage == "absent":
        path.unlink()
    elif damage == "short":
        path.write_bytes(data[:-1])
    elif damage == "magic":
        path.write_bytes(b"x" + data[1:16] + bytes(len(data) - 16))
    stored.intern("more")
    if damage == "older":
        stored.persist(tmp_path, "terms", 2)
    count = len(WORDS) + (damage == "older")
    again = Dictionary(tmp_path, "terms", count, 1)
    assert [again.get(word) for word in WORDS[::97]] == list(range(0, 3000, 97))
    assert again.get("more") == (3000 if damage == "older" else None)


def test_equal_hashes_are_told_apart(tmp_path, monkeypatch):
    real = dictionary_module._digest
    few = [bytes([number, *bytes(7)]) for number in range(7)]
    monkeypatch.setattr(dictionary_module, "_digest", lambda data: few[real(data)[0] % 7])
    dictionary = Dictionary()
    dictionary.add_many(WORDS[:1500])
    dictionary.persist(tmp_path, "x", 1)
    dictionary.adopt(1)
    dictionary.add_many(WORDS[1500:])
    dictionary.persist(tmp_path, "x", 2)
    data = (tmp_path / "x.index-2").read_bytes()
    hashes = np.frombuffer(data, "<u8", 3000, 16).tolist()
    numbers = np.frombuffer(data, "<u4", 3000, 16 + 8 * 3000).tolist()
    pairs = list(zip(hashes, numbers, strict=True))
    assert pairs == sorted(pairs)
    again = Dictionary(tmp_path, "x", 3000, 2)
    assert again.get_many(WORDS).tolist() == list(range(3000))
    assert [again.get(w) for w in WORDS] == list(range(3000))
    assert again.get("absent") is None


def test_adopting_a_generation_drops_the_ones_before(stored, tmp_path):
    reader = Dictionary(tmp_path, "terms", len(WORDS), 1)
    stored.intern("new")
    stored.persist(tmp_path, "terms", 2)
    stored.intern("newer")
    assert (tmp_path / "terms.index-1").exists()
    stored.adopt(2)
    names = sorted(p.name for p in tmp_path.iterdir())
    assert names == ["terms.heap", "terms.index-2", "terms.offsets"]
    assert [stored.get(s) for s in ("word 5", "new", "newer")] == [5, 3000, 3001]
    assert (reader.get("word 5"), reader.get("new")) == (5, None)
    with pytest.raises(CorruptError):
        stored.adopt(3)


def test_an_index_holds_its_hashes_in_order(stored, tmp_path):
    data = (tmp_path / "terms.index-1").read_bytes()
    hashes = np.frombuffer(data, "<u8", len(WORDS), 16)
    numbers = np.frombuffer(data, "<u4", len(WORDS), 16 + 8 * len(WORDS))
    assert data[:8] == b"rcxindx1" and int.from_bytes(data[8:16], "little") == len(WORDS)
    assert (np.diff(hashes.astype(object)) >= 0).all()
    assert sorted(numbers.tolist()) == list(range(len(WORDS)))
    assert len(data) == 16 + 12 * len(WORDS)


def test_a_full_disk_loses_nothing(stored, tmp_path, monkeypatch):
    stored.add_many([f"more {n}" for n in range(100)])
    real = os.pwrite
    left = 0

    def limited(fd, data, offset):
        nonlocal left
        if not left:
            raise OSError(28, "full")
        left -= 1
        return real(fd, data, offset)

    # What fails is the heap, the offsets twice, and each of the three parts of the index.
    for allowed, count in ((0, 3060), (1, 3060), (0, 3050), (1, 3050), (1, 3050), (2, 3050)):
        left = allowed
        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", limited)
            with pytest.raises(StoreFullError):
                stored.persist(tmp_path, "terms", 2, count)
        assert stored.get("more 99") == 3099
        assert Dictionary(tmp_path, "terms", 3000, 1).get("word 2999") == 2999
    stored.persist(tmp_path, "terms", 2, 3050)
    again = Dictionary(tmp_path, "terms", 3050, 2)
    assert again.get("more 49") == 3049 and again.get("more 50") is None


def test_lookups_run_beside_interning_and_checkpoints(tmp_path):
    dictionary = Dictionary()
    dictionary.add_many(WORDS)
    done = threading.Event()
    wrong = []

    def look():
        numbers = itertools.cycle(range(0, 3000, 7))
        while not done.is_set():
            n = next(numbers)
            if dictionary.get(WORDS[n]) != n or dictionary.string(n) != WORDS[n]:
                wrong.append(n)

    readers = [threading.Thread(target=look) for _ in range(2)]
    for reader in readers:
        reader.start()
    for generation in range(1, 6):
        for n in range(300):
            dictionary.intern(f"{generation} {n}")
        dictionary.persist(tmp_path, "x", generation, sync=False)
        dictionary.adopt(generation)
    done.set()
    for reader in readers:
        reader.join()
    assert not wrong and dictionary.count == 4500


@pytest.mark.parametrize("add", [Dictionary.intern, lambda terms, word: terms.add_many([word])])
def test_a_word_that_comes_while_it_is_sought_is_found_afterwards(
    stored, tmp_path, monkeypatch, add
):
    sought = stored.get

    def get(string):
        number = sought(string)
        if number is None:
            monkeypatch.undo()  # interning seeks the word as well
            add(stored, string)
            stored.persist(tmp_path, "terms", 2)
            stored.adopt(2)
        return number

    monkeypatch.setattr(stored, "get", get)
    assert stored.get_many(["word 5", "late"]).tolist() == [5, NONE]
    assert stored.get_many(["word 5", "late"]).tolist() == [5, 3000]


def test_misuse_is_refused(stored, tmp_path):
    for number in (-1, 3000):
        with pytest.raises(InputError, match=r"\[0, 3000\)"):
            stored.string(number)
    for count in (2999, 3001):
        with pytest.raises(InputError):
            stored.persist(tmp_path, "terms", 2, count)
    with pytest.raises(InputError):
        Dictionary(stored=1)


SOUGHT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
    st.sampled_from(["", "a", "b", "ab", "é", "c d", "new 0", "new 1", "new 2", "new 701"]),
)
"""Strings that are never there, are there, or come later."""


class Dictionaries(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.folder = Dictionaries.root / str(next(Dictionaries.number))
        self.folder.mkdir()
        self.dictionary = Dictionary(self.folder, "x")
        self.model = []
        self.stored = self.generation = self.manifest = 0

    @rule(strings=st.lists(st.sampled_from(["", "a", "b", "ab", "é", "c d"])))
    def intern(self, strings):
        for string in strings:
            if string not in self.model:
                self.model.append(string)
            assert self.dictionary.intern(string) == self.model.index(string)

    @rule(string=SOUGHT)
    def look(self, string):
        expected = self.model.index(string) if string in self.model else None
        told = self.dictionary.look_up([string, "absent", *(f"new {n}" for n in range(20))])
        assert told[:2] == [NONE if expected is None else expected, NONE]
        assert self.dictionary.get(string) == expected
        expected = NONE if expected is None else expected
        assert self.dictionary.get_many([string, string]).tolist() == [expected] * 2

    @rule(n=st.sampled_from([1, 700]), together=st.booleans())
    def add_new(self, n, together):
        new = [f"new {len(self.model) + i}" for i in range(n)]
        expected = list(range(len(self.model), len(self.model) + n))
        if together:
            self.dictionary.add_many(new)
            assert self.dictionary.get_many(new).tolist() == expected
        else:
            assert [self.dictionary.intern(each) for each in new] == expected
        self.model += new

    @rule(data=st.data(), adopt=st.booleans(), publish=st.booleans())
    def checkpoint(self, data, adopt, publish):
        count = data.draw(st.integers(self.dictionary.stored, len(self.model)))
        self.generation += 1
        self.dictionary.persist(self.folder, "x", self.generation, count, sync=False)
        if publish or adopt:
            self.stored, self.manifest = count, self.generation
        if adopt:
            self.dictionary.adopt(self.generation)

    @rule()
    def reopen(self):
        self.dictionary = Dictionary(self.folder, "x", self.stored, self.manifest)
        del self.model[self.stored :]

    @invariant()
    def holds_what_the_model_holds(self):
        assert self.dictionary.count == len(self.model)
        for number in range(0, len(self.model), 101):
            assert self.dictionary.string(number) == self.model[number]
            assert self.dictionary.get(self.model[number]) == number


@pytest.fixture(autouse=True, scope="module")
def root(tmp_path_factory):
    Dictionaries.root = tmp_path_factory.mktemp("machines")
    Dictionaries.number = itertools.count()


TestDictionaries = Dictionaries.TestCase
TestDictionaries.settings = settings(max_examples=30, stateful_step_count=12, deadline=None)
assert INDEX_FROM < 1500  # the cases above cross it
