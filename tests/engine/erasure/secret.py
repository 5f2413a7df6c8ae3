"""A memory that nothing may be left of."""

from tests.engine.erasure.traces import unit
from tests.engine.faults.small_store import vectors

SECRET = "Zanzibarina Quuxley has the podagra."
WORDS = ["anzibarin", "quuxley", "podagra", "secret-id", "secret-tag", "secret-doc", "secret-key"]
BY = {"by": "ben", "why": "She asked for it."}


def tell(agent, id="secret-id", text=SECRET, seed=777, **options):
    options = {
        "tags": ["secret-tag"],
        "document_id": "secret-doc",
        "metadata": {"secret-key": "secret-value"},
    } | options
    agent.retain(text, id=id, embedding=vectors(seed, 1)[0], **options)
    return unit(vectors(seed, 1)[0])
