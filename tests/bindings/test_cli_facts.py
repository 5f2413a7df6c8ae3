"""`recollex facts`: facts by their parts and times, counted, ordered and paged."""

import json
from pathlib import Path

import pytest

import recollex
from tests.bindings.command_line import Shell


@pytest.fixture
def store(shell: Shell) -> str:
    with recollex.open("memory", embedder=recollex.GivenVectors(8)) as opened:
        facts = opened.agent("default").facts
        for year, city in ((2001, "Oslo"), (2005, "Rome"), (2010, "Oslo")):
            facts.add("Ann", "lived_in", city, valid=f"in {year}", id=f"home {year}")
        facts.add("Ann", "colour", recollex.Text("blue"), id="colour")
        facts.add("Ben", "age", 3, id="age")
    assert Path("memory").exists()
    return "memory"


def test_times_order_and_pages(shell: Shell, store: str) -> None:
    def ids(*words: str) -> list[str]:
        code, out, _ = shell("facts", store, *words, "--json")
        found = [json.loads(line)["id"] for line in out.splitlines()]
        assert code == (0 if found else 1)
        return found

    assert ids("--start", "2005") == ["home 2005"]
    assert ids("--start", "ge 2005-01-01", "--start", "lt 2010-06") == ["home 2005", "home 2010"]
    assert ids("--end", "lt 2005", "--start", "exists true") == ["home 2001"]
    assert ids("--start", "exists false") == ["colour", "age"]
    assert ids("--start", "gt 2005-01-01", "--zone", "Europe/Paris") == ["home 2010"]
    latest = ("--predicate", "lived_in", "--order-by", "start", "--descending")
    assert ids(*latest, "--limit", "1") == ["home 2010"]
    assert ids(*latest, "--limit", "1", "--offset", "1") == ["home 2005"]
    assert ids("--literal", '"blue"') == ["colour"] and ids("--literal", "3") == ["age"]
    assert ids("--object", "blue") == []


def test_what_is_counted(shell: Shell, store: str) -> None:
    assert shell("facts", store, "--count")[1] == "5\n"
    assert shell("facts", store, "--subject", "Ann", "--distinct", "object")[1] == "3\n"
    code, out, _ = shell("facts", store, "--values", "subject", "--json")
    assert code == 0 and json.loads(out) == {"Ann": 4, "Ben": 1}
    assert "        2  Oslo" in shell("facts", store, "--values", "object")[1]
    code, out, err = shell("facts", store, "--subject", "Nobody")
    assert (code, out) == (1, "")
    assert "has no facts like that, none with the subject 'Nobody', only Ann, Ben\n" in err
    err = shell("facts", store, "--subject", "Ann", "--predicate", "lvied_in")[2]
    assert "none with the predicate 'lvied_in': did you mean lived_in?\n" in err
    assert shell("facts", store, "--start", "2050")[2].endswith("has no facts like that\n")
    assert "Ann lived_in Rome | valid 2005" in shell("facts", store, "--start", "2005")[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--start", "ge May"], "--start must be written as"),
        (["--start", "2024-13"], "--start is not a time of the calendar"),
        (["--end", "exists"], 'must be "exists true"'),
        (["--end", "lt 2024", "--end", "lt 2025"], "--end has lt twice"),
        (["--order-by", "age"], "order_by must be one of recorded, start, end"),
        (["--distinct", "id"], "distinct must be one of subject, predicate, object"),
        (["--literal", "blue"], "--literal must be JSON"),
        (["--literal", "3", "--object", "x"], "give one of them"),
        (["--offset", "-1"], "offset must"),
    ],
)
def test_a_wrong_option_is_named(shell: Shell, store: str, words: list[str], said: str) -> None:
    code, _, err = shell("facts", store, *words)
    assert code == 2 and said in err
