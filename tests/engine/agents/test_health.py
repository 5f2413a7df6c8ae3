"""How an agent is kept, before and after a checkpoint, and beside its writer."""

import recollex
from recollex_engine.agents.stats import health
from recollex_engine.storage.disk import bytes_in


def kept(agent):
    return health(agent.engine.view(), agent.engine.folder)


def test_a_checkpoint_takes_in_the_tail(tmp_path):
    path, given = tmp_path / "s", recollex.GivenVectors(8)
    with recollex.open(path, embedder=given) as store:
        a = store.agent("a")
        empty = kept(a)
        assert (empty.operations, empty.checkpoint, empty.recorded_at) == (0, None, None)
        assert not any(empty.files.values())
        a.retain_many(["One.", "Two."], embedding=[[1.0] * 8] * 2)
        before = kept(a)
        assert before.operations == before.tail_operations == a.stats().operations
        assert (before.checkpoint, before.tail_memories, before.writer) == (None, 2, True)
        a.checkpoint()
        a.retain("Three.", embedding=[1.0] * 8)
        after = kept(a)
        assert after.checkpoint is not None and after.checkpoint.op == before.operations
        assert after.checkpoint.recorded_at == before.recorded_at
        assert (after.tail_operations, after.tail_memories) == (1, 1)
        assert after.recorded_at == a.list(newest=True)[0].recorded_at
        assert after.checkpoint.segments == 1 and after.files["segments"] > 0
        assert sum(after.files.values()) == bytes_in(a.engine.folder)
        assert min(after.files[name] for name in ("log", "vectors", "columns")) > 0
    with recollex.open(path, embedder=given, read_only=True) as store:
        assert not kept(store.agent("a")).writer
        (store.agent("a").engine.folder / "MANIFEST").write_text("torn")
        assert kept(store.agent("a")).checkpoint is None
