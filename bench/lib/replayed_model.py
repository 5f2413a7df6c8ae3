"""A model that draws LoCoMo's ``observation`` facts from the turns that it is shown.

It is the other end of a `counting_endpoint`: the real client, prompts, schemas and checks run.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bench.datasets.bank import Bank
from bench.datasets.locomo import Observation

_LETTERS = re.compile(r"\W+")
_TURN = re.compile(r"^\[(m\d+)\] \([^)]*\) (.*(?:\n    .*)*)$", re.M)


class ReplayedModel:
    """Answers for a model: with the observations of the turns that a prompt shows."""

    def __init__(self, mode: str) -> None:
        self._mode = mode
        self._said: dict[str, list[str]] = {}
        self._observed: dict[str, list[Observation]] = {}
        self.given = 0

    def hear(self, bank: Bank, facts: Sequence[Observation]) -> None:
        """Take the next conversation."""
        self.given = 0
        self._said, self._observed = {}, {}
        known = {turn["id"] for turn in bank.turns}
        for turn in bank.turns:
            self._said.setdefault(_plain(_text(turn)), []).append(turn["id"])
        for fact in facts:
            if cited := [id for id in fact.turns if id in known]:
                self._observed.setdefault(cited[0], []).append(fact)

    def answer(self, sent: Mapping[str, Any]) -> str:
        """Return what the model says to a request."""
        if sent["response_format"]["json_schema"]["name"] not in ("ExtractedFacts", "Episode"):
            return json.dumps({"relations": []})
        user = sent["messages"][-1]["content"].split("\nThe turns:\n")[1]
        labels = dict(self._shown(_TURN.findall(user)))
        found = [fact for id in labels for fact in self._observed.pop(id, [])]
        self.given += len(found)
        if self._mode == "episodic":
            return json.dumps(_episode(found, labels))
        if self._mode == "atomic":
            said = [(fact.text, fact.turns) for fact in found]
        else:
            said = [
                (" ".join(_ended(fact.text) for fact in mine), [id for f in mine for id in f.turns])
                for mine in _by_speaker(found)
            ]
        return json.dumps({"facts": [_fact(text, turns, labels) for text, turns in said]})

    def _shown(self, turns: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Yield (id, label) of the turns of a prompt; of equal texts the next one not yet shown."""
        for label, text in turns:
            ids = self._said[_plain(text)]
            yield (ids.pop(0) if ids[1:] else ids[0]), label


def _by_speaker(facts: Sequence[Observation]) -> list[list[Observation]]:
    speakers = dict.fromkeys(fact.speaker for fact in facts)
    return [[fact for fact in facts if fact.speaker == speaker] for speaker in speakers]


def _ended(text: str) -> str:
    return text if text[-1] in ".!?" else f"{text}."


def _episode(facts: Sequence[Observation], labels: Mapping[str, str]) -> dict[str, Any]:
    """Return each observation as a gist and as a triple of its words."""
    untimed = {"point_in_time": None, "start_time": None, "end_time": None}
    gists, triples = [], []
    for fact in facts:
        evidence = [labels[id] for id in dict.fromkeys(fact.turns) if id in labels]
        gists.append({"text": fact.text, "when": None, "evidence": evidence})
        subject, predicate, rest = fact.triple
        triple = {"subject": subject, "predicate": predicate, "object": rest}
        triples.append({**triple, **untimed, "evidence": evidence})
    return {"gists": gists, "facts": triples}


def _fact(text: str, turns: Sequence[str], labels: Mapping[str, str]) -> dict[str, Any]:
    evidence = [labels[id] for id in dict.fromkeys(turns) if id in labels]
    nothing = {"when": None, "participants": [], "reasons": [], "entities": [], "confidence": None}
    return {"text": text, "network": "world", "evidence": evidence, **nothing}


def _text(turn: Mapping[str, Any]) -> str:
    caption = f" [picture: {turn['caption']}]" if "caption" in turn else ""
    return f"{turn['speaker']}: {turn['text']}{caption}"


def _plain(text: str) -> str:
    return _LETTERS.sub("", text).lower()
