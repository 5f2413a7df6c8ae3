"""Gists and facts in the form of REMem's Table 21 go in as triples and come out as they were."""

import json
from pathlib import Path

import recollex
from tests.bindings.word_vectors import WordVectors

# A passage of our own: three sentences as gists, and their facts.
MADE = [
    ("Iva Sol was enrolled in the rowing club of Lund in February 2002.", "Iva Sol",
     "was enrolled in", "the rowing club of Lund", {"point_in_time": "2002-02"}),
    ("Iva Sol won 12 of 14 races in her first season (2002-2003).", "Iva Sol", "won",
     "12 of 14 races", {"start_time": "2002", "end_time": "2003"}),
    ("In June 2003 Iva Sol received an offer to join Hamar.", "Iva Sol",
     "received an offer to join", "Hamar", {"point_in_time": "2003-06"}),
    ("Iva Sol befriended Pia and Mats.", "Iva Sol", "befriended", "Pia and Mats", {}),
]  # fmt: skip


def test_gists_and_facts_keep_their_form(tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    rows = [
        {"text": text, "subject": subject, "predicate": predicate, "object": value} | times
        for text, subject, predicate, value, times in MADE
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    with recollex.open(tmp_path / "s", embedder=WordVectors()) as store:
        ann = store.agent("ann")
        done = recollex.ingest(ann, path)
        assert (done.facts, done.stored) == (4, 4)
        found = ann.tools.find_entity_contexts("Iva Sol", ordering="asc", max_tokens=None)
        lines = found.to_prompt().splitlines()
        for _, subject, predicate, value, times in MADE:
            (line,) = [each for each in lines if f"({subject}, {predicate}, {value})" in each]
            written = json.loads(line[line.index("{") :])
            assert written == times if times else set(written) == {"record_time"}
        assert {gist.text for gist in found.gists} == {text for text, *_ in MADE}
        assert [fact.evidence for fact in found.facts] == [
            (gist.id,)
            for fact in found.facts
            for gist in found.gists
            if str(fact.object).split()[-1] in gist.text
        ]
