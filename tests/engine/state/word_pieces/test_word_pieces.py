"""What a tokenizer made of passages is stored with them."""

import itertools
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollex
from recollex_engine.domain.schema import PIECES, schema
from recollex_engine.domain.statement import Statement
from recollex_engine.domain.turn import is_spoken
from recollex_engine.log.reader import LogFollower
from recollex_engine.models.embedder import MOST_PIECES, TokenizedTexts
from recollex_engine.state.applying import apply
from recollex_engine.state.columns import Columns
from recollex_engine.state.manifest import Manifest
from recollex_engine.state.word_pieces import VOCABULARY, decode_pieces, find_pieces
from recollex_engine.writing.preparation import Prepared, _pieces
from tests.engine.log.whole_log import LogReader
from tests.engine.models.conftest import SIZE
from tests.engine.state.word_pieces.filled_store import LONG, START, TURNS, everything, plain, read

pytestmark = pytest.mark.filterwarnings("ignore::recollex_engine.models.embedder.TruncationWarning")


def test_each_passage_has_those_of_what_a_reranker_reads_of_it(folder, encoder):
    with recollex.open(folder, read_only=True, embedder=encoder) as store:
        view = store.agent("ann").engine.view()
        memory_of_row = view.memory_of_row.tolist()
        assert len(memory_of_row) > view.memories == 8
        found = read(view, range(view.rows), encoder)
        for row, memory in enumerate(memory_of_row):
            candidates = replace(everything(view), memories=np.array([memory], np.uint32))
            candidates.__dict__["rows"] = np.array([row], np.uint32)
            expected = plain(encoder, candidates.texts[0])
            assert found[row] == expected[:MOST_PIECES]
        assert max(map(len, found)) == MOST_PIECES


class Rows:
    """The vectors of rows, which nothing here looks at."""

    def __call__(self, first, end):
        return np.zeros((end - first, SIZE), np.uint16)


def test_the_log_alone_gives_the_same_columns_without_a_tokenizer(folder, encoder):
    log = folder / "agents" / "ann" / "log"
    with recollex.open(folder, embedder=encoder) as store:
        agent = store.agent("ann")
        agent.checkpoint()
        agent.retain("the dog", id="m4")
        held = agent.engine.replica().columns
        for step in (1, 3, 100):
            fresh, operations = Columns(folder / "none"), []
            for transaction in LogFollower(log).read_new():
                operations += transaction.operations
            for first in range(0, len(operations), step):
                apply(fresh, operations[first : first + step], Rows())
            for name in PIECES:
                assert fresh.array(name).tobytes() == held.array(name).tobytes() != b""
    (home,) = folder.glob("agents/ann/columns")
    for path in (home.parent / "MANIFEST", *home.iterdir()):
        path.unlink()
    with recollex.open(folder, embedder=encoder) as store:
        assert store.agent("ann").engine.view().has_pieces
        assert store.agent("ann").verify().ok


def test_a_vocabulary_is_named_once(folder, encoder):
    with recollex.open(folder, embedder=encoder) as store:
        agent = store.agent("ann")
        agent.retain_many(["the dog", "a dog"])
        entries = list(agent.log())
        named = [entry.payload for entry in entries if entry.kind == VOCABULARY]
        assert named == [{"name": encoder.vocabulary}]
        kept = [entry.payload["pieces"] for entry in entries if entry.kind == "retain"]
        assert len(kept) == 9 and all(kept)


class Without:
    """Another embedder around ours, as a caller may write one."""

    def __init__(self, encoder):
        self._encoder = encoder

    def __getattr__(self, name):
        return getattr(self._encoder, name)


def retain_each_way(agent):
    agent.retain("the cat", id="a")
    agent.retain_dialogue(TURNS[:2], document_id="d")


def test_embedders_that_do_not_tell_store_none_and_cost_no_byte(tmp_path, encoder):
    for name, embedder in (("w", Without(encoder)), ("g", recollex.GivenVectors(SIZE))):
        with recollex.open(tmp_path / name, embedder=embedder) as store:
            agent = store.agent("ann")
            if name == "g":
                agent.retain("the cat", embedding=np.ones(SIZE))
            else:
                retain_each_way(agent)
            view = agent.engine.view()
            assert not view.has_pieces
            assert find_pieces(view, np.array([0], np.uint32), encoder.vocabulary) is None
            assert not any(len(view.columns.array(column)) for column in PIECES)
            kinds = {entry.kind for entry in agent.log()}
            assert VOCABULARY not in kinds
            assert agent.verify().ok


