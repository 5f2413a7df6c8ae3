"""The labels of an answer: which memory each cites, for which claim, and which are made up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollex_mind.thought import check_citations

SHOWN = {f"m{number}": f"id{number}" for number in range(1, 4)}
READ = [
    ("It took 3.5 hours [m1].", [("m1", "It took 3.5 hours.")], []),
    ("It took 3.5 hours. [m1] So?", [("m1", "It took 3.5 hours.")], ["So?"]),
    ("In the U.S. [m2], it rains.", [("m2", "In the U.S., it rains.")], []),
    ("- Tea [m1]\n- Milk", [("m1", "- Tea")], ["- Milk"]),
    ("Tea [m1][m2] and milk [m3]!", [(f"m{n}", "Tea and milk!") for n in (1, 2, 3)], []),
    ("Tea [m1,m2; 3].", [(f"m{n}", "Tea.") for n in (1, 2, 3)], []),
    ("Tea [M01 ].", [("m1", "Tea.")], []),
    ("Tea (m1) m2] [m.", [], ["Tea (m1) m2] [m."]),
    ("", [], []),
    ("...", [], []),
]


@pytest.mark.parametrize(("answer", "cited", "uncited"), READ)
def test_labels_and_claims(answer: str, cited: list[tuple[str, str]], uncited: list[str]) -> None:
    checked = check_citations(answer, SHOWN)
    assert [(each.label, each.claim) for each in checked.citations] == cited
    assert list(checked.uncited) == uncited and checked.forged == ()
    for each in checked.citations:
        assert checked.text[slice(*each.span)] == f"[{each.label}]" and each.id == SHOWN[each.label]


def test_labels_that_are_made_up_are_taken_out() -> None:
    checked = check_citations("Tea [m9]. Milk [m1, m7] [m0].", SHOWN)
    assert checked.text == "Tea. Milk [m1]." and checked.forged == ("m9", "m7", "m0")
    assert checked.uncited == ("Tea.",)


@given(st.lists(st.sampled_from(["Tea", " [m1]", "[m9]", ".", " ", "\n", "[m2, m8]", "?"])))
def test_no_label_of_another_memory_is_left(parts: list[str]) -> None:
    checked = check_citations("".join(parts), SHOWN)
    again = check_citations(checked.text, SHOWN)
    assert again.forged == () and again.citations == checked.citations
    wanted = [name for part in parts for name in ("m1", "m2") if f"[{name}" in part]
    assert [each.label for each in checked.citations] == wanted
