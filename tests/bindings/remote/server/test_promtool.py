"""`promtool check metrics` has nothing to say of what a server measures."""

from pathlib import Path

import pytest

from recollex.remote.server.metrics import Metrics
from tests.bindings.remote.http.http_service import served
from tests.bindings.remote.server.promtool import complaints


def test_nothing_is_complained_of_in_a_server_that_was_used(tmp_path: Path) -> None:
    with served(tmp_path) as running, running.http() as client:
        path = "/api/agents/a/memories"
        assert client.post(path, json={"text": 'Bob said "tea\\coffee".'}).status_code == 200
        assert client.post("/api/agents/a/search", json={"query": "tea"}).status_code == 200
        assert client.get(f"{path}/unknown").status_code == 404
        text = client.get("/metrics").text
    assert complaints(text) == []
    for name in (
        "recollex_requests_total",
        "recollex_http_connections",
        "process_cpu_seconds_total",
    ):
        assert f"# TYPE {name} " in text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# TYPE a_total counter\na_total 1\n", "no help"),
        ("# HELP a A.\n# TYPE a counter\na 1\n", "_total ends"),
        ("# HELP a_total A.\n# TYPE a_total gauge\na_total 1\n", "_total ends"),
        ("# HELP a_count A.\n# TYPE a_count gauge\na_count 1\n", "suffix of histograms"),
        ("# HELP a_gauge A.\n# TYPE a_gauge gauge\na_gauge 1\n", "its type"),
        ("# HELP a_ms A.\n# TYPE a_ms gauge\na_ms 1\n", "abbreviated"),
        ("# HELP a_milliseconds A.\n# TYPE a_milliseconds gauge\na_milliseconds 1\n", "base unit"),
        ("# HELP aB A.\n# TYPE aB gauge\naB 1\n", "snake case"),
        ('# HELP a A.\n# TYPE a gauge\na{le="1"} 1\n', "only a histogram"),
        ('# HELP a A.\n# TYPE a gauge\na{ofWhat="1"} 1\n', "camel case"),
        ("a 1\n", "no type"),
    ],
)
def test_each_rule_finds_what_breaks_it(text: str, says: str) -> None:
    assert complaints(Metrics().text()) == []
    assert any(says in each for each in complaints(Metrics().text() + text))
