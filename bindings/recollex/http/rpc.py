"""How does `recollex.connect("http://...")` call? With the socket's own messages, one a request.

A body is one request of `bindings/PROTOCOL.md`; the answer's is what a socket would bring: parts of
a long list, then the response. Statuses are those of problems, for whoever stands between.
"""

from collections.abc import Mapping
from functools import cache

import recollex
from recollex.http.problems import RequestError, status_of
from recollex.server.access import Principal
from recollex.server.calls import NO_OPTIONS, Options
from recollex.server.forms import InParts, Packed
from recollex.server.framing import Framing
from recollex.server.greeting import greeting
from recollex.server.service import Service
from recollex.wire import messages
from recollex.wire.messages import Request
from recollex.wire.packing import Unpacking, pack
from recollex.wire.received import ReceivedRecall
from recollex.wire.records import ARGUMENTS
from recollex_engine.errors import ProtocolError, RecollexError

CONTENT_TYPE = "application/msgpack"
HEADERS = {"content-type": CONTENT_TYPE}
Answer = tuple[int, Mapping[str, str], bytes]


async def answer(
    service: Service, principal: Principal, client: object, kind: str, body: bytes
) -> Answer:
    """Return the status, the headers and the body that answer a request in a body.

    kind: of the body. Raises `ProtocolError` for what is no request, `RequestError` for another
    kind.
    """
    if kind != CONTENT_TYPE:
        raise RequestError(415, "MediaTypeError", f"the body must be {CONTENT_TYPE}")
    request, unpacking = _read(body)
    try:
        if unpacking.refused is not None:
            raise unpacking.refused
        packed = await _result(service, principal, client, request)
    except RecollexError as error:
        return status_of(error), HEADERS, messages.refusal(request.id, error)
    parts = b"".join(messages.part(request.id, items) for items in packed.parts)
    return 200, HEADERS, parts + messages.response(request.id, packed.result)


def _read(body: bytes) -> tuple[Request, Unpacking]:
    """Return the request, looked at before anything is allocated for it."""
    framing = Framing()
    if not framing.is_value(body):
        raise ProtocolError("the body must be one request, and nothing behind it")
    unpacking = Unpacking(ARGUMENTS)
    request = messages.read_message(unpacking.unpack(body))
    if not isinstance(request, Request):
        raise ProtocolError("the body must be a request: a notification has no answer")
    recall = request.arguments.get("recall")
    if isinstance(recall, ReceivedRecall) and not framing.is_value(recall.packed):
        raise ProtocolError("the memories of a recall are not those of a server")
    return request, unpacking


async def _result(
    service: Service, principal: Principal, client: object, request: Request
) -> Packed:
    if request.method == "hello":
        return Packed((), pack(greeting(service, recollex.__version__)))
    if request.method == "ping":
        return Packed((), b"\xc0")
    if request.method == "metrics":
        return Packed((), pack(service.measures()))
    options = Options.told(request.options) if request.options else NO_OPTIONS
    found: Packed = await service.call(
        principal,
        request.method,
        request.agent,
        request.arguments,
        options,
        client=client,
        form=_form(request.options.get("parts")),
    )
    return found


@cache
def _form(items: int | None) -> InParts:
    return InParts(items, False)
