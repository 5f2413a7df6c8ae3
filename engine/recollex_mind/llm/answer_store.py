"""Where answers of a language model are kept: a cache on disk, and recordings to replay.

A cache is a folder with a file for each request, named by the hash of the request. A recording is a
file with a line for each exchange, in order::

    {"key": "<sha256 of the request>", "request": {...}, "reply": {...}}

Both hold prompts and answers in clear text, which is what the memories say: keep them where the
store may be kept. Their files are readable by their owner only.
"""

import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import orjson

from recollex_engine import fork
from recollex_engine.errors import CorruptError, InputError, LanguageModelError
from recollex_engine.storage.disk import open_file, replace_file
from recollex_mind.llm.exchange import Reply, Request, read_reply


class AnswerCache:
    """Answers by request, in a folder. Threads and processes: any number."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, request: Request) -> Reply | None:
        """Return the kept answer; None if there is none, or its file is damaged."""
        try:
            written = orjson.loads(self._path(request).read_bytes())
            return read_reply(written["reply"], self._path(request))
        except (OSError, ValueError, TypeError, KeyError, LanguageModelError):
            return None

    def put(self, request: Request, reply: Reply) -> None:
        """Keep an answer. A folder that cannot be written raises `InputError`."""
        path = self._path(request)
        try:
            for folder in (self._folder, path.parent):  # a mode is that of the last part alone
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            kept = orjson.dumps({"request": request.to_dict(), "reply": reply.to_dict()})
            replace_file(path, kept, durable=False, mode=0o600)
        except OSError as error:
            raise InputError(f"the cache of answers cannot be written: {error}") from error

    def _path(self, request: Request) -> Path:
        key = request.key
        return self._folder / key[:2] / f"{key}.json"


class ExchangeRecorder:
    """Appends exchanges to a file. Threads: any number; one process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = fork.lock()

    def put(self, request: Request, reply: Reply) -> None:
        """Append an exchange. A file that cannot be written raises `InputError`."""
        line = orjson.dumps(
            {"key": request.key, "request": request.to_dict(), "reply": reply.to_dict()},
            option=orjson.OPT_APPEND_NEWLINE,
        )
        try:
            with self._lock:
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
                descriptor = open_file(self._path, flags, 0o600)
                with os.fdopen(descriptor, "ab") as file:
                    file.write(line)
        except (OSError, CorruptError) as error:
            raise InputError(f"the recording cannot be written: {error}") from error


class RecordedExchanges:
    """The exchanges of a file. Equal requests get their answers in order, the last for ever.

    Threads: any number.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = fork.lock()
        self._replies: dict[str, list[Reply]] = defaultdict(list)
        try:
            lines = path.read_bytes().splitlines()
        except OSError as error:
            raise InputError(f"the recording cannot be read: {error}") from error
        for number, line in enumerate(lines, 1):
            where = f"{path}, line {number},"
            try:
                written: Any = orjson.loads(line)
                key = written["key"]
                reply = written["reply"]
            except (ValueError, TypeError, KeyError) as error:
                raise LanguageModelError(f"{where} is no exchange", "damaged") from error
            self._replies[str(key)].append(read_reply(reply, where))

    def get(self, request: Request) -> Reply:
        """Return the recorded answer. Raises `LanguageModelError` if the file has none."""
        with self._lock:
            replies = self._replies.get(request.key)
            if not replies:
                raise LanguageModelError(
                    f"{self._path} holds no answer to this request, whose hash is "
                    f"{request.key[:12]}: record it again",
                    "not recorded",
                )
            return replies.pop(0) if len(replies) > 1 else replies[0]
