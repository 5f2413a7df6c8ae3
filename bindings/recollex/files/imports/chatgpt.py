"""The file `conversations.json` of an export of ChatGPT: a list of conversations.

::

    [{"title": ..., "conversation_id": ..., "create_time": seconds, "current_node": id,
      "mapping": {id: {"id": id, "parent": id or null, "children": [id, ...],
        "message": null or {"id": ..., "author": {"role": ..., "name": ...}, "create_time": seconds,
                            "content": {"content_type": "text", "parts": [...]}, "metadata": {}}}}}]

The messages of a conversation are a tree: an edited question or a regenerated answer is another
branch. The branch that is shown ends at `current_node`; the others are counted and left out. Each
conversation becomes a document, its title the context.
"""

from collections.abc import Iterator
from typing import Any

from recollex.files.imports.formats import Format
from recollex.files.imports.reading import PICTURE, FileReading, Object, as_dict, as_list
from recollex_engine.errors import InputError

_HIDDEN = "is_visually_hidden_from_conversation"
_TEXTS = ("text", "multimodal_text", "code", "execution_output", "tether_quote", "system_error")
"""The types of content that are texts; others, such as thoughts, are counted and left out."""
_ROLES = ("user", "assistant", "system", "tool")


def matches(content: Any) -> bool:
    """Return whether this is an export of ChatGPT, or one conversation of it."""
    first = content[0] if isinstance(content, list) and content else content
    return isinstance(first, dict) and isinstance(first.get("mapping"), dict)


def read(content: Any, reading: FileReading) -> Iterator[Object]:
    """Yield the messages that are shown, as turns, one conversation after another."""
    if not matches(content):
        raise InputError("ChatGPT's export is a list of conversations, each with a mapping")
    for conversation in content if isinstance(content, list) else [content]:
        mapping = as_dict(as_dict(conversation).get("mapping"))
        if not mapping:
            reading.skip("conversation without messages")
            continue
        yield from _turns(conversation, mapping, reading)


def _turns(
    conversation: dict[str, Any], mapping: dict[str, Any], reading: FileReading
) -> Iterator[Object]:
    document = conversation.get("conversation_id") or conversation.get("id") or reading.document
    last = reading.time(conversation.get("create_time"))
    path = _shown(mapping, conversation.get("current_node"))
    for node in mapping.keys() - set(path):
        if as_dict(mapping[node]).get("message"):
            reading.skip("message of a branch that is not shown")
    for node in path:
        message = as_dict(as_dict(mapping[node]).get("message"))
        if not message:
            continue  # the root of the tree
        last = reading.time(message.get("create_time")) or last
        author = as_dict(message.get("author"))
        metadata = as_dict(message.get("metadata"))
        role = author.get("role")
        text = _text(as_dict(message.get("content")), reading)
        if metadata.get(_HIDDEN):
            reading.skip("hidden message")
        elif role not in _ROLES:
            reading.skip(f"message of the role {role}")
        elif text is not None:
            model = metadata.get("model_slug")
            turn = {
                "id": str(message.get("id") or node),
                "role": role,
                "name": author.get("name"),
                "content": text,
                "at": last,
                "document_id": str(document),
                "context": conversation.get("title"),
                "metadata": {"model": model} if isinstance(model, str) else {},
            }
            yield from reading.checked(turn, "message")


def _shown(mapping: dict[str, Any], current: object) -> list[str]:
    """Return the nodes of the branch that is shown, from the root; each at most once."""
    node: Any = current if current in mapping else _newest_leaf(mapping)
    path: dict[str, None] = {}
    while isinstance(node, str) and node in mapping and node not in path:
        path[node] = None
        node = as_dict(mapping[node]).get("parent")
    return list(reversed(path))


def _newest_leaf(mapping: dict[str, Any]) -> str | None:
    """Return the last child of the last child, from the root: the newest branch."""
    roots = [node for node, each in mapping.items() if as_dict(each).get("parent") not in mapping]
    seen: set[str] = set()
    node = roots[0] if roots else None
    while node is not None and node not in seen:
        seen.add(node)
        children = [each for each in as_list(as_dict(mapping[node]).get("children"))
                    if each in mapping]  # fmt: skip
        if not children:
            break
        node = children[-1]
    return node


def _text(content: dict[str, Any], reading: FileReading) -> str | None:
    """Return the text of a message; None, and count it, if it is of a type that has none."""
    kind = content.get("content_type")
    if kind not in _TEXTS:
        reading.skip(f"message of type {kind}")
        return None
    if "parts" not in content:
        return str(content.get("text") or content.get("result") or "")
    lines = []
    for part in as_list(content["parts"]):
        if isinstance(part, str):
            lines.append(part)
            continue
        each = as_dict(part)
        if isinstance(each.get("text"), str):  # a spoken message, as it was understood
            lines.append(each["text"])
        elif each.get("content_type") == "image_asset_pointer":
            reading.skip("picture")
            lines.append(PICTURE)
        else:
            reading.skip(f"part of type {each.get('content_type')}")
    return "\n".join(line for line in lines if line.strip())


FORMATS = (
    Format(
        "chatgpt",
        ("json", "folder", "archive"),
        "ChatGPT's export: the archive, its folder, or `conversations.json`",
        "turns; a conversation is a document, its title the context",
        matches,
        read,
    ),
)
