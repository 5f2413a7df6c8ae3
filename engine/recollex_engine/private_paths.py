"""Hides where a machine keeps its files from those whom it answers: clients, models, the log.

A text of an error names files by their whole path, which its caller in this process needs. What
leaves the process names a file of the store by its path below the store, any other by its name.
"""

import os
import re

_PART = r"[^\s/:;,'\"`()<>]+"
_PATH = re.compile(rf"(?:(?<=file://)|(?<![\w/.~\]]))/(?:{_PART}(?: {_PART})*/)*{_PART}/?")
"""An absolute path in a text. The name of a folder may hold spaces, which no URL's path does."""
_AGENTS = "/agents/"


def without_paths(text: str, *paths: str) -> str:
    """Return a text without the absolute paths of this machine.

    paths: those that are known to be in the text, and may hold any character. A path whose first
    folder does not exist here is none of this machine, and stays: it may be an address.

    >>> without_paths("/usr/store/agents/ann/log/1: expected JSON, found '/tmp/x'")
    "agents/ann/log/1: expected JSON, found 'x'"
    >>> without_paths("there is no /openapi of https://example.org/usr/v1 or a/b")
    'there is no /openapi of https://example.org/usr/v1 or a/b'
    """
    for path in paths:
        text = text.replace(path, _shown(path))
    return _PATH.sub(lambda found: _shown(found[0]), text)


def _shown(path: str) -> str:
    first, _, rest = path.lstrip("/").partition("/")
    if not path.startswith("/") or not first or not os.path.lexists(f"/{first}"):
        return path
    if _AGENTS in path:
        return f"agents/{path.rpartition(_AGENTS)[2]}"
    return rest.rstrip("/").rpartition("/")[2] or first
