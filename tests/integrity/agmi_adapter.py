"""Lets agmi, a conformance suite, edit the log of a store and ask recollex whether it noticed.

agmi (agent-memory-integrity, edits T1 to T9) knows records of a store; here a record is a line of
the log that retains a memory. An edit changes bytes of the file, and leaves the chain as it was.
"""

import json
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any

from agmi.adapters.base import MemoryAdapter, Record

import recollex
from recollex_engine.errors import RecollexError
from tests.bindings.word_vectors import WordVectors

OWN, OTHER = "ann", "ben"


class RecollexAdapter(MemoryAdapter):
    """Asks by reading: opens the store, lists the memories and recalls them.

    folded: whether the store has a checkpoint, so that columns answer and not the log alone.
    """

    name = "recollex, opened and read"
    detection_point = "read"
    supports_replay = supports_metadata = supports_snapshot = True
    folded = False

    def setup(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="agmi-"))
        self.seeded: list[str] = []

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    # -- through recollex ------------------------------------------------------------------------

    def seed(self, n: int) -> None:
        self._write(OWN, [f"Ann paid Bob {place} kroner." for place in range(n)])

    def seed_other(self, n: int) -> None:
        self._write(OTHER, [f"Ben owes Eve {place} euros." for place in range(n)])

    def append_genuine(self) -> None:
        self._write(OWN, ["Ann paid nobody."])

    def _write(self, agent: str, texts: list[str]) -> None:
        with self._opened() as store:
            for text in texts:
                store.agent(agent).retain(text, source="web")
            if self.folded:
                store.agent(agent).checkpoint()
            if agent == OWN:
                self.kept = store.agent(agent).head()

    def _opened(self, **options: Any) -> recollex.Store:
        return recollex.open(self.root / "store", embedder=WordVectors(), **options)

    def reload(self) -> None:
        """Nothing is kept between two calls: each opens the store again."""

    def verify(self) -> bool:
        self.verify_detail = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                with self._opened(read_only=True) as store:
                    self.check(store.agent(OWN))
        except (RecollexError, RuntimeWarning) as error:
            self.verify_detail = f"{type(error).__name__}: {error}"
        return self.verify_detail is None

    def check(self, agent: recollex.Agent) -> None:
        """Read what the agent holds."""
        assert agent.list()
        assert agent.recall("What did Ann pay?")

    # -- beside recollex -------------------------------------------------------------------------

    def _log(self, agent: str) -> Path:
        return self.root / "store" / "agents" / agent / "log" / "00000001.jsonl"

    def _lines(self, agent: str = OWN) -> list[bytes]:
        return self._log(agent).read_bytes().splitlines(keepends=True)

    def _places(self, agent: str = OWN) -> list[int]:
        """The lines that retain, by their numbers in the file."""
        return [at for at, line in enumerate(self._lines(agent)) if b'"kind":"retain"' in line]

    def _records(self, agent: str) -> list[Record]:
        lines = self._lines(agent)
        return [
            Record(seq, {**json.loads(lines[at]), "agent": agent})
            for seq, at in enumerate(self._places(agent))
        ]

    def read_all_raw(self) -> list[Record]:
        return self._records(OWN)

    def read_other_raw(self) -> list[Record]:
        return self._records(OTHER)

    def write_raw(self, record: Record) -> None:
        """Give the line at this place a payload, or append a line; its place keeps its number."""
        lines, places = self._lines(), self._places()
        fields = {name: value for name, value in record.fields.items() if name != "agent"}
        if record.seq < len(places):
            own = json.loads(lines[places[record.seq]])
            fields = own | {"salt": fields["salt"], "payload": fields["payload"]}
            lines[places[record.seq]] = _line(fields)
        else:
            lines.append(_line(fields))
        self._log(OWN).write_bytes(b"".join(lines))

    def delete_raw(self, seq: int) -> None:
        lines = self._lines()
        del lines[self._places()[seq]]
        self._log(OWN).write_bytes(b"".join(lines))

    def mutate_payload(self, record: Record) -> Record:
        record.fields["payload"]["text"] = "Ann paid Eve 900 kroner."
        return record

    def forge_record(self, template: Record) -> Record:
        fields = json.loads(json.dumps(template.fields))
        fields |= {"op": fields["op"] + 1, "at": fields["at"] + 1}
        fields["payload"]["id"] = "forged"
        return self.mutate_payload(Record(template.seq + 1, fields))

    def replay_onto(self, victim_seq: int, donor: Record) -> None:
        self.write_raw(Record(victim_seq, donor.fields))

    def read_meta(self, seq: int) -> dict[str, Any]:
        return {"source": self.read_all_raw()[seq].fields["payload"]["source"]}

    def write_meta(self, seq: int, meta: dict[str, Any]) -> None:
        record = self.read_all_raw()[seq]
        record.fields["payload"]["source"] = "user"
        self.write_raw(record)

    def snapshot_store(self) -> object:
        return self._copy_store(self.root / "store")

    def restore_store(self, token: object) -> None:
        self._restore_store(str(token), self.root / "store")
        shutil.rmtree(Path(str(token)).parent)

    # -- what a record is ------------------------------------------------------------------------

    def identity_of(self, record: Record) -> str:
        return f"{record.fields['agent']}/{record.fields['op']}"

    def payload_of(self, record: Record) -> str:
        return f"{record.fields['payload']['id']}: {record.fields['payload']['text']}"

    def owner_of(self, record: Record) -> str | None:
        owner: str = record.fields["agent"]
        return owner


class FoldedAdapter(RecollexAdapter):
    """Asks by reading a store that has a checkpoint."""

    name = "recollex, opened and read after a checkpoint"
    folded = True


class VerifyAdapter(FoldedAdapter):
    """Asks `Agent.verify`, which an operator calls."""

    name = "recollex, verified"
    detection_point = "audit"

    def check(self, agent: recollex.Agent) -> None:
        found = agent.verify()
        if not found.ok:
            raise RuntimeWarning(found.problems[0])


class HeadAdapter(VerifyAdapter):
    """Asks `Agent.verify` with the head that the caller kept elsewhere."""

    name = "recollex, verified with a head"

    def check(self, agent: recollex.Agent) -> None:
        found = agent.verify(head=self.kept)
        if not found.ok:
            raise RuntimeWarning(found.problems[0])


def _line(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
