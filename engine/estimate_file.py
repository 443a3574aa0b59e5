"""`python -m engine estimate run.json`: estimate one training run as JSON in SI units."""

import argparse
import json
import sys
from collections.abc import Sequence

from engine.estimate import estimate
from engine.run.file import InputError, read_run
from engine.run.values import load_json

USAGE = "python -m engine estimate RUN.json [--json], or - for standard input"


def main(arguments: Sequence[str]) -> int:
    """Read a run file ("-": standard input), print its estimate; return 0, or 2 if invalid."""
    parser = argparse.ArgumentParser(
        usage=USAGE,
        allow_abbrev=False,
        description="Print step time, rates and memory of one training run as JSON, in SI units.",
        epilog="What each key means stands in the library's reference, under Estimate.",
    )
    parser.add_argument("file", help="a run file; -: standard input")
    parser.add_argument("--json", action="store_true", help="as it is printed anyway")
    name = parser.parse_args(arguments).file
    try:
        if name == "-":
            text = sys.stdin.read()
        else:
            with open(name, encoding="utf-8") as file:  # noqa: PTH123 (pathlib costs start-up time)
                text = file.read()
        run = read_run(load_json(text))
    except InputError as error:
        return _fail(error.problems)
    except RecursionError:
        return _fail([f"{name}: nested too deeply; allowed: a file with one JSON object"])
    except (OSError, ValueError) as error:
        return _fail([f"{name}: {error}; allowed: a file with one JSON object"])
    result = estimate(run)
    sys.stdout.write(json.dumps(result, indent=2) + "\n")
    return 0


def _fail(problems: Sequence[str]) -> int:
    sys.stderr.write("".join(f"{problem}\n" for problem in problems))
    return 2
