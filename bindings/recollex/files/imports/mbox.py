"""Mailboxes (mbox, RFC 4155): a mail is a turn of its thread.

Its sender is the speaker, its subject the context, its Message-ID the id. A thread is a document:
that of the first mail in its References, or In-Reply-To. The words are the plain text of the mail,
else the text of its HTML, without the lines that quote another mail (">"). Receivers go to the
metadata, as do names of attachments. A mail without a Message-ID gets an id made of its date,
sender and words.

The words of a page of HTML, a line for each block.
One expression reads each tag, comment and script to its end, or to that of the page where it has
none, as a browser does. So a page takes time linear in its length, however broken it is; the
standard library's parser takes the square.
"""

import email
import email.policy
import mailbox
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import getaddresses, parseaddr, parsedate_to_datetime
from html import unescape
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from recollex.files.imports.formats import Format
from recollex.files.imports.reading import FileReading, Object
from recollex_engine.errors import InputError

_REST = r"(?:[^>=]++|=\s*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))?+)*+(?:>|\Z)"
"""What follows the name of a tag: a ">" within a quoted value does not end it."""
_MARK = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))"
    rf"|<(?P<raw>script|style)(?=[\s/>]){_REST}.*?(?:</(?P=raw)(?=[\s/>])[^>]*+>|\Z)"
    rf"|<(?P<end>/?)(?P<tag>[a-z][^\s/>]*+){_REST}"
    r"|<[!?/][^>]*+(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_BLOCKS = frozenset(("p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "blockquote"))
_HIDDEN = frozenset(("head", "title"))


def text_of_html(page: str) -> str:
    r"""Return the words of a page of HTML.

    >>> text_of_html("<style>p {}</style><p>Tea at <b>four</b>.</p><p>Bring cake.</p>")
    'Tea at four.\nBring cake.'
    """
    lines = (" ".join(line.split()) for line in "".join(_words_of_html(page)).splitlines())
    return "\n".join(line for line in lines if line)


def _words_of_html(page: str) -> Iterator[str]:
    """Yield the words between tags, and a line feed for each block."""
    hidden = 0
    after = 0
    for mark in _MARK.finditer(page):
        if not hidden:
            yield _said(page[after : mark.start()])
        after = mark.end()
        tag = (mark["tag"] or "").lower()
        if tag in _HIDDEN:
            hidden = max(0, hidden - 1) if mark["end"] else hidden + 1
        elif tag in _BLOCKS and not mark["end"]:
            yield "\n"
    if not hidden:
        yield _said(page[after:])


def _said(written: str) -> str:
    said = unescape(written)
    return " ".join(said.split()) + (" " if said[-1:].isspace() else "")


_OPENING = b"From "
_MOST_PARTS = 200
"""Limit of the parts of a mail that have parts: each line is compared with the marks of all."""
_LONGEST_HEADER = 20_000
"""Characters of a header that is read; the parser of addresses takes the square of its length."""
_UNREAD = frozenset(("references", "in-reply-to", "received"))
"""Headers that may be long: they are not parsed, or by `_names`."""
_BROKEN = (ValueError, LookupError, AttributeError, TypeError, IndexError, RecursionError)
"""What the parser raises for headers and bodies that are not as the standards say."""


def matches(path: Path) -> bool:
    """Return whether a file is a mailbox."""
    with path.open("rb") as file:
        return file.read(len(_OPENING)) == _OPENING


def read(path: Path, reading: FileReading) -> Iterator[Object]:
    """Yield the mails, a thread after another. Raises `InputError` for another file."""
    if not matches(path):
        raise InputError('it is no mailbox: the first line of an mbox begins with "From "')
    box = mailbox.mbox(path, create=False)
    try:
        threads: dict[str, list[Any]] = {}
        known: dict[str, str] = {}
        for key in box.iterkeys():
            id, parents = _names(box.get_bytes(key))
            found = next((known[each] for each in parents if each in known), None)
            thread = found or (parents[0] if parents else id or f"mail {key}")
            known |= dict.fromkeys([*parents, *([id] if id else [])], thread)
            threads.setdefault(thread, []).append(key)
        for thread, keys in threads.items():
            for key in keys:
                yield from _turn(box.get_bytes(key), thread, reading)
    finally:
        box.close()


