"""The subcommand that lets other processes in: serve."""

import asyncio
from typing import Any

import recollex
from recollex.cli.opening import say
from recollex.cli.parser import Arguments
from recollex.cli.upkeep import warm
from recollex.server.access import Access
from recollex.server.limits import Limits
from recollex.server.serving import Server, default_socket, run, settle
from recollex_engine.errors import InputError

_GIVEN = "given:"
_LIMITS = ("open_agents", "connections", "in_flight", "message_bytes", "readers")


def serve(arguments: Arguments) -> int:
    """Serve a store's agents until SIGTERM or SIGINT, then finish what was begun."""
    chosen = {name: value for name in _LIMITS if (value := getattr(arguments, name)) is not None}
    limits = Limits(**chosen)
    access = Access() if arguments.tokens is None else Access.from_file(arguments.tokens)
    embedder = _embedder(arguments.embedder)
    store = recollex.open(arguments.store, embedder=embedder, durability=arguments.durability)

    async def main(stopping: asyncio.Event) -> None:
        async with Server(store, limits=limits, access=access) as server:
            for address in _addresses(arguments):
                await server.listen(address, arguments.certificate, arguments.key)
            if not isinstance(embedder, recollex.GivenVectors):
                await asyncio.to_thread(warm, embedder)
            settle()
            for address in server.addresses:
                print(f"listening on {address}", flush=True)
            await stopping.wait()
            say("stopping: finishing what was begun")

    run(main)
    return 0


def _addresses(arguments: Arguments) -> list[str]:
    """Return where to listen."""
    found = []
    if arguments.listen is not None:
        scheme = "tcp" if arguments.certificate is None else "tls"
        found.append(f"{scheme}://{arguments.listen}")
        if scheme == "tcp" and arguments.tokens is not None:
            say("tokens and memories are sent as they are: give --certificate for TLS")
    elif arguments.certificate is not None:
        raise InputError("--certificate is for TCP: give --listen HOST:PORT")
    if arguments.socket is not None or arguments.listen is None:
        found.append(f"unix://{arguments.socket or default_socket(arguments.store)}")
    return found


def _embedder(given: str | None) -> Any:
    """Return the model, loaded now rather than at the first call, or what stands for none."""
    if given is None:
        return recollex.load_encoder()
    if not given.startswith(_GIVEN):
        return recollex.load_encoder(given)
    dimension = given.removeprefix(_GIVEN)
    if not dimension.isdigit():
        raise InputError(f"--embedder given:N says how long vectors are, got {given!r}")
    return recollex.GivenVectors(int(dimension))
