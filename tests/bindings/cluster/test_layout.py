import pytest

from recollex.cluster.layout import (
    SharedAgent,
    SharedRun,
    agent_of,
    create_cluster,
    prefix_of,
    read_cluster,
    run_key,
    shard_of,
)
from recollex_engine.errors import InputError


def test_a_cluster_is_created_once(tmp_path):
    url = f"file://{tmp_path}/memory"
    with pytest.raises(InputError, match="no cluster"):
        read_cluster(url)
    create_cluster(url, 3)
    with pytest.raises(InputError, match="already"):
        create_cluster(url, 5)
    assert read_cluster(url).shards == 3
    with pytest.raises(InputError, match="shards"):
        create_cluster(url, 0)
    for wrong in ("memory", "file://memory"):
        with pytest.raises(InputError, match="s3://"):
            create_cluster(wrong, 1)


def test_no_agent_has_a_key_of_another():
    names = ["a", "ab", "a\0", "é", "x" * 80, "A"]
    for name in names:
        key = run_key(name, 7)
        assert agent_of(key) == name
        assert [other for other in names if key.startswith(prefix_of(other))] == [name]


def test_runs_come_in_the_order_of_their_operations():
    keys = [run_key("a", op) for op in (1, 9, 10, 255, 256, 70_000)]
    assert keys == sorted(keys)


def test_what_was_stored_is_read_again():
    run = SharedRun(1, 3, 17, b"c" * 32, "n1", 4, b"lines\n", b"header", b"rows")
    prefix = prefix_of("a")
    rows = {prefix + b"K": b"key", prefix + b"P": b"pack", run_key("a", 3): run.to_bytes()}
    shared = SharedAgent.of(rows, "a")
    assert (shared.key, shared.pack, shared.runs) == (b"key", b"pack", (run,))
    assert not shared.is_empty
    assert SharedAgent.of({}, "a").is_empty


def test_agents_spread_over_all_shards():
    counts = [0] * 16
    for number in range(16_000):
        counts[shard_of(f"user-{number}", 16)] += 1
    assert min(counts) > 800
    assert max(counts) < 1_200
