import json

import pytest

from recollex_engine.errors import ModelError
from recollex_engine.models.description import (
    KNOWN_MODELS,
    MINILM_THRESHOLDS,
    PAPER_THRESHOLDS,
    describe,
    from_json,
    known_model,
    to_json,
)


def put(folder, file, values):
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(json.dumps(values))


@pytest.fixture
def folder(tmp_path):
    put(tmp_path, "config.json", {"hidden_size": 32, "max_position_embeddings": 64})
    return tmp_path


def test_a_model_is_known_by_its_name_its_repository_and_its_short_name():
    for name in ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"):
        assert known_model(name).name == "all-MiniLM-L6-v2"
    for name in ("BAAI/bge-small-en-v1.5", "bge-small-en-v1.5"):
        assert known_model(name).pooling == "cls"
    assert known_model("nobody/nothing") is None


def test_thresholds_come_from_the_code_not_from_what_was_stored():
    for description in KNOWN_MODELS:
        stored = json.loads(json.dumps(to_json(description)))
        assert "thresholds" not in stored
        assert from_json(stored) == description
    assert known_model("all-MiniLM-L6-v2").thresholds is MINILM_THRESHOLDS


def test_config_alone_means_mean_pooling_over_every_position(folder):
    found = describe(folder, "mine")
    assert (found.name, found.dimension, found.pooling, found.max_length) == (
        "mine",
        32,
        "mean",
        64,
    )
    assert (found.query_prefix, found.passage_prefix) == ("", "")
    assert found.thresholds == PAPER_THRESHOLDS
    assert found.normalise


def test_sentence_transformers_files_are_read(folder):
    put(folder, "1_Pooling/config.json", {"pooling_mode_cls_token": True})
    put(folder, "sentence_bert_config.json", {"max_seq_length": 20})
    prompts = {"prompts": {"query": "query: ", "passage": "passage: "}}
    put(folder, "config_sentence_transformers.json", prompts)
    found = describe(folder, "mine")
    assert (found.pooling, found.max_length) == ("cls", 20)
    assert (found.query_prefix, found.passage_prefix) == ("query: ", "passage: ")


def test_a_length_beyond_the_positions_is_cut_to_them(folder):
    put(folder, "sentence_bert_config.json", {"max_seq_length": 512})
    assert describe(folder, "mine").max_length == 64


@pytest.mark.parametrize("key", ["pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens"])
def test_a_pooling_that_is_not_built_is_refused(folder, key):
    put(folder, "1_Pooling/config.json", {key: True})
    with pytest.raises(ModelError, match=key):
        describe(folder, "mine")


def test_a_broken_config_names_itself(folder):
    (folder / "config.json").write_text("{")
    with pytest.raises(ModelError, match=r"config\.json"):
        describe(folder, "mine")
    put(folder, "config.json", [1])
    with pytest.raises(ModelError, match="expected a JSON object, found list"):
        describe(folder, "mine")
    put(folder, "config.json", {"hidden_size": 3})
    with pytest.raises(ModelError, match="max_position_embeddings"):
        describe(folder, "mine")
