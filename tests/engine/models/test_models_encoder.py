import json
import random
import subprocess
import sys
import threading

import numpy as np
import pytest

import recollex
from recollex_engine.errors import InputError
from recollex_engine.models import encoder as module
from recollex_engine.models.embedder import TruncationWarning, is_of_bytes
from recollex_engine.models.encoder import load_encoder
from tests.waiting import until

WORDS = ["ann", "bob", "the", "cat", "sat", "moved", "to", "oslo", "rain", ".", ",", "?", "what"]


def sentences(count, seed=3):
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(0, 30))) for _ in range(count)]


@pytest.fixture
def tiny(tmp_path, make_model):
    return load_encoder(make_model(tmp_path / "tiny"))


def check_that_company_changes_nothing(encoder, texts):
    texts = list(dict.fromkeys(texts))
    alone = {text: encoder.embed([text])[0].tobytes() for text in texts}
    shuffled = random.Random(5).sample(texts, len(texts))
    for order, threads in ((texts, 1), (shuffled, 2), (shuffled + texts, 3)):
        vectors = encoder.embed(order, threads=threads)
        assert [vector.tobytes() for vector in vectors] == [alone[text] for text in order]


@pytest.mark.parametrize("precision", ["int8", "fp32"])
def test_a_vector_depends_on_its_text_alone(tmp_path, make_model, precision):
    encoder = load_encoder(make_model(tmp_path / "tiny"), precision)
    check_that_company_changes_nothing(encoder, sentences(64))


@pytest.mark.parametrize("precision", ["int8", "fp32"])
def test_a_vector_depends_on_its_text_alone_in_minilm(minilm, precision):
    texts = [f"{text}, said Caroline" * (n % 3 + 1) for n, text in enumerate(sentences(64))]
    check_that_company_changes_nothing(minilm(precision), texts[: 64 if precision == "int8" else 8])


def test_many_threads_may_embed_at_once(tiny):
    texts = sentences(40)
    expected = tiny.embed(texts).tobytes()
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(tiny.embed(texts, threads=2).tobytes()))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_another_process_computes_the_same_bytes(tiny, tmp_path):
    program = (
        "import sys; sys.path[:] = sys.argv[2:]\n"
        "from pathlib import Path\n"
        "from recollex_engine.models.encoder import load_encoder\n"
        "encoder = load_encoder(Path(sys.argv[1]))\n"
        "print(encoder.fingerprint, encoder.embed(['ann moved to oslo']).tobytes().hex())"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "tiny"), *sys.path]
    printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
    assert printed == [tiny.fingerprint, tiny.embed(["ann moved to oslo"]).tobytes().hex()]


def test_importing_costs_no_heavy_library():
    heavy = ["onnxruntime", "onnx", "tokenizers", "numba", "huggingface_hub"]
    heavy += ["openvino", "torch", "sentence_transformers"]
    program = (
        "import sys; sys.path[:] = sys.argv[1:]\n"
        "import recollex_engine.models.encoder, recollex_engine.models.bert\n"
        "import recollex_engine.models.cross_encoder, recollex_engine.models.device_session\n"
        "print(*[name for name in sys.modules if name in "
        f"{heavy}])"
    )
    command = [sys.executable, "-c", program, *sys.path]
    assert subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip() == ""


def test_using_a_store_without_a_model_loads_no_runtime():
    program = (
        "import sys; sys.path[:] = sys.argv[1:]\n"
        "import tempfile, recollex, recollex.presets\n"
        "with recollex.open(tempfile.mkdtemp(), embedder=recollex.GivenVectors(8)) as store:\n"
        "    assert store.agent('a').stats().memories == 0\n"
        "print(*[name for name in sys.modules if name in "
        "('onnxruntime', 'onnx', 'torch', 'openvino', 'sentence_transformers')])"
    )
    command = [sys.executable, "-c", program, *sys.path]
    assert subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip() == ""


