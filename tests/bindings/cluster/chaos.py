"""Real nodes under kill -9 and SIGSTOP, and a checker: `python -m tests.bindings.cluster.chaos`.

Writers retain numbered memories in agents of their own, and read what they wrote; nodes are killed,
started again, stopped and resumed meanwhile. Then the bucket is read: each acknowledged write is
there once, in its writer's order; epochs never fall; each agent, built anew, verifies; and what the
nodes answered last is what the built agent answers, to the bit.
"""

import argparse
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

import recollex
from recollex.cluster import administration
from recollex.cluster.layout import create_cluster
from recollex_engine.errors import RecollexError, UnknownIdError

DIMENSION = 32
RECOLLEX = [sys.executable, "-c", "import sys; from recollex.cli import main; sys.exit(main())"]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def vector(agent, number):
    seed = [int.from_bytes(agent.encode()[-4:]), number]
    return np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)


class Nodes:
    """Processes of `recollex serve --cluster`, by name; ended with the ``with`` block."""

    def __init__(self, url, folder, names):
        self.url, self.folder, self.names = url, folder, names
        self.ports = {name: free_port() for name in names}
        self.processes = {}

    @property
    def address(self):
        return "cluster://" + ",".join(f"127.0.0.1:{port}" for port in self.ports.values())

    def start(self, name):
        command = [*RECOLLEX, "serve", "--store", str(self.folder / name), "--cluster", self.url]
        command += ["--listen", f"127.0.0.1:{self.ports[name]}", "--node", name]
        command += ["--embedder", f"given:{DIMENSION}", "--flush-ms", "5"]
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(command, stdout=log, stderr=log)

    def wait(self, seconds=150):
        """Wait until each node that was started listens."""
        until = time.monotonic() + seconds
        for name, process in self.processes.items():
            while True:
                assert process.poll() is None, (self.folder / f"{name}.log").read_text()[-2000:]
                try:
                    socket.create_connection(("127.0.0.1", self.ports[name]), 1).close()
                    break
                except OSError:
                    assert time.monotonic() < until, f"{name} does not listen"
                    time.sleep(0.05)

    def signal(self, name, number):
        self.processes[name].send_signal(number)
        if number == signal.SIGKILL:
            self.processes[name].wait()

    def stop(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for name, process in self.processes.items():
            try:
                process.wait(40)
            except subprocess.TimeoutExpired:
                process.kill()
                raise AssertionError(f"{name} did not stop") from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
                process.wait()


@dataclass
class Load:
    """Writers of numbered memories, one an agent at a time, which read what they wrote."""

    address: str
    agents: list
    writers: int
    acknowledged: dict = field(default_factory=dict)
    unread: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    times: list = field(default_factory=list)
    ended: bool = False

    def start(self):
        self.acknowledged = {agent: [] for agent in self.agents}
        self.threads = [
            threading.Thread(target=self._write, args=(self.agents[number :: self.writers],))
            for number in range(self.writers)
        ]
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.ended = True
        for thread in self.threads:
            thread.join(60)
            assert not thread.is_alive()

    def _write(self, mine):
        with recollex.connect(self.address, patience=40) as store:
            agents = {name: store.agent(name) for name in mine}
            number = 0
            while not self.ended:
                number += 1
                for name, agent in agents.items():
                    began = time.monotonic()
                    try:
                        agent.retain(
                            f"note {number} of {name}",
                            id=f"m{number}",
                            embedding=vector(name, number),
                        )
                        self.acknowledged[name].append(number)
                        self.times.append((began, time.monotonic()))
                        if number % 3 == 0:
                            agent.get(f"m{number}")
                    except UnknownIdError:
                        self.unread.append((name, number))
                    except RecollexError as error:
                        self.errors.append((name, number, repr(error)[:200]))


def gap_after(times, moment):
    """The longest time without an acknowledgement in the ten seconds after a moment."""
    ends = sorted(ended for _, ended in times if moment - 1 < ended < moment + 10)
    return max((after - before for before, after in pairwise(ends)), default=float("inf"))


def check(url, load, answers):
    """Return what is wrong with a bucket, as lines; none if all is right."""
    wrong = []
    for name, shared in administration._all_agents(url):
        epochs = [run.epoch for run in shared.runs]
        if epochs != sorted(epochs):
            wrong.append(f"{name}: epochs {epochs}")
    found = administration.verify(url)
    wrong += found.problems
    with tempfile.TemporaryDirectory() as place:
        administration.export_store(url, Path(place) / "copy")
        with recollex.open(
            Path(place) / "copy", embedder=recollex.GivenVectors(DIMENSION), read_only=True
        ) as store:
            for name, numbers in load.acknowledged.items():
                agent = store.agent(name)
                ids = [each.id for each in agent.list(limit=100_000)]
                held = [int(each[1:]) for each in ids if each.startswith("m")]
                if lost := set(numbers) - set(held):
                    wrong.append(f"{name}: lost {sorted(lost)[:5]} of {len(numbers)}")
                if len(held) != len(set(held)):
                    wrong.append(f"{name}: doubled")
                if sorted(held) not in (held, held[::-1]):
                    wrong.append(f"{name}: out of order")
                if any(each.startswith("z") for each in ids):
                    wrong.append(f"{name}: holds what a zombie wrote")
                if name in answers and said(agent, name) != answers[name]:
                    wrong.append(f"{name}: another answer than the node's")
    return wrong


def said(agent, name):
    recall = agent.recall(f"note of {name}", query_embedding=vector(name, 1), limit=5)
    return [(each.id, each.text, each.score) for each in recall]


def run(seconds, agents=24, writers=6, every=3.0, names="abc", say=print, seed=0):
    """Return what was wrong, after a run of so many seconds."""
    drawn = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        url = f"file://{folder}/bucket"
        create_cluster(url, 8)
        with Nodes(url, folder, list(names)) as nodes:
            for name in names:
                nodes.start(name)
            nodes.wait()
            load = Load(nodes.address, [f"user-{n}" for n in range(agents)], writers)
            load.start()
            moments = []
            zombies = []
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                time.sleep(every)
                name = drawn.choice(list(names))
                moment = time.monotonic()
                if drawn.random() < 0.7:
                    nodes.signal(name, signal.SIGKILL)
                    time.sleep(every / 2)
                    nodes.start(name)
                else:
                    nodes.signal(name, signal.SIGSTOP)
                    time.sleep(drawn.uniform(1, max(1.5, min(10, every))))
                    nodes.signal(name, signal.SIGCONT)
                    zombies += interrogate(nodes.ports[name], load.agents)
                nodes.wait()
                moments.append(moment)
            time.sleep(every)
            load.stop()
            with recollex.connect(nodes.address, patience=40) as store:
                answers = {name: said(store.agent(name), name) for name in load.agents}
            nodes.stop()
            count = sum(map(len, load.acknowledged.values()))
            gaps = [gap_after(load.times, moment) for moment in moments]
            times = sorted(ended - began for began, ended in load.times)
            say(
                f"{count:,} writes acknowledged, p50 {1e3 * times[len(times) // 2]:.0f} ms, "
                f"p99 {1e3 * times[len(times) * 99 // 100]:.0f} ms; longest pause "
                f"{max(gaps, default=0):.2f} s; {len(load.errors)} calls failed; "
                f"{len(zombies)} calls put to a resumed node, {sum(zombies)} answered"
            )
            wrong = check(url, load, answers)
            wrong += [f"{name}: did not read its own m{number}" for name, number in load.unread]
            if not count:
                wrong.append(f"nothing was written: {load.errors[:2]}")
            return wrong


def interrogate(port, agents):
    """Ask a node that was stopped at once, without a word to others; 1 for each answer."""
    found = []
    try:
        with recollex.connect(f"tcp://127.0.0.1:{port}", patience=0.001, timeout=2) as store:
            for name in agents[:6]:
                try:
                    store._carry("get", name, {"id": "m1"}, store._options)
                    found.append(1)
                except RecollexError:
                    found.append(0)
    except (RecollexError, OSError):
        return found
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--agents", type=int, default=24)
    parser.add_argument("--writers", type=int, default=6)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--every", type=float, default=3)
    given = parser.parse_args()
    failed = False
    for number in range(given.runs):
        wrong = run(given.seconds, given.agents, given.writers, given.every, seed=number)
        for line in wrong:
            print(line)
        failed = failed or bool(wrong)
        print(f"run {number + 1}: {'FAILED' if wrong else 'nothing lost, doubled or out of order'}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
