import doctest
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollex_engine.text import names as module
from recollex_engine.text.names import find_names, fold_name


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I moved to Mountain View with Bob Chen's sister.", ["Mountain View", "Bob Chen"]),
        ("She studies at the University of Oslo.", ["University of Oslo"]),
        ("The LGBTQ group met NASA people.", ["LGBTQ", "NASA"]),
        ("Hey Mel! How are you?", ["Mel"]),
        ("Wow, Caroline, that's great!", ["Caroline"]),
        ("Wow", []),
        ("Thanks! Congrats! Hey!", []),
        ("Seeing Melanie made my day. Really.", ["Melanie"]),
        ("Luna and Oliver! They are so sweet.", ["Luna", "Oliver"]),
        ("Painting is fun. My painting of Oslo sold.", ["Oslo"]),
        ("Lorem is odd, I never read lorem.", []),
        ("We met Dr. Alice Smith and Mr. Jones in May.", ["Dr. Alice Smith", "Mr. Jones"]),
        ("On Friday in June we saw Theresa May.", ["Theresa May"]),
        ("In oslo with Theresa May 7 people", ["Theresa"]),
        ("J.K. Rowling and George R. R. Martin write.", ["J.K. Rowling", "George R. R. Martin"]),
        ("I love The Lord of the Rings and Under Armour.", ["Lord of the Rings", "Under Armour"]),
        ("NO WAY THAT IS AMAZING", []),
        ("I am JUST DOING IT", []),
        ("Ask @Bob or see https://Example.com/Foo", []),
        ("we like Jean-Luc, O'Brien and AT&T", ["Jean-Luc", "O'Brien", "AT&T"]),
        ("Then I went with Élodie to Århus", ["Élodie", "Århus"]),
        ("We chose plan B. Then we left.", []),
        ("Bob saw bob. BOB!", []),
        ("Oslo, Oslo and OSLO", ["Oslo"]),
        ("New York is big. Star Wars is long.", ["New York", "Star Wars"]),
        ("See you Mondays, I think.", []),
        ("Bart去动物园看到了大象，与好友Jimmy和小王分享。", ["Bart", "Jimmy"]),
        ("어제 Bart가 왔다. 東京のBobさん。 ไปหาBobที่นั่น", ["Bart", "Bob"]),
        ("A" * 200, []),
        ("", []),
    ],
)
def test_names(text, names):
    assert find_names(text) == names


def test_the_speaker_comes_first_and_once():
    assert find_names("Melanie here, with  Bob.", "Melanie") == ["Melanie", "Bob"]
    assert find_names("nobody", "  user \n 7 ") == ["user 7"]
    assert find_names("nobody", "") == []


@settings(deadline=None)
@given(st.text(st.characters(codec=None)) | st.text(st.sampled_from("AbÉ .'-&I\ud800of\n\"去가")))
def test_any_string_has_names_that_stand_in_it(text):
    names = find_names(text)
    assert len({name.casefold() for name in names}) == len(names)
    assert all(name and name in text for name in names)


@pytest.mark.parametrize("part", ["A", "Bob ", "A.", "B of the ", "A-a", "a", "Bob\n", "'", "A'B"])
def test_a_hostile_megabyte_takes_seconds_at_most(part):
    began = time.process_time()
    find_names(part * (300_000 // len(part)))
    assert time.process_time() - began < 5


@given(st.text(st.characters(codec=None), min_size=1, max_size=20))
def test_folding_twice_changes_nothing_and_never_empties(text):
    assert fold_name(text)
    assert find_names(text) is not None


def test_normal_forms_are_kept_up_to_a_bound(monkeypatch):
    monkeypatch.setattr(module, "_MEMO_NAMES", 3)
    module._folded.clear()
    names = ["The Hague", "Oslo's", "Dr. Quibble", "Zoë", "x" * 101]
    assert [fold_name(each) for each in names] == ["hague", "oslo", "dr quibble", "zoe", "x" * 100]
    assert list(module._folded) == ["Zoë"]
