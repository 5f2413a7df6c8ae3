"""Writes the archive of a store and its backup that `test_operations_format` opens.

    python -m tests.engine.data.write_store

An agent ann with every kind of operation, in this order: memories with vectors of eight components
and a fact; it is moved to `PieceVectors`; a talk, a replaced document, facts, events and entities;
what a language model drew, answered and formed; rules; an erasure; a checkpoint, and one memory
after it. Then an agent eve, which is encrypted with `KEY`.
"""

import io
import tarfile
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

import recollex
from tests.bindings.extraction_script import fact, facts
from tests.bindings.word_vectors import WordVectors
from tests.scripted_llm import Step, scripted

ARCHIVE = Path(__file__).with_name("format-1.tar.gz")
KEY = bytes(range(32))


class PieceVectors(WordVectors):
    """Vectors of words, with token ids: the lengths of the words."""

    vocabulary = "lengths"

    def pieces(self, text: str) -> Any:
        """Return the token ids of a text."""
        return np.array([len(word) for word in text.split()], np.uint16)

    def embed_with_pieces(self, texts: Any, threads: int = 1, progress: Any = None) -> Any:
        """Return the vectors and the token ids of texts."""
        return self.embed(texts), [self.pieces(text) for text in texts]


def day(number: int) -> datetime:
    """Return a day of 2024."""
    return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=number)


def clock() -> datetime:
    """Return a time a minute after the last."""
    clock.now += timedelta(minutes=1)  # type: ignore[attr-defined]
    return clock.now  # type: ignore[attr-defined, no-any-return]


def answer(sent: Any) -> Step:
    """Answer as a language model that draws facts, thinks and forms an opinion."""
    if "response_format" not in sent:
        return Step("Green tea, I think.")
    asked = sent["response_format"]["json_schema"]["name"]
    if "Opinion" in asked:
        opinion = {"text": "Green tea is best.", "confidence": 0.8, "reasons": ["Tess drinks it."]}
        return Step({"opinions": [opinion | {"evidence": ["m1"], "supersedes": None}]})
    if "Relation" in asked:
        return Step({"relations": []})
    return facts(fact("Tess drinks green tea in Rome.", "m1", participants=["Tess"]))


def write(folder: Path) -> None:
    """Write the store."""
    clock.now = day(0)  # type: ignore[attr-defined]
    given = recollex.GivenVectors(8)
    with recollex.open(folder, embedder=given, clock=clock) as store:
        ann = store.agent("ann")
        texts = ["Tess moved to Oslo.", "Ben plays the cello.", "Gone.", "Old.", "A secret word."]
        ids = ["m0", "m1", "m2", "m3", "m4"]
        ann.retain_many(texts, id=ids, embedding=np.eye(8)[:5], tags=[["old"]] * 5)
        ann.facts.add("Tess", "lives in", "Oslo", id="f0", evidence="m0", valid=(day(1), None))
    recollex.reembed(folder, "ann", embedder=PieceVectors())
    with (
        scripted(answer) as served,
        recollex.llm("m", base_url=served.url) as llm,
        recollex.open(folder, embedder=PieceVectors(), clock=clock, llm=llm) as store,
    ):
        ann = store.agent("ann")
        said = ["I drink green tea in Rome.", "So do I."]
        turns = [
            {"speaker": name, "text": text, "role": role, "at": day(2).isoformat()}
            for name, text, role in zip(("Tess", "Ann"), said, ("user", "assistant"), strict=True)
        ]
        ann.retain_dialogue(turns, document_id="talk", source="user")
        for line in ("A dull draft.", "Tess likes Rome."):
            ann.retain_dialogue(
                [{"speaker": "Tess", "text": line, "at": day(3).isoformat()}],
                document_id="notes",
                replace=True,
            )
        ann.correct("m0", "Tess moved to Rome.", by="Ben", why="heard")
        ann.amend("m1", tags=["music"], by="Ben")
        ann.retain("Ben sold the cello.", id="m1")
        ann.forget("m2", by="Ben", why="asked")
        ann.archive("m3", by="Ben")
        ann.facts.add("Ben", "owns", "a cello", id="f1", by="Ben")
        ann.facts.correct("f0", object="Rome", by="Ben")
        ann.facts.archive("f1", by="Ben")
        ann.facts.add_entity("Tess", types=["person"], aliases=["Tessa"])
        ann.facts.add_entity("Benny")
        ann.facts.merge("Benny", "Ben", by="Ben")
        ann.facts.split("Benny", by="Ben")
        ann.events.add(
            "Tess moved.", id="e0", participants=("Tess",), facts="f0", span=(day(1), day(2))
        )
        ann.events.add("Ben sold it.", id="e1", participants=("Ben",), span=(day(3), day(4)))
        ann.events.link("e0", "related_to", "e1")
        ann.events.add_episode("A move.", ("e0", "e1"), id="p0")
        ann.extract(document_id="talk")
        ann.profile.set(background="I drink tea.", bias_strength=0.8)
        ann.think("Which tea is best?", min_confidence=0)
        ann.opinions.wait()
        ann.set_retention([recollex.Retention(age=timedelta(days=99_999))], by="Ben")
        ann.erase("m4", by="Ben", why="asked")
        ann.checkpoint()
        ann.retain("Ben has a drum.", id="m5", event_at=day(9))
        eve = store.agent("eve", key=KEY)
        eve.retain("Eve has a secret.", id="s0")
        eve.retain("Eve has another.", id="s1")
        eve.erase("s1", by="Eve", why="asked")
        eve.checkpoint()


def pack(folder: Path, target: Path) -> None:
    """Write the files below a folder, in order and without times, to an archive."""
    with tarfile.open(target, "w:gz", compresslevel=9, format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                info = tarfile.TarInfo(path.relative_to(folder).as_posix())
                data = path.read_bytes()
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))


def unpack(target: Path) -> Path:
    """Unpack the archive and return the store; its backup lies beside it."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # from Python 3.11.4 on
        archive.extractall(target)
    return target / "store"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        write(Path(made) / "store")
        with recollex.open(Path(made) / "store", embedder=PieceVectors()) as opened:
            opened.backup(Path(made) / "backup")
        pack(Path(made), ARCHIVE)
