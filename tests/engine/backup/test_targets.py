"""Folders and object stores keep the same promises; a backup in a bucket is as one in a folder."""

import socket
import threading
import time
import warnings

import pytest
from obstore.store import MemoryStore, S3Store

import recollex
from recollex_engine.backup import target as object_store
from recollex_engine.backup.target import FolderTarget, ObjectStoreTarget
from recollex_engine.errors import DisconnectedError, InputError
from tests.engine.backup.copying import back_up, files_of, said, sweep_at_once
from tests.engine.faults.small_store import contents, fill, opened

KEYS = {
    "aws_access_key_id": "key",
    "aws_secret_access_key": "secret",
    "aws_region": "us-east-1",
    "aws_allow_http": "true",
}


class OneAtATime:
    """A stand-in's application that answers one request after another.

    S3 writes an object only if it is not there in one step. Moto looks, and then writes.
    """

    def __init__(self, application):
        self.application, self.lock = application, threading.Lock()

    def __call__(self, environ, start_response):
        with self.lock:
            return list(self.application(environ, start_response))


@pytest.fixture(scope="module")
def server():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from moto.server import ThreadedMotoServer

        server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
        server.start()
    server._server.app = OneAtATime(server._server.app)
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(server, monkeypatch):
    """The name of an empty bucket, which the environment gives access to."""
    import httpx

    name = f"b{time.monotonic_ns()}"
    assert httpx.put(f"{server}/{name}").status_code == 200
    for key, value in {**KEYS, "aws_endpoint": server}.items():
        monkeypatch.setenv(key.upper(), value)
    return name


@pytest.fixture(params=["folder", "memory", "s3"])
def target(request, tmp_path):
    if request.param == "folder":
        return FolderTarget(tmp_path / "t")
    if request.param == "memory":
        return ObjectStoreTarget(MemoryStore(), "memory")
    bucket = request.getfixturevalue("bucket")
    return ObjectStoreTarget.at(f"s3://{bucket}/some/prefix")


def test_what_is_put_is_there_whole(target):
    assert target.get("a/b") is None and target.written_at("a/b") is None
    assert target.keys("") == [] and target.has_all([])
    now = time.time()
    for n in range(40):
        target.put(f"a/{n:02}", lambda n=n: b"x" * n)
    target.flush()
    assert target.get("a/07") == b"x" * 7 and target.get("a") is None
    assert [each.key for each in target.keys("a/")] == [f"a/{n:02}" for n in range(40)]
    assert all(abs(each.written_at - now) < 60 for each in target.keys(""))
    assert target.has_all(["a/00", "a/39"]) and not target.has_all(["a/00", "a/40"])
    assert (target.written.objects, target.written.size) == (40, sum(range(40)))
    target.put("a/07", lambda: b"new", now - 1000)
    target.put("a/08", lambda: b"new", now + 1000)
    target.flush()
    assert target.get("a/07") == b"x" * 7 and target.get("a/08") == b"new"
    target.delete(["a/07", "a/none", "a/08"])
    assert len(target.keys("a/")) == 38 and target.get("a/07") is None


def test_one_of_many_creates_a_key(target):
    done = []

    def create(n):
        with target.alone():
            done.append(target.create("first", b"%d" % n) and n)

    threads = [threading.Thread(target=create, args=(n,)) for n in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = [n for n in done if n]
    assert target.get("first") == b"%d" % winner


def test_a_backup_in_a_bucket(path, tmp_path, bucket, monkeypatch):
    sweep_at_once(monkeypatch)
    target = f"s3://{bucket}/backups/memory"
    first = back_up(path, target)
    assert back_up(path, target).objects == 0
    with opened(path) as agent:
        fill(agent, 40, 2)
        agent.erase("m3", by="ann", why="asked")
    back_up(path, target)
    assert recollex.erase_in_copy(path, target, "a", by="ann", why="asked").memories == 0
    last = back_up(path, target, keep=2)
    assert (last.number, first.problems) == (5, ())
    assert [each.number for each in recollex.backups(target)] == [4, 5]
    store = S3Store.from_url(target)
    assert recollex.verify_backup(store).ok
    recollex.restore(target, tmp_path / "r")
    assert files_of(tmp_path / "r") == files_of(path) and said(tmp_path / "r") == said(path)
    objects = {key["path"] for chunk in store.list("objects") for key in chunk}
    back_up(path, tmp_path / "b")
    in_folder = {p.name for p in (tmp_path / "b/objects").rglob("*") if p.is_file()}
    assert {each.rpartition("/")[2] for each in objects} == in_folder
    victim = sorted(objects)[0]
    store.put(victim, b"damaged")
    assert any(victim in problem for problem in recollex.verify_backup(target).problems)
    back_up(path, target, fresh=True)
    assert recollex.verify_backup(target).ok


def test_backups_to_a_bucket_at_once(path, bucket):
    target, runs = f"s3://{bucket}/b", []
    threads = [
        threading.Thread(target=lambda: runs.append(back_up(path, target).number)) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(runs) == [1, 2, 3]
    for number in runs:
        assert recollex.verify_backup(target, number=number).ok


def test_a_store_that_cannot_be_reached_leaves_an_error(path, bucket, monkeypatch):
    monkeypatch.setattr(object_store, "_RETRIES", {"max_retries": 0})
    with pytest.raises(InputError, match="there is no s3://nobucket: "):
        back_up(path, "s3://nobucket")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # it does not listen, and no other program can
        monkeypatch.setenv("AWS_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(DisconnectedError, match=f"s3://{bucket}: "):
            back_up(path, f"s3://{bucket}")
    with pytest.raises(InputError, match="foo://x is no address of an object store"):
        recollex.backups("foo://x")


def test_without_obstore_a_folder_is_enough(path, tmp_path, monkeypatch):
    def refuse(name):
        raise ImportError(name)

    monkeypatch.setattr(object_store.importlib, "import_module", refuse)
    with pytest.raises(InputError, match=r"needs obstore: pip install 'recollex\[cloud\]'"):
        back_up(path, "s3://bucket")
    back_up(path, f"file://{tmp_path}/b")
    recollex.restore(tmp_path / "b", tmp_path / "r")
    with opened(tmp_path / "r") as agent:
        assert len(contents(agent)) == 40
