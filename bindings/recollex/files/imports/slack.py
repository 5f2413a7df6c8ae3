"""Slack's export, a folder or the ZIP archive of it: messages of channels and of direct talks.

::

    users.json             [{"id": "U1", "name": "ann", "profile": {"display_name": "Ann", ...}}]
    channels.json          [{"id": "C1", "name": "general", "topic": {"value": "..."}}]
    general/2024-05-04.json
        [{"type": "message", "user": "U1", "text": "Hi <@U2>", "ts": "1714816800.000100",
          "thread_ts": "1714816800.000100", "subtype": ..., "files": [...], "edited": {...}}]

A channel is a document, and so is each thread in it: its first message stands in the channel, its
replies in "channel/time". A message is named by its channel and time, the name that Slack gives it.
Mentions, channels and links are written as they are shown. Messages of bots are kept, under their
name. Joining, leaving and other events of a channel are counted, and so are files and reactions.
"""

import re
from collections.abc import Iterator
from html import unescape
from importlib.resources.abc import Traversable

from recollex.api.foreign_files import parse_json, text_of
from recollex.files.imports.formats import Format
from recollex.files.imports.reading import FileReading, Object, as_dict, as_list
from recollex_engine.errors import InputError

_LISTS = ("channels.json", "groups.json", "dms.json", "mpims.json")
_SAID = {None, "bot_message", "me_message", "thread_broadcast", "file_share", "bot_add_message"}
"""The subtypes of messages that somebody has said; others are events of the channel."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json")
_MARK = re.compile(r"<([@#!]?)([^<>|]*+)(?:\|([^<>]*+))?>")


def matches(root: Traversable) -> bool:
    """Return whether a folder, or an archive, is an export of Slack."""
    return (root / "users.json").is_file() and any((root / name).is_file() for name in _LISTS)


def read(root: Traversable, reading: FileReading) -> Iterator[Object]:
    """Yield the messages of each channel, then those of its threads. Raises `InputError`."""
    if not matches(root):
        raise InputError(f"Slack's export has users.json and one of {', '.join(_LISTS)}")
    people = {str(user.get("id")): _name(user) for user in _items(root / "users.json")}
    channels = [channel for name in _LISTS for channel in _items(root / name)]
    shown = {str(channel.get("id")): str(channel.get("name") or "") for channel in channels}
    listed = set()
    for channel in channels:
        # The folder of a direct talk is named by its id, that of others by the channel's name.
        names = [str(channel[key]) for key in ("name", "id") if channel.get(key)]
        folder = next((root / name for name in names if (root / name).is_dir()), None)
        if folder is None:
            continue
        listed.add(folder.name)
        members = [people.get(str(id), str(id)) for id in as_list(channel.get("members"))]
        talk = names[0] if channel.get("name") else "talk of " + ", ".join(sorted(members))
        topic = as_dict(channel.get("topic")).get("value") or talk
        yield from _channel(folder, talk, str(topic), people, shown, reading)
    for folder in sorted(root.iterdir(), key=lambda each: each.name):
        if folder.is_dir() and folder.name not in listed and _days(folder):
            yield from _channel(folder, folder.name, folder.name, people, shown, reading)


def _channel(
    folder: Traversable,
    talk: str,
    topic: str,
    people: dict[str, str],
    shown: dict[str, str],
    reading: FileReading,
) -> Iterator[Object]:
    """Yield the messages of a channel without replies, then the replies of each thread."""
    threads: dict[str, list[Object]] = {}
    for day in _days(folder):
        for message in _items(day):
            turn = _turn(message, folder.name, people, shown, reading)
            if turn is None:
                continue
            turn |= {"document_id": talk, "context": topic}
            thread = str(message.get("thread_ts") or message.get("ts"))
            if thread == str(message.get("ts")) or message.get("subtype") == "thread_broadcast":
                yield from reading.checked(turn, "message")
            else:
                turn["document_id"] = f"{talk}/{thread}"
                threads.setdefault(thread, []).append(turn)
    for replies in threads.values():
        for turn in replies:
            yield from reading.checked(turn, "message")


def _turn(
    message: Object,
    channel: str,
    people: dict[str, str],
    shown: dict[str, str],
    reading: FileReading,
) -> Object | None:
    """Return a message as a turn without its document; None, and count it, if it is none."""
    subtype = message.get("subtype")
    at = str(message.get("ts") or "")
    if message.get("type", "message") != "message" or subtype not in _SAID:
        reading.skip(f"event of a channel: {subtype or message.get('type')}")
        return None
    if not at.replace(".", "", 1).isdigit():
        reading.skip("message without a time")
        return None
    profile = as_dict(message.get("user_profile"))
    user = str(message.get("user") or "")
    speaker = (
        people.get(user)
        or _name({"profile": profile, "name": profile.get("name")})
        or str(message.get("username") or as_dict(message.get("bot_profile")).get("name") or "")
        or user
    )
    if not speaker.strip():
        reading.skip("message without a speaker")
        return None
    files = [str(as_dict(file).get("name") or "file") for file in as_list(message.get("files"))]
    reading.skip("file", len(files))
    for each in as_list(message.get("reactions")):
        reading.skip("reaction", int(as_dict(each).get("count") or 1))
    text = shown_text(str(message.get("text") or ""), people, shown)
    if not text.strip():
        text = _of_attachments(message, people, shown) or "\n".join(f"[file: {f}]" for f in files)
    metadata = {"user": user, "files": files, "edited": bool(message.get("edited"))}
    return {
        "id": f"{channel}/{at}",
        "speaker": speaker,
        "text": text,
        "at": reading.time(float(at)),
        "metadata": {name: value for name, value in metadata.items() if value},
    }


def shown_text(text: str, people: dict[str, str], channels: dict[str, str]) -> str:
    """Return a text as Slack shows it.

    >>> shown_text("<@U1> reads <https://x.org|this> &amp; <#C1>", {"U1": "Ann"}, {"C1": "tea"})
    '@Ann reads this (https://x.org) & #tea'
    """

    def mark(found: re.Match[str]) -> str:
        kind, what, label = found.groups()
        if kind == "@":
            return f"@{people.get(what) or label or what}"
        if kind == "#":
            return f"#{channels.get(what) or label or what}"
        if kind == "!":
            return label or f"@{what.partition('^')[0]}"
        return f"{label} ({what})" if label and label != what else what.removeprefix("mailto:")

    return unescape(_MARK.sub(mark, text))


def _of_attachments(message: Object, people: dict[str, str], shown: dict[str, str]) -> str:
    """Return the words of a message that an app wrote as attachments alone."""
    found = map(as_dict, as_list(message.get("attachments")))
    lines = (each.get("text") or each.get("fallback") or each.get("title") for each in found)
    return "\n".join(shown_text(str(line), people, shown) for line in lines if line)


def _name(user: Object) -> str:
    profile = as_dict(user.get("profile"))
    names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"))
    return next((str(name).strip() for name in (*names, user.get("name")) if name), "")


def _days(folder: Traversable) -> list[Traversable]:
    return sorted((f for f in folder.iterdir() if _DAY.fullmatch(f.name)), key=lambda f: f.name)


def _items(file: Traversable) -> list[Object]:
    """Return the objects of a file that holds a list of them; none if there is no such file."""
    if not file.is_file():
        return []
    content = parse_json(text_of(file), file.name)
    return [as_dict(each) for each in as_list(content)]


FORMATS = (
    Format(
        "slack",
        ("folder", "archive"),
        "Slack's export, a folder or the archive",
        "messages are turns; a channel is a document, and so is a thread",
        matches,
        read,
    ),
)
