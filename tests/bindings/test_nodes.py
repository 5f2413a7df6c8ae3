"""MemoTrace's nodes: times with their zone, mentions and documents; LINK with src and dst."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

import recollex
from recollex.errors import InputError, OperationError
from recollex.remote.wire import codec
from recollex_engine.clock import in_zone, zone_of
from tests.bindings.serving import serving
from tests.bindings.word_vectors import WordVectors

ROME = ZoneInfo("Europe/Rome")
HALF = timezone(timedelta(hours=5, minutes=30))
AT = datetime(2024, 5, 1, 9, 30)


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[recollex.Agent]:
    with recollex.open(tmp_path, embedder=WordVectors()) as store:
        yield store.agent("a")


@pytest.mark.parametrize(
    ("zone", "name"),
    [(UTC, None), (ROME, "Europe/Rome"), (HALF, "+05:30"), (ZoneInfo("UTC"), None)],
)
def test_a_zone_is_named_and_read_again(zone: timezone | ZoneInfo, name: str | None) -> None:
    said = AT.replace(tzinfo=zone, microsecond=7)
    assert zone_of(said) == name
    micros = (said - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert in_zone(micros, name).isoformat() == said.isoformat()
    assert codec.decode(codec.encode(said)).isoformat() == said.isoformat()


def test_a_zone_that_this_machine_lacks_gives_the_moment_in_utc() -> None:
    assert in_zone(0, "Mars/Olympus_Mons") == in_zone(0, None)


def test_a_fact_keeps_the_zone_of_a_time_in_the_log_in_versions_and_in_clients(
    tmp_path: Path,
) -> None:
    home = tmp_path / "s"
    told, corrected = AT.replace(tzinfo=ROME), AT.replace(tzinfo=HALF)
    with recollex.open(home, embedder=WordVectors()) as store:
        a = store.agent("a")
        id = a.facts.add("the call", "has_attr", told)
        assert a.facts.find(object=told.astimezone(UTC)).ids == [id]  # the moment is compared
        first = a.facts.get(id)
        assert first.object == told and str(first.object.tzinfo) == "Europe/Rome"
        assert first.to_dict()["object"] == "2024-05-01T09:30:00+02:00"
        a.facts.correct(id, confidence=0.5)
        a.facts.add("the call", "has_attr", told, id=id, confidence=0.5)
        assert len(a.facts.history(id)) == 2  # the same again is not recorded
        a.facts.correct(id, object=corrected)
        a.checkpoint()
        assert a.verify().ok
    with recollex.open(home, embedder=WordVectors()) as store:
        versions = store.agent("a").facts.history(id)
        assert [f.object.isoformat() for f in versions] == [
            "2024-05-01T09:30:00+02:00",
            "2024-05-01T09:30:00+02:00",
            "2024-05-01T09:30:00+05:30",
        ]
    with (
        serving(recollex.open(home, embedder=WordVectors())) as served,
        recollex.connect(served.addresses[0]) as client,
    ):
        remote = client.agent("a")
        assert [str(f.object.tzinfo) for f in remote.facts.history(id)][:2] == ["Europe/Rome"] * 2
        other = remote.facts.add("tea", "has_attr", told)
        assert str(remote.facts.get(other).object.tzinfo) == "Europe/Rome"


def test_an_event_keeps_the_zone_of_its_times(agent: recollex.Agent) -> None:
    id = agent.events.add("The call.", times=[AT.replace(tzinfo=ROME), AT.replace(tzinfo=UTC)])
    agent.events.link(id, "has_time", AT.replace(tzinfo=HALF))
    agent.events.link(id, "has_time", AT.replace(tzinfo=HALF))  # it is there already
    agent.apply([{"op": "LINK", "src": id, "rel": "temporal", "dst": "2024-06-01T00:00-03:00"}])
    told = [str(t.isoformat()) for t in agent.events.get(id).times if isinstance(t, datetime)]
    assert told == [
        "2024-05-01T09:30:00+02:00",
        "2024-05-01T09:30:00+00:00",
        "2024-05-01T09:30:00+05:30",
        "2024-06-01T00:00:00-03:00",
    ]
    before = len(list(agent.log()))
    agent.events.add("The call.", times=[AT.replace(tzinfo=ROME), AT.replace(tzinfo=UTC)])
    assert len(list(agent.log())) == before
    assert agent.verify().ok


def test_link_takes_src_and_dst_as_the_paper_writes_it(agent: recollex.Agent) -> None:
    agent.apply(
        [
            {"op": "UPSERT_EVENT", "summary": "It froze.", "id": "cold"},
            {"op": "UPSERT_EVENT", "summary": "The boiler broke.", "id": "broken"},
            {"op": "LINK", "src": "cold", "rel": "causal", "dst": "broken"},
            {"op": "LINK", "src": "broken", "rel": "role", "dst": "Ann", "role": "plumber"},
        ]
    )
    assert [(e.relation, e.event) for e in agent.events.get("cold").links] == [("causes", "broken")]
    [ann] = agent.events.get("broken").participants
    assert (ann.name, ann.role) == ("Ann", "plumber")
    with pytest.raises(OperationError, match="twice"):
        agent.apply([{"op": "LINK", "src": "cold", "rel": "causal", "dst": "x", "target": "y"}])


def test_mentions_and_documents_are_nodes_while_a_cut_sees_what_names_them(
    agent: recollex.Agent,
) -> None:
    left = recollex.Mention("mail:3", (0, 8), "Ann left")
    came = recollex.Mention("mail:4", (2, 9), "she came")
    one = agent.facts.add(
        "Ann", "left", "Oslo", source=recollex.Source("mail:3", "abc"), mentions=[left]
    )
    two = agent.facts.add("Ann", "said_in", left)
    at = list(agent.log())[-1].recorded_at
    event = agent.events.add("Ann moved.", facts=[one], mentions=[left, came])
    agent.facts.correct(one, source=recollex.Source("mail:3", "abd"))

    [of_left, of_came] = agent.facts.mentions()
    assert (of_left.document, of_left.span, of_left.text) == ("mail:3", (0, 8), "Ann left")
    assert set(of_left.facts) == {one, two} and of_left.events == (event,)
    assert of_came.facts == () and of_came.events == (event,)
    assert agent.facts.mentions(document="mail:4") == [of_came]
    documents = {document.id: document for document in agent.facts.documents()}
    assert set(documents) == {"mail:3", "mail:4"}
    assert documents["mail:3"].hashes == ("abd",) and documents["mail:3"].facts == (one,)
    assert documents["mail:3"].mentions == (of_left.id,)
    assert documents["mail:4"].to_dict()["mentions"] == [of_came.id]
    # the cut before the event: one document, with the hash of then
    [then] = agent.facts.documents(as_recorded=at)
    assert then.hashes == ("abc",)
    assert [node.id for node in agent.facts.mentions(as_recorded=at)] == [of_left.id]
    agent.facts.archive(one)  # hides the event as well
    assert [node.facts for node in agent.facts.mentions()] == [(two,)]
    assert agent.facts.documents()[0].facts == ()
    agent.facts.archive(two)
    assert agent.facts.mentions() == agent.facts.documents() == []


def test_a_document_must_be_named_by_a_text(agent: recollex.Agent) -> None:
    with pytest.raises(InputError, match="document"):
        agent.facts.mentions(document=3)  # type: ignore[arg-type]
