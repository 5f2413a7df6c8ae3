"""What if the path of an open store comes to lead to another folder? Every public call is tried.

The other store stays byte for byte as it was, and each call works on the store that was opened, or
says that it was moved.
"""

import contextlib
import inspect
import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import recollex
from recollex.api.events import Events
from recollex.api.facts import Facts
from recollex.api.jobs import Jobs
from recollex.api.opinions import AgentProfile, Opinions
from recollex.api.sessions import Sessions
from recollex.api.tools import Tools
from recollex_engine.errors import ClosedError, ReadOnlyError, RecollexError, StoreMovedError
from recollex_engine.writing import checkpoint
from recollex_engine.writing.draft import Draft
from tests.bindings.word_vectors import WordVectors
from tests.engine.unchanged_folders import files

ID = "m0"
NOW = datetime.now(UTC)
PARKED = "The tea in the garden was warm and Carol talked about it."
"""A turn that a policy keeps until its session ends."""
GIVEN: dict[str, Any] = {
    "agent_id": "ann",
    "agents": ["ann"],
    "answer": "Bob",
    "arguments": {"query": "tea"},
    "as_recorded": NOW,
    "by": "ann",
    "confidence": 0.5,
    "content": "I am a cook.",
    "counter": "words",
    "document_id": "talk",
    "earlier": NOW,
    "events": "e0",
    "field": "source",
    "gist_id": ID,
    "id": ID,
    "ids": ID,
    "name": "Bob",
    "new_info": "I like tea.",
    "object": "tea",
    "op": 3,
    "operations": [{"op": "retain", "text": "Bob likes tea."}],
    "policy": recollex.WritePolicy(),
    "predicate": "likes",
    "progress": None,
    "queries": ["tea"],
    "query": "tea",
    "question": "What does Bob like?",
    "recorded_at": None,
    "rules": [],
    "session": "talk",
    "source": "Bob",
    "statements": [],
    "subject": "Bob",
    "summary": "They met.",
    "target": "Bo",
    "text": "Bob likes coffee.",
    "texts": ["Bob likes cocoa."],
    "title": "A day",
    "turns": [{"speaker": "Bob", "text": PARKED, "at": "2023-11-20T18:00:00+00:00"}],
    "why": "asked",
}
"""What each required argument is in these calls. A new one needs a line here."""
OF_CALL: dict[str, dict[str, Any]] = {
    "Agent.amend": {"metadata": {"mood": "good"}},
    "Agent.archive": {"id": "m1"},
    "Agent.erase": {"id": "m2"},
    "Agent.forget": {"id": "m3"},
    "Events.get": {"id": "e0"},
    "Events.history": {"id": "e0"},
    "Events.link": {"source": "e0", "relation": "causes", "target": "e1"},
    "Facts.archive": {"id": "f0"},
    "Facts.correct": {"id": "f0", "object": "cocoa"},
    "Facts.get": {"id": "f0"},
    "Facts.history": {"id": "f0"},
    "Facts.value_counts": {"field": "predicate"},
    "Tools.call": {"name": "lexical_retrieve"},
}
"""The same, of one call alone."""
GROUPS = {
    recollex.Agent: "",
    AgentProfile: "profile",
    Events: "events",
    Facts: "facts",
    Jobs: "jobs",
    Opinions: "opinions",
    Sessions: "sessions",
    Tools: "tools",
}
LAST = ("Store.delete_agent", "Store.close_agent", "Store.close")
UNTOUCHED = {
    *("Jobs.wait", "Opinions.wait", "Sessions.backfill", "Sessions.forget_expired"),
    *("Sessions.short_term", "Sessions.working", "Store.close", "Store.close_agent"),
    *("Tools.output_answer", "Tools.schemas"),
    *("Agent.extract", "Agent.investigate"),  # without a language model
}
"""Calls that read and write nothing of a store's folder, or need not."""


def calls() -> list[str]:
    """Return every public call of a store and of an agent, those that end something last."""
    found = [
        f"{kind.__name__}.{name}"
        for kind in (recollex.Store, *GROUPS)
        for name, method in inspect.getmembers(kind, callable)
        if not name.startswith("_")
    ]
    return sorted(found, key=lambda call: (LAST.index(call) + 1 if call in LAST else 0, call))


