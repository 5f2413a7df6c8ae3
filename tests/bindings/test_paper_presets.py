"""The papers' presets have the papers' constants, and do with them what the papers say."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recollex
from recollex import presets
from recollex_engine.models import weights
from recollex_engine.models.description import MINILM_THRESHOLDS

DIMENSION = 16
START = datetime(2024, 5, 1, 9, tzinfo=UTC)
NETWORKS = ("world", "agent", "opinion")
EACH = 6


def near(share: float, axis: int) -> Any:
    """Return a vector whose cosine with the question is ``share``."""
    vector = np.zeros(DIMENSION, np.float32)
    vector[0], vector[axis] = share, np.sqrt(1 - share * share)
    return vector


QUERY = np.eye(DIMENSION, dtype=np.float32)[0]


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[recollex.Agent]:
    """Six memories a network; the world's are the most alike to the question, then the agent's."""
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(DIMENSION)) as store:
        agent = store.agent("a")
        count = EACH * len(NETWORKS)
        agent.retain_many(
            [f"kite number {n}" for n in range(count)],
            id=[f"{NETWORKS[n // EACH]}{n % EACH}" for n in range(count)],
            network=[NETWORKS[n // EACH] for n in range(count)],
            event_at=[START + timedelta(days=9 * n) for n in range(count)],
            embedding=np.array([near(0.95 - 0.02 * n, 1 + n // 3) for n in range(count)]),
        )
        yield agent


def ask(agent: recollex.Agent, **options: Any) -> recollex.Recall:
    now = START + timedelta(days=400)
    found = agent.recall("kite", query_embedding=QUERY, now=now, **options)
    assert not found.trace.errors
    return found


def test_tempr_has_the_printed_constants() -> None:
    tempr, printed = presets.tempr, presets.tempr_printed
    assert (tempr.spreading.decay, tempr.spreading.threshold, tempr.spreading.entry_points) == (
        *(0.8, 0.1, 5),
    )
    assert tempr.fusion == presets.ReciprocalRank(k=60.0)
    assert tempr.overflow == "stop" and tempr.arms == ("semantic", "keyword", "graph", "temporal")
    assert tempr.thresholds is None  # the model's: measured for MiniLM
    assert (MINILM_THRESHOLDS.semantic, MINILM_THRESHOLDS.temporal) == (0.2, 0.3)
    limits = printed.thresholds
    assert limits is not None
    assert (limits.semantic, limits.temporal, limits.entry) == (0.3, 0.4, 0.5)
    assert printed.spreading.hub is None


def test_the_other_presets_have_the_printed_constants() -> None:
    memora, satf, memotrace = presets.memora, presets.satf, presets.memotrace
    assert (memora.spreading.threshold, memora.spreading.from_one) == (0, True)
    assert memora.reranker == presets.MemoraHeuristic(0.6, 0.4, 0.2, 0.1)
    assert memora.diversity == presets.Diversity(balance=0.5, scaled=False)
    anchoring = satf.self_anchoring
    assert anchoring is not None and not satf.semantic_cut
    assert (anchoring.anchors, anchoring.width_days, anchoring.strength) == (30, 15, 10)
    assert anchoring.gate == 0.1
    assert (memotrace.depth, memotrace.reranks_last) == (64, True)
    assert memotrace.diversity is not None


@pytest.mark.parametrize("name", ["tempr", "memora"])
def test_each_network_has_a_limit_of_its_own(agent: recollex.Agent, name: str) -> None:
    preset = replace(getattr(presets, name), arms=("semantic",), diversity=None)
    found = ask(agent, preset=preset, thinking_budget=2)
    assert sorted(m.network for m in found) == sorted(NETWORKS * 2)
    together = ask(agent, preset=replace(preset, quotas=None), thinking_budget=2)
    assert {m.network for m in together} == {"world"}


def test_activation_goes_from_network_to_network(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(DIMENSION)) as store:
        agent = store.agent("a")
        agent.retain_many(
            ["Alice works at Google", "I recommended books to Alice", "books are good"],
            id=["world", "agent", "opinion"],
            network=["world", "agent", "opinion"],
            entities=[["Alice"], ["Alice", "Books"], ["Books"]],
            event_at=[START + timedelta(days=30 * n) for n in range(3)],
            embedding=np.eye(DIMENSION, dtype=np.float32)[[0, 1, 2]],
        )
        preset = replace(presets.tempr, arms=("graph",))
        assert ask(agent, preset=preset).ids == ["world", "agent", "opinion"]
        quota = replace(preset, quotas={"opinion": 1, "agent": 1})
        assert ask(agent, preset=quota).ids == ["world", "agent", "opinion"]


def test_a_quota_leaves_out_what_activation_reached_beyond_it(agent: recollex.Agent) -> None:
    preset = replace(presets.tempr, arms=("graph",), quotas={"world": 2})
    whole = ask(agent, preset=replace(preset, quotas=None)).ids
    assert sum(id.startswith("world") for id in whole) > 2
    kept = [id for id in whole if not id.startswith("world")]
    first = [id for id in whole if id.startswith("world")][:2]
    assert sorted(ask(agent, preset=preset).ids) == sorted(kept + first)


def test_the_printed_thresholds_leave_out_what_the_models_own_admit(tmp_path: Path) -> None:
    low = presets.Thresholds(semantic=0.1, temporal=0.1, entry=0.1)
    given = recollex.GivenVectors(DIMENSION, thresholds=low)
    with recollex.open(tmp_path, embedder=given) as store:
        agent = store.agent("a")
        agent.retain("kite", id="near", embedding=near(0.6, 1))
        agent.retain("kite", id="far", embedding=near(0.2, 2))
        found = {
            name: ask(agent, preset=replace(getattr(presets, name), arms=("semantic",))).ids
            for name in ("tempr", "tempr_printed")
        }
    assert found == {"tempr": ["near", "far"], "tempr_printed": ["near"]}


def test_satf_has_no_threshold(tmp_path: Path) -> None:
    with recollex.open(tmp_path, embedder=recollex.GivenVectors(DIMENSION)) as store:
        agent = store.agent("a")
        agent.retain("kite", embedding=near(0.01, 1))
        assert len(ask(agent, preset="satf")) == 1
        assert not ask(agent, preset=replace(presets.satf, semantic_cut=True))


def test_the_cross_encoder_takes_its_place_where_its_weights_are(
    agent: recollex.Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "none"))
    missing = ask(agent, preset="tempr")
    assert missing.trace.judged == 0
    assert missing.ids == ask(agent, preset=replace(presets.tempr, reranker=None)).ids
    cache = tmp_path / "hub"
    snapshot = cache / "models--cross-encoder--ms-marco-MiniLM-L-6-v2" / "snapshots" / "a"
    snapshot.mkdir(parents=True)
    (snapshot / weights.WEIGHTS_FILE).write_bytes(b"weights")
    monkeypatch.setenv("HF_HUB_CACHE", str(cache))
    there = agent.recall("kite", query_embedding=QUERY, preset="tempr")
    assert "config.json" in there.trace.errors["rerank"]  # it was used: these are no weights
    demanded = replace(presets.tempr, reranker=presets.CrossEncoderReranker())
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "none"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "rerank" in agent.recall("kite", query_embedding=QUERY, preset=demanded).trace.errors


def test_memotraces_cross_encoder_has_the_last_word(agent: recollex.Agent) -> None:
    asked: list[list[str]] = []

    def shortest(query: str, texts: list[str]) -> list[float]:
        asked.append(texts)
        return [float(len(texts) - n) for n in range(len(texts))]

    judge = presets.FunctionReranker(shortest, dated=False)
    memotrace = replace(presets.memotrace, reranker=judge, depth=4)
    spread = ask(agent, preset=replace(memotrace, reranker=None))
    found = ask(agent, preset=memotrace)
    assert found.ids == spread.ids  # the judge keeps the order that MMR made
    assert asked == [[m.text for m in spread][:4]]
    assert found.trace.judged == 4
    relevance = ask(agent, preset=replace(memotrace, diversity=None)).ids
    assert relevance != found.ids


def test_mmr_takes_the_rerankers_scores_as_they_are(agent: recollex.Agent) -> None:
    by_score = {"kite number 0": 0.1, "kite number 1": 0.09, "kite number 15": 0.08}
    judge = presets.FunctionReranker(
        lambda query, texts: [by_score.get(text, 0.0) for text in texts],
        dated=False,
        combination=presets.Combination("replace"),
    )
    preset = replace(presets.memora, arms=("semantic",), reranker=judge)
    raw = ask(agent, preset=preset, thinking_budget=100)
    scaled = ask(agent, preset=replace(preset, diversity=presets.Diversity()))
    vectors = {m.id: v for m, v in zip(raw, (agent_vectors(raw)), strict=True)}
    expected = oracle(vectors, {m.id: by_score.get(m.text, 0.0) for m in raw})
    assert raw.ids[:6] == expected[:6]
    assert raw.ids != scaled.ids


def agent_vectors(found: recollex.Recall) -> list[Any]:
    """Return the vectors of memories whose number in the text gives their cosine."""
    numbers = [int(m.text.rsplit(" ", 1)[1]) for m in found]
    return [near(0.95 - 0.02 * n, 1 + n // 3) for n in numbers]


def oracle(vectors: dict[str, Any], relevance: dict[str, float]) -> list[str]:
    """Memora 3.4 as printed, the order of ties left to the reranker's."""
    order = sorted(relevance, key=lambda id: -relevance[id])
    taken: list[str] = []
    while len(taken) < len(order):
        rest = [id for id in order if id not in taken]
        worth = {
            id: 0.5 * relevance[id]
            - 0.5 * max((float(vectors[id] @ vectors[other]) for other in taken), default=0.0)
            for id in rest
        }
        taken.append(max(rest, key=lambda id: round(worth[id], 4)))
    return taken
