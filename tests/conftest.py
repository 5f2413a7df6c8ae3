"""For all tests: none may call out, and their collection does not wait for the garbage collector.

A test that looks up or contacts a host other than this one fails.
"""

import gc
import ipaddress
import os
import re
import sys
from pathlib import Path

import pytest

pytest.register_assert_rewrite(  # before the conftest of any folder, for all import these
    "tests.engine.erasure.traces", "tests.engine.faults.small_store"
)

os.environ["HF_HUB_OFFLINE"] = "1"  # models are those of packages and of the cache
OF_USERS = {
    "RECOLLEX_KEY",
    "RECOLLEX_TOKEN",
    "RECOLLEX_BACKUP",
    "RECOLLEX_RERANK_API_KEY",
    "HF_ENDPOINT",
}
for name in list(os.environ):  # no proxy: the servers of tests are on this machine
    if name in OF_USERS or re.match("RECOLLEX_LLM_|OPENAI_|.*_proxy$", name, re.IGNORECASE):
        del os.environ[name]

if any(name in os.environ for name in ("RECOLLEX_SEARCH", "RECOLLEX_FUZZ")):
    from hypothesis import settings

    settings.register_profile("search", deadline=None)
    settings.load_profile("search")
else:  # Hypothesis looks at it when it is imported: no deadlines, and the same examples each time
    os.environ["CI"] = "true"

CHILDREN = str(Path(__file__).parent / "children")
"""The folder of the module that Python processes import first that tests start."""
sys.path.insert(0, CHILDREN)  # many give them this path
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (CHILDREN, os.environ.get("PYTHONPATH"))))

CALLED: list[str] = []
"""What was looked up or contacted during the running test."""

EVENTS = {"socket.connect": 1, "socket.sendto": 1, "socket.sendmsg": 1, "socket.getaddrinfo": 0}
"""The audit events of Python that name a host, and which argument does."""


class CalledOutError(OSError):
    """A host other than this one was looked up or contacted."""


def is_here(host: object) -> bool:
    """Return whether a host, or the address of a socket, is on this machine."""
    if isinstance(host, tuple):
        host = host[0]
    if host is None or isinstance(host, bytes) or str(host) in ("", "localhost"):
        return True
    try:
        address = ipaddress.ip_address(str(host))
    except ValueError:  # a name, or the path of a unix socket
        return str(host).startswith(("/", "\0"))
    return address.is_loopback or address.is_unspecified


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    """Raise `CalledOutError` before a host elsewhere is looked up or contacted, in any thread."""
    place = EVENTS.get(event)
    if place is not None and not is_here(arguments[place]):
        CALLED.append(f"{event} {arguments[place]!r}")
        raise CalledOutError(f"a test called out: {event} {arguments[place]!r}")


sys.addaudithook(refuse)


@pytest.fixture(autouse=True)
def nothing_calls_out():
    yield
    called = CALLED[:]
    CALLED.clear()
    assert called == []


LONGEST = (
    "tests/test_wheel.py",
    "tests/bindings/frameworks/mcp/test_mcp_serving.py",
    # before requests that wait ten seconds at most
    "tests/bindings/remote/server/test_reader_pool.py",
    "tests/bindings/remote/http/test_http_schema.py",
    "tests/bindings/test_serve.py",
)
"""Files that take longest and begin first: one that began last would leave a process idle."""


def pytest_collection_modifyitems(items):
    places = {file: place for place, file in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.nodeid.partition("::")[0], len(places)))
    if (entropy := sys.modules.get("hypothesis.internal.entropy")) is not None:
        # Nothing here draws from NumPy's global generator, whose state takes 0.2 ms an example.
        entropy.NP_RANDOM = entropy.NP_RANDOM or object()


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect garbage seldom: what pytest holds of all tests is no garbage.

    Once the tests are collected, these 570,000 objects are not looked at again: that takes 0.4 s of
    CPU each time that a test collects its garbage.
    """
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 50)
    try:
        return (yield)
    finally:
        gc.set_threshold(*before)
        gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def imports_are_no_garbage():
    """Look no longer for garbage among what earlier files have imported.

    Else each `gc.collect()` of a test takes half a second, for hundreds of thousands of objects.
    """
    count = len(sys.modules)
    yield
    # Hypothesis, when it is imported, warns of random generators that no list of garbage holds.
    if len(sys.modules) > count + 20 and "hypothesis" in sys.modules:
        gc.collect()
        gc.freeze()
