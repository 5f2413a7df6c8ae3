"""Configurations asked over banks, and what tables make of their answers."""

from pathlib import Path

from bench.datasets.bank import Bank, Query, Split
from bench.datasets.realmem import of_earlier_sessions
from bench.lib.kept_vectors import KeptVectors
from bench.tables import satf_tables, tempr_table2
from bench.tables.lib import report
from bench.tables.lib.evaluation import Asking, run, run_all
from bench.tables.lib.metrics import Interval, paired
from bench.tables.lib.trials import SPLITS, by_set, claim_of, together, trials
from bench.tables.lib.words import COLUMN, count_words, lengths, words_of_evidence
from recollex import presets
from tests.bench.made_up_bank import START, made_up_bank


def bank(name: str, split: Split) -> Bank:
    return made_up_bank(name, split, "What froze on 3 May 2024?", "t2")


def test_a_trial_holds_the_queries_with_evidence_of_all_banks(kept: KeptVectors) -> None:
    asked: dict[str, Asking] = {"default": {}, "satf": {"preset": "satf"}}
    banks = [bank("one", "dev"), bank("two", "report")]
    found = trials(banks, asked, kept, ("R@1", "R@5"), read=len)
    for name, trial in found.items():
        assert [query.id for query in trial.scored.queries] == ["a", "c", "a", "c"]
        assert len(trial.micros) == len(trial.reads) == 4
        part = trial.where("report", "second")
        assert [query.id for query in part.scored.queries] == ["c"]
        assert part.reads == trial.reads[3:] and part.micros == trial.micros[3:]
        assert sorted(trial.found[0]) == [1, 3, 3] and trial.gold == ((3,), (3,), (3,), (3,))
        assert trial.intervals(())[COLUMN] == "3 / 3"
        assert trial.p50 > 0 and trial.where(category="none").p50 == 0
        alone = [run(b, asked[name], kept) for b in banks]  # type: ignore[arg-type]
        expected = [
            float(answer.query.evidence <= set(answer.ids[:1]))
            for answers in alone
            for answer in answers
            if answer.query.evidence
        ]
        assert trial.scored.values["R@1"].tolist() == expected
    assert set(by_set(banks)) == {"made"}
    whole = found["default"]
    parts = [whole.where(split) for split in SPLITS]
    again = together(parts)
    assert again.scored.queries == whole.scored.queries and again.reads == whole.reads


def test_words_of_evidence_are_those_of_its_memories_or_of_its_documents() -> None:
    one = bank("one", "dev")
    words = {turn["id"]: count_words(turn["text"]) for turn in one.turns}
    assert words_of_evidence(one, one.queries[2], words) == (3,)
    query = Query("q", "?", frozenset({"d0", "d1"}), "any", START, 3, "dev")
    whole = Bank("made", "one", "Ann", one.turns, (query,), "document")
    assert words_of_evidence(whole, query, words) == (3, 1, 3)
    assert lengths([], []) == "0 / 0"
    assert count_words("\u4eca\u5929 at 9, it's") == 6


def test_without_lists_the_same_ids_come(kept: KeptVectors) -> None:
    one = bank("one", "dev")
    with_lists = run_all(one, {"": {}}, kept)[""]
    without = run_all(one, {"": {}}, kept, lists=False)[""]
    assert [answer.ids for answer in with_lists] == [answer.ids for answer in without]
    assert not any(answer.arms or answer.scores for answer in without)


def test_each_query_may_have_options_of_its_own(kept: KeptVectors) -> None:
    within = satf_tables.filtered(presets.default)
    found = run_all(bank("one", "dev"), {"all": {}, "range": within}, kept, lists=False)
    assert set(found["range"][2].ids) == {"t2"} < set(found["all"][2].ids)
    assert found["range"][0].ids == found["all"][0].ids  # names no time


def test_earlier_sessions_alone() -> None:
    one = bank("one", "dev")
    earlier = of_earlier_sessions(
        Bank("made", "one", "Ann", one.turns, one.queries[:2], "document")
    )
    assert [query.visible for query in one.queries[:2]] == [3, 3]
    assert [query.visible for query in earlier.queries] == [2, 2]


def test_chunks_hold_whole_turns_of_one_session(kept: KeptVectors) -> None:
    stored, said = tempr_table2.chunked(bank("one", "dev"), 8, kept)
    assert [turn["text"] for turn in stored.turns] == [
        "Ann: We planted tulips\nBen: Nice",
        "Ann: The tulips froze",
        "Ben: My bicycle was stolen",
        "Ann: Oh no",
    ]
    assert said["from t0"] == ("t0", "t1") and said["from t3"] == ("t3",)
    assert all(query.visible == 4 for query in stored.queries)


def test_what_a_reading_budget_finds() -> None:
    query = Query("q", "?", frozenset({"t1", "t2"}), "any", START, 3, "dev")
    read = [("c", 200), ("t2", 100), ("x", 900)]
    found = tempr_table2.values(query, read, {"c": ("t0", "t1")})
    assert found == [1.0, 0.5, 1.0, 1.0, 1200.0]


def test_a_curve_is_drawn_over_its_column(tmp_path: Path) -> None:
    rows: list[dict[str, report.Cell]] = [
        {"budget": n, "R@10": Interval(0.1 * n, 0.05, 0.9, 4), "p50 ms": 0.5 * n} for n in (1, 2, 3)
    ]
    section = report.Section("one", rows, plot="R@10", across="p50 ms")
    bars = report.Section("two", rows, plot="R@10")
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    report.draw([section, bars], first)
    report.draw([section, bars], second)
    assert first.read_bytes() == second.read_bytes()
    assert b"svg" in first.read_bytes()


def test_the_claim_is_the_second_paragraph() -> None:
    assert claim_of("Question?\n\nClaim: it\nholds.\n\nCommand") == "Claim: it holds."


def test_harm_is_told_by_the_bound() -> None:
    def told(values: list[float]) -> str:
        return satf_tables.harm(paired(values, [0.5] * len(values)))

    assert told([0.5] * 20) == "shown"
    assert told([0.3, 0.4] * 10) == "harm"
    assert told([0.0, 1.0, 0.5]).startswith("not shown (bound -0.")
