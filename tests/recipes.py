"""The recipes of CONTRIBUTING.md as data: what each adds to which file, and what shows it.

A recipe is done on a copy of the packages. `Recipe.check` runs there, in a process of its own.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """Text that is added to a file, before or after another; without one, the file is new.

    after, before: a text that the file holds so many ``times``.
    """

    path: str
    added: str
    after: str = ""
    before: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class Recipe:
    """One section of CONTRIBUTING.md.

    title: its heading. edits: what an example changes; the section names each of the files. check:
    Python that fails where the example does not work. compiles: whether it changes a kernel, which
    takes long.
    """

    title: str
    edits: tuple[Edit, ...]
    check: str
    compiles: bool = False


ROUTE = Recipe(
    "A route",
    (
        Edit(
            "bindings/recollex/remote/http/access_counts.py",
            """
    Endpoint(
        "GET",
        "/api/agents/{agent_id}/size",
        "count",
        "Count an agent's memories",
        calls("count", lambda held: {"memories": held}),
        record("How many there are.", memories={"type": "integer"}),
        parameters=OF_AGENT,
    ),
""",
            after="ENDPOINTS = (",
        ),
        Edit(
            "bindings/recollex/remote/http/access_counts.py",
            "from recollex.remote.http.responses import record\n",
            before="from recollex.remote.http.schema",
        ),
    ),
    """
import asyncio
from recollex.remote.http.application import ENDPOINTS
from recollex.remote.http.endpoint import CheckedRequest
from recollex.remote.http.openapi import document

class Backend:
    async def call(self, method, agent, arguments, convert, at=None):
        return convert({"count": 3}[method])

(row,) = [each for each in ENDPOINTS if each.path.endswith("/size")]
answer = asyncio.run(row.handler(Backend(), CheckedRequest({"agent_id": "ann"}, {}, {})))
assert answer == {"memories": 3}
assert "/api/agents/{agent_id}/size" in document(ENDPOINTS, False)["paths"]
""",
)

COMMAND = Recipe(
    "A command",
    (
        Edit(
            "bindings/recollex/cli/maintenance.py",
            '''
def size(arguments: Arguments) -> int:
    """Print how many agents a store has."""
    with existing_store(arguments) as store:
        if store is None:
            return 1
        held = len(store.agents())
    show(arguments, counted(held, "agent"), agents=held)
    return 0


''',
            before="COMMANDS = (",
        ),
        Edit(
            "bindings/recollex/cli/maintenance.py",
            """
    Command("size", "count the agents of a store", ["size memory/"], add_store, size),""",
            after="COMMANDS = (",
        ),
    ),
    """
import contextlib, io, tempfile
import recollex
from recollex.cli import main

with tempfile.TemporaryDirectory() as folder:
    store = folder + "/memory"
    with recollex.open(store, embedder=recollex.GivenVectors(8)) as opened:
        opened.agent("ann").retain("Ann drinks tea.", embedding=[1.0] * 8)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert main(["size", store]) == 0
    assert "agent" in said.getvalue()
    with contextlib.redirect_stdout(said):
        assert main(["size", store, "--json"]) == 0
    assert '"agents"' in said.getvalue()
""",
)

METRIC = Recipe(
    "A metric",
    (
        Edit(
            "bindings/recollex/remote/server/metrics.py",
            """        self._recalls = self._counter("recollex_recalls_total", "Recalls so far.")
""",
            before="        self._stage_seconds = self._histogram(",
        ),
        Edit(
            "bindings/recollex/remote/server/metrics.py",
            """
        self._recalls.inc()""",
            after='"""Record the stages of a recall."""',
        ),
    ),
    """
from recollex.remote.server.metrics import Metrics
from recollex_engine.trace import Trace

metrics = Metrics()
metrics.recalled(Trace())
assert "recollex_recalls_total 1.0" in metrics.text()
""",
)

FORMAT = Recipe(
    "A file format",
    (
        Edit(
            "bindings/recollex/files/imports/vcard.py",
            '''"""Address cards (RFC 6350): a name and a note become a memory."""

from collections.abc import Iterator
from typing import Any

from recollex.files.imports.formats import Format


def matches(text: str) -> bool:
    """Return whether a text is of cards."""
    return text.startswith("BEGIN:VCARD")


def read(text: str, reading: Any) -> Iterator[dict[str, Any]]:
    """Yield a memory for each card."""
    for card in text.split("END:VCARD")[:-1]:
        fields = dict(line.split(":", 1) for line in card.split() if ":" in line)
        yield from reading.checked({"text": f"{fields['FN']} {fields['NOTE']}"}, "card")


FORMATS = (Format("vcard", ("text",), "address cards", "memories", matches, read),)
''',
        ),
    ),
    """
