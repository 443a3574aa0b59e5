"""The axes of parallelism by their short names."""

from collections.abc import Mapping

SHORT: Mapping[str, str] = {
    "tensor": "TP",
    "context": "CP",
    "data": "DP",
    "pipeline": "PP",
    "expert": "EP",
}
