"""Banks asked through the public API, with an encoder of words that counts what it embeds."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.datasets.bank import Bank, Query, Turn
from bench.lib.kept_vectors import CHUNK, KeptVectors
from bench.tables import longmemeval
from bench.tables.lib import evaluation, report
from bench.tables.lib.metrics import bootstrap, paired
from bench.tables.lib.scoring import pooled, score
from recollex_engine.models.description import PAPER_THRESHOLDS

DIMENSION = 16
START = datetime(2024, 5, 1, 12, tzinfo=UTC)


class WordEncoder:
    """Adds up a random direction a word, and counts the texts it was asked for."""

    dimension = DIMENSION
    fingerprint = "words-16"
    thresholds = PAPER_THRESHOLDS

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(
        self, texts: Sequence[str], threads: int = 1, progress: Any = None
    ) -> NDArray[np.float32]:
        self.embedded += texts
        return np.array([self._vector(text) for text in texts], np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self.embedded.append(text)
        return self._vector(text)

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def _vector(self, text: str) -> NDArray[np.float32]:
        words = [sum(map(ord, word)) for word in text.lower().split()]
        total = sum(np.random.default_rng(word).normal(size=DIMENSION) for word in words)
        return np.asarray(total / np.linalg.norm(total), np.float32)


@pytest.fixture
def encoder() -> WordEncoder:
    return WordEncoder()


@pytest.fixture
def kept(encoder: WordEncoder, tmp_path: Path) -> KeptVectors:
    return KeptVectors(encoder, tmp_path / "vectors")  # type: ignore[arg-type]


def turn(n: int, text: str, **more: Any) -> Turn:
    at = START + timedelta(days=n)
    made = Turn(id=f"t{n}", text=text, document=f"d{n // 2}", at=at)
    made.update(more)  # type: ignore[typeddict-item]
    return made


def query(id: str, text: str, evidence: set[str], visible: int) -> Query:
    return Query(id, text, frozenset(evidence), "any", START + timedelta(days=9), visible, "dev")


SAID = ["I like tea", "The train was late", "My cello broke", "Tea again"]
BANK = Bank(
    "made",
    "one",
    "Ann",
    tuple(turn(n, text, speaker="Ann") for n, text in enumerate(SAID)),
    (
        query("q1", "who likes tea", {"t0"}, 2),
        query("q2", "what broke", {"t2"}, 4),
        query("q3", "tea", {"t0", "t3"}, 4),
        query("q4", "nothing", set(), 4),
    ),
    "turn",
)


def test_a_query_sees_what_came_before_it_and_no_more(kept: KeptVectors) -> None:
    answers = evaluation.run(BANK, embedder=kept)
    assert set(answers[0].ids) <= {"t0", "t1"} and answers[0].ids[0] == "t0"
    assert answers[1].arms["keyword"] == ("t2",)
    assert set(answers[2].arms["keyword"]) == {"t0", "t3"}
    for answer in answers:
        assert set().union(*answer.arms.values()) <= set(answer.ids)  # neighbours come by none
        assert {arm: len(ids) for arm, ids in answer.arms.items()} == {
            arm: len(scores) for arm, scores in answer.arm_scores.items()
        }


def test_queries_must_come_in_the_order_of_what_they_see(kept: KeptVectors) -> None:
    backwards = replace(BANK, queries=BANK.queries[::-1])
    with pytest.raises(ValueError, match="q1 sees 2 turns after one that saw 4"):
        evaluation.run(backwards, embedder=kept)


def test_options_go_to_recall(kept: KeptVectors) -> None:
    found = evaluation.run_all(
        BANK,
        {"all": {}, "one": {"thinking_budget": 1}},
        kept,
        read=lambda recall: [memory.text for memory in recall],
    )
    assert [len(answer.arms["keyword"]) for answer in found["one"]] == [1, 1, 1, 0]
    assert found["all"][2].arms["keyword"][:1] == found["one"][2].arms["keyword"]
    assert "Ann: My cello broke" in found["all"][1].read


def test_texts_without_speaker_or_time(kept: KeptVectors) -> None:
    plain = tuple(Turn(id=f"p{n}", text=text, document="d") for n, text in enumerate(SAID))
    bank = replace(BANK, turns=plain, queries=(query("q", "cello", {"p2"}, 4),))
    (answer,) = evaluation.run(bank, embedder=kept)
    assert answer.arms["keyword"] == ("p2",)


def test_a_turn_may_bring_its_vector(kept: KeptVectors) -> None:
    vector = kept.embed_query("zither")
    turns = (turn(0, "tea", vector=vector), turn(1, "train", vector=kept.embed_query("train")))
    bank = replace(BANK, turns=turns, queries=(query("q", "zither", {"t0"}, 2),))
    (answer,) = evaluation.run(bank, embedder=kept)
    assert answer.arms["semantic"][0] == "t0" and not answer.arms["keyword"]


def test_vectors_are_kept(encoder: WordEncoder, kept: KeptVectors) -> None:
    texts = [f"text {n}" for n in range(CHUNK + 3)]
    first = kept.embed(texts)
    assert first == pytest.approx(encoder.embed(texts))
    query_vector = kept.embed_query("text 0")
    encoder.embedded.clear()
    again = KeptVectors(encoder, kept.folder)  # type: ignore[arg-type]
    assert (again.embed(texts[::-1]) == first[::-1]).all()
    assert (again.embed_query("text 0") == query_vector).all()
    assert again.embed([]).shape == (0, DIMENSION)
    assert not encoder.embedded


def test_a_write_that_was_cut_short_is_done_again(encoder: WordEncoder, kept: KeptVectors) -> None:
    wanted = kept.embed(["one", "two"])
    with (kept.folder / "vectors").open("ab") as file:
        file.write(b"half")
    (kept.folder / "keys").write_bytes((kept.folder / "keys").read_bytes()[:-3])
    again = KeptVectors(encoder, kept.folder)  # type: ignore[arg-type]
    assert (again.embed(["two", "one"]) == wanted[::-1]).all()
    assert (KeptVectors(encoder, kept.folder).embed(["one", "two"]) == wanted).all()  # type: ignore[arg-type]


def test_another_process_adds_beside_us(encoder: WordEncoder, kept: KeptVectors) -> None:
    other = KeptVectors(encoder, kept.folder)  # type: ignore[arg-type]
    ours, theirs = kept.embed(["ours"]), other.embed(["theirs"])
    both = KeptVectors(encoder, kept.folder)  # type: ignore[arg-type]
    encoder.embedded.clear()
    assert (both.embed(["ours", "theirs"]) == np.concatenate([ours, theirs])).all()
    assert (kept.embed(["ours", "theirs"])[0] == ours[0]).all()


def test_scores_leave_out_queries_without_evidence(kept: KeptVectors) -> None:
    answers = evaluation.run(BANK, embedder=kept)
    scored = score(BANK, answers, ["R@1", "All@2"], arm="keyword")
    assert [query.id for query in scored.queries] == ["q1", "q2", "q3"]
    assert scored.values["R@1"].tolist() == [1, 1, 0.5]
    assert scored.values["All@2"].tolist() == [1, 1, 1]
    sessions = score(BANK, answers, ["R@1"], arm="keyword", unit="document")
    assert sessions.values["R@1"].tolist() == [1, 1, 0.5]  # t0 and t3 are of two documents
    both = pooled([scored, scored])
    assert len(both.where("dev").queries) == 6 and not both.where("report").queries
    assert both.where(category="any").categories == ["any"]


def test_a_table_is_kept_as_json_page_and_plot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: list[dict[str, report.Cell]] = [
        {"list": "a", "R@10": bootstrap([0.0, 1.0]), "minus b": paired([1.0], [0.5]), "n": 2}
    ]
    table = report.Table("made", "A claim.", [report.Section("all", rows)], ["odd"], {"k": 10})
    path = tmp_path / "runs" / "made.json"
    report.keep(table, path)
    page = path.with_suffix(".md").read_text()
    assert page.rstrip() == capsys.readouterr().out.rstrip()
    assert "| a | 0.500 [0.000, 1.000] | +0.500 [+0.500, +0.500] | 2 |" in page
    assert '"mean": 0.5' in path.read_text()
    plotted = [replace(section, plot="R@10") for section in table.sections]
    for name in ("first", "second"):
        report.draw(plotted, tmp_path / f"{name}.svg")
    assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "second.svg").read_bytes()


def test_longmemeval_by_type_without_abstention(kept: KeptVectors) -> None:
    banks = [
        replace(BANK, name="q2", queries=BANK.queries[1:2]),
        replace(BANK, name="q4", queries=(replace(BANK.queries[3], answerable=False),)),
    ]
    everything, one_type = longmemeval.table(banks, kept)
    keyword = next(row for row in everything.rows if row["list"] == "keyword")
    assert keyword["questions"] == 1 and keyword["R@5"] == bootstrap([1.0])
    assert one_type.title == "any" and one_type.rows == everything.rows


def test_longmemeval_says_when_it_was_not_run() -> None:
    assert {row["R@10"] for row in longmemeval.not_run().rows} == {"not run"}