def test_a_vector_of_the_callers_brings_none_and_its_neighbours_keep_theirs(tmp_path, encoder):
    with recollex.open(tmp_path / "s", embedder=encoder) as store:
        agent = store.agent("ann")
        agent.retain("the dog", embedding=np.ones(SIZE))
        before = agent.engine.view()
        assert not before.has_pieces
        agent.retain("the cat")
        agent.retain("the dog", embedding=np.ones(SIZE))
        agent.checkpoint()
        assert read(agent.engine.view(), [0, 1, 2], encoder) == [[], plain(encoder, "the cat"), []]
        assert find_pieces(before, np.array([0], np.uint32), encoder.vocabulary) is None
        assert agent.verify().ok


def test_a_cut_and_a_reader_see_those_of_the_writer(folder, encoder):
    with (
        recollex.open(folder, embedder=encoder) as writing,
        recollex.open(folder, read_only=True, embedder=encoder) as reading,
    ):
        agent, reader = writing.agent("ann"), reading.agent("ann")
        before = reader.engine.view()
        agent.retain_many(["the dog sat", LONG])
        after = agent.engine.view()
        expected = read(after, range(after.rows), encoder)
        assert all(expected)
        assert read(reader.engine.view(), range(after.rows), encoder) == expected
        assert read(before, range(before.rows), encoder) == expected[: before.rows]
        past = agent.engine.view(before.op)
        assert read(past, range(past.rows), encoder) == expected[: before.rows]
    program = (
        "import sys, numpy as np, recollex\n"
        "from recollex_engine.state.word_pieces import find_pieces\n"
        "given = recollex.GivenVectors(int(sys.argv[2])); given.fingerprint = sys.argv[3]\n"
        "with recollex.open(sys.argv[1], read_only=True, embedder=given) as store:\n"
        "    view = store.agent('ann').engine.view()\n"
        "    found = find_pieces(view, np.arange(view.rows, dtype=np.uint32), sys.argv[4])\n"
        "    print([found.ids[a:b].tolist() for a, b in zip(found.starts, found.ends)])\n"
        "    print('tokenizers' in sys.modules)\n"
    )
    run = [sys.executable, "-c", program, str(folder), str(SIZE)]
    run += [encoder.fingerprint, encoder.vocabulary]
    environment = {"PYTHONPATH": ":".join(sys.path)}
    printed = subprocess.run(run, capture_output=True, text=True, env=environment, check=True)
    assert printed.stdout.splitlines() == [str(expected), "False"]


def test_what_waits_for_its_publication_is_seen_by_no_view_before(tmp_path, encoder):
    """The first ids come while views without any are taken."""
    with recollex.open(tmp_path / "s", embedder=encoder) as store:
        agent = store.agent("ann")
        agent.retain_many(["a", "b"], embedding=np.ones((2, SIZE)))
        with agent.engine.together():
            agent.retain("the cat")
            view = agent.engine.view()
            assert view.rows == 2 and view.has_pieces
            assert read(view, [0, 1], encoder) == [[], []]
        assert read(agent.engine.view(), [0, 1, 2], encoder)[2]


def test_a_checkpoint_of_a_version_without_them_opens_as_it_is(tmp_path, encoder):
    folder, agent_folder = tmp_path / "s", tmp_path / "s" / "agents" / "ann"
    with recollex.open(folder, embedder=Without(encoder)) as store:
        agent = store.agent("ann")
        retain_each_way(agent)
        agent.checkpoint()
    manifest = Manifest.read(agent_folder)
    columns = {name: n for name, n in manifest.columns.items() if name not in PIECES}
    assert len(columns) == len(schema()) - 4
    replace(manifest, columns=columns).write(agent_folder)
    with recollex.open(folder, embedder=encoder) as store:
        agent = store.agent("ann")
        assert not agent.engine.replica().damaged
        assert agent.engine.replica().position.op == manifest.position.op
        rows = agent.engine.view().rows
        agent.retain("the dog")
        agent.checkpoint()
    with recollex.open(folder, embedder=encoder) as store:
        agent = store.agent("ann")
        found = read(agent.engine.view(), range(rows + 1), encoder)
        assert found == [[]] * rows + [plain(encoder, "the dog")]
        assert agent.verify().ok


