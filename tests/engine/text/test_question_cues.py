import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.text import question_cues as cues
from recollex_engine.text.question_cues import first_name, read_cues


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did we settle on for the trip?", True),
        ("G'day. You mentioned a protocol for me.", True),
        ("Let\u2019s go on", True),
        ("Hi. Ready to review the specification", True),
        ("I\u2019m back, what comes next?", True),
        ("Great. What is the next step?", True),
        ("Great Britain was left when?", False),
        ("Who said hi to Bob?", False),
        ("Where does Bob live?", False),
        ("What did the weight of youth cost us", True),
        ("Who found the bus?", False),
        ("", False),
    ],
)
def test_a_question_that_speaks_to_its_hearer_is_told_by_its_words(text, expected):
    assert read_cues(text).addressed is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When did Ann leave?", True),
        ("  in which month was the fair?", True),
        ("How long was she away?", True),
        ("What did Ann do when she left?", False),
        ("Whenever", False),
    ],
)
def test_only_a_question_whose_answer_is_a_time_asks_when(text, expected):
    assert read_cues(text).asks_when is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Would Ann be happy in Oslo?", True),
        ("What pets wouldn\u2019t Joe mind?", True),
        ("Where is she likely to go?", True),
        ("Where did Ann go in May?", False),
        ("Who carried the wood?", False),
    ],
)
def test_a_question_that_supposes_asks_about_no_moment(text, expected):
    assert read_cues(text).supposes is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is Ann's latest book?", 1),
        ("Which book did Ann read first?", -1),
        ("What was first said most recently?", 0),  # both, so neither
        ("What did Ann read?", 0),
        ("Who is the firstborn?", 0),
    ],
)
def test_first_and_last_give_an_order(text, expected):
    assert read_cues(text).order == expected


@pytest.mark.parametrize(
    ("text", "person", "expected"),
    [
        ("What did Ann\u2019s brother say?", "Ann Lee", True),
        ("What did ann say?", "ANN", True),
        ("What did Annabel say?", "Ann", False),
        ("What did O'Brien say?", "o\u2019brien", True),
        ("What did Zoë say?", "Zoë", True),
        ("What did she say?", "", False),
        ("What did she say?", "?!", False),
    ],
)
def test_a_person_is_named_by_the_first_of_their_names(text, person, expected):
    assert (first_name(person) in read_cues(text).words) is expected


PIECES = (
    *("we", "We're", "our", "US", "let's", "lets", "you\u2019ll", "yours", "i", "I'm", "i've"),
    *("hi", "Hello,", "hey", "good", "morning", "alright,", "ok", "thanks", "thank", "you!"),
    *("would", "wouldn't", "couldn\u2019t", "mightn", "should", "likely", "probably"),
    *("most", "recent", "last", "time", "latest", "newest", "first", "began", "started", "re"),
    *("dog's", "x", "\u00fcber", "_", "'", "-", "1"),
)


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=6), st.sampled_from([" ", "-", "'", "_", ", "]))
def test_an_expression_is_left_out_only_where_it_could_not_match(pieces, between):
    text = between.join(pieces)
    folded = text.lower().replace("\u2019", "'")
    found = read_cues(text)
    assert found.addressed is bool(cues._HEARER.search(folded))
    assert found.supposes is bool(cues._SUPPOSES.search(folded))
    assert found.order == bool(cues._LAST.search(folded)) - bool(cues._FIRST.search(folded))
