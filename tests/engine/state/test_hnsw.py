import gc
import os
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from recollex_engine.errors import CorruptError, StoreFullError
from recollex_engine.state import hnsw
from recollex_engine.state.hnsw import Hnsw, extend_graph
from recollex_kernels.vectors.codes import encode
from tests.kernels.inputs import read_only

extended = partial(extend_graph, threads=lambda: 1)
"""With more, a graph differs each time, the more so the more cores; a row may be cut off."""
CODES = np.random.default_rng(1).integers(-127, 128, (600, 32)).astype(np.int8)


def coded(codes, first_row):
    """The columns of rows whose vectors are ``codes``, after ``first_row`` others."""
    count, dimension = codes.shape
    vectors = np.zeros((first_row + count, dimension), np.float16)
    vectors[first_row:] = codes / np.linalg.norm(codes.astype(np.float32), axis=1)[:, None]
    columns = np.empty((len(vectors), dimension // 2), np.uint8), *np.empty((3, len(vectors)), "f4")
    encode(vectors.view(np.uint16), *columns)
    return columns[0], columns[1], np.arange(len(vectors), dtype=np.uint32)


def near(graph, columns, code, count, allowed=None, **options):
    allowed = np.ones(len(columns[1]), np.uint8) if allowed is None else allowed
    return graph.search(columns, allowed, read_only(code.astype(np.float32)), count, **options)


def test_a_graph_is_extended_and_finds_every_row(tmp_path):
    extended(tmp_path / "1", None, CODES[:300], 1000)
    extended(tmp_path / "2", tmp_path / "1", CODES[300:], 1300)
    graph = Hnsw.open(tmp_path / "2", 32, 1000, 1600)
    columns = coded(CODES, 1000)
    for row in range(0, 600, 50):
        assert near(graph, columns, CODES[row], 1).tolist() == [1000 + row]
        assert 1000 + row in near(graph, columns, CODES[row], 5, graphs=3)
    found = graph.search_many(CODES[::50], 3)
    assert found.shape == (12, 3)
    assert found[:, 0].tolist() == list(range(1000, 1600, 50))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1", "2"]


def test_one_thread_begins_a_graph_whatever_is_allowed(tmp_path):
    one = tmp_path / "one"
    extended(one, None, CODES, 0)
    for name in "abcde":
        extend_graph(tmp_path / name, None, CODES, 0, lambda: 8)
        assert (tmp_path / name).read_bytes() == one.read_bytes()


def test_no_thread_allowed_ends_the_building(tmp_path):
    allowed = iter([1, 0])
    codes = np.tile(CODES, (3, 1))
    assert not extend_graph(tmp_path / "1", None, codes, 0, lambda: next(allowed))
    assert list(tmp_path.iterdir()) == []


def test_a_graph_is_searched_as_its_vectors_need(tmp_path, monkeypatch):
    random = np.random.default_rng(2)
    centres = random.normal(size=(20, 32))
    grouped = centres[random.integers(20, size=3000)] + 0.3 * random.normal(size=(3000, 32))
    for name, vectors in (("clustered", grouped), ("noise", random.normal(size=(3000, 64)))):
        codes = np.rint(vectors * (127 / np.abs(vectors).max(1, keepdims=True))).astype(np.int8)
        extended(tmp_path / name, None, codes, 500)
        graph = Hnsw.open(tmp_path / name, codes.shape[1], 500, 3500)

        def codes_of(first, end, codes=codes):
            return codes[first - 500 : end - 500]

        monkeypatch.setattr(hnsw, "COMPARED_ROWS", 700)
        exact = hnsw._exact(codes[:5], codes_of, 500, 3500, 30)
        normal = codes / np.linalg.norm(codes, axis=1, keepdims=True)
        for row, found in enumerate(exact):
            kth = np.sort(normal @ normal[row])[-30]
            assert len(set(found)) == 30
            assert (normal[found - 500] @ normal[row] >= kth - 1e-6).all()
        monkeypatch.setattr(hnsw, "WIDTHS", (10, 60, 90, 500))
        monkeypatch.setattr(hnsw, "NEAREST", 30)
        columns = coded(codes, 500)
        sampled = np.linspace(0, 2999, 64).astype(int)
        truth = hnsw._exact(codes[sampled], codes_of, 500, 3500, 30)
        shares = {}
        for width in (10, 60, 90):
            wide = replace(graph, width=width)
            found = [near(wide, columns, codes[row], 200) for row in sampled]
            shares[width] = np.mean(
                [len(set(a) & set(b)) / 30 for a, b in zip(truth, found, strict=True)]
            )
        enough = [width for width in shares if shares[width] >= hnsw.SHARE]
        expected = {10: 60, 60: 90, 90: 500, 500: 500}[min([*enough, 500])]
        assert hnsw.least_width(graph, columns, 200, codes_of) == expected
        assert graph.width == 0
        assert (name, expected) in (("clustered", 90), ("noise", 500)), shares


def test_the_width_is_measured_by_the_walk_that_recalls_compile(tmp_path, monkeypatch):
    extended(tmp_path / "1", None, CODES, 0)
    graph = Hnsw.open(tmp_path / "1", 32, 0, 600)
    walk, writable = hnsw.near_rows, set()

    def near_rows(nodes, columns, allowed, query, *limits):
        writable.add(query.flags.writeable)
        return walk(nodes, columns, allowed, query, *limits)

    monkeypatch.setattr(hnsw, "near_rows", near_rows)
    hnsw.least_width(graph, coded(CODES, 0), 200, lambda first, end: CODES[first:end])
    assert writable == {False}


def test_a_filter_is_walked_with_or_given_up(tmp_path):
    extended(tmp_path / "g", None, CODES, 0)
    graph, columns = Hnsw.open(tmp_path / "g", 32, 0, 600, 64), coded(CODES, 0)
    allowed = np.zeros(600, np.uint8)
    allowed[7::10] = 1
    for row in range(7, 600, 50):
        found = near(graph, columns, CODES[row], 20, allowed, share=0.1)
        assert row in found and allowed[found].all() and len(found) == 20
    assert near(graph, columns, CODES[1], 20, allowed, share=1.0) is None  # it was said to be near


def test_slots_that_threads_left_out_of_order_are_put_right(tmp_path):
    rows = np.random.default_rng(3).permutation(600)
    index = hnsw._empty(32)
    index.add(rows.astype(np.uint64), CODES[rows], threads=1)
    index.save(str(tmp_path / "g"))
    graph, columns = Hnsw.open(tmp_path / "g", 32, 0, 600), coded(CODES, 0)
    for row in range(0, 600, 50):
        assert near(graph, columns, CODES[row], 1).tolist() == [row]
    index.add(np.array([9999], np.uint64), CODES[:1])
    index.save(str(tmp_path / "h"))
    other = Hnsw.open(tmp_path / "h", 32, 0, 601)
    with pytest.raises(CorruptError, match="h: expected rows 0 to 600"):
        near(other, coded(np.vstack([CODES, CODES[:1]]), 0), CODES[0], 1)


@pytest.mark.parametrize("damage", [None, lambda d: b"", lambda d: d[:99], lambda d: d[:-1]])
def test_a_damaged_graph_is_named(tmp_path, damage):
    if damage is not None:
        extended(tmp_path / "g", None, CODES, 0)
        (tmp_path / "g").write_bytes(damage((tmp_path / "g").read_bytes()))
    others = [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]
    with pytest.raises(CorruptError, match="g: expected a graph"):
        Hnsw.open(tmp_path / "g", 32, 0, 600)
    for descriptor in others:  # none of them was closed on the way
        os.close(descriptor)
    with pytest.raises(CorruptError, match="g: expected a graph"):
        extended(tmp_path / "h", tmp_path / "g", CODES, 600)


def test_a_graph_of_other_rows_is_named(tmp_path):
    extended(tmp_path / "g", None, CODES, 0)
    with pytest.raises(CorruptError, match="expected 601 rows of 32, found 600"):
        Hnsw.open(tmp_path / "g", 32, 0, 601)


def test_a_full_disk_leaves_no_graph(tmp_path, monkeypatch):
    def refuse(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(hnsw, "flush", refuse)
    with pytest.raises(StoreFullError, match="No space left"):
        extended(tmp_path / "g", None, CODES, 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["missing", "empty", "a folder", "other bytes", "cut short"])
def test_a_graph_that_cannot_be_mapped_closes_nothing_of_others(tmp_path, damage):
    path = tmp_path / "graph"
    codes = np.random.default_rng(0).integers(-127, 127, (50, 16)).astype(np.int8)
    assert extended(path, None, codes, 0)
    whole = path.read_bytes()
    path.unlink()
    if damage == "a folder":
        path.mkdir()
    elif damage != "missing":
        path.write_bytes({"empty": b"", "other bytes": b"x" * 99, "cut short": whole[:900]}[damage])
    before = os.fstat(0)  # usearch closes descriptor 0 where it cannot map a file
    with pytest.raises(CorruptError, match="graph"):
        Hnsw.open(path, 16, 0, 50)
    assert os.fstat(0) == before


def test_a_graph_is_read_from_pages_that_outlive_its_file(tmp_path):
    path = tmp_path / "graph"
    codes = np.random.default_rng(0).integers(-127, 127, (50, 16)).astype(np.int8)
    assert extended(path, None, codes, 100)
    graph = Hnsw.open(path, 16, 100, 150)
    path.unlink()
    gc.collect()
    for row in range(50):
        assert near(graph, coded(codes, 100), codes[row], 1).tolist() == [100 + row]
    assert graph.search_many(codes, 1)[:, 0].tolist() == list(range(100, 150))
