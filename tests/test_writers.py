"""Files are written through `recollex_engine.storage.disk`, which follows no link; this walks them.

A call that makes or opens a file for writing elsewhere must be named here, with its reason.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = ("engine", "bindings/recollex", "kernels")

FOLLOWS_NONE = "opens with O_EXCL or under a random name itself, below `storage`"
RANDOM = "writes to the random path that `replacing` or `new_folder` gives"
ALLOWED = {
    "engine/recollex_engine/storage/disk.py": "is the one place",
    "engine/recollex_engine/storage/unfinished.py": "opens what it removes, with O_NOFOLLOW",
    "bindings/recollex/api/keys.py": "O_EXCL: a new file, or an error",
    "bindings/recollex/files/memory_files.py": RANDOM,
    "bindings/recollex/files/other_formats.py": RANDOM,
    "bindings/recollex/cli/history.py": RANDOM,
    "bindings/recollex/cli/__init__.py": "opens /dev/null",
    "bindings/recollex/cluster/homes.py": "writes into a folder with a random name",
    "engine/recollex_engine/models/convert.py": "writes into a folder with a random name",
    "engine/recollex_engine/models/backends.py": "a cache of its own folder",
    "engine/recollex_engine/compiled_code.py": FOLLOWS_NONE,
    "engine/recollex_engine/private_files.py": FOLLOWS_NONE,
}
WRITES = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"}
METHODS = {
    *("write_text", "write_bytes", "symlink_to", "hardlink_to"),
    *("mkstemp", "NamedTemporaryFile", "mktemp"),
    *("copyfile", "copy2", "copytree", "copyfileobj", "make_archive", "unpack_archive"),
    *("savez", "savez_compressed", "tofile", "extractall", "mknod", "mkfifo"),
}
MAY_WRITE = re.compile(r"\bopen\(|\b" + r"\b|\b".join(sorted(METHODS)) + r"\b")


def is_mode(node):
    """Whether a constant is the mode of an `open` that writes."""
    text = node.value if isinstance(node, ast.Constant) else None
    return isinstance(text, str) and re.fullmatch("[rbt]*[wax+][wax+rbt]*", text) is not None


def writes(call):
    """Whether a call makes a file, or opens one for writing, beside `storage.disk`."""
    is_method = isinstance(call.func, ast.Attribute)
    name = call.func.attr if is_method else getattr(call.func, "id", "")
    of = ast.unparse(call.func.value) if is_method else ""
    if name in METHODS:
        return True
    if name != "open":
        return False
    given = [*call.args, *(each.value for each in call.keywords)]
    flags = {each.attr for arg in given for each in ast.walk(arg) if hasattr(each, "attr")}
    modes = given[1:] if of in ("", "io", "os", "codecs", "gzip") else given
    return bool(flags & WRITES) or any(map(is_mode, modes))


def found(source):
    if not MAY_WRITE.search(source):  # parsing takes the most time
        return []
    return [node.lineno for node in ast.walk(ast.parse(source)) if is_call(node)]


def is_call(node):
    return isinstance(node, ast.Call) and writes(node)


def test_no_file_is_written_elsewhere():
    others = {}
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            lines = found(path.read_text(encoding="utf-8"))
            if lines and name not in ALLOWED:
                others[name] = lines
    assert others == {}, "write with storage.disk: Replacement, replace_file, FileSink, open_file"


def test_calls_that_write_are_found():
    for call in (
        'open("x", "w")',
        'path.open(mode="ab")',
        'path.open("r+b")',
        "os.open(path, os.O_WRONLY | os.O_CREAT)",
        'path.write_text("x")',
        "tempfile.mkstemp()",
        "shutil.copyfile(a, b)",
        'io.open(name, "xb")',
    ):
        assert found(call), call
    for call in ('open("x")', 'path.open("rb")', "os.open(p, os.O_RDONLY)", "recollex.open(p)"):
        assert not found(call), call
