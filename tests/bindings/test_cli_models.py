import json
import struct

import numpy as np
import pytest

from recollex.cli import main

_WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] ann bob the cat sat moved to oslo . ?"
WORDS = _WORDS.split()
SIZE = 16


def write_model(folder, head=True):
    """A BERT of one layer with random weights, by hand."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    folder.mkdir()
    rng = np.random.default_rng(3)
    shapes = {
        "embeddings.word_embeddings.weight": (len(WORDS), SIZE),
        "embeddings.position_embeddings.weight": (32, SIZE),
        "embeddings.token_type_embeddings.weight": (2, SIZE),
        "pooler.dense.weight": (SIZE, SIZE),
        "pooler.dense.bias": (SIZE,),
    }
    layer = "encoder.layer.0"
    for part in ("attention.self.query", "attention.self.key", "attention.self.value"):
        shapes |= {f"{layer}.{part}.weight": (SIZE, SIZE), f"{layer}.{part}.bias": (SIZE,)}
    for part in ("attention.output.dense", "intermediate.dense", "output.dense"):
        shapes |= {f"{layer}.{part}.weight": (SIZE, SIZE), f"{layer}.{part}.bias": (SIZE,)}
    norms = "embeddings", f"{layer}.attention.output", f"{layer}.output"
    for norm in norms:
        shapes |= {f"{norm}.LayerNorm.weight": (SIZE,), f"{norm}.LayerNorm.bias": (SIZE,)}
    if head:
        shapes = {f"bert.{name}": shape for name, shape in shapes.items()}
        shapes |= {"classifier.weight": (1, SIZE), "classifier.bias": (1,)}
    header, data = {}, b""
    for name, shape in shapes.items():
        values = rng.normal(size=shape).astype(np.float32).tobytes()
        offsets = [len(data), len(data) + len(values)]
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": offsets}
        data += values
    encoded = json.dumps(header).encode()
    written = struct.pack("<Q", len(encoded)) + encoded + data
    (folder / "model.safetensors").write_bytes(written)
    config = {
        "model_type": "bert",
        "hidden_size": SIZE,
        "intermediate_size": SIZE,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "vocab_size": len(WORDS),
        "max_position_embeddings": 32,
        "type_vocab_size": 2,
    }
    (folder / "config.json").write_text(json.dumps(config))
    vocabulary = {word: n for n, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.setenv("RECOLLEX_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return write_model(tmp_path / "tiny")


def test_a_model_is_fetched_converted_listed_and_verified(model, tmp_path, capsys):
    assert main(["models", "list"]) == 0
    assert "tiny" not in capsys.readouterr().out
    assert main(["models", "fetch", str(model)]) == 0
    printed = capsys.readouterr().out
    assert f"tiny: {model}" in printed
    assert "sha256 " in printed
    for precision in ("int8", "fp32", "fp16", "bf16"):
        assert main(["models", "convert", str(model), "--precision", precision]) == 0
    assert main(["models", "convert", f"{model}:fp32"]) == 0
    assert "-fp32-" in capsys.readouterr().out.splitlines()[-1]
    assert main(["models", "convert", str(model), "--cross-encoder"]) == 0
    assert "-int8-" in capsys.readouterr().out
    assert main(["models", "list"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("tiny@")]
    assert len(lines) == 4  # bf16 runs the graph of fp32
    assert sum("(cross-encoder)" in line for line in lines) == 1
    assert all("whole" in line and f"from folder {model}" in line for line in lines)
    assert main(["models", "verify"]) == 0
    assert capsys.readouterr().out.count("is whole") == 4


def test_damage_is_found_and_says_what_to_type(model, tmp_path, capsys):
    assert main(["models", "convert", str(model)]) == 0
    (folder,) = (tmp_path / "cache" / "models").iterdir()
    with (folder / "model.onnx").open("ab") as file:
        file.write(b"x")
    capsys.readouterr()
    assert main(["models", "verify"]) == 1
    out, err = capsys.readouterr()
    assert "is damaged: model.onnx: expected sha256" in out
    assert f"rm -r {folder}" in err
    (folder / "description.json").write_text("{")
    assert main(["models", "verify"]) == 1
    assert main(["models", "list"]) == 0
    assert "DAMAGED" in capsys.readouterr().out
    assert main(["models", "convert", str(model)]) == 0
    assert main(["models", "verify"]) == 0


def test_one_model_is_verified_by_its_name_or_folder(model, tmp_path, capsys):
    assert main(["models", "verify", str(model)]) == 1
    assert f"nothing of tiny is converted: recollex models convert {model}" in (
        capsys.readouterr().err
    )
    other = write_model(tmp_path / "tiny-2")
    for each in (model, other):
        assert main(["models", "convert", str(each)]) == 0
    capsys.readouterr()
    assert main(["models", "verify", "tiny"]) == main(["models", "verify", str(model)]) == 0
    assert capsys.readouterr().out.count("is whole") == 2
    for place in (tmp_path / "cache" / "models").glob("tiny-2-*"):
        (place / "description.json").write_text("{")
    assert main(["models", "verify", "tiny"]) == 0
    assert main(["models", "verify", "tiny-2"]) == main(["models", "verify"]) == 1
    assert main(["models", "verify", str(tmp_path)]) == 2
    assert "hf download OWNER/NAME" in capsys.readouterr().err


def test_a_model_is_timed(model, capsys):
    assert main(["models", "bench", str(model)]) == 0
    assert "texts/s" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["fetch", "no-such-model"], "no model or folder 'no-such-model'"),
        (["fetch", "owner/no-such-model"], "hf download owner/no-such-model"),
        (["convert", "."], "has no model.safetensors"),
        (["convret"], "did you mean convert?"),
        (["convert", "x", "--precision", "int4"], "there is no precision 'int4'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(model, capsys, tmp_path, monkeypatch, line, message):
    monkeypatch.chdir(tmp_path)
    assert main(["models", *line]) == 2
    assert message in capsys.readouterr().err
