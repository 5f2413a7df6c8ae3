import math
import random
import threading

import numpy as np
import pytest

from recollex_engine.errors import InputError, ModelError
from recollex_engine.models.convert import prepare
from recollex_engine.models.cross_encoder import _sigmoid, has_cross_encoder, load_cross_encoder
from recollex_engine.models.encoder import load_encoder
from tests.engine.models.bert_oracle import encoded, linear

WORDS = ["ann", "bob", "the", "cat", "sat", "moved", "to", "oslo", "rain", ".", ",", "?", "what"]
SIZE, HEADS = 32, 4


def oracle(tensors, ids, types):
    """BERT with its sequence-classification head, in float64 and without batches."""
    w = {name.removeprefix("bert."): tensor.astype(float) for name, tensor in tensors.items()}
    x = encoded(w, ids, types, HEADS)
    pooled = np.tanh(linear(w, x[:1], "pooler.dense"))
    return float(linear(w, pooled, "classifier")[0, 0])


@pytest.fixture
def judge_tensors(make_tensors):
    """``judge_tensors(labels=1)``: the tiny BERT of the other tests with a head on it."""

    def make(labels=1):
        rng = np.random.default_rng(11)
        tensors = {f"bert.{name}": tensor for name, tensor in make_tensors().items()}
        for name, shape in {
            "bert.pooler.dense.weight": (SIZE, SIZE),
            "bert.pooler.dense.bias": (SIZE,),
            "classifier.weight": (labels, SIZE),
            "classifier.bias": (labels,),
        }.items():
            tensors[name] = (0.2 * rng.normal(size=shape)).astype(np.float32)
        return tensors

    return make


@pytest.fixture
def judges(tmp_path, make_model, judge_tensors):
    """``judges(precision)`` loads the tiny cross-encoder."""
    folder = make_model(tmp_path / "judge", judge_tensors())
    return lambda precision="int8": load_cross_encoder(folder, precision)


def sentences(count, seed=3, longest=20):
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(0, longest))) for _ in range(count)]


def expected(judge, tensors, query, texts):
    encodings = [judge._tokenizer.encode(query, text) for text in texts]
    return [1 / (1 + math.exp(-oracle(tensors, e.ids, e.type_ids))) for e in encodings]


QUERY = "what did ann say ?"


def test_float_scores_are_the_equations(judges, judge_tensors):
    judge, texts = judges("fp32"), sentences(40)
    found = judge.scores(QUERY, texts)
    assert found.dtype == np.float64
    assert found.tolist() == pytest.approx(expected(judge, judge_tensors(), QUERY, texts), abs=2e-5)
    assert found.std() > 0.01


def test_int8_scores_are_near_the_equations_and_rank_as_they_do(judges, judge_tensors):
    judge, texts = judges(), list(dict.fromkeys(sentences(40)))
    exact = np.array(expected(judge, judge_tensors(), QUERY, texts))
    found = judge.scores(QUERY, texts)
    assert np.abs(found - exact).max() < 0.08
    assert np.corrcoef(found, exact)[0, 1] > 0.97


def test_the_two_texts_are_told_apart(judges, judge_tensors):
    judge = judges("fp32")
    encoding = judge._tokenizer.encode(QUERY, "ann moved")
    assert set(encoding.type_ids) == {0, 1}
    tensors = judge_tensors()
    without = oracle(tensors, encoding.ids, [0] * len(encoding.ids))
    assert abs(oracle(tensors, encoding.ids, encoding.type_ids) - without) > 1e-3
    assert judge.scores(QUERY, ["ann moved"])[0] != judge.scores("ann moved", [QUERY])[0]


def test_in_int8_a_score_depends_on_its_pair_alone(judges):
    judge, texts = judges(), sentences(40)
    alone = [judge.scores(QUERY, [text])[0] for text in texts]
    for threads in (1, 3):
        assert judge.scores(QUERY, texts, threads=threads).tolist() == alone
        assert judge.scores(QUERY, texts[::-1], threads=threads).tolist() == alone[::-1]


def test_in_floats_company_changes_next_to_nothing(judges):
    judge, texts = judges("fp32"), sentences(40)
    alone = np.array([judge.scores(QUERY, [text])[0] for text in texts])
    for threads in (1, 3):
        assert np.abs(judge.scores(QUERY, texts, threads=threads) - alone).max() < 1e-5


@pytest.mark.parametrize("precision", ["int8", "fp32"])
def test_equal_texts_have_equal_scores_and_nothing_has_none(judges, precision):
    judge = judges(precision)
    first, second, third = judge.scores(QUERY, ["ann sat", "", "ann sat"])
    assert first == third != second
    assert judge.scores(QUERY, []).tolist() == []


def test_what_lies_beyond_the_length_is_not_seen(judges):
    judge = judges()
    assert judge.max_length == 64
    long = " ".join(["ann"] * 80)
    assert judge.scores(QUERY, [long])[0] == judge.scores(QUERY, [f"{long} bob cat"])[0]
    assert 0 <= judge.scores(long, ["ann"])[0] <= 1
    for _ in range(2):  # judged, and remembered
        assert judge.score_pairs(QUERY, [long, "ann", long, f"{long} cat"]).truncated == 3
    assert judge.score_pairs(QUERY, ["ann"]).truncated == 0