def test_of_recent_queries_the_least_recently_asked_is_given_up(tmp_path, make_model, monkeypatch):
    monkeypatch.setattr(module, "_QUERIES", 2)
    encoders = [load_encoder(make_model(tmp_path / name)) for name in ("one", "two")]
    ran: list[int] = []
    for number, encoder in enumerate(encoders):
        run = encoder._run_one
        encoder._run_one = lambda ids, n=number, run=run: ran.append(n) or run(ids)
    one, two = encoders
    for text in ("ann", "bob", "ann", "cat", "ann", "bob"):
        one.embed_query(text)
    assert ran == [0, 0, 0, 0]  # ann, bob, cat, and bob again
    two.embed_query("ann")  # another model, another vector
    assert ran[4:] == [1]


def test_shapes_lengths_and_names(tiny):
    vectors = tiny.embed(sentences(9))
    assert vectors.shape == (9, 32)
    assert vectors.dtype == np.float32
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-6
    assert (tiny.name, tiny.dimension, tiny.max_length) == ("tiny", 32, 64)
    assert tiny.thresholds.link == 0.7
    assert tiny.embed([]).shape == (0, 32)
    assert tiny.embed([""]).shape == (1, 32)


def test_a_query_without_prefix_is_embedded_as_a_passage_and_remembered(tiny):
    vector = tiny.embed_query("where did ann move ?")
    assert vector.tobytes() == tiny.embed(["where did ann move ?"])[0].tobytes()
    assert tiny.embed_query("where did ann move ?") is vector
    assert not vector.flags.writeable
    assert tiny.embed(["a"]).flags.writeable


def test_prefixes_are_put_before_their_kind_of_text(tmp_path, make_model):
    folder = make_model(tmp_path / "prefixed")
    prompts = '{"prompts": {"query": "what : ", "passage": "say : "}}'
    (folder / "config_sentence_transformers.json").write_text(prompts)
    plain = load_encoder(make_model(tmp_path / "plain"))
    prefixed = load_encoder(folder)
    assert prefixed.fingerprint != plain.fingerprint
    assert prefixed.embed_query("ann").tobytes() == plain.embed_query("what : ann").tobytes()
    assert prefixed.embed(["ann"]).tobytes() == plain.embed(["say : ann"]).tobytes()
    assert prefixed.count_tokens("ann") == 1
    assert prefixed.truncated(" ".join(["ann"] * 61))  # 61 and 2 of the prefix and 2 special: 65
    assert not prefixed.truncated(" ".join(["ann"] * 60))


def test_equal_texts_are_run_once(tiny, monkeypatch):
    runs = []
    run = tiny._run
    monkeypatch.setattr(tiny, "_run", lambda text: runs.append(text) or run(text))
    vectors = tiny.embed(["ann", "bob", "ann", "ann"])
    assert runs == ["ann", "bob"]
    assert vectors[0].tobytes() == vectors[2].tobytes() == vectors[3].tobytes()
    assert vectors[0].tobytes() != vectors[1].tobytes()


@pytest.mark.parametrize("threads", [1, 3])
def test_progress_adds_up_to_the_texts(tiny, threads):
    done = []
    caller = threading.get_ident()
    tiny.embed(
        ["ann", "bob", "ann", "cat"],
        threads=threads,
        progress=lambda n: done.append((n, threading.get_ident())),
    )
    assert done == [(2, caller), (1, caller), (1, caller)]


def test_tokens_are_counted_however_long_the_text_is(tiny):
    assert tiny.count_tokens("") == 0
    assert tiny.count_tokens("ann moved , bob sat .") == 6
    for count in (1, 61, 62, 63, 64, 65, 500):
        text = " ".join(["ann"] * count)
        assert tiny.count_tokens(text) == count
        assert tiny.truncated(text) == (count > 62)


@pytest.mark.parametrize("precision", ["int8", "fp32"])
def test_what_lies_beyond_the_length_is_not_seen_and_that_is_said(tmp_path, make_model, precision):
    encoder = load_encoder(make_model(tmp_path / "tiny"), precision)
    text = " ".join(["ann"] * 62)
    for threads in (1, 2):
        with pytest.warns(TruncationWarning, match="longer than the 64 tokens that tiny reads"):
            found = encoder.embed(["ann", text + " bob cat", text], threads=threads)
        assert found[1].tobytes() == found[2].tobytes() == encoder.embed([text])[0].tobytes()
    assert encoder.unread("ann moved .") == encoder.unread(text) == 0
    assert encoder.unread(text + " bob cat") == 2
    assert encoder.unread(text + " bob cat" * 100) == 200