import tempfile
from pathlib import Path
import numpy as np
import recollex

class Ones:
    dimension, fingerprint = 8, "ones"
    thresholds = recollex.GivenVectors(8).thresholds

    def embed_query(self, text):
        return np.ones(8, np.float32)

    def embed(self, texts, threads=1, progress=None):
        return np.ones((len(texts), 8), np.float32)

    def count_tokens(self, text):
        return len(text.split())

with tempfile.TemporaryDirectory() as folder:
    cards = Path(folder, "cards.vcf")
    cards.write_text("BEGIN:VCARD FN:Ann NOTE:sails END:VCARD\\n")
    with recollex.open(folder + "/memory", embedder=Ones()) as store:
        done = recollex.ingest(store.agent("a"), cards)
        assert (done.format, done.stored) == ("vcard", 1), done
        assert [memory.text for memory in store.agent("a").list()] == ["Ann sails"]
""",
)

EMBEDDER = Recipe(
    "An embedder",
    (
        Edit(
            "engine/recollex_engine/models/letters_encoder.py",
            '''"""An embedder that counts letters."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from recollex_engine.models.description import PAPER_THRESHOLDS
from recollex_engine.models.embedder import PackagedEmbedder


class LettersEncoder:
    """Counts the letters of a text."""

    name = "letters"
    dimension = 32
    fingerprint = "letters@1"
    thresholds = PAPER_THRESHOLDS

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return the vector of a query."""
        counts = np.array([text.count(chr(97 + n)) for n in range(32)], np.float32) + 0.01
        vector: npt.NDArray[np.float32] = counts / np.linalg.norm(counts)
        return vector

    def embed(
        self,
        texts: Sequence[str],
        threads: int = 1,
        progress: Callable[[int], object] | None = None,
    ) -> npt.NDArray[np.float32]:
        """Return the vectors of passages."""
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def count_tokens(self, text: str) -> int:
        """Return the number of words."""
        return len(text.split())


EMBEDDER = PackagedEmbedder(
    "letters", "counts letters", "numpy", "pip install numpy", lambda name: LettersEncoder()
)
''',
        ),
        Edit(
            "engine/recollex_engine/models/embedders.py",
            "letters_encoder, ",
            after="from recollex_engine.models import ",
        ),
        Edit(
            "engine/recollex_engine/models/embedders.py",
            """
    letters_encoder.EMBEDDER,""",
            after="EMBEDDERS: tuple[PackagedEmbedder, ...] = (",
        ),
    ),
    """
import tempfile
import recollex

with tempfile.TemporaryDirectory() as folder:
    with recollex.open(folder, embedder="letters") as store:
        store.agent("a").retain("Ann drinks tea.")
        assert store.agent("a").recall("tea")[0].text == "Ann drinks tea."
        assert store.agent("a").stats().model == "letters@1"
""",
)

ARM = Recipe(
    "An arm",
    (
        Edit(
            "engine/recollex_engine/ranking/arm_table.py",
            """def _newest(given: VectorSearch, allowed: Mask, budget: int) -> ArmList:
    memories = np.flatnonzero(allowed)[::-1][:budget].astype(np.uint32)
    scores = 1 / (1 + np.arange(len(memories), dtype=np.float32))
    return ArmList(memories, scores, np.empty(0, np.uint32))


""",
            before="ARMS: Mapping[str, Arm] = MappingProxyType(",
        ),
        Edit(
            "engine/recollex_engine/ranking/arm_table.py",
            """
            Arm("newest", 0.1, _newest),""",
            after='Arm("keyword", 1.0, None),',
        ),
    ),
    """
import tempfile
from dataclasses import replace
import recollex
from recollex import presets

with tempfile.TemporaryDirectory() as folder:
    with recollex.open(folder, embedder=recollex.GivenVectors(8)) as store:
        agent = store.agent("a")
        for text in ("Ann drinks tea.", "Ben sails."):
            agent.retain(text, embedding=[1.0] * 8)
        both = replace(
            presets.default, arms=("keyword", "newest"), fusion=presets.ReciprocalRank()
        )
        found = agent.recall("tea", query_embedding=[1.0] * 8, preset=both)
        assert not found.trace.errors, found.trace.errors
        ranks = {memory.text: dict(memory.ranks) for memory in found}
        assert ranks["Ben sails."] == {"newest": 1}, ranks
        assert ranks["Ann drinks tea."] == {"keyword": 1, "newest": 2}, ranks
