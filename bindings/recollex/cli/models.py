"""The commands models and warmup: the models and compiled kernels of this machine."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from recollex.cli.options import add_embedder
from recollex.cli.parser import Arguments, Command, Parser, run_of
from recollex.cli.terminal import say, show

if TYPE_CHECKING:
    from recollex_engine.models.catalogue import CachedModel


def _models_options(parser: Parser) -> None:
    add = parser.add_argument
    actions = ["list", "fetch", "convert", "verify", "bench"]
    add("action", choices=actions, metavar="ACTION", help="list, fetch, convert, verify or bench")
    add("model", nargs="?", help="a name, owner/name or folder (all-MiniLM-L6-v2)")
    add(
        "--precision",
        choices=["int8", "fp32", "bf16", "fp16"],
        default="int8",
        metavar="P",
        help="int8 (default), fp32, bf16 (OpenVINO) or fp16 (a GPU)",
    )
    add("--cross-encoder", action="store_true", help="convert it as what judges pairs")


def models(arguments: Arguments) -> int:
    """Run an action on the models of this machine."""
    from recollex_engine.models.backends import with_precision

    if arguments.model is not None:
        model, precision = with_precision(arguments.model, arguments.precision)
        arguments.model = str(model)
        arguments.precision = precision
    code: int = _ACTIONS[arguments.action](arguments)
    return code


def _list(arguments: Arguments) -> int:
    """Print the converted models, and the known models that are not here."""
    from recollex_engine.models import catalogue
    from recollex_engine.models.convert import cache_folder

    for each in catalogue.cached_models():
        state = "whole" if each.damage is None else "DAMAGED"
        what = f"{each.fingerprint or each.folder.name} ({each.kind or 'unknown'})"
        said = f"{what}  {each.bytes / 1e6:.1f} MB  {state}  from {each.source or '?'}"
        show(arguments, said, **asdict(each))
    for description, remedy in catalogue.missing_models():
        said = f"{description.name}  not here: {remedy}"
        show(arguments, said, name=description.name, missing=True, remedy=remedy)
    for name, about, command in catalogue.packaged_models():
        state = "installed" if command is None else f"not here: {command}"
        show(
            arguments,
            f"{name} ({about})  {state}",
            name=name,
            about=about,
            missing=command is not None,
            remedy=command,
        )
    say(f"converted models are kept in {cache_folder()}")
    return 0


def _fetch(arguments: Arguments) -> int:
    """Find the weights, over the network if necessary, and check them."""
    from recollex_engine.models.weights import find_weights

    weights = find_weights(_model(arguments), download=True)
    name = weights.description.name
    show(
        arguments,
        f"{name}: {weights.folder}\nsha256 {weights.sha256}, from {weights.source}",
        name=name,
        folder=weights.folder,
        sha256=weights.sha256,
        source=weights.source,
    )
    return 0


def _convert(arguments: Arguments) -> int:
    """Convert the weights into a model that runs here."""
    from recollex_engine.models.backends import graph_precision
    from recollex_engine.models.convert import converted

    precision = graph_precision(arguments.precision)
    found = converted(_model(arguments), precision, arguments.cross_encoder)
    said = f"{found.fingerprint}: {found.folder}"
    show(arguments, said, fingerprint=found.fingerprint, folder=found.folder)
    return 0


def _verify(arguments: Arguments) -> int:
    """Check converted models against their hashes, all or a given one; 1 if one is damaged."""
    from recollex_engine.models import catalogue
    from recollex_engine.models.weights import model_name

    wanted = None if arguments.model is None else model_name(arguments.model)
    code = 0
    found = False
    for each in catalogue.cached_models():
        name = each.fingerprint or each.folder.name
        if wanted is not None and not _is_of(wanted, each):
            continue
        found = True
        if each.damage is None:
            show(arguments, f"{name} is whole", **asdict(each))
            continue
        code = 1
        show(arguments, f"{name} is damaged: {each.damage}", **asdict(each))
        say(f"rm -r {each.folder}   (it is converted again when it is next needed)")
    if wanted is not None and not found:
        say(f"nothing of {wanted} is converted: recollex models convert {arguments.model}")
        return 1
    return code


def _is_of(model: str, kept: "CachedModel") -> bool:
    if kept.fingerprint:
        return kept.fingerprint.rsplit("@", 1)[0] == model
    return kept.folder.name.rsplit("-", 3)[0] == model.replace("/", "--")


def _bench(arguments: Arguments) -> int:
    """Time an encoder on this machine."""
    from recollex_engine.models import catalogue

    speed = catalogue.measure_encoder(_model(arguments), arguments.precision)
    show(
        arguments,
        f"{speed.fingerprint}: a question {speed.query_p50:.2f} ms (p99 {speed.query_p99:.2f}), "
        f"{speed.texts_per_second:.0f} texts/s of {speed.tokens} tokens, one thread",
        **asdict(speed),
    )
    return 0


def _model(arguments: Arguments) -> str:
    from recollex_engine.models.description import DEFAULT_MODEL

    return arguments.model or DEFAULT_MODEL


_ACTIONS = {
    "list": _list,
    "fetch": _fetch,
    "convert": _convert,
    "verify": _verify,
    "bench": _bench,
}


def _warmup_options(parser: Parser) -> None:
    add_embedder(parser)
    parser.add_argument(
        "--only-default",
        action="store_true",
        help="only what the default ranking of a small agent needs, two thirds of the work",
    )


COMMANDS = (
    Command(
        "models",
        "list, fetch, convert, verify or time the models of this machine",
        [
            "models list",
            "models fetch BAAI/bge-small-en-v1.5",
            "models convert folder/of/a/model --precision fp32",
            "models convert cross-encoder/ms-marco-MiniLM-L-6-v2 --cross-encoder",
            "models verify",
            "models bench all-MiniLM-L6-v2",
        ],
        _models_options,
        models,
    ),
    Command(
        "warmup",
        "convert the model and compile the kernels, once, for later calls",
        ["warmup", "warmup --only-default"],
        _warmup_options,
        run_of("recollex.cli.warmup", "warmup"),
    ),
)