def test_questions_that_meet_share_batches_and_stay_within_the_tolerance(
    tmp_path, make_model, monkeypatch
):
    monkeypatch.setattr("recollex_engine.models.encoder.CORES", 2)
    encoder = load_encoder(make_model(tmp_path / "tiny"), "fp32")
    texts = sentences(48)
    alone = {text: encoder._embed_query(text)[0] for text in texts}
    sizes, found, run = [], {}, encoder._run_padded
    all_came = threading.Event()

    def counted(encodings):
        sizes.append(len(encodings))
        assert all_came.wait(60)
        return run(encodings)

    encoder._run_padded = counted
    threads = [
        threading.Thread(target=lambda t=text: found.update({t: encoder._embed_query(t)[0]}))
        for text in texts
    ]
    for thread in threads:
        thread.start()
    until(lambda: len(encoder._shared._waiting) == 46)
    all_came.set()
    for thread in threads:
        thread.join()
    assert max(np.abs(found[text] - alone[text]).max() for text in texts) <= 1e-5
    assert sum(sizes) == 48 and len(sizes) < 10 and max(sizes) <= 8


def test_padding_as_published_is_switched_off(tiny):
    assert len(tiny._encode("ann").ids) == 3


@pytest.mark.parametrize("text", [None, 3, b"ann", ["ann"]])
def test_what_is_not_text_is_refused(tiny, text):
    for call in (tiny.embed_query, tiny.count_tokens, tiny.truncated, lambda t: tiny.embed([t])):
        with pytest.raises(InputError, match=f"must be a str, got {type(text).__name__}"):
            call(text)


def test_half_a_surrogate_pair_is_refused(tiny):
    for call in (tiny.embed_query, tiny.count_tokens, tiny.truncated, lambda t: tiny.embed([t])):
        with pytest.raises(InputError, match="valid Unicode"):
            call("ann \ud83d")


def test_fewer_than_one_thread_is_refused(tiny):
    with pytest.raises(InputError, match="at least 1, got 0"):
        tiny.embed(["ann"], threads=0)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_progress_ends_the_call_and_its_threads(tiny, monkeypatch, threads):
    before = set(threading.enumerate())
    runs = []
    run = tiny._run
    monkeypatch.setattr(tiny, "_run", lambda text: runs.append(text) or run(text))
    with pytest.raises(ZeroDivisionError) as caught:
        tiny.embed([str(n) for n in range(2000)], threads=threads, progress=lambda n: n / 0)
    assert set(threading.enumerate()) <= before, caught
    assert len(runs) < 1000


def test_a_model_has_one_encoder_under_all_its_names(minilm):
    assert load_encoder("sentence-transformers/all-MiniLM-L6-v2") is minilm()


def test_an_encoder_is_loaded_once(tmp_path, tiny):
    assert load_encoder(tmp_path / "tiny") is tiny
    assert load_encoder(str(tmp_path / "tiny")) is tiny


def test_int8_is_near_float_in_the_tiny_model(tmp_path, make_model, tiny):
    full = load_encoder(make_model(tmp_path / "tiny"), "fp32")
    texts = sentences(30)
    cosines = (tiny.embed(texts) * full.embed(texts)).sum(axis=1)
    assert cosines.min() >= 0.95  # a random network amplifies what MiniLM does not
    assert cosines.mean() >= 0.995


TEXTS = [
    "Where did Ann move to?",
    "Hey Mel! Good to see you! How have you been?",
    "I'm swamped with the kids & work. What's up with you? Anything new?",
    "On 7 May 2023 the support group was so powerful, I've been inspired ever since.",
    "def spread(nodes): return sorted(nodes)",
    "ok",
    "https://example.org/a/b?c=1 returned 503 at 10:42",
    "Die Katze sitzt auf der Matte. " * 12,
]


def test_int8_is_near_float_in_minilm(minilm):
    cosines = (minilm().embed(TEXTS) * minilm("fp32").embed(TEXTS)).sum(axis=1)
    assert cosines.min() >= 0.99
    assert cosines.mean() >= 0.998


