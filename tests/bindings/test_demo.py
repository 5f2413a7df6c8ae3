import re
from pathlib import Path

import pytest

from recollex.cli import main
from recollex.cli.demo.conversation import NOW, QUESTIONS, turns


def test_the_talk_is_half_a_year_of_several_people() -> None:
    talk = turns()
    times = [turn["at"] for turn in talk]
    assert len(talk) >= 60
    assert times == sorted(set(times))
    assert (times[-1] - times[0]).days >= 150 and times[-1] < NOW
    assert len({turn["speaker"] for turn in talk}) >= 4
    assert len({turn["id"] for turn in talk}) == len(talk)
    assert any("caption" in turn for turn in talk)
    assert any(len(turn["text"].split()) > 130 for turn in talk)


def test_the_demo_answers_its_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "kept"
    assert main(["demo", "--store", str(kept)]) == 0
    shown = capsys.readouterr().out
    for question in QUESTIONS:
        assert f"? {question}" in shown
    assert re.search(r"^p50 of a recall: [\d,]+ µs", shown, re.M)
    assert main(["recall", str(kept), "--agent", "workshop", "Who is allergic to walnuts?"]) == 0
    assert "walnuts" in capsys.readouterr().out


def test_asking_the_demo_again_stores_nothing_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        assert main(["demo", "--store", str(tmp_path / "kept")]) == 0
    capsys.readouterr()
    main(["stats", str(tmp_path / "kept"), "--agent", "workshop"])
    assert re.search(rf"^memories +{len(turns())}$", capsys.readouterr().out, re.M)
