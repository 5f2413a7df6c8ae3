from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.storage.dictionary import BatchInterner, Dictionary


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f", ""]))))
def test_newcomers_get_the_numbers_that_interning_gives(runs):
    one, other = Dictionary(), Dictionary()
    one.intern("d"), other.intern("d")
    for run in runs:
        new = BatchInterner(other)
        assert [new[string] for string in run] == [one.intern(string) for string in run]
        assert other.count <= one.count
        new.add()
    assert one.strings(range(one.count)) == other.strings(range(other.count))
    assert [other.get(string) for string in "abcdef"] == [one.get(string) for string in "abcdef"]


@settings(deadline=None)
@given(st.lists(st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f", ""]))))
def test_strings_that_are_looked_up_together_get_the_same_numbers(runs):
    one, other = Dictionary(), Dictionary()
    one.intern("d"), other.intern("d")
    for run in runs:
        single, together = BatchInterner(one), BatchInterner(other)
        half = len(run) // 2
        numbers = [together[string] for string in run[:half]] + together.many(run[half:])
        assert numbers == [single[string] for string in run]
        single.add(), together.add()
    assert one.strings(range(one.count)) == other.strings(range(other.count))
