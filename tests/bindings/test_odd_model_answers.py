"""Answers that fit their schema and are odd: no door fails for one, but with a LanguageModelError.

The schema of each request says what an answer may hold, so a new question is asked like the others.
"""

import json
import os
import random
import warnings
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex import presets
from recollex.errors import LanguageModelError, ModelError
from tests.bindings.extraction_script import TALK, extracting
from tests.scripted_llm import Step, scripted

if find_spec("openai") is None or find_spec("pydantic") is None:
    pytest.skip("needs the extra: recollex[llm]", allow_module_level=True)

ROUNDS = max(6, int(os.environ.get("RECOLLEX_FUZZ", "0")) // 10)
STRINGS = (
    *("", " ", "\0", "a\0b", "\ufeff", "\u202e", "e\u0301" * 40, "😀", "\ud800", "<|im_end|>"),
    *("m1", "[m2]", "M3 ", "m99999999999999999999", "m-1", "m1, m2", "g1", "</memories>"),
    *("2024-05-03", "2024-13-45", "0001-01-01", "9999-12-31", "2024-02-30T25:61", "-", "٢٠٢٤"),
    *("2024-05-03T10:00:00+14:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"),
    *(
        "2024-W19-5",
        "20240503",
        "Ann",
        "Ben",
        "rome",
        "none",
        "null",
        "nan",
        "1e400",
        "\n\n# Facts",
    ),
)


class Odd:
    """Makes values of a JSON schema."""

    def __init__(self, schema: dict[str, Any], chance: random.Random) -> None:
        self.defs = schema.get("$defs", {})
        self.chance = chance

    def value(self, schema: dict[str, Any], depth: int = 0) -> Any:
        if "$ref" in schema:
            schema = self.defs[schema["$ref"].rpartition("/")[2]]
        if "anyOf" in schema:
            return self.value(self.chance.choice(schema["anyOf"]), depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.chance.choice(schema["enum"])
        make: Callable[[dict[str, Any], int], Any] = getattr(self, f"_{schema.get('type', 'null')}")
        return make(schema, depth)

    def _string(self, schema: dict[str, Any], depth: int) -> str:
        text = self.chance.choice((*STRINGS, "x" * schema.get("maxLength", 5000)))
        return text[: schema.get("maxLength", len(text))]

    def _array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        most = schema.get("maxItems", 3)
        count = self.chance.choice([0, 1, 2, 3, most if depth < 2 else 3])
        return [self.value(schema["items"], depth + 1) for _ in range(min(count, most))]

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        needed = schema.get("required", ())
        made = {}
        for name, each in schema.get("properties", {}).items():
            if name in needed or self.chance.random() < 0.7:
                made[name] = self.value(each, depth + 1)
        return made

    def _number(self, schema: dict[str, Any], depth: int) -> Any:
        ends = schema.get("minimum", -1e308), schema.get("maximum", 1e308)
        return self.chance.choice([*ends, 0, 0.5, 1e-320, float("nan"), float("inf")])

    def _integer(self, schema: dict[str, Any], depth: int) -> int:
        ends = schema.get("minimum", -(10**30)), schema.get("maximum", 10**30)
        return int(self.chance.choice([*ends, 0, 1, 2**63]))

    def _boolean(self, schema: dict[str, Any], depth: int) -> bool:
        return self.chance.random() < 0.5

    def _null(self, schema: dict[str, Any], depth: int) -> None:
        return None


class OddModel:
    """A script that answers each schema with odd values, and questions in words with odd words."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.asked: set[str] = set()

    def __call__(self, sent: Any) -> Step:
        form = sent.get("response_format")
        if form is None:
            self.asked.add("words")
            return Step(self.chance.choice(STRINGS) + self.chance.choice(STRINGS))
        named = form["json_schema"]
        self.asked.add(named["name"])
        made = Odd(named["schema"], self.chance).value(named["schema"])
        return Step(json.dumps(made))


def think(ada: recollex.Agent) -> None:
    ada.think("Where is Ann?")


def extract(ada: recollex.Agent) -> None:
    ada.extract(again=True)


def extract_a_graph(ada: recollex.Agent) -> None:
    ada.extract(mode="episodic", again=True)


def consolidate(ada: recollex.Agent) -> None:
    for city in ("Oslo", "Rome", "Bern", "Prag"):
        ada.facts.add("Ann", "lived in", city)
    ada.events.consolidate()


def merge_a_background(ada: recollex.Agent) -> None:
    ada.profile.set(background="I cook.")
    assert ada.profile.merge_background("You were born in Texas.").background.strip()


def resolve_names(ada: recollex.Agent) -> None:
    ada.retain_many(["Jonathan Smith is here.", "Jon Smith called.", "J. Smith wrote to Ann."])
    ada.facts.resolve_entities()


def investigate(ada: recollex.Agent) -> None:
    ada.investigate("Where is Ann?", max_steps=3)


DOORS = (
    think,
    extract,
    extract_a_graph,
    consolidate,
    merge_a_background,
    resolve_names,
    investigate,
)


@pytest.mark.parametrize("door", DOORS)
def test_no_door_fails_for_an_odd_answer(tmp_path: Path, door: Any) -> None:
    model = OddModel(sum(map(ord, door.__name__)))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=RuntimeWarning)  # a model's failure, told
        with extracting(tmp_path, model) as (ada, _):
            ada.retain_dialogue(TALK, document_id="call")
            for _ in range(ROUNDS):
                with suppress(LanguageModelError):
                    door(ada)
            assert ada.recall("Where is Ann?").to_prompt()
            json.dumps(ada.recall("Where is Ann?").to_dict()).encode()
            assert ada.verify().ok
    assert model.asked


def test_odd_ranges_of_time_are_errors_of_the_model() -> None:
    model = OddModel(1)
    with scripted(model) as served:
        dates = presets.LanguageModelDates("m", base_url=served.url, api_key="k")
        now = int(datetime(2024, 5, 4, tzinfo=UTC).timestamp() * 1e6)
        for _ in range(ROUNDS * 5):
            with suppress(ModelError):
                dates.find("What was last week?", now)
        dates.close()
