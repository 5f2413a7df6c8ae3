"""A store of format 1, with every kind of operation, and its backup: both stay readable.

`data/write_store.py` wrote both. A kind or a format that is added later gets an archive of its own.
"""

import shutil
from datetime import UTC, datetime

import pytest

import recollex
from recollex_engine.agents.logbook import KINDS
from recollex_engine.errors import EncryptionError
from recollex_engine.state.manifest import Manifest
from recollex_engine.storage.formats import VERSION, writer_of
from tests.engine.data.write_store import KEY, PieceVectors, unpack
from tests.engine.unchanged_folders import files, opens_without_a_change

TALK = ["Tess: I drink green tea in Rome.", "Ann: So do I."]
DRAWN = "Tess drinks green tea in Rome."
OPINION = "Green tea is best. (Reasons: Tess drinks it.)"


@pytest.fixture
def folder(tmp_path):
    return unpack(tmp_path)


def opened(folder, **options):
    return recollex.open(folder, embedder=PieceVectors(), **options)


def holds(ann):
    texts = {memory.text: memory for memory in ann.list()}
    assert list(texts) == [
        *TALK,
        "Tess: Tess likes Rome.",
        *("Tess moved to Rome.", "Ben sold the cello.", DRAWN, OPINION, "Ben has a drum."),
    ]
    assert [(texts[each].role, texts[each].source) for each in TALK] == [
        ("user", "user"),
        ("assistant", "user"),
    ]
    assert (texts[DRAWN].source, texts[OPINION].network) == ("assistant", "opinion")
    said = [(version.text, version.tags) for version in ann.history("m1")]
    assert said == [
        ("Ben plays the cello.", ("old",)),
        ("Ben plays the cello.", ("music",)),
        ("Ben sold the cello.", ()),
    ]
    found = ann.recall("Who drinks green tea in Rome?", now=datetime(2024, 2, 1, tzinfo=UTC))
    assert found[0].text in (TALK[0], DRAWN)
    [fact] = ann.facts.find(subject="Tess")
    assert (fact.id, fact.predicate, fact.object, fact.evidence) == (
        "f0",
        "lives in",
        "Rome",
        ("m0",),
    )
    assert [version.object for version in ann.facts.history("f0")] == ["Oslo", "Rome"]
    assert not ann.facts.find(predicate="owns")
    tess, _, benny, _ = ann.facts.entities()
    assert (tess.name, tess.aliases, tess.types) == ("Tess", ("Tessa",), ("person",))
    assert benny.name == "Benny"
    assert [(event.id, event.summary) for event in ann.events.find()] == [
        ("e0", "Tess moved."),
        ("e1", "Ben sold it."),
    ]
    assert [episode.title for episode in ann.events.episodes()] == ["A move."]
    assert ann.facts.search("Where does Tess live?")[0].item == fact
    assert ann.profile.get().background == "I drink tea."
    assert [rule.age.days for rule in ann.retention()] == [99_999]
    assert ann.stats().token_counter == "wordpiece"
    assert ann.engine.view().has_pieces
    log = {entry.op: entry for entry in ann.log()}
    assert {entry.kind for entry in log.values()} == set(KINDS)
    assert [(entry.by, entry.why) for entry in log.values() if entry.kind == "erase"] == [
        ("Ben", "asked")
    ]
    assert ann.verify().problems == ()


def test_it_opens_reads_and_verifies_without_a_change(folder):
    opens_without_a_change(folder, opened, holds)


def test_the_columns_of_its_checkpoint_are_those_of_its_log(folder):
    agent = folder / "agents" / "ann"
    manifest = Manifest.read(agent)
    assert manifest is not None and manifest.has_all_columns
    for name in ("MANIFEST", "COMMIT", "HEAD"):
        (agent / name).unlink()
    shutil.rmtree(agent / manifest.settings.columns_folder)
    for segment in agent.glob("segment-*"):
        shutil.rmtree(segment)
    with opened(folder) as store:
        ann = store.agent("ann")
        holds(ann)
        ann.retain("New.", id="new")
        ann.checkpoint()
        columns = Manifest.read(agent).columns
        grown = {name for name, count in columns.items() if count > manifest.columns[name]}
        assert "id" in grown and all(columns[name] >= n for name, n in manifest.columns.items())


def test_it_takes_writes(folder):
    with opened(folder) as store:
        ann = store.agent("ann")
        ann.retain("New.", id="new", source="user")
        ann.checkpoint()
    assert writer_of(folder) == VERSION
    with opened(folder, read_only=True) as store:
        assert store.agent("ann").list()[-1].id == "new"
        assert store.agent("ann").verify().ok


def test_its_encrypted_agent_opens_with_the_key_alone(folder):
    with opened(folder) as store:
        with pytest.raises(EncryptionError):
            store.agent("eve")
        eve = store.agent("eve", key=KEY)
        assert [memory.text for memory in eve.list()] == ["Eve has a secret."]
        assert eve.verify().problems == ()
        eve.retain("New.", id="new")
        eve.checkpoint()
    with opened(folder, read_only=True) as store:
        assert [memory.id for memory in store.agent("eve", key=KEY).list()] == ["s0", "new"]


def test_a_backup_of_it_verifies_and_is_restored(tmp_path, folder):
    backup = tmp_path / "backup"
    before = files(backup)
    assert recollex.verify_backup(backup).ok
    recollex.restore(backup, tmp_path / "again", key=KEY)
    early = datetime(2024, 1, 1, 0, 3, tzinfo=UTC)
    recollex.restore(backup, tmp_path / "then", at=early, agents="ann")
    assert files(backup) == before
    with opened(tmp_path / "again") as store:
        holds(store.agent("ann"))
    with opened(tmp_path / "then") as store:  # with the vectors of the model of now
        assert [memory.id for memory in store.agent("ann").list()] == ["m0", "m1", "m2", "m3"]
