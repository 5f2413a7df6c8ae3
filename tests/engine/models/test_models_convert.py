import errno
import json
import multiprocessing
import os
import stat
import tempfile
import threading
from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from recollex_engine import waiting
from recollex_engine.errors import CorruptError, InputError, ModelError
from recollex_engine.models import convert as module
from recollex_engine.models import weights as weights_module
from recollex_engine.models.convert import converted, damage, prepare
from recollex_engine.models.description import KNOWN_MODELS


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RECOLLEX_CACHE", str(tmp_path / "cache"))


def test_a_converted_model_is_three_files_under_its_fingerprint(tmp_path, make_model):
    folder = prepare(make_model(tmp_path / "mine"))
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["description.json", "model.onnx", "tokenizer.json"]
    assert folder.parent == tmp_path / "cache" / "models"
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    found = converted(tmp_path / "mine")
    assert found.folder == folder
    name = folder.name.removesuffix("-unsigned")
    assert found.fingerprint == name.replace("mine-", "mine@", 1)


def test_weights_are_unsigned_where_products_of_signed_ones_are_cut(
    tmp_path, make_model, monkeypatch
):
    source, graphs = make_model(tmp_path / "mine"), {}
    for cuts in (False, True):
        monkeypatch.setattr(module, "saturates", lambda cuts=cuts: cuts)
        graphs[cuts] = converted(source)
    assert graphs[True].folder.name == f"{graphs[False].folder.name}-unsigned"
    assert graphs[True].fingerprint == graphs[False].fingerprint
    for cuts, found in graphs.items():
        parts = onnx.load(found.graph).graph.initializer
        matrices = {each.data_type for each in parts if len(each.dims) == 2}
        assert (TensorProto.UINT8 in matrices) == cuts


def test_the_second_time_nothing_is_converted(tmp_path, make_model, monkeypatch):
    source = make_model(tmp_path / "mine")
    folder = prepare(source)
    monkeypatch.setattr(module, "_graph", lambda *_: pytest.fail("converted again"))
    assert prepare(source) == folder


def test_a_terminal_is_told_and_a_pipe_is_not(tmp_path, make_model, monkeypatch, capsys):
    prepare(make_model(tmp_path / "quiet"))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(module.sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(waiting, "DRAWN", 3600)
    prepare(make_model(tmp_path / "told"))
    prepare(tmp_path / "told")
    assert capsys.readouterr().err == "recollex: converting told for this machine, once ...\n"


def test_converting_twice_gives_the_same_bytes(tmp_path, make_model, monkeypatch):
    source = make_model(tmp_path / "mine")
    first = prepare(source)
    monkeypatch.setenv("RECOLLEX_CACHE", str(tmp_path / "second"))
    second = prepare(source)
    for file in ("model.onnx", "tokenizer.json"):
        assert (first / file).read_bytes() == (second / file).read_bytes()


def test_a_known_model_in_the_cache_needs_no_weights(tmp_path, make_model, monkeypatch):
    source = make_model(tmp_path / "mine")
    digest = weights_module.find_weights(source).sha256
    known = replace(KNOWN_MODELS[0], weights_sha256=digest, dimension=32, package=None)
    for place in (module, weights_module):
        monkeypatch.setattr(place, "known_model", lambda name: known)
    for place in (module, weights_module):
        monkeypatch.setattr(place, "KNOWN_MODELS", (known,))
    monkeypatch.setattr(module, "saturates", lambda: False)
    folder = prepare(source)
    assert folder.name == f"all-MiniLM-L6-v2-{digest[:12]}-int8-v1"
    (source / "model.safetensors").unlink()
    assert prepare("all-MiniLM-L6-v2") == folder


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "description.json"])
def test_a_damaged_cache_is_converted_again(tmp_path, make_model, file):
    folder = prepare(make_model(tmp_path / "mine"))
    before = (folder / file).read_bytes()
    (folder / file).write_bytes(before[:-9])
    assert prepare(tmp_path / "mine") == folder
    assert (folder / file).read_bytes() == before
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_modes_do_not_depend_on_the_umask(tmp_path, make_model):
    source = make_model(tmp_path / "mine")
    before = os.umask(0)
    try:
        prepare(source)
    finally:
        os.umask(before)
    made = [tmp_path / "cache", *(tmp_path / "cache").rglob("*")]
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_dir()} == {0o700}
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_file()} == {0o600}


@pytest.mark.parametrize("part", ["", "model.onnx", "tokenizer.json", "description.json"])
def test_a_model_that_others_may_write_is_converted_again(tmp_path, make_model, part):
    folder = prepare(make_model(tmp_path / "mine"))
    (folder / part).chmod(0o720)
    assert "other users may write it" in damage(folder)
    with pytest.warns(RuntimeWarning, match="other users may write it"):
        assert prepare(tmp_path / "mine") == folder
    assert damage(folder) is None


def test_models_of_a_cache_that_others_may_write_are_not_read(tmp_path, make_model, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first = prepare(make_model(tmp_path / "mine"))
    (tmp_path / "cache").chmod(0o777)
    with pytest.warns(RuntimeWarning, match="chmod go-w"):
        second = prepare(tmp_path / "mine")
    assert second == tmp_path / f"recollex-{os.geteuid()}" / "models" / first.name
    second.parent.chmod(0o777)
    with (
        pytest.warns(RuntimeWarning, match="no cache is used"),
        pytest.raises(ModelError, match="RECOLLEX_CACHE"),
    ):
        prepare(tmp_path / "mine")


def test_many_converting_at_once_agree(tmp_path, make_model):
    source = make_model(tmp_path / "mine")
    found, failed = [], []

    def convert():
        try:
            found.append(prepare(source))
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=convert) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(set(found)) == 1
    assert [path.name for path in found[0].parent.iterdir()] == [found[0].name]