def call(
    store: recollex.Store, agent: recollex.Agent, name: str, folder: Path, recall: recollex.Recall
) -> Any:
    """Make one call with all that it needs, and read all that it gives."""
    of, method = name.split(".")
    group = {kind.__name__: place for kind, place in GROUPS.items()}.get(of)
    of_agent = agent if not group else getattr(agent, group)
    bound = getattr(store if of == "Store" else of_agent, method)
    given = GIVEN | {"path": folder / "copy", "recall": recall} | OF_CALL.get(name, {})
    if name == "Store.backup":
        given["target"] = folder / "backup"
    needed = {
        each.name: given[each.name]
        for each in inspect.signature(bound).parameters.values()
        if (each.default is each.empty and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL))
        or each.name in OF_CALL.get(name, {})
    }
    found = bound(**needed)
    if isinstance(found, contextlib.AbstractContextManager) and of != "Store":
        with found as opened:
            opened.retain([{"role": "user", "content": "hi"}] if method == "conversation" else "hi")
    return list(found) if inspect.isgenerator(found) else found


def opened(path: str | Path, **options: Any) -> recollex.Store:
    return recollex.open(path, embedder=WordVectors(), **options)


def hear(agent: recollex.Agent) -> None:
    """Begin a session, for the calls that need one."""
    agent.retain_dialogue(GIVEN["turns"], document_id="talk", policy=GIVEN["policy"])


def fill(path: Path, said: str) -> None:
    with opened(path) as store:
        for name in ("ann", "ben"):
            agent = store.agent(name)
            agent.retain_many([f"{said} {n}" for n in range(5)], id=[f"m{n}" for n in range(5)])
            agent.facts.add("Bob", "likes", said, id="f0")
            agent.events.add(f"{said}: they met.", id="e0")
            agent.events.add(f"{said}: they parted.", id="e1")
            agent.checkpoint()


def renamed(path: Path, _: Path) -> None:
    path.rename(path.with_name("moved"))


def removed(path: Path, _: Path) -> None:
    shutil.rmtree(path)


def swapped(path: Path, other: Path) -> None:
    path.rename(path.with_name("moved"))
    other.rename(path)


def made_anew(path: Path, other: Path) -> None:
    shutil.rmtree(path)
    shutil.copytree(other, path)
    shutil.rmtree(other)
    path.rename(other)
    path.symlink_to(other)


def agents_switched(path: Path, other: Path) -> None:
    (path / "agents").rename(path.with_name("agents of before"))
    (path / "agents").symlink_to(other / "agents")


def agent_switched(path: Path, other: Path) -> None:
    (path / "agents" / "ann").rename(path.with_name("ann of before"))
    (path / "agents" / "ann").symlink_to(other / "agents" / "ann")


