"""The endpoint of `recollex.connect("http://...")`: the socket's own messages, one a request.

A body is one request of `bindings/PROTOCOL.md`. The answer's body holds what a socket would bring:
the chunks of a long list, then the response. The statuses are those of problems, for proxies
between client and server.
"""

from collections.abc import Mapping
from functools import cache

import recollex
from recollex.remote.http.problems import RequestError, status_of
from recollex.remote.server.access import Principal
from recollex.remote.server.calls import NO_OPTIONS, Options
from recollex.remote.server.framing import EncodedResult, Framing, ResultEncoder, check_recall
from recollex.remote.server.service import Service, hello_answer
from recollex.remote.wire import messages
from recollex.remote.wire.codec import Decoder, encode
from recollex.remote.wire.messages import WireRequest
from recollex.remote.wire.records import ARGUMENTS
from recollex_engine.errors import ProtocolError, RecollexError

CONTENT_TYPE = "application/msgpack"
HEADERS = {"content-type": CONTENT_TYPE}
Answer = tuple[int, Mapping[str, str], bytes]


async def answer(
    service: Service, principal: Principal, client: object, kind: str, body: bytes
) -> Answer:
    """Return the status, the headers and the body that answer a request in a body.

    kind: of the body. Raises `ProtocolError` for a body that is not a request, `RequestError` for
    another kind.
    """
    if kind != CONTENT_TYPE:
        raise RequestError(415, "MediaTypeError", f"the body must be {CONTENT_TYPE}")
    request, decoder = _read(body)
    try:
        if decoder.refused is not None:
            raise decoder.refused
        encoded = await _result(service, principal, client, request)
    except RecollexError as error:
        return status_of(error), HEADERS, messages.refusal(request.id, error)
    chunks = b"".join(messages.chunk(request.id, items) for items in encoded.chunks)
    return 200, HEADERS, chunks + messages.response(request.id, encoded.result)


def _read(body: bytes) -> tuple[WireRequest, Decoder]:
    """Return the request, checked before memory is allocated for it."""
    if not Framing().is_value(body):
        raise ProtocolError("the body must be one request, and nothing after it")
    decoder = Decoder(ARGUMENTS)
    request = messages.read_message(decoder.decode(body))
    if not isinstance(request, WireRequest):
        raise ProtocolError("the body must be a request: a notification has no answer")
    check_recall(request.arguments.get("recall"))
    return request, decoder


async def _result(
    service: Service, principal: Principal, client: object, request: WireRequest
) -> EncodedResult:
    if request.method == "hello":
        return EncodedResult((), encode(hello_answer(service, recollex.__version__)))
    if request.method == "ping":
        return EncodedResult((), b"\xc0")
    if request.method == "metrics":
        return EncodedResult((), encode(service.metrics_text()))
    options = Options.from_message(request.options) if request.options else NO_OPTIONS
    found: EncodedResult = await service.call(
        principal,
        request.method,
        request.agent,
        request.arguments,
        options,
        client=client,
        convert=_encoder(request.options.get("parts")),
    )
    return found


@cache
def _encoder(items: int | None) -> ResultEncoder:
    return ResultEncoder(items, False)