def test_two_processes_converting_at_once_agree(tmp_path, make_model):
    source = make_model(tmp_path / "mine")
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        first, second = pool.map(prepare, [source, source], chunksize=1)
    assert first == second
    assert [path.name for path in first.parent.iterdir()] == [first.name]


def test_what_changes_vectors_changes_the_fingerprint(tmp_path, make_model, make_tensors):
    source = make_model(tmp_path / "mine")
    fingerprints = {converted(source).fingerprint, converted(source, "fp32").fingerprint}
    make_model(source, make_tensors(8))
    fingerprints.add(converted(source).fingerprint)
    (source / "sentence_bert_config.json").write_text('{"max_seq_length": 9}')
    fingerprints.add(converted(source).fingerprint)
    tokenizer = json.loads((source / "tokenizer.json").read_text())
    tokenizer["normalizer"]["lowercase"] = False
    (source / "tokenizer.json").write_text(json.dumps(tokenizer))
    fingerprints.add(converted(source).fingerprint)
    assert len(fingerprints) == 5


def test_padding_and_truncation_as_published_change_nothing(tmp_path, make_model):
    source = make_model(tmp_path / "mine")
    before = converted(source).fingerprint
    tokenizer = json.loads((source / "tokenizer.json").read_text())
    assert tokenizer["padding"] and tokenizer["truncation"]
    tokenizer |= {"padding": None, "truncation": None}
    (source / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert converted(source).fingerprint == before


def test_a_missing_tensor_is_named(tmp_path, make_model, make_tensors):
    tensors = make_tensors()
    del tensors["encoder.layer.1.output.dense.bias"]
    with pytest.raises(ModelError, match=r"no tensor 'encoder\.layer\.1\.output\.dense\.bias'"):
        prepare(make_model(tmp_path / "mine", tensors))
    assert not [*(tmp_path / "cache").glob("models/*"), *(tmp_path / "cache").glob("models/.*")]


def test_a_wrong_shape_names_both_shapes(tmp_path, make_model, make_tensors):
    tensors = make_tensors()
    name = "encoder.layer.0.intermediate.dense.weight"
    tensors[name] = np.ascontiguousarray(tensors[name].T)
    with pytest.raises(ModelError, match=r"shape \(32, 64\), config.json says \(64, 32\)"):
        prepare(make_model(tmp_path / "mine", tensors))


def test_a_torn_weights_file_is_corrupt(tmp_path, make_model):
    source = make_model(tmp_path / "mine")
    whole = (source / "model.safetensors").read_bytes()
    (source / "model.safetensors").write_bytes(whole[:-100])
    with pytest.raises(CorruptError, match="a whole safetensors file"):
        prepare(source)


def test_tensors_may_carry_the_prefix_of_a_larger_model(tmp_path, make_model, make_tensors):
    named = {f"bert.{name}": tensor for name, tensor in make_tensors().items()}
    plain = prepare(make_model(tmp_path / "plain"))
    prefixed = prepare(make_model(tmp_path / "prefixed", named))
    assert (plain / "model.onnx").read_bytes() == (prefixed / "model.onnx").read_bytes()


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model_type": "mpnet"}, "model_type is 'mpnet', only 'bert' is built"),
        ({"model_type": "t5"}, "sentence-transformers:.*/mine .*optimum-cli export onnx"),
        ({"hidden_act": "relu"}, "hidden_act is 'relu'"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type"),
        ({"num_attention_heads": 5}, "5 heads do not divide 32"),
        ({"num_hidden_layers": 0}, "num_hidden_layers must be a positive integer, got 0"),
        ({"vocab_size": None}, "vocab_size must be a positive integer, got None"),
    ],
)
def test_a_model_of_another_kind_is_refused(tmp_path, make_model, config, message):
    with pytest.raises(ModelError, match=message):
        prepare(make_model(tmp_path / "mine", **config))


def test_a_tokenizer_that_cannot_be_read_is_refused(tmp_path, make_model):
    source = make_model(tmp_path / "mine")
    (source / "tokenizer.json").write_text('{"model": {}}')
    with pytest.raises(
        ModelError, match=r"mine/tokenizer\.json: tokenizers cannot read it.*fetch it again"
    ):
        prepare(source)


@pytest.mark.parametrize("precision", ["int8", "fp32"])
def test_a_tokenizer_with_more_words_than_the_table_is_refused(
    tmp_path, make_model, make_tensors, precision
):
    tensors = make_tensors()
    words = tensors["embeddings.word_embeddings.weight"][:-1]
    tensors["embeddings.word_embeddings.weight"] = words
    source = make_model(tmp_path / "mine", tensors, vocab_size=len(words))
    with pytest.raises(ModelError, match=f"{len(words) + 1} words, the weights {len(words)}"):
        prepare(source, precision)


def test_a_cache_that_cannot_be_written_says_which_variable_moves_it(
    tmp_path, make_model, monkeypatch
):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RECOLLEX_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="set RECOLLEX_CACHE"):
        prepare(make_model(tmp_path / "mine"))


def test_a_full_disk_says_which_variable_moves_the_cache(tmp_path, make_model, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "_write", full)
    with pytest.raises(ModelError, match=r"No space left.*make room there, or set RECOLLEX_CACHE"):
        prepare(make_model(tmp_path / "mine"))


def test_an_unknown_precision_is_refused(tmp_path, make_model):
    with pytest.raises(InputError, match="'fp32' or 'fp16', got 'int4'"):
        prepare(make_model(tmp_path / "mine"), "int4")
