"""TimeQA (Chen et al., 2021), human annotated: what held when, evidence by paragraph.

All pages are pooled into one bank. A paragraph is a memory and a page is a document, so a question
must find its page before its paragraph. Published numbers are measured with the page given, so they
are not comparable. Paragraphs are not changed: most name the page's subject as "he" or not at all.
Two pages are in the file twice and are kept once. A question without an answer on its page is not
answerable.

From github.com/wenhuchen/Time-Sensitive-QA, ``dataset/human_annotated_train.json``; SHA-256
99eec0514569ecbdea087ae3751a1e7d5ae0e45fcf82f9b4e9226f30967939b5.
"""

import json
from pathlib import Path

from bench.datasets.bank import Bank, Query, Turn, halves
from bench.datasets.undated import ASKED_AT


def load(data: Path) -> list[Bank]:
    """Return one bank of every page's paragraphs."""
    pages = json.loads((data / "timeqa" / "human_annotated_train.json").read_text(encoding="utf-8"))
    turns: list[Turn] = []
    asked = []
    met: set[str] = set()
    for page in pages:
        link = page["link"]
        if link not in met:
            turns += [
                Turn(id=f"{link}:{place}", text=text, document=link)
                for place, text in enumerate(page["paras"])
            ]
        met.add(link)
        for place, (question, answers) in enumerate(page["questions"]):
            evidence = frozenset(f"{link}:{a['para']}" for a in answers if a["answer"])
            asked.append((f"{page['index']}/{place}", question, evidence, page["type"]))
    queries = tuple(
        Query(id, text, evidence, kind, ASKED_AT, len(turns), split, answerable=bool(evidence))
        for (id, text, evidence, kind), split in zip(asked, halves(len(asked)), strict=True)
    )
    notes = {"pages": len(met), "not answerable": sum(not query.evidence for query in queries)}
    return [Bank("timeqa", "pages", "reader", tuple(turns), queries, "turn", notes)]