def test_snapshots_and_replays_have_them(folder, tmp_path, encoder):
    with recollex.open(folder, embedder=encoder) as store:
        agent = store.agent("ann")
        entries = list(agent.log())
        view = agent.engine.view()
        expected = read(view, range(view.rows), encoder)
        agent.snapshot(entries[3].recorded_at, tmp_path / "then")
    recollex.replay(folder / "agents" / "ann", tmp_path / "again", agent_id="ann", embedder=encoder)
    for path, whole in ((tmp_path / "then", False), (tmp_path / "again", True)):
        with recollex.open(path, embedder=encoder) as store:
            view = store.agent("ann").engine.view()
            assert (view.rows == len(expected)) is whole
            assert read(view, range(view.rows), encoder) == expected[: view.rows]
            assert store.agent("ann").verify().ok


def test_what_a_policy_hides_of_a_turn_is_in_no_id(tmp_path, encoder):
    policy = recollex.WritePolicy()
    secret = "my card is 4111 1111 1111 1111 , please two seats"
    with recollex.open(tmp_path / "s", embedder=encoder) as store:
        agent = store.agent("ann")
        turn = {"speaker": "Ann", "text": secret, "at": START.isoformat()}
        agent.retain_dialogue([turn], document_id="d", policy=policy)
        agent.sessions.end("d")
        view = agent.engine.view()
        stored = [view.columns.text(n) for n in range(view.memories)]
        assert stored
        for place, text in enumerate(stored):
            assert "4111" not in text
            assert read(view, [int(view.buffer("first_row")[place])], encoder) == [
                plain(encoder, text)
            ]


def test_the_record_is_as_documented(folder, encoder):
    logs = [LogReader(path).transactions() for path in folder.rglob("log")]
    payloads = [each.payload or {} for log in logs for t in log for each in t.operations]
    (said,) = [each["pieces"] for each in payloads if each.get("text") == "Ann moved to Oslo."]
    assert np.frombuffer(decode_pieces(said[0]), "<u2").tolist() == plain(
        encoder, "Ann moved to Oslo."
    )
    assert "=" not in said[0]
    longest = max(len(text) for each in payloads for text in each.get("pieces", []))
    assert longest == -(-MOST_PIECES * 2 * 4 // 3)
    assert Path(folder).exists()


WORDS = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]), st.sampled_from("ab s.,-:[]()\u0301\u200b東ß")
    ),
    min_size=1,
    max_size=12,
).filter(lambda text: not text.isspace())


@settings(deadline=None, max_examples=200)
@given(
    speaker=st.one_of(st.none(), WORDS, st.just("[SEP]")),
    words=st.lists(WORDS, min_size=1, max_size=8),
    cuts=st.sets(st.integers(1, 100), max_size=2),
)
def test_what_the_embedder_read_becomes_what_a_reranker_reads(encoder, speaker, words, cuts):
    text = " ".join(words) if speaker is None else f"{speaker}: {' '.join(words)}"
    edges = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    spans = list(itertools.pairwise(edges))
    statement = Statement(
        text, said_at=None, id=None, network=0, context=None, document=None, speaker=speaker
    )
    prepared = Prepared(statement, 0, spans, [], [], None, list, slice(0))
    ids = [np.array(plain(encoder, read), np.uint16) for read in prepared.texts]
    found = _pieces(prepared, ids, TokenizedTexts(encoder.vocabulary, ids, encoder.pieces))
    if found is None:  # the first passage ends within the speaker's name
        assert speaker is not None and spans[0][1] < len(speaker) + 2
        return
    for place, (start, end) in enumerate(spans):
        spoken = start > 0 and is_spoken(text, speaker)
        read = (f"{speaker}: " if spoken else "") + text[start:end]
        assert found.ids[place].tolist() == plain(encoder, read)
