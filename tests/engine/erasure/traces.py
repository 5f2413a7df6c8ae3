"""What is looked for after an erasure: its bytes, in every file, plain and decompressed."""

import gzip

import numpy as np


def files_of(path):
    """Return (name, bytes) of every file below a folder; of a compressed one, its content too."""
    found = []
    for file in sorted(path.rglob("*")):
        if file.is_file():
            data = file.read_bytes()
            found.append((str(file), data))
            if file.suffix == ".gz":
                found.append((f"{file} decompressed", gzip.decompress(data)))
    return found


def assert_gone(path, words, vectors=()):
    """No file holds one of the words, in any case, or the bytes of one of the float16 vectors."""
    short = [word for word in words if word.isalnum() and len(word) < 6]
    assert not short, f"{short} may stand in a salt or a hash by chance: choose longer words"
    wanted = [word.lower().encode() for word in words]
    rows = [np.asarray(vector, np.float16).tobytes() for vector in vectors]
    for name, data in files_of(path):
        lowered = data.lower()
        for word in wanted:
            assert word not in lowered, f"{word!r} is in {name}"
        for row in rows:
            assert row not in data, f"a vector is in {name}"


def unit(vector):
    return np.asarray(vector, np.float32) / np.linalg.norm(vector)
