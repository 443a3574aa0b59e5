"""NCCL variables that a command line, a script or a dump of the environment sets.

`mpirun -x NCCL_ALGO=Ring`, `NCCL_ALGO=Ring mpirun`, `env`, `export`, `srun --export=ALL,NCCL_...`,
MPICH's `-genv NCCL_ALGO Ring`, Python's `os.environ["NCCL_ALGO"] = "Ring"` and `name: value` of a
job's YAML. A comment sets nothing, nor does what `echo` prints.
"""

import re
from dataclasses import dataclass

from engine.core.units import Count

_LONGEST_LINE, _MOST = 4000, 200
_QUIET = re.compile(r"\s*(?:#(?!SBATCH|PBS|BSUB)|//|echo\b|printf\b)")
_VALUE = (
    r"(\"[^\"]{0,200}\"|'[^']{0,200}'|[^\s,;&|\"'\\)]{1,200}(?:,[^\s,;&|=\"'\\)]{1,80}(?![\w=]))*)"
)
_SET = re.compile(r"\b(NCCL_[A-Z0-9_]{2,40})(?:[\"']\])?\s{0,3}=\s{0,3}" + _VALUE)
_PAIR = re.compile(r"-g?env\s+(NCCL_[A-Z0-9_]{2,40})\s+" + _VALUE)
_MAPPED = re.compile(r"^\s*[\"']?(NCCL_[A-Z0-9_]{2,40})[\"']?\s*:\s+" + _VALUE)
_PASSED = re.compile(r"-x\s+(NCCL_[A-Z0-9_]{2,40})(?=\s|$)")
_UNSET = re.compile(r"\bunset\s+((?:NCCL_[A-Z0-9_]{2,40}\s*)+)")
AS_THE_SHELL = "as the shell has it"


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentVariable:
    """A variable that the environment sets."""

    line: Count
    name: str
    value: str


def read_environment(text: str) -> tuple[EnvironmentVariable, ...]:
    """Return the variables that the lines of a text set, each as last set."""
    variables: dict[str, EnvironmentVariable] = {}
    for number, whole in enumerate(text.split("\n"), 1):
        line = whole[:_LONGEST_LINE]
        if "NCCL_" not in line or _QUIET.match(line):
            continue
        for name, value in _set_in(line):
            if name in variables or len(variables) < _MOST:
                variables[name] = EnvironmentVariable(line=number, name=name, value=value)
        if match := _UNSET.search(line):
            for name in match[1].split():
                variables.pop(name, None)
    return tuple(sorted(variables.values(), key=lambda variable: variable.line))


def _set_in(line: str) -> list[tuple[str, str]]:
    pairs = [
        (match[1], match[2].strip("\"'"))
        for pattern in (_SET, _PAIR, _MAPPED)
        for match in pattern.finditer(line)
    ]
    named = {name for name, _ in pairs}
    passed = (match[1] for match in _PASSED.finditer(line))
    return pairs + [(name, AS_THE_SHELL) for name in passed if name not in named]
