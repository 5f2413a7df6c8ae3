"""The subcommand warmup: run everything once, in two processes, so that no user waits for it.

Kernels call kernels, and a tree of them is compiled by the process that calls its root, on one
core. Nearly all of that work is in two halves of about equal size: keyword search with the kernels
that only the papers' presets call; and vector search with ranking. So a second process compiles the
first half, with made-up vectors and no model, while this one compiles the other; both keep what
they compiled in one folder. Then this process runs everything, and compiles what is still missing;
beside it the second compiles what only large agents and servers need.
"""

import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import recollex
from recollex import presets
from recollex.api.progress import progress_bar
from recollex.api.store import unannounced
from recollex.cli import relax_garbage_collector
from recollex.cli.demo.conversation import turns
from recollex.cli.parser import Arguments
from recollex.cli.terminal import say, show
from recollex.remote.server.framing import prepare
from recollex_engine.agents.readable_agent import unwarned
from recollex_engine.background_work import usable_cores
from recollex_engine.ranking.presets import PRESETS
from recollex_engine.text.token_counter import fetch_vocabulary
from recollex_engine.waiting import waiting
from recollex_kernels.machine.jit import each_compiled

WORDS = replace(presets.default, arms=("keyword",), fusion=presets.ReciprocalRank())
VECTORS = replace(presets.default, arms=("semantic",))
NEAREST = replace(VECTORS, fusion=presets.ReciprocalRank())
TIMES = replace(WORDS, arms=("temporal",))
QUESTION = "What did Ines say in March about the blue van?"
MISSPELLED = "Where was the worksshop, at the univercity?"
FILTERED: tuple[dict[str, Any], ...] = (
    {"query": '"blue van"'},
    {"network": "agent"},
    {"tags": ["van"]},
    {"where": {"kind": "van"}},
    {"entities": ["Ines"]},
    {"document_id": "warmup"},
    {"since": "2024-03-01T00:00:00Z", "until": "2024-04-01T00:00:00Z"},
    {"as_world": "2024-05-01T00:00:00Z"},
)
"""Recalls that compile what filters, phrases and cuts need."""
ONE = b"."
HALF = b"|"
"""What the second process writes after each kernel, and when its half is compiled."""
LARGE = 5_000
"""Memories of an agent in which a search does not compare all with the question."""
ASK = 0.2
"""Seconds between two questions whether to go on, while the second process compiles."""


class Stopped(BaseException):
    """Ends `warm` early; no error, so that no `except Exception` of the engine keeps it."""


def warmup(arguments: Arguments) -> int:
    """Convert the model and compile every kernel by retaining the demo's talk once.

    The vocabulary of the token counter is downloaded, if there is a network.
    """
    started = time.perf_counter()
    if not fetch_vocabulary():
        say("no vocabulary of cl100k_base: tokens will be counted by the model's own tokenizer")
    model = warm(arguments.embedder, only_default=arguments.only_default)
    seconds = time.perf_counter() - started
    which = " of the default ranking" if arguments.only_default else ""
    said = f"ready: {model}, kernels{which} compiled ({seconds:.1f} s)"
    show(arguments, said, model=model, seconds=seconds)
    return 0


def warm(
    embedder: Any,
    stopped: Callable[[], bool] = lambda: False,
    *,
    only_default: bool = False,
) -> str | None:
    """Run everything once that the first caller would wait for; returns the model's fingerprint.

    stopped: asked after each kernel and each step, on any thread; if True, raises `Stopped`.
    only_default: run only what a small agent needs that is ranked by default, without filters.

    It takes 45 seconds on two cores, and a few seconds if all kernels were compiled before. What it
    does meanwhile is shown on standard error, also where that is no terminal.
    """
    compiled = 0
    with (
        tempfile.TemporaryDirectory(prefix="recollex-") as folder,
        unannounced(),
        unwarned(),
        waiting(lambda: f"kernels compiled: {compiled}", redirected=True),
        progress_bar(None, "compiling", "kernels", drawn=False) as progress,
        ExitStack() as stack,
    ):

        def go_on() -> None:
            if stopped():
                raise Stopped

        def count(more: int) -> None:
            nonlocal compiled
            compiled += more
            if progress is not None:
                progress(more)
            go_on()

        wait = None
        if usable_cores() > 1:
            wait = stack.enter_context(_second_process(count, only_default))
        stack.enter_context(each_compiled(partial(count, 1)))
        with recollex.open(folder, embedder=embedder) as store:
            agent = store.agent("warmup")
            agent.retain_dialogue(turns(), document_id="warmup")
            go_on()
            if not only_default:
                agent.facts.add("Ines", "drove", "the blue van")
                agent.facts.find(subject="Ines", start={"lt": "2024"}, order_by="start", limit=1)
                go_on()
            agent.retain("Ines drove the blue van.", tags=["van"], metadata={"kind": "van"})
            if wait is not None:
                agent.recall(QUESTION, preset=VECTORS)
                go_on()
                wait(HALF)
            for exact in (False, True):
                go_on()
                agent.recall(QUESTION, exact=exact)
            go_on()
            agent.checkpoint()
            agent.recall("Who moved to Lisbon last spring?", explain=True).to_dict()
            agent.recall(MISSPELLED)
            model = agent.stats().model
            if not only_default:
                _run_rest(agent, go_on)
        if wait is not None:
            wait(b"")
        if not only_default:
            go_on()
            search_large()
            prepare()
        return model


