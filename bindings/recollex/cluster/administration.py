"""What is done to a whole cluster: shown, verified, filled from a store, copied to a store.

None of it needs a node; none but `import_store`, which refuses while nodes live, takes a shard.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from recollex.cluster.homes import build, end_of, end_of_log
from recollex.cluster.layout import (
    ShardOwner,
    SharedAgent,
    bucket,
    packs_of,
    read_cluster,
    shard_of,
)
from recollex.cluster.membership import read_nodes
from recollex.cluster.shard import Shard, ShardReader, SlateLoop
from recollex_engine.agents.folder_names import agent_folder, agents_in
from recollex_engine.agents.store import create_store
from recollex_engine.backup.agent_backup import back_up_agent
from recollex_engine.backup.backup import Objects
from recollex_engine.errors import CorruptError, InputError, RecollexError
from recollex_engine.state.replica import LOG
from recollex_engine.storage.disk import flush_tree

_LOOK_AGAIN = 1.5
"""Seconds within which a node that lives writes a heartbeat."""

AgentProgress = Callable[[str], None]
"""Called with the name of each agent that is done."""


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """The state of a cluster.

    nodes: name -> address of those that live. epochs: how often each shard was opened, 0 for one
    that no node has had. runs, unpacked: the number and bytes of runs that no pack holds.
    """

    shards: int
    nodes: dict[str, str]
    epochs: tuple[int, ...]
    agents: int
    runs: int
    unpacked: int


@dataclass(frozen=True, slots=True)
class ClusterVerification:
    """What was verified, and one line for each agent with a problem."""

    agents: int
    operations: int
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def live_nodes(url: str) -> dict[str, str]:
    """Return name -> address of the nodes whose heartbeat changes. Cost: 1.5 s."""
    target = bucket(url)
    before = read_nodes(target)
    if not before:
        return {}
    time.sleep(_LOOK_AGAIN)
    after = read_nodes(target)
    return {name: said["address"] for name, said in after.items() if said != before.get(name)}


def status(url: str) -> ClusterStatus:
    """Return the state of a cluster. Cost: some requests for each shard and agent."""
    count = read_cluster(url).shards
    epochs = []
    agents = runs = unpacked = 0
    for reader, names, loop in _readers(url, count):
        epochs.append(loop.run(reader.epoch_now(new=True)))
        for name in names:
            shared = loop.run(reader.read(name))
            agents += 1
            runs += len(shared.runs)
            unpacked += sum(each.size for each in shared.runs)
    return ClusterStatus(count, live_nodes(url), tuple(epochs), agents, runs, unpacked)


def verify(url: str, progress: AgentProgress = lambda name: None) -> ClusterVerification:
    """Build every agent from what the cluster has, and check its log, chain and vectors."""
    problems = []
    operations = agents = 0
    with TemporaryDirectory() as place:
        for name, shared in _all_agents(url):
            agents += 1
            folder = agent_folder(Path(place), name)
            try:
                build(folder, shared, packs_of(url, name))
                operations += _check(folder, shared)
                _check_epochs(shared)
            except RecollexError as error:
                problems.append(f"{name}: {error}")
            progress(name)
    return ClusterVerification(agents, operations, tuple(problems))


def export_store(url: str, path: Path, progress: AgentProgress = lambda name: None) -> int:
    """Copy every agent of a cluster into a new store at ``path``; return how many there are."""
    if path.exists() and any(path.iterdir()):
        raise InputError(f"{path} is not empty: give a folder that is not there yet")
    create_store(path)
    count = 0
    for name, shared in _all_agents(url):
        build(agent_folder(path, name), shared, packs_of(url, name))
        progress(name)
        count += 1
    flush_tree(path)
    return count


def import_store(path: Path, url: str, progress: AgentProgress = lambda name: None) -> int:
    """Put the agents of a store into a cluster that has none of them; return how many there are.

    Raises `InputError` while nodes live, and for an agent that the cluster has.
    """
    count = read_cluster(url).shards
    if nodes := live_nodes(url):
        raise InputError(f"nodes are running ({', '.join(sorted(nodes))}): stop them to import")
    names = agents_in(path)
    if not names:
        raise InputError(f"{path} holds no agent: there is nothing to import")
    with _loop() as loop:
        for number in sorted({shard_of(name, count) for name in names}):
            shard = Shard(url, number, ShardOwner("import", "", str(time.time_ns())))
            loop.run(shard.open())
            try:
                for name in (each for each in names if shard_of(each, count) == number):
                    if not loop.run(shard.read(name)).is_empty:
                        raise InputError(f"the cluster has an agent {name!r} already")
                    target = packs_of(url, name)
                    objects = Objects(target, None, fresh=True)
                    record = back_up_agent(agent_folder(path, name), None, objects.add)
                    if record is not None:
                        target.flush()
                        loop.run(shard.put_pack(name, record.to_json(), ()))
                    progress(name)
            finally:
                loop.run(shard.hand_over())
    return len(names)


def _check(folder: Path, shared: SharedAgent) -> int:
    """Return how many operations a built log has; raise `CorruptError` unless all is right."""
    found = end_of_log(folder / LOG, verify=True)
    if found != (expected := end_of(shared)):
        raise CorruptError(folder / LOG, f"operation {expected[0]}", f"{found[0]}")
    return found[0]


def _check_epochs(shared: SharedAgent) -> None:
    epochs = [run.epoch for run in shared.runs]
    if epochs != sorted(epochs):
        raise CorruptError("the shared log", "runs of later owners after those of earlier", epochs)


def _all_agents(url: str) -> Iterator[tuple[str, SharedAgent]]:
    for reader, names, loop in _readers(url, read_cluster(url).shards):
        for name in names:
            yield name, loop.run(reader.read(name))


def _readers(url: str, count: int) -> Iterator[tuple[ShardReader, list[str], SlateLoop]]:
    """Yield each shard, open for reading, with its agents."""
    with _loop() as loop:
        for number in range(count):
            reader = ShardReader(url, number)
            loop.run(reader.open())
            try:
                yield reader, loop.run(reader.agents()), loop
            finally:
                loop.run(reader.close())


@contextmanager
def _loop() -> Iterator[SlateLoop]:
    loop = SlateLoop()
    try:
        yield loop
    finally:
        loop.close()
