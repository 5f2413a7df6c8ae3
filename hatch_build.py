"""What a build adds to pyproject.toml: compiled kernels, and a README for the package index.

The platform wheel carries compiled kernels: `make wheel`.

    python hatch_build.py FOLDER      compile into FOLDER for each level of processors
    RECOLLEX_COMPILED=FOLDER python -m hatchling build -t wheel

Without ``RECOLLEX_COMPILED`` the wheel is pure Python, and its kernels are compiled when they are
first needed. A level is left out where this machine's processor cannot run it, since a kernel is
compiled by being called.

The README of the metadata is that of the repository with absolute links: an index shows it without
the files beside it.
"""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface
from packaging.tags import sys_tags

HERE = Path(__file__).parent
CALLED_BY_KERNELS = "+-"
"""In the names of files of versions of kernels that only other kernels call, see `jit.kernel`."""

LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)|(?<=\]: )(?![a-z]+:|#)")
"""The places in front of a relative link: inline, and of a reference."""


class IndexReadme(MetadataHookInterface):
    """Makes the README of the package index."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the README, its links made absolute by the project's URL "Repository"."""
        text = (HERE / "README.md").read_text(encoding="utf-8")
        files = f"{metadata['urls']['Repository']}/blob/main/"
        metadata["readme"] = {"content-type": "text/markdown", "text": LINK.sub(files, text)}


class CompiledKernels(BuildHookInterface[Any]):
    """Puts the folder that ``RECOLLEX_COMPILED`` names into the wheel, and tags it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the folder to a wheel that is not editable."""
        folder = os.environ.get("RECOLLEX_COMPILED")
        if not folder or version == "editable":
            return
        if not any(Path(folder).glob("*/*.nbc")):
            raise ValueError(f"no compiled kernels in {folder}, which RECOLLEX_COMPILED names")
        build_data["force_include"][str(Path(folder).absolute())] = "recollex_kernels/compiled"
        build_data["pure_python"] = False
        build_data["tag"] = tag()


def tag() -> str:
    """Return the wheel's tag: this Python, and every machine that this numba's wheel is for.

    Compiled kernels call nothing but Python, numba's helpers, and `memcpy`, `memset` and logarithms
    of the C library.
    """
    ours = next(sys_tags())
    told = importlib.metadata.distribution("numba").read_text("WHEEL") or ""
    tags = [line.split()[1] for line in told.splitlines() if line.startswith("Tag: ")]
    platforms = [tag.split("-")[2] for tag in tags if not tag.endswith("-any")]
    return f"{ours.interpreter}-{ours.abi}-{'.'.join(platforms) or ours.platform}"


def compile_all(target: Path) -> None:
    """Compile for each level that this processor runs into a folder of ``target``.

    A user's `recollex warmup` runs everything that needs a kernel. Left out are kernels that only
    other kernels call: their code is in that of their callers.
    """
    from recollex_engine.compiled_code import levels_here, name_in_wheel
    from recollex_engine.private_files import cache_folder, make_folder

    shutil.rmtree(target, ignore_errors=True)
    models = cache_folder("models")
    if models is None:
        raise SystemExit("there is no private cache: set RECOLLEX_CACHE to a folder of your own")
    make_folder(models)
    for level in levels_here():
        with tempfile.TemporaryDirectory(prefix="recollex-") as work:
            (Path(work) / "models").symlink_to(models)
            environment = os.environ | {
                "NUMBA_CPU_NAME": level.processor,
                "NUMBA_CPU_FEATURES": level.features,
                "RECOLLEX_CACHE": work,
                "PYTHONPATH": os.pathsep.join([str(HERE), *filter(None, sys.path)]),
            }
            warmup = [str(Path(sys.executable).with_name("recollex")), "warmup"]
            subprocess.run(warmup, env=environment, stdout=subprocess.DEVNULL, check=True)
            (source,) = Path(work).glob("kernels-*")
            folder = target / name_in_wheel(level)
            folder.mkdir(parents=True)
            for path in source.glob("*.nbc"):
                if CALLED_BY_KERNELS not in path.name:
                    shutil.copyfile(path, folder / path.name)  # not its mode, which is 0600
        size = sum(file.stat().st_size for file in folder.iterdir())
        print(f"{folder.name}: {len(list(folder.iterdir()))} kernels, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    compile_all(Path(sys.argv[1]))