def _run_rest(agent: recollex.Agent, go_on: Callable[[], None]) -> None:
    """Recall by all presets, with filters and with facts; ``go_on`` may end it early."""
    for name in PRESETS:
        go_on()
        agent.recall(QUESTION, preset=name)
    for options in FILTERED:
        go_on()
        agent.recall(**{"query": QUESTION, **options})
    go_on()
    agent.facts.add("Ines", "drives", "the blue van")
    agent.recall(QUESTION, kinds=("memory", "fact")).to_prompt()


def compile_words(*, only_default: bool = False) -> None:
    """Run keyword search, the presets, a large agent and a server's framing, each once.

    For the second process. only_default: keyword search alone. It writes `ONE` after each kernel,
    and `HALF` before the large agent.
    """
    relax_garbage_collector()
    vector = np.ones(8, np.float32)
    with (
        tempfile.TemporaryDirectory(prefix="recollex-") as folder,
        unannounced(),
        unwarned(),
        each_compiled(partial(_tell, 1)),
        recollex.open(folder, embedder=recollex.GivenVectors(8), durability="off") as store,
    ):
        agent = store.agent("warmup")
        texts = [f"Ines saw boat {n} in Lisbon in March." for n in range(20)]
        agent.retain_many(texts, embedding=np.tile(vector, (20, 1)), document_id="warmup")
        agent.recall(QUESTION, query_embedding=vector, preset=WORDS)
        agent.retain("Ines saw a boat.", embedding=vector)
        if not only_default:
            agent.recall("Who saw a boat today?", query_embedding=vector, preset=TIMES)
        agent.checkpoint()
        for name in PRESETS if not only_default else ():
            if name != presets.default.name:
                agent.recall(QUESTION, query_embedding=vector, preset=name)
        small = store.agent("small")
        small.retain(texts[0], embedding=vector)
        small.recall(QUESTION, query_embedding=vector, preset=NEAREST)
        os.write(1, HALF)
        if not only_default:
            search_large()
            prepare()


def search_large() -> None:
    """Search an agent whose memories are too many to compare all with a question."""
    vectors = np.random.default_rng(0).standard_normal((LARGE, 8), np.float32)
    with (
        tempfile.TemporaryDirectory(prefix="recollex-") as folder,
        unannounced(),
        unwarned(),
        recollex.open(folder, embedder=recollex.GivenVectors(8), durability="off") as store,
    ):
        agent = store.agent("large")
        agent.retain_many([f"boat {n}" for n in range(LARGE)], embedding=vectors)
        agent.recall("boat", query_embedding=vectors[0])
        agent.recall("boat", query_embedding=vectors[0], network="agent")


def _tell(descriptor: int) -> None:
    os.write(descriptor, ONE)


@contextmanager
def _second_process(
    count: Callable[[int], None], only_default: bool = False
) -> Iterator[Callable[[bytes], None]]:
    """Run `compile_words` beside the body; give a function that waits for what it writes.

    The function returns when the process has written these bytes, or has ended. ``count`` is called
    with the number of kernels that it has compiled since, at least every `ASK` seconds while this
    process waits. If the process fails, the failure is printed, and its half is
    compiled here, later.
    """
    call = f"compile_words({only_default=})"
    command = [sys.executable, "-c", f"from {__name__} import compile_words; {call}"]
    paths = os.pathsep.join(path for path in sys.path if path)
    with tempfile.TemporaryFile() as wrong:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=wrong,
            env=os.environ | {"PYTHONPATH": paths, "PYTHONSAFEPATH": "1"},
            process_group=0,  # a Ctrl-C is for this process, which ends the other
        )

        def wait(written: bytes) -> None:
            assert process.stdout is not None
            descriptor = process.stdout.fileno()
            while True:
                if not select.select([descriptor], [], [], ASK)[0]:
                    count(0)
                elif said := os.read(descriptor, 1024):
                    count(said.count(ONE))
                    if written and written in said:
                        return
                else:
                    break
            told = process.returncode is not None
            if (code := process.wait()) and not told:
                wrong.seek(0)
                last = wrong.read().decode(errors="replace").strip().rpartition("\n")[2]
                say(f"the second process that compiles ended with {code}, one goes on: {last}")

        try:
            yield wait
        finally:
            process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
