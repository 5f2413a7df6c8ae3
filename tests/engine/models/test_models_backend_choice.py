import json

import pytest

from recollex_engine.errors import ModelError
from recollex_engine.models import backends
from recollex_engine.models.backends import fastest_precision
from recollex_engine.models.cross_encoder import load_cross_encoder


class Loads:
    """Counts what is loaded; a way that is missing cannot be."""

    def __init__(self, monkeypatch, **ms):
        self.ms = ms
        self.loaded = []
        monkeypatch.setattr(backends, "measure", lambda way: self.ms[way])
        monkeypatch.setattr(backends, "_version", lambda package: "1.0")

    def __call__(self, place, way):
        self.loaded.append(way)
        if way not in self.ms:
            raise ModelError(f"no {way}")
        return way


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RECOLLEX_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize(
    ("ms", "expected"),
    [({"int8": 9, "bf16": 7}, "bf16"), ({"int8": 7, "bf16": 7}, "int8"), ({"int8": 9}, "int8")],
)
def test_the_fastest_that_can_be_loaded_is_taken_and_kept(monkeypatch, cache, ms, expected):
    loads = Loads(monkeypatch, **ms)
    assert fastest_precision("judge", loads) == expected
    assert loads.loaded == ["int8", "bf16"]
    assert fastest_precision("judge", loads) == expected
    assert loads.loaded == ["int8", "bf16"]
    (kept,) = cache.glob("probe/*.json")
    assert json.loads(kept.read_text())["fastest"] == expected
    kept.write_text("{torn")
    assert fastest_precision("judge", loads) == expected
    assert loads.loaded == ["int8", "bf16"] * 2


def test_other_models_and_versions_are_measured_anew(monkeypatch, cache):
    loads = Loads(monkeypatch, int8=9, bf16=7)
    fastest_precision("judge", loads)
    fastest_precision("another", loads)
    monkeypatch.setattr(backends, "_version", lambda package: "2.0")
    fastest_precision("judge", loads)
    assert len(loads.loaded) == 6


def test_where_there_is_one_way_nothing_is_measured(monkeypatch):
    monkeypatch.setattr(backends, "_version", lambda package: "")
    assert fastest_precision("judge", None) == "int8"
    monkeypatch.setattr(backends, "is_gpu_here", lambda: True)
    assert fastest_precision("judge", None) == "fp16"


def test_a_model_that_is_missing_says_so(monkeypatch):
    with pytest.raises(ModelError, match="no int8"):
        fastest_precision("judge", Loads(monkeypatch, bf16=7))


def test_a_cache_that_cannot_be_written_only_costs_time(monkeypatch, cache):
    cache.write_text("a file")
    loads = Loads(monkeypatch, int8=9, bf16=7)
    assert fastest_precision("judge", loads) == fastest_precision("judge", loads) == "bf16"


def test_a_real_judge_can_be_measured():
    class Judge:
        seen = []  # noqa: RUF012

        def scores(self, query, texts, threads=1):
            self.seen += texts
            return [0.5] * len(texts)

    assert backends.measure(Judge()) > 0
    assert len(set(Judge.seen)) == len(Judge.seen) == backends.PAIRS * (backends.REPEATS + 1)


def test_auto_loads_a_judge_without_weights_with_the_usual_error():
    with pytest.raises(ModelError, match="hf download"):
        load_cross_encoder("no-such-judge", "auto")