def mounted_over(path: Path, other: Path) -> None:
    command = ["mount", "--bind", str(other), str(path)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")


WAYS = (renamed, removed, swapped, made_anew, agents_switched, agent_switched, mounted_over)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filled")
    fill(path / "one", "one")
    fill(path / "two", "two")
    return path


@pytest.fixture
def places(filled: Path, tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    one, two = tmp_path / "one", tmp_path / "two"
    for place in (one, two):
        shutil.copytree(filled / place.name, place)
    yield one, two
    subprocess.run(["umount", str(one)], capture_output=True)


def of_store(path: Path) -> dict[Path, bytes]:
    """Return the bytes of all files of a store, by their place in it, wherever it is."""
    return {each.relative_to(path): content for each, content in files(path).items()}


def changed(path: Path, before: dict[Path, bytes]) -> list[str]:
    """Return the files of a store that are not as they were."""
    now = of_store(path)
    return sorted(str(each) for each in now.keys() | before if now.get(each) != before.get(each))


@pytest.mark.filterwarnings("ignore:accesses are no longer counted")
@pytest.mark.parametrize("read_only", [False, True], ids=["writer", "reader"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_call_says_that_the_store_was_moved(
    places: tuple[Path, Path], tmp_path: Path, way: Callable[[Path, Path], None], read_only: bool
) -> None:
    one, two = places
    store = opened(one, read_only=read_only, count_accesses=True, max_open=1)
    resting, agent = store.agent("ben"), store.agent("ann")
    assert resting.count() == 5
    recall = agent.recall("one")
    assert recall.ids
    if not read_only:
        hear(agent)
    before = of_store(two)
    way(one, two)
    expected: tuple[type[RecollexError], ...] = (StoreMovedError,)
    passed = set(UNTOUCHED)
    if read_only:  # it has no session
        passed |= {name for name in calls() if name.startswith("Sessions.")}
    if way is agent_switched:
        passed.add("Store.agents")
    if way is agent_switched and read_only:  # as if it had been deleted, and made anew
        expected = (StoreMovedError, ClosedError)
        passed |= {name for name in calls() if name.startswith("Store.")}
    silent = []
    if way is not agent_switched:
        with pytest.raises(StoreMovedError, match="open it again"):
            resting.count()
    for name in calls():
        if name in passed:
            continue
        try:
            call(store, agent, name, tmp_path, recall)
            silent.append(name)
        except expected:
            continue
        except RecollexError as error:
            silent.append(f"{name}: {error!r}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        store.close()
    there = one if way is swapped else two
    assert changed(there, before) == []
    assert silent == []


def lock_removed(path: Path, _: Path) -> None:
    (path / "agents" / "ann" / "LOCK").unlink()


def log_removed(path: Path, _: Path) -> None:
    shutil.rmtree(path / "agents" / "ann" / "log")


def log_swapped(path: Path, other: Path) -> None:
    log = path / "agents" / "ann" / "log"
    log.rename(path / "log of before")
    shutil.copytree(other / "agents" / "ann" / "log", log)


@pytest.mark.parametrize("has_written", [False, True])
@pytest.mark.parametrize("way", [lock_removed, log_removed, log_swapped])
def test_an_agent_whose_lock_or_log_was_taken_away_is_not_written(
    places: tuple[Path, Path], tmp_path: Path, way: Callable[[Path, Path], None], has_written: bool
) -> None:
    one, two = places
    store = opened(one)
    agent = store.agent("ann")
    recall = agent.recall("one")
    if has_written:
        hear(agent)
    way(one, two)
    before = of_store(one)
    with pytest.raises(StoreMovedError):
        agent.retain("one after")
    for name in calls():
        if name not in LAST and not name.startswith("Store."):
            with contextlib.suppress(RecollexError):
                call(store, agent, name, tmp_path, recall)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        store.close()
    beside = {f"agents/ann/{name}" for name in ("ACCESSES", "LOCK", "REEMBED")}
    assert set(changed(one, before)) <= (set() if way is lock_removed else beside)


@pytest.mark.parametrize("read_only", [False, True], ids=["writer", "reader"])
@pytest.mark.parametrize("way", ["chdir", "link"])
def test_a_path_means_the_folder_that_was_opened(
    places: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    read_only: bool,
) -> None:
    one, two = (place.rename(tmp_path / side) for place, side in zip(places, "ab", strict=True))
    link = tmp_path / "current"
    link.symlink_to(one)
    for place in (one, two):
        (place / "here").symlink_to(place)
    monkeypatch.chdir(one)
    store = opened("here" if way == "chdir" else link, read_only=read_only)
    agent = store.agent("ann")
    recall = agent.recall("one")
    if not read_only:
        hear(agent)
    before = of_store(two)
    monkeypatch.chdir(two)
    link.unlink()
    link.symlink_to(two)
    failed = []
    for name in calls():
        try:
            call(store, agent, name, tmp_path, recall)
        except ReadOnlyError:
            assert read_only
        except StoreMovedError as error:
            failed.append(f"{name}: {error}")
        except RecollexError:  # nothing has this id
            continue
    store.close()
    assert failed == []
    assert changed(two, before) == []
    with opened(one) as store:
        kept = [memory.text for memory in store.agent("ann").list()]
    assert kept == [f"one {n}" for n in range(5)] if read_only else kept == []


def test_a_new_store_is_held_from_its_first_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    store = opened("~/memory")
    assert store.path == tmp_path / "memory" and store.agents() == []
    store.agent("ann").retain("Bob likes tea.")
    store.close_agent("ann")
    store.path.rename(tmp_path / "moved")
    for act in (store.agents, lambda: store.agent("ann"), lambda: store.agent("ben").retain("Hi.")):
        with pytest.raises(StoreMovedError):
            act()
    assert not store.path.exists()
    store.close()
    with opened(tmp_path / "moved") as store:
        assert store.agent("ann").count() == 1


@pytest.mark.parametrize("has_written", [False, True])
def test_a_store_that_is_moved_during_a_write_leaves_the_other_alone(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, has_written: bool
) -> None:
    """The write goes to the files that are open; what is opened by name afterwards is refused."""
    one, two = places
    monkeypatch.setattr(checkpoint, "TAIL_ROWS", 1)
    before, count_tokens = of_store(two), Draft.count_tokens
    with warnings.catch_warnings(record=True) as warned, opened(one) as store:
        warnings.simplefilter("always")
        agent = store.agent("ann")
        if has_written:
            agent.retain("one before")
            agent.checkpoint()

        def moved(draft: Draft) -> None:
            count_tokens(draft)
            swapped(one, two)

        monkeypatch.setattr(Draft, "count_tokens", moved)
        with contextlib.nullcontext() if has_written else pytest.raises(StoreMovedError):
            agent.retain("one after")
    assert changed(one, before) == []
    checkpoints = [each for each in warned if "moved, replaced or removed" in str(each.message)]
    assert bool(checkpoints) == has_written  # the one in the background
    with opened(one.with_name("moved")) as store:
        assert store.agent("ann").count() == (7 if has_written else 5)
