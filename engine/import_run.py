"""`python -m engine import FILE ...`: convert training configurations to a run file."""

import argparse
import json
import re
import sys
from bisect import bisect_right
from collections.abc import Sequence

from engine.catalog.models import MODELS
from engine.catalog.nodes import NODES
from engine.run.importers.assemble import DGX_H100, ImportDefaults, ImportedRun, import_run
from engine.run.importers.import_report import TextError

USAGE = (
    "python -m engine import FILE ... [--model NAME] [--node NAME] [--gpus N] [--leave-out NAME] "
    "[--quiet]"
)
_LINES = re.compile(r"(?<![\w-])(lines?) (\d+)(?:-(\d+))?")


def main(arguments: Sequence[str]) -> int:
    """Read configurations ("-": standard input), print a run file; return 0, or 2 without a run.

    What is derived, assumed or ignored goes to standard error, a line each.
    """
    parser = argparse.ArgumentParser(usage=USAGE, allow_abbrev=False)
    parser.add_argument("files", nargs="+", help="configurations of one job; -: standard input")
    parser.add_argument("--model", default="", choices=["", *MODELS], metavar="NAME")
    parser.add_argument("--node", default="", choices=["", *NODES], metavar="NAME")
    parser.add_argument("--gpus", type=int, default=0)
    parser.add_argument(
        "--leave-out", action="append", default=[], metavar="NAME", help="a file that may be unread"
    )
    parser.add_argument("--json", action="store_true", help="as it is printed anyway")
    parser.add_argument("--quiet", action="store_true", help="say contradictions only")
    options = parser.parse_args(arguments)
    try:
        files = [(_heading(name), _text(name)) for name in options.files]
    except (OSError, UnicodeDecodeError) as error:
        return _fail([str(error)])
    text = "\n".join(f"--- {name} ---\n{text_of_file}" for name, text_of_file in files)
    starts = [text.count("\n", 0, offset) + 1 for offset in _starts(files)]
    names = [name for name, _ in files]
    try:
        result = import_run(text, _defaults(options))
    except TextError as error:
        return _fail([_in_files(str(error), names, starts)])
    lines = [] if options.quiet else _report_lines(result)
    lines += [f"warning: {warning}" for warning in result.warnings]
    _print_errors([_in_files(line, names, starts) for line in lines])
    if result.run is None:
        return _fail([_in_files(problem, names, starts) for problem in result.contradictions])
    sys.stdout.write(json.dumps(result.document, indent=2) + "\n")
    return 0


def _heading(name: str) -> str:
    """Return the name of a file as a heading of a text holds it."""
    return name.replace("\\", "/").rpartition("/")[2].replace("=", "_").strip(" -")[:100] or "input"


def _starts(files: Sequence[tuple[str, str]]) -> list[int]:
    """Return where the heading of each file begins in the text of all."""
    starts, offset = [], 0
    for name, text in files:
        starts.append(offset)
        offset += len(f"--- {name} ---\n{text}\n")
    return starts


def _in_files(text: str, names: Sequence[str], starts: Sequence[int]) -> str:
    """Return a message with lines of their files in place of lines of the text of all."""

    def in_its_file(match: re.Match[str]) -> str:
        number = int(match[2])
        at = max(bisect_right(starts, number) - 1, 0)
        last = f"-{int(match[3]) - starts[at]}" if match[3] else ""
        named = text[: match.start()].endswith(f"{names[at]}, ")
        file = f"{names[at]}, " if len(names) > 1 and not named else ""
        return f"{file}{match[1]} {max(1, number - starts[at])}{last}"

    return _LINES.sub(in_its_file, text)


def _text(name: str) -> str:
    if name == "-":
        return sys.stdin.read()
    with open(name, encoding="utf-8") as file:  # noqa: PTH123 (pathlib costs start-up time)
        return file.read()


def _defaults(options: argparse.Namespace) -> ImportDefaults:
    node = NODES.get(options.node)
    cluster = DGX_H100
    if node:
        cluster = {
            "gpu": node.gpu,
            "gpus_per_node": node.gpus_per_node,
            "nics_per_node": node.nics_per_node,
            "nic_bandwidth": node.nic_bandwidth,
        }
    return ImportDefaults(
        model=options.model,
        cluster=cluster,
        world_size=max(0, options.gpus),
        leave_out=tuple(options.leave_out),
    )


def _report_lines(result: ImportedRun) -> list[str]:
    lines = [f"recognized: {', '.join(result.dialects)}"]
    for entry in result.entries:
        where = f"line {entry.line}: " if entry.line else ""
        lines.append(f"{entry.kind:10} {where}{entry.key} = {entry.value}: {entry.meaning}")
    return lines


def _print_errors(lines: Sequence[str]) -> None:
    sys.stderr.write("".join(f"{line}\n" for line in lines))


def _fail(problems: Sequence[str]) -> int:
    _print_errors(problems)
    return 2
