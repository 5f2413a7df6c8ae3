from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex_engine.clock import to_micros
from recollex_engine.talks.standing import UNKNOWN, Standing, standing_of

NOON = datetime(2024, 5, 4, 12, tzinfo=UTC)
AT = to_micros(NOON, "noon")


@pytest.fixture
def alice(tmp_path: Path) -> Any:
    with recollex.open(tmp_path / "memory", durability="off") as store:
        yield store.agent("alice")


def standing(alice: recollex.Agent, *names: str, document: str | None = None) -> Standing:
    engine = alice.engine
    return standing_of(engine.view(), engine.facts(), names, document, AT)


def test_unknown_names_have_none(alice: recollex.Agent) -> None:
    assert standing(alice, "Eve") == UNKNOWN
    alice.retain("Tea for two.")
    assert standing(alice, "Eve") == UNKNOWN


def test_each_part_is_as_written(alice: recollex.Agent) -> None:
    for place in range(3):
        at = NOON - timedelta(days=14 * (place + 1))
        alice.retain("I met Eve Chen.", document_id=f"d{place}", event_at=at)
    alice.retain("I met Eve Chen again.", document_id="d0", event_at=NOON)
    for city in ("Oslo", "Rome"):
        alice.facts.add("Eve Chen", "knows", city)
    found = standing(alice, "Eve Chen", document="d0")
    assert found.frequency == 2 / 5  # not d0 itself
    assert found.recency == pytest.approx(0.25)  # in d1, 28 days ago
    assert found.centrality == pytest.approx(1.0986 / 3.0445, abs=1e-3)
    assert standing(alice, "Eve Chen").recency == 1.0
    assert standing(alice, "Eve Chen").frequency == 3 / 5


def test_a_policy_can_weigh_it(alice: recollex.Agent) -> None:
    alice.retain("I met Eve Chen.", document_id="other", event_at=NOON)
    turn = {"speaker": "Ann", "text": "So, Eve Chen.", "at": NOON}
    heard = []
    for place, weight in enumerate((0.0, 0.5)):
        policy = recollex.WritePolicy(recency_weight=weight, drop=0.0, keep=1.0)
        alice.retain_dialogue([turn], document_id=f"d{place}", policy=policy)
        heard.append(alice.sessions.short_term(f"d{place}")[0].salience)
    assert heard[1] > heard[0]
