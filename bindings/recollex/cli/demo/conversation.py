"""The demo's talk: five people, a repair workshop and half a year, written for recollex."""

from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from recollex.files import jsonl

DOCUMENT = "the-workshop"
NOW = datetime(2024, 7, 10, 9, 0, tzinfo=UTC)
"""Two days after the last turn: the time from which "last month" in a question is counted."""

QUESTIONS = (
    "What does Marek do at the university?",
    "When is Joseph's hip operation?",
    "What happened to the blue van?",
    "Who must not eat walnuts?",
    "How much money did the council give the workshop?",
    "How was Joseph after his operation in March 2024?",
    "Why must the kiln and the band saw not run together?",
    "What did Lena's glazed tiles look like?",
    "How fast did Priya run the half-marathon?",
    "Where does Joseph's granddaughter Amelie live?",
    "What did Ines carry on the yellow bicycle last month?",
    "Which day will repair day be from September on?",
)


def turns() -> list[dict[str, Any]]:
    """Return the turns in order, as `Agent.retain_dialogue` takes them."""
    lines = (
        files("recollex.cli.demo").joinpath("conversation.jsonl").read_text("utf-8").splitlines()
    )
    return [line.fields for line in jsonl.read(lines, UTC, DOCUMENT)]
