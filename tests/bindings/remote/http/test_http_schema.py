"""The API does what its document says, whatever a client sends."""

import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import hypothesis
import pytest
from hypothesis import Phase

from recollex.remote.http import openapi
from recollex.remote.http.application import ENDPOINTS
from recollex.remote.wire.methods import METHODS
from tests.bindings.remote.http.http_service import served
from tests.imported_later import imported_later

requests = imported_later("requests", reason="requests is not installed")
schemathesis = imported_later("schemathesis", reason="schemathesis is not installed")
checks = imported_later("schemathesis.specs.openapi.checks", reason="as above")
building = imported_later("schemathesis.pytest._test_builder", reason="as above")
feedback = imported_later("schemathesis.generation.feedback", reason="as above")

RANDOM = int(os.environ.get("RECOLLEX_HTTP_EXAMPLES", "10"))
"""Random requests of each operation in the slow test; thousands of them find rarer errors."""

DOCUMENT = openapi.document(ENDPOINTS, with_tokens=False)


@cache
def schema() -> Any:
    found = schemathesis.openapi.from_dict(DOCUMENT)
    if "RECOLLEX_HTTP_EXAMPLES" not in os.environ:
        found.config.seed = 1  # else what covers the document is drawn anew in each run
    return found


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("schema")) as running:
        yield running.url


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """Return what keeps connections, and does not look for a proxy at each request."""
    with requests.Session() as found:
        found.trust_env = False
        yield found


@pytest.mark.parametrize(
    ("verb", "path"),
    [(verb, path) for path, verbs in DOCUMENT["paths"].items() for verb in verbs],
)
@pytest.mark.parametrize("examples", [0, pytest.param(RANDOM, marks=pytest.mark.slow)])
def test_answers_are_as_documented(
    url: str, session: Any, verb: str, path: str, examples: int
) -> None:
    """Each operation, as ``schema().parametrize()`` tests it.

    That would draw the requests of all operations while tests are collected: 8 s of CPU. examples:
    random requests beside those that cover each value and each error that the document names.
    """
    operation = schema()[path][verb]
    test = building.build_operation_test(
        config=schema().config,
        operation=operation,
        test_func=answer_is_as_documented,
        explicit_settings=settings_of(examples),
        given_kwargs={},
        feedback=feedback.FeedbackSources(),
    )
    test(url=url, session=session)


def settings_of(examples: int) -> hypothesis.settings:
    phases = [Phase.explicit, Phase.generate, Phase.shrink] if examples else [Phase.explicit]
    return hypothesis.settings(
        max_examples=max(examples, 1),
        deadline=None,
        phases=phases,
        suppress_health_check=list(hypothesis.HealthCheck),
    )


def answer_is_as_documented(url: str, session: Any, case: Any) -> None:
    case.call_and_validate(
        base_url=url,
        session=session,
        checks=[
            schemathesis.checks.not_a_server_error,
            checks.status_code_conformance,
            checks.content_type_conformance,
            checks.response_schema_conformance,
            checks.negative_data_rejection,
            checks.unsupported_method,
        ],
    )


def test_the_document_describes_every_endpoint_once() -> None:
    operations = [operation for verbs in DOCUMENT["paths"].values() for operation in verbs.values()]
    assert len(operations) == len(ENDPOINTS)
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    named = {each.method for each in ENDPOINTS if isinstance(each.method, str)}
    assert named <= set(METHODS)


@pytest.mark.parametrize(
    "path",
    [
        "POST /api/memories/batch",
        "POST /api/search",
        "GET /api/agents/{agent_id}/profile",
        "PUT /api/agents/{agent_id}",
        "PUT /api/agents/{agent_id}/profile",
        "GET /api/agents",
        "POST /api/think",
        "POST /api/agents/{agent_id}/background",
    ],
)
def test_memoras_paths_are_there(path: str) -> None:
    assert path in {f"{endpoint.verb} {endpoint.path}" for endpoint in ENDPOINTS}