def _names(mail: bytes) -> tuple[str, list[str]]:
    """Return a mail's Message-ID, and those of the mails before it in its thread."""
    head = mail.replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    found = email.message_from_bytes(head, policy=email.policy.compat32)
    before = f"{found.get('References') or ''} {found.get('In-Reply-To') or ''}"
    return _bare(found.get("Message-ID")), [_bare(each) for each in before.split() if "@" in each]


def _bare(id: object) -> str:
    return str(id or "").strip().strip("<>")


def _turn(written: bytes, thread: str, reading: FileReading) -> Iterator[Object]:
    try:
        if written.lower().count(b"boundary=") > _MOST_PARTS:
            raise ValueError(f"more than {_MOST_PARTS} parts of parts")
        mail: Any = email.message_from_bytes(written, policy=email.policy.default)
        if any(len(value) > _LONGEST_HEADER for part in mail.walk() for value in _read_of(part)):
            raise ValueError(f"a header of more than {_LONGEST_HEADER} characters")
        sender = parseaddr(str(mail.get("From") or ""))
        speaker = sender[0].strip() or sender[1]
        text = _words(mail, reading)
        to = [str(each) for name in ("To", "Cc") for each in mail.get_all(name, [])]
        subject = " ".join(str(mail.get("Subject") or "").split())
        files = [str(part.get_filename() or part.get_content_type()) for part in _files(mail)]
        id = _bare(mail.get("Message-ID"))
        at = _time(mail, reading)
    except _BROKEN:
        reading.skip("mail that cannot be parsed")
        return
    if not speaker:
        reading.skip("mail without a sender")
        return
    if at is None:
        reading.skip("mail without a date")
        return
    reading.skip("attachment", len(files))
    metadata = {
        "from": sender[1],
        "to": [address for _, address in getaddresses(to) if address],
        "attachments": files,
    }
    turn = {
        "id": (id or str(uuid5(NAMESPACE_URL, f"{at} {speaker} {text}")))[:1000],
        "speaker": speaker,
        "text": text or subject,
        "at": at,
        "document_id": thread,
        "context": subject,
        "metadata": {name: value for name, value in metadata.items() if value},
    }
    yield from reading.checked(turn, "mail")


def _read_of(part: Any) -> Iterator[str]:
    """Yield the headers of a part that may be parsed, as they are written."""
    return (str(value) for name, value in part.raw_items() if name.lower() not in _UNREAD)


def _time(mail: EmailMessage, reading: FileReading) -> str | None:
    written = mail.get("Date")
    if written is None:
        return None
    try:
        at: datetime = parsedate_to_datetime(str(written))
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        at.astimezone(UTC)  # raises OverflowError beyond the years 1 to 9999
    except (ValueError, OverflowError):
        reading.skip("time that cannot be read")
        return None
    return at.isoformat()


def _words(mail: EmailMessage, reading: FileReading) -> str:
    """Return what a mail says itself, without what it quotes."""
    body = mail.get_body(("plain", "html"))
    if body is None:
        return ""
    try:
        text = str(body.get_content())
    except LookupError:  # a charset that nothing knows
        text = bytes(body.get_payload(decode=True) or b"").decode("utf-8", "replace")
    if body.get_content_subtype() == "html":
        text = text_of_html(text)
    lines = text.splitlines()
    own = [line for line in lines if not line.startswith(">")]
    reading.skip("quoted line", len(lines) - len(own))
    return "\n".join(own).strip()


def _files(mail: EmailMessage) -> list[Any]:
    return [part for part in mail.iter_attachments() if part.get_content_maintype() != "multipart"]


FORMATS = (
    Format(
        "mbox",
        ("file",),
        "a mailbox",
        "a mail is a turn; its thread is a document, its subject the context",
        matches,
        read,
    ),
)
