"""Authorization: which token may call which agents, and whether it may write.

A token file is TOML that only its owner can read::

    [[token]]
    name = "assistant"                  # for logs and metrics
    secret = "k3vN..."                  # or sha256 = "<64 hex digits>" of the secret
    agents = ["alice", "team-*"]        # fnmatch patterns; all of them, if left out
    scope = "write"                     # "read" or "write", which includes reading
"""

import hashlib
import hmac
import os
import stat
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from recollex.api.proxies import AccessScope
from recollex_engine.errors import ForbiddenError, InputError, UnauthorizedError

MIN_SECRET = 16
"""The fewest characters of a secret."""


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller.

    name: for logs. agents: patterns of the agents that it may name, None for all. scope: what it
    may do.
    """

    name: str
    agents: tuple[str, ...] | None = None
    scope: AccessScope = "write"

    def reaches(self, agent: str) -> bool:
        """Return whether this principal may name the agent."""
        return self.agents is None or any(fnmatchcase(agent, each) for each in self.agents)

    def check(self, scope: AccessScope, agent: str | None) -> None:
        """Raise `ForbiddenError` unless it may do this to the agent; None means the store."""
        if agent is not None and not self.reaches(agent):
            raise ForbiddenError(f"the token {self.name!r} does not reach agent {agent!r}")
        if scope == "write" and self.scope != "write":
            raise ForbiddenError(f"the token {self.name!r} may read, and not write")


LOCAL = Principal("local")
"""The principal of a caller without a token, on a server that asks for none."""


def check_exposed(host: str, access: "Access", *, encrypted: bool) -> None:
    """Raise `InputError` unless tokens and TLS guard an address that other machines reach.

    encrypted: whether there is TLS, or the user says that something else encrypts.
    """
    if access.open:
        raise InputError(
            f"{host} can be reached from other machines, and without a token file everybody "
            "there would have every agent: give a token file, or listen on 127.0.0.1"
        )
    if not encrypted:
        raise InputError(
            f"{host} can be reached from other machines, and without TLS tokens and memories can "
            "be read on their way: give --certificate and --key, or --insecure where a proxy or "
            "a VPN encrypts"
        )


class Access:
    """The tokens that a server knows. Without tokens, every client that can connect is `LOCAL`."""

    def __init__(self, tokens: Sequence[tuple[bytes, Principal]] = ()) -> None:
        self._tokens = tuple(tokens)

    @property
    def open(self) -> bool:
        """Whether the server asks for no token."""
        return not self._tokens

    def principal(self, token: object) -> Principal:
        """Return the principal of a token. Raises `UnauthorizedError`.

        Every token is compared in constant time, so the delay of the answer reveals nothing.
        """
        if not self._tokens:
            return LOCAL
        if not isinstance(token, str):
            raise UnauthorizedError("this server asks for a token: give token=")
        digest = hashlib.sha256(token.encode("utf-8", "replace")).digest()
        found: Principal | None = None
        for known, principal in self._tokens:
            if hmac.compare_digest(known, digest):
                found = principal
        if found is None:
            raise UnauthorizedError("the server does not know this token")
        return found

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> "Access":
        """Return the tokens of a file. Raises `InputError` for a file that cannot be used."""
        where = Path(path)
        try:
            if os.name == "posix" and (mode := stat.S_IMODE(where.stat().st_mode)) & 0o077:
                raise InputError(
                    f"token file {where} has mode {mode:o}, others may look at it: chmod 600 it"
                )
            content = tomllib.loads(where.read_text("utf-8"))
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"token file {where} cannot be read: {error}") from None
        entries = content.get("token")
        if not isinstance(entries, list) or not entries or set(content) != {"token"}:
            raise InputError(f"token file {where} must hold [[token]] tables, and nothing else")
        tokens = [
            _entry(entry, f"token {place} of {where}") for place, entry in enumerate(entries, 1)
        ]
        if len({digest for digest, _ in tokens}) < len(tokens):
            raise InputError(f"token file {where} holds a secret twice")
        return cls(tokens)


def _entry(entry: Any, where: str) -> tuple[bytes, Principal]:
    """Return the digest and the principal of one [[token]] table."""
    if not isinstance(entry, dict):
        raise InputError(f"{where} must be a table")
    if unknown := set(entry) - {"name", "secret", "sha256", "agents", "scope"}:
        raise InputError(f"{where} has {', '.join(sorted(unknown))}: name, secret or sha256, ...")
    name = entry.get("name")
    scope = entry.get("scope", "read")
    agents = entry.get("agents")
    if not isinstance(name, str) or not name:
        raise InputError(f"{where} needs a name")
    if scope not in ("read", "write"):
        raise InputError(f"{where}: scope must be 'read' or 'write', got {scope!r}")
    if agents is not None and not (
        isinstance(agents, list) and all(isinstance(each, str) for each in agents)
    ):
        raise InputError(f"{where}: agents must be a list of patterns, got {agents!r}")
    if ("secret" in entry) == ("sha256" in entry):
        raise InputError(f"{where} needs either a secret or its sha256")
    principal = Principal(name, None if agents is None else tuple(agents), scope)
    if "sha256" in entry:
        try:
            digest = bytes.fromhex(entry["sha256"])
        except (TypeError, ValueError):
            digest = b""
        if len(digest) != 32:
            raise InputError(f"{where}: sha256 must be 64 hex digits")
        return digest, principal
    secret = entry["secret"]
    if not isinstance(secret, str) or len(secret) < MIN_SECRET:
        raise InputError(f"{where}: a secret has at least {MIN_SECRET} characters")
    return hashlib.sha256(secret.encode()).digest(), principal
