"""`python -m engine import FILE ...`: convert training configurations to a run file."""

import argparse
import json
import sys
from collections.abc import Sequence

from engine.catalog.models import MODELS
from engine.catalog.nodes import NODES
from engine.run.importers.assemble import DGX_H100, ImportDefaults, ImportedRun, import_run
from engine.run.importers.import_report import TextError

USAGE = "python -m engine import FILE ... [--model NAME] [--node NAME] [--gpus N] [--quiet]"


def main(arguments: Sequence[str]) -> int:
    """Read configurations ("-": standard input), print a run file; return 0, or 2 without a run.

    What is derived, assumed or ignored goes to standard error, a line each.
    """
    parser = argparse.ArgumentParser(usage=USAGE, allow_abbrev=False)
    parser.add_argument("files", nargs="+", help="configurations of one job; -: standard input")
    parser.add_argument("--model", default="", choices=["", *MODELS], metavar="NAME")
    parser.add_argument("--node", default="", choices=["", *NODES], metavar="NAME")
    parser.add_argument("--gpus", type=int, default=0)
    parser.add_argument("--quiet", action="store_true", help="say contradictions only")
    options = parser.parse_args(arguments)
    try:
        text = "\n---\n".join(_text(name) for name in options.files)
        result = import_run(text, _defaults(options))
    except (OSError, UnicodeDecodeError) as error:
        return _fail([str(error)])
    except TextError as error:
        return _fail([str(error)])
    if not options.quiet:
        _print_errors(_report_lines(result))
    if result.run is None:
        return _fail(result.contradictions)
    sys.stdout.write(json.dumps(result.document, indent=2) + "\n")
    return 0


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
    return ImportDefaults(model=options.model, cluster=cluster, world_size=max(0, options.gpus))


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