def test_a_pair_is_judged_once_while_it_is_remembered(judges, monkeypatch):
    judge, ran = judges(), []
    run = judge._run
    monkeypatch.setattr(judge, "_run", lambda pairs: ran.extend(pairs) or run(pairs))
    first = judge.scores("who is ann ?", ["ann sat", "bob sat", "ann sat"])
    assert len(ran) == 2
    again = judge.scores("who is ann ?", ["bob sat", "cat sat", "ann sat"])
    assert len(ran) == 3
    assert again.tolist()[::2] == first.tolist()[1:]
    judge.scores("who is bob ?", ["bob sat"])
    assert len(ran) == 4


def test_on_a_device_concurrent_questions_share_batches(tmp_path, make_model, judge_tensors):
    folder = make_model(tmp_path / "judge", judge_tensors())
    with pytest.warns(RuntimeWarning, match="fp16 runs on the CPU"):
        judge = load_cross_encoder(folder, "fp16")
    texts = sentences(12)
    queries = [f"{QUERY} {word}" for word in WORDS[:6]]
    expected = {query: load_cross_encoder(folder, "fp32").scores(query, texts) for query in queries}
    found = {}
    threads = [
        threading.Thread(target=lambda q=query: found.update({q: judge.scores(q, texts)}))
        for query in queries
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for query in queries:
        assert np.abs(found[query] - expected[query]).max() < 5e-3


def test_many_threads_may_ask_at_once(judges):
    judge, texts, found = judges(), sentences(20), []
    threads = [
        threading.Thread(target=lambda: found.append(judge.scores(QUERY, texts, 2).tolist()))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [judge.scores(QUERY, texts).tolist()] * 4


def test_a_judge_is_loaded_once_and_is_not_the_encoder_in_the_same_folder(judges, tmp_path):
    judge = judges()
    assert load_cross_encoder(str(tmp_path / "judge")) is judge
    assert judges("fp32") is not judge
    encoder = load_encoder(tmp_path / "judge")
    assert encoder.embed(["ann"]).shape == (1, SIZE)
    assert encoder.fingerprint != judge.fingerprint
    assert prepare(tmp_path / "judge").name.split("-int8")[0] != judge.fingerprint


def test_tensors_may_stand_without_the_prefix(tmp_path, make_model, judge_tensors, judges):
    bare = {name.removeprefix("bert."): tensor for name, tensor in judge_tensors().items()}
    judge = load_cross_encoder(make_model(tmp_path / "bare", bare))
    assert judge.scores(QUERY, ["ann"])[0] == judges().scores(QUERY, ["ann"])[0]


def test_the_sigmoid_overflows_nowhere():
    assert [_sigmoid(x) for x in (-1e4, 0.0, 1e4)] == [0, 0.5, 1]
    assert _sigmoid(-3.0) == pytest.approx(1 / (1 + math.exp(3)))


def test_missing_weights_say_what_to_type():
    for name in ("ms-marco-MiniLM-L-6-v2", "cross-encoder/ms-marco-MiniLM-L-6-v2"):
        with pytest.raises(
            ModelError, match=r"\n  hf download cross-encoder/ms-marco-MiniLM-L-6-v2 "
        ):
            load_cross_encoder(name)


def test_what_is_no_cross_encoder_is_refused(tmp_path, make_model, judge_tensors):
    with pytest.raises(ModelError, match=r"no tensor 'classifier\.weight'; it is no cross-encoder"):
        load_cross_encoder(make_model(tmp_path / "encoder"))
    with pytest.raises(ModelError, match="the classifier has 3 labels, a cross-encoder has 1"):
        load_cross_encoder(make_model(tmp_path / "three", judge_tensors(3)))
    tensors = judge_tensors()
    del tensors["bert.pooler.dense.bias"]
    with pytest.raises(ModelError, match=r"no tensor 'bert\.pooler\.dense\.bias'"):
        load_cross_encoder(make_model(tmp_path / "headless", tensors))
    tensors = judge_tensors()
    one = tensors["bert.embeddings.token_type_embeddings.weight"][:1]
    tensors["bert.embeddings.token_type_embeddings.weight"] = one
    with pytest.raises(ModelError, match="one token type"):
        load_cross_encoder(make_model(tmp_path / "one", tensors, type_vocab_size=1))


@pytest.mark.parametrize("text", [None, 3, b"ann"])
def test_what_is_not_text_is_refused(judges, text):
    judge = judges()
    for arguments in ((text, ["ann"]), (QUERY, [text])):
        with pytest.raises(InputError, match=f"must be a str, got {type(text).__name__}"):
            judge.scores(*arguments)


def test_half_a_surrogate_pair_and_no_thread_are_refused(judges):
    judge = judges()
    with pytest.raises(InputError, match="valid Unicode"):
        judge.scores(QUERY, ["ann \ud83d"])
    with pytest.raises(InputError, match="at least 1, got 0"):
        judge.scores(QUERY, ["ann"], threads=0)


def test_a_recall_looks_for_the_weights_once_for_each_cache(tmp_path, monkeypatch):
    """It looked at the folder and built the cache's path each time: 30 us of a recall."""
    name = "cross-encoder/looked-for"
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "none"))
    assert not has_cross_encoder(name)
    snapshot = tmp_path / "some" / "models--cross-encoder--looked-for" / "snapshots" / "1"
    snapshot.mkdir(parents=True)
    (snapshot / "model.safetensors").touch()
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "some"))
    assert has_cross_encoder(name)
    monkeypatch.setattr("recollex_engine.models.cross_encoder.are_weights_here", None)
    assert has_cross_encoder(name)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "none"))
    assert not has_cross_encoder(name)
