"""The everyday set: what it promises of its questions, and that its table counts places rightly."""

from bench.datasets import everyday
from bench.tables.everyday import shares
from recollex_engine.text.analyzer import Analyzer


def test_no_question_shares_a_content_word_with_its_evidence() -> None:
    words = Analyzer().sequence
    shared = [
        (query.text, turn["text"])
        for bank in everyday.load()
        for query in bank.queries
        for turn in bank.turns
        if turn["id"] in query.evidence
        and set(words(query.text)) & set(words(turn["text"])) - {None}
    ]
    assert not shared


def test_twenty_banks_of_5_to_50_memories_have_ten_questions_each() -> None:
    banks = everyday.load()
    sizes = [len(bank.turns) for bank in banks]
    assert (len(banks), min(sizes), max(sizes)) == (20, 5, 50)
    assert sizes == sorted(sizes)
    assert {len(bank.queries) for bank in banks} == {10}
    assert len({query.id for bank in banks for query in bank.queries}) == 200
    for bank in banks:
        known = set(bank.document_of)
        assert len(known) == len(bank.turns)
        assert all(query.evidence and query.evidence <= known for query in bank.queries)


def test_shares_count_places_from_one_and_what_was_not_found() -> None:
    bank = everyday.load()[0]
    places = [(bank, "q", 1, 5), (bank, "q", 3, 5), (bank, "q", 4, 5), (bank, "q", None, 0)]
    row = shares(places)
    means = [getattr(row[name], "mean", None) for name in ("first", "first three", "first five")]
    assert means == [0.25, 0.5, 0.75]
    assert (row["questions"], row["empty"]) == (4, 1)