def test_minilm_knows_what_is_alike(minilm):
    encoder = minilm()
    assert encoder.fingerprint == "all-MiniLM-L6-v2@53aa51172d14-int8-v1"
    assert (encoder.dimension, encoder.max_length) == (384, 256)
    passages = encoder.embed(["Ann now lives in Norway's capital.", "The soup was too salty."])
    near, far = passages @ encoder.embed_query("Where did Ann move to?")
    assert near > 0.4 > 0.2 > far
    assert encoder.count_tokens("unbelievable snowboarding") == 3


@pytest.mark.slow
def test_minilm_agrees_with_sentence_transformers(minilm):
    reference = pytest.importorskip("sentence_transformers")
    from recollex_engine.models.weights import find_weights

    model = reference.SentenceTransformer(str(find_weights("all-MiniLM-L6-v2").folder))
    expected = model.encode(TEXTS, batch_size=1)
    short = [n for n, text in enumerate(TEXTS) if not minilm("fp32").truncated(text)]
    assert np.abs(minilm("fp32").embed(TEXTS) - expected)[short].max() <= 1e-5
    assert (minilm("int8").embed(TEXTS) * expected).sum(axis=1)[short].min() >= 0.99


def ids_of(encoder, text):
    encoder._tokenizer.no_truncation()
    try:
        return encoder._tokenizer.encode(text, add_special_tokens=False).ids
    finally:
        encoder._tokenizer.enable_truncation(encoder.max_length)


@pytest.mark.filterwarnings("ignore::recollex_engine.models.embedder.TruncationWarning")
@pytest.mark.parametrize("precision", ["int8", "fp32"])
@pytest.mark.parametrize("prefix", ["", "the cat: "])
def test_the_ids_that_vectors_were_made_of_are_the_tokenizers(
    tmp_path, make_model, precision, prefix
):
    folder = make_model(tmp_path / "prefixed")
    prompts = {"prompts": {"passage": prefix}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    encoder = load_encoder(folder, precision)
    texts = [*sentences(20), "ann " * 300, "ann", "ann", "[SEP] é 東", ""]
    for threads in (1, 3):
        done = []
        vectors, pieces = encoder.embed_with_pieces(texts, threads, done.append)
        assert vectors.tobytes() == encoder.embed(texts, threads).tobytes()
        assert [each.tolist() for each in pieces] == [ids_of(encoder, text) for text in texts]
        assert {each.dtype for each in pieces} == {np.dtype(np.uint16)}
        assert sum(done) == len(texts)
    assert encoder.pieces("Ann said:").tolist() == ids_of(encoder, "Ann said:")
    assert encoder.pieces("Ann said:") is encoder.pieces("Ann said:")
    with pytest.warns(TruncationWarning):
        encoder.embed_with_pieces(["ann " * 300])


def test_passages_that_the_library_cut_give_no_warning(tmp_path, make_model):
    """Warnings are errors here: 120 words of a text become more than the 64 tokens of the model."""
    folder = make_model(tmp_path / "tiny")
    text = " ".join(["ann moved to oslo ."] * 60)
    with recollex.open(tmp_path / "store", embedder=str(folder)) as store:
        agent = store.agent("a")
        agent.retain(text)
        turn = {"speaker": "Ann", "text": text, "at": "2024-05-01T10:00:00Z"}
        agent.retain_dialogue([turn], document_id="d")
        assert len(agent.list()) == 2


def test_a_prefix_that_runs_into_the_text_leaves_no_ids(tmp_path, make_model):
    folder = make_model(tmp_path / "glued")
    prompts = {"prompts": {"passage": "the"}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    encoder = load_encoder(folder)
    assert encoder.vocabulary is None
    vectors, pieces = encoder.embed_with_pieces(["ann"])
    assert pieces is None and vectors.tobytes() == encoder.embed(["ann"]).tobytes()
    assert not is_of_bytes(encoder)


def test_a_token_of_wordpiece_and_a_word_stand_for_a_byte_or_more(tmp_path, make_model):
    class Other(recollex.GivenVectors):
        def count_tokens(self, text):
            return 2 * len(text)

    assert is_of_bytes(load_encoder(make_model(tmp_path / "tiny")))
    assert is_of_bytes(recollex.GivenVectors(8))
    assert not is_of_bytes(Other(8)) and not is_of_bytes(object())
