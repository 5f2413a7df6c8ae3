"""What does one call of each kernel cost, with the arguments that an agent's work gives it?

Command: make bench-micro (pytest-benchmark over this file).

An agent of 20,000 made-up memories works once (see `bench.lib.kernel_calls`). Then the largest call
of each kernel is repeated, on copies of the arrays that it writes. Check: the kernels' own tests
compare each of them with a naive oracle.
"""

from typing import Any

import msgpack

from recollex.remote.server.framing import Framing

ROUNDS = 200
SECONDS = 1.0
"""About the time for one kernel; a call that takes longer is made three times."""


def bench_kernel(call: Any, benchmark: Any) -> None:
    call.again()
    benchmark.extra_info["bytes"] = call.nbytes()
    benchmark.pedantic(call.again, rounds=call.rounds(ROUNDS, SECONDS), warmup_rounds=2)


def bench_framing(benchmark: Any) -> None:
    """Find the end of a request of 2 KB (`message.value_end`)."""
    data = msgpack.packb({"op": "recall", "query": "tea " * 100, "embedding": bytes(1_536)})
    framing = Framing()
    assert framing.end(data, len(data)) == len(data)
    benchmark.extra_info["bytes"] = len(data)
    benchmark.pedantic(framing.end, (data, len(data)), rounds=ROUNDS, warmup_rounds=2)
