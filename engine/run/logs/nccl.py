"""Reader of pasted nccl-tests output, NCCL debug lines, or both."""

from dataclasses import dataclass

from engine.run.importers.import_report import TextError
from engine.run.logs.nccl_debug import NcclDebug, read_nccl_debug
from engine.run.logs.nccl_tests import BenchmarkTable, read_nccl_tests

LONGEST_NCCL = 1_000_000
# What people paste instead -> what to do with it.
_OTHERS = (
    ("traceEvents", "this is a trace of a profiler; its kernels hold no table of nccl-tests"),
    ("elapsed time per iteration", "this is a training log; the tool for logs reads it"),
    ("tps:", "this is a training log; the tool for logs reads it"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclOutput:
    """NCCL output found in a text.

    Attributes:
        table: of nccl-tests; None where there is none.
        debug: lines of NCCL; None likewise.
    """

    table: BenchmarkTable | None
    debug: NcclDebug | None


def read_nccl(text: str) -> NcclOutput:
    """Return the NCCL output of a text; raise `TextError` with line and reason if there is none."""
    if len(text) > LONGEST_NCCL:
        raise TextError(f"line 1: {len(text):,} characters; allowed: at most {LONGEST_NCCL:,}")
    table, debug, reason = None, None, ""
    try:
        table = read_nccl_tests(text)
    except TextError as error:
        reason = str(error)
    try:
        debug = read_nccl_debug(text)
    except TextError:
        if table is None:
            raise TextError(_error_reason(text, reason)) from None
    return NcclOutput(table=table, debug=debug)


def _error_reason(text: str, reason: str) -> str:
    for mark, other in _OTHERS:
        place = text.find(mark)
        if place >= 0:
            return f"line {text.count(chr(10), 0, place) + 1}: {other}"
    return reason + ", or lines of NCCL_DEBUG=INFO"
