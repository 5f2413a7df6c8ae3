"""bindings/CLUSTER.md is right: its commands make a cluster, and its Python runs while one dies."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from recollex.cli import subcommands
from tests.bindings.cluster.chaos import RECOLLEX, free_port

BINDINGS = Path(__file__).parents[3] / "bindings"
EXAMPLES = BINDINGS / "examples" / "cluster"
PAGE = (BINDINGS / "CLUSTER.md").read_text("utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)


def commands():
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("recollex ")]


def test_its_python_runs_while_a_node_dies(tmp_path, capsys):
    places = {"7077": str(free_port()), "7078": str(free_port()), "/tmp": str(tmp_path)}

    def here(text):
        for old, new in places.items():
            text = text.replace(old, new)
        return text

    create, *serving = (shlex.split(here(line))[1:] for line in commands())
    subprocess.run([*RECOLLEX, *create], check=True)
    nodes = [
        subprocess.Popen([*RECOLLEX, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for words in serving
    ]
    try:
        for node in nodes:
            assert node.stdout.readline()
        names = {}
        first, second = blocks("python")
        exec(compile(here(first), "CLUSTER.md", "exec"), names)
        nodes[0].kill()
        nodes[0].wait()
        exec(compile(here(second), "CLUSTER.md", "exec"), names)
        names["store"].close()
    finally:
        for node in nodes:
            node.terminate()
            node.wait(60)
            node.stdout.close()
    said = capsys.readouterr().out.splitlines()
    assert said[-2:] == ["Alice joined Google in Mountain View."] * 2


def test_the_output_is_json(tmp_path):
    url = f"file://{tmp_path}/memory"

    def said(action):
        command = [*RECOLLEX, "cluster", action, url, "--shards", "2", "--json"]
        return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)

    assert said("create") == {"shards": 2}
    assert said("status")["openings"] == 0
    assert said("verify") == {"agents": 0, "operations": 0, "problems": []}


def test_its_examples_can_be_typed_and_read():
    for example in re.findall(r"\]\((examples/[^)]+)\)", PAGE):
        assert (BINDINGS / example).exists()
    image = (EXAMPLES / "Containerfile").read_text("utf-8")
    entry, given = (re.findall(r'"([^"]+)"', line) for line in image.splitlines()[-2:])
    parser = subcommands.build()
    parser.parse_args([*entry, *given][1:])
    services = yaml.safe_load((EXAMPLES / "compose.yaml").read_text("utf-8"))["services"]
    for name in "abc":
        parser.parse_args([*entry[1:], *services[name]["command"]])
    parser.parse_args(services["create"]["entrypoint"][1:])
    manifests = list(yaml.safe_load_all((EXAMPLES / "kubernetes.yaml").read_text("utf-8")))
    (stateful,) = (each for each in manifests if each["kind"] == "StatefulSet")
    (container,) = stateful["spec"]["template"]["spec"]["containers"]
    parser.parse_args([*entry[1:], *container["args"]])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["import", "file:///tmp/x"], "needs the folder"),
        (["status", "file:///tmp/x", "y"], "takes no folder"),
        (["status", "memory"], "s3://"),
    ],
)
def test_a_wrong_command_says_what_it_takes(words, said):
    run = subprocess.run(
        [*RECOLLEX, "cluster", *words], capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    assert said in run.stderr
