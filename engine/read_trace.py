"""`python -m engine trace FILE ...`: read profiler traces natively."""

import gzip
import json
import zlib
from collections.abc import Sequence

from engine.run.traces.kineto import Document, TraceFault, document_of, read_kineto

USAGE = "python -m engine trace FILE ... [name=value ...] [--json], or: trace --sample"
CALCULATOR = "trace_check"
_GZIP = b"\x1f\x8b"


def trace_document(files: Sequence[str]) -> str:
    """Return the merged trace document as JSON, or the fault of the first invalid file.

    Raises:
        OSError: a file cannot be opened.
    """
    try:
        document = document_of([_read(file) for file in files])
    except TraceFault as fault:
        document = {"trace": 1, "fault": fault.parts}
    return json.dumps(document, separators=(",", ":"))


def sample() -> str:
    """Return a sample trace: Kineto JSON of the first rank."""
    from engine.simulate.profile_analysis.sample import sample_files

    return sample_files()[0]


def _read(file: str) -> Document:
    name = file.replace("\\", "/").rsplit("/", 1)[-1]
    with open(file, "rb") as opened:  # noqa: PTH123 (pathlib costs start-up time)
        data = opened.read()
    if data[:2] == _GZIP:
        try:
            data = gzip.decompress(data)
        except (EOFError, zlib.error, OSError):
            raise TraceFault("gzip", file=name) from None
    return read_kineto(data.decode("utf-8", "replace"), name)