""",
)

FEATURE = Recipe(
    "A ranking feature",
    (
        Edit(
            "kernels/recollex_kernels/fusing/features.py",
            '''@kernel
def even(seen: Seen, out: F64) -> None:
    """Write 1 for every second memory."""
    memories = seen[2]
    for i in range(out.shape[0]):
        out[i] = 1.0 - memories[i] % 2


''',
            before="FEATURES: Mapping[str, Callable[[Seen, F64], None]] = {",
        ),
        Edit(
            "kernels/recollex_kernels/fusing/features.py",
            """
    "even": even,""",
            after='"passages": passages,',
        ),
        Edit(
            "engine/recollex_engine/ranking/contextual_fusion.py",
            """    even: float = feature(9.0, ABLATION)
""",
            before="    telling: float = ",
        ),
    ),
    """
import tempfile
import recollex

with tempfile.TemporaryDirectory() as folder:
    with recollex.open(folder, embedder=recollex.GivenVectors(8)) as store:
        agent = store.agent("a")
        for text in ("Ann drinks tea.", "Ben drinks tea too.", "Cy sails."):
            agent.retain(text, embedding=[1.0] * 8)
        found = agent.recall("Who drinks tea?", query_embedding=[1.0] * 8, explain=True)
        parts = {memory.text: memory.parts.get("even", 0) for memory in found}
        assert parts["Ann drinks tea."] == parts["Cy sails."] == 9.0, parts
        assert parts["Ben drinks tea too."] == 0.0, parts
""",
    compiles=True,
)

FIELD = Recipe(
    "A stored field",
    (
        Edit(
            "engine/recollex_engine/domain/fields.py",
            """    Field("mood", "How it felt.", prefix="h", counts="mood", option="--mood"),
""",
            before='    Field("role"',
        ),
        Edit(
            "engine/recollex_engine/domain/statement.py",
            "    mood: str | None = None\n",
            before="    speaker: str | None = None\n",
        ),
        Edit(
            "engine/recollex_engine/recall/memory.py",
            '    mood: Annotated[str | None, Told("How it felt.")] = None\n',
            before="    tags: Annotated[",
        ),
        Edit(
            "bindings/recollex/api/retaining.py",
            "        mood: str | None = None,\n",
            before='        network: str = "world",\n        document_id: str | None',
        ),
        Edit(
            "bindings/recollex/api/retaining.py",
            "        mood: str | Sequence[str | None] | None = None,\n",
            before="        network: str | Sequence[str] =",
        ),
        Edit(
            "bindings/recollex/api/retaining.py",
            "            mood=mood,\n",
            before="            network=network,\n            zone=zone,\n            context",
            times=2,
        ),
    ),
    """
import tempfile
import msgspec
import recollex
from recollex.files import jsonl
from recollex.remote.http.responses import MEMORY
from recollex.remote.http.retaining import RETAIN
from recollex.remote.wire import codec
from recollex.remote.wire.received import ReceivedRecall

VECTOR = [1.0] * 8
with (
    tempfile.TemporaryDirectory() as folder,
    recollex.open(folder, embedder=recollex.GivenVectors(8)) as store,
):
    agent = store.agent("ann")
    agent.retain("Tea is fine today.", id="m", mood="glad", embedding=VECTOR)
    agent.retain_many(["One.", "Two."], id=["a", "b"], mood=["sad", None], embedding=[VECTOR] * 2)
    assert agent.get("m").mood == "glad"
    agent.amend("m", tags=["x"])
    assert agent.get("m").mood == "glad"
    recall = agent.recall("tea", query_embedding=VECTOR)
    received = codec.decode(codec.encode(recall))
    assert [each.mood for each in received] == [each.mood for each in recall]
    assert sorted(map(str, (each.mood for each in recall))) == ["None", "glad", "sad"]
    assert agent.value_counts("mood") == {"glad": 1, "sad": 1}
    (line,) = jsonl.read([jsonl.write(agent.get("m"))], None)
    assert line.fields["mood"] == "glad"
    assert "mood" in MEMORY["properties"] and "mood" in str(msgspec.json.schema(RETAIN))
    agent.checkpoint()
    agent.erase("m", by="ann", why="private")
    assert "glad" not in agent.value_counts("mood")
""",
)

RECIPES = (ARM, FEATURE, FIELD, FORMAT, ROUTE, COMMAND, EMBEDDER, METRIC)
"""In the order of the page."""
