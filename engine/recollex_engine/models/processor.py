"""Does this processor multiply 8-bit numbers exactly?"""

import platform
from functools import cache

from llvmlite import binding as llvm


@cache
def saturates() -> bool:
    """Return whether products with signed 8-bit weights may be wrong here.

    Without VNNI, onnxruntime multiplies unsigned activations by signed weights on x86 with an
    instruction that cuts the sum of two products at 16 bits (`vpmaddubsw`). With unsigned weights
    it takes another one, which is exact and slower.
    """
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    has = llvm.get_host_cpu_features()
    return not (has.get("avx512vnni") or has.get("avxvnni"))
