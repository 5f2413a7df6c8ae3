"""SciFact (Wadden et al., 2020) in BEIR's form: claims, evidence by abstract.

A document is its title, a space and its abstract, as BEIR indexes it. The claims with BEIR's test
judgements are for reporting only. Development has the training claims, and their evidence is the
documents that they cite.

From github.com/beir-cellar/beir, data set ``scifact`` (``qrels/test.tsv`` is
``beir_qrels_test.tsv`` here), with the cited documents of the claims from
github.com/allenai/scifact; SHA-256 of each file in ``SHA256SUMS``.
"""

import csv
import json
from pathlib import Path

from bench.datasets.bank import Bank, Query, Turn
from bench.datasets.undated import ASKED_AT


def load(data: Path) -> list[Bank]:
    """Return the one bank: 5,183 documents, the training claims and then the test claims."""
    folder = data / "scifact"
    documents = _lines(folder / "corpus.jsonl")
    turns = tuple(
        Turn(
            id=document["_id"],
            text=f"{document['title']} {document['text']}".strip(),
            document=document["_id"],
        )
        for document in documents
    )
    known = {turn["id"] for turn in turns}
    judged: dict[str, set[str]] = {}
    with (folder / "beir_qrels_test.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if int(row["score"]) > 0:
                judged.setdefault(row["query-id"], set()).add(row["corpus-id"])
    training, test = [], []
    for claim in _lines(folder / "queries.jsonl"):
        id, text = claim["_id"], claim["text"]
        if id in judged:
            found = frozenset(judged[id] & known)
            test.append(Query(id, text, found, "claim", ASKED_AT, len(turns), "report"))
        elif claim["split"] == "train":
            cited = frozenset(map(str, claim["cited_doc_ids"])) & known
            training.append(Query(id, text, cited, "claim", ASKED_AT, len(turns), "dev"))
    queries = (*training, *test)
    return [Bank("scifact", "abstracts", "reader", turns, queries, "turn")]


def _lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]
