from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

import recollex
from recollex_engine.errors import InputError
from tests.bindings.files.imports.conftest import Ingest

NOTES = """\ufeffMessage;Created_at;tags;channel;stars
"The van needs a clutch;
it slips.";2024-05-04 10:00;van, repair;#workshop;3
The kiln is hot.;2024-05-04;;#workshop;
The kiln is hot.;2024-05-04;;#workshop;
;2024-05-05;;#workshop;1
too;many;cells;in;this;row
"""
TALK = """id,author,timestamp,content
1,Ann,1714816800,I moved to Lisbon.
2,Ben,1714816810,"Is it hot, there?"
"""


def test_rows_are_memories(agent: recollex.Agent, ingest: Ingest) -> None:
    done = ingest(NOTES, "notes.csv", zone=ZoneInfo("Europe/Paris"))
    assert (done.format, done.stored) == ("csv", 3)  # equal rows are two
    assert done.columns == {
        "Message": "text",
        "Created_at": "at",
        "tags": "tags",
        "channel": "metadata",
        "stars": "metadata",
    }
    first, second, _ = agent.list()
    assert first.text == "The van needs a clutch;\nit slips."
    assert first.event_at == datetime(2024, 5, 4, 8, tzinfo=UTC)
    assert first.tags == ("van", "repair")
    assert first.metadata == {"channel": "#workshop", "stars": "3"}
    assert second.metadata == {"channel": "#workshop"}
    assert done.left_out == {"row without a text": 1, "row with more cells than columns": 1}


def test_rows_with_speaker_and_time_are_turns(agent: recollex.Agent, ingest: Ingest) -> None:
    ingest(TALK, "monday.csv")
    assert [(m.id, m.speaker, m.text, m.document_id) for m in agent.list()] == [
        ("1", "Ann", "Ann: I moved to Lisbon.", "monday"),
        ("2", "Ben", "Ben: Is it hot, there?", "monday"),
    ]
    assert agent.get("2").event_at.isoformat() == "2024-05-04T10:00:10+00:00"


def test_a_table_without_texts_names_its_columns(ingest: Ingest) -> None:
    with pytest.raises(InputError, match=r"needs a column 'text' .* got id, price"):
        ingest("id,price\n1,2\n", "prices.csv", format="csv")


def test_parquet_keeps_types(agent: recollex.Agent, ingest: Ingest, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = {
        "text": ["Ann moved to Lisbon.", "Ben has a dog."],
        "created_at": [datetime(2024, 5, 4, 10, tzinfo=UTC), None],
        "tags": [["home", "move"], None],
        "n": [1, 2],
        "scores": [[0.5], None],
    }
    parquet.write_table(pyarrow.table(rows), tmp_path / "t.parquet")
    done = ingest((tmp_path / "t.parquet").read_bytes(), "notes.parquet")
    assert (done.format, done.stored, done.untimed) == ("parquet", 2, 1)
    first, second = agent.list()
    assert first.event_at == datetime(2024, 5, 4, 10, tzinfo=UTC)
    assert first.tags == ("home", "move")
    assert first.metadata == {"n": 1, "scores": [0.5]} and second.metadata == {"n": 2}


def test_a_field_that_a_row_cannot_have_goes_into_the_metadata(
    agent: recollex.Agent, ingest: Ingest
) -> None:
    rows = "id,role,text,entities,context\n7,user,I moved.,Ann;Bo,3\n8,,Tea.,Ann,\n"
    ingest(rows, "talk.csv")
    turn, memory = agent.list()
    assert (turn.role, turn.context, turn.metadata) == ("user", "3", {"entities": ["Ann", "Bo"]})
    assert (memory.role, memory.entities, dict(memory.metadata)) == (None, ("Ann",), {})


def test_an_exported_file_is_read_whole(
    agent: recollex.Agent, ingest: Ingest, tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow")
    turn = {"speaker": "Ann", "text": "Hello.", "at": "2024-05-04T10:00:00Z", "id": "t"}
    agent.retain("Tea at four.", id="m", tags=["tea"], metadata={"n": 1}, network="opinion")
    agent.retain_dialogue([turn], document_id="d", context="call")
    recollex.export_memories(agent, tmp_path / "a.parquet")
    assert recollex.ingest(agent, tmp_path / "a.parquet").stored == 0
