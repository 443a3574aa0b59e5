"""Reader of pasted nccl-tests output, NCCL debug lines, or both, and of the command above them."""

from dataclasses import dataclass

from engine.run.importers.import_report import TextError
from engine.run.logs.nccl_debug import NcclDebug, read_nccl_debug
from engine.run.logs.nccl_environment import EnvironmentVariable, read_environment
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
        variables: of NCCL that the environment sets, as NCCL says or as the command does.
    """

    table: BenchmarkTable | None
    debug: NcclDebug | None
    variables: tuple[EnvironmentVariable, ...] = ()

    @property
    def devices(self) -> tuple[str, ...]:
        """Names of the GPUs that the table lists, each once."""
        return self.table.devices if self.table else ()


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
    return NcclOutput(table=table, debug=debug, variables=_variables(text, debug))


def _variables(text: str, debug: NcclDebug | None) -> tuple[EnvironmentVariable, ...]:
    """Return the variables of a text; what NCCL says that it read counts."""
    logged = debug.variables if debug else ()
    names = {variable.name for variable in logged}
    written = (variable for variable in read_environment(text) if variable.name not in names)
    return tuple(sorted((*logged, *written), key=lambda variable: variable.line))


def _error_reason(text: str, reason: str) -> str:
    for mark, other in _OTHERS:
        offset = text.find(mark)
        if offset >= 0:
            return f"line {text.count(chr(10), 0, offset) + 1}: {other}"
    return reason + ", or lines of NCCL_DEBUG=INFO"
