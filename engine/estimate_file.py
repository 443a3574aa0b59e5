"""`python -m engine estimate run.json`: estimate one training run as JSON in SI units."""

import json
import sys
from collections.abc import Sequence

from engine.estimate import estimate
from engine.run.file import InputError, read_run
from engine.run.values import load_json


def main(arguments: Sequence[str]) -> int:
    """Read a run file ("-": standard input), print its estimate; return 0, or 2 if invalid."""
    if len(arguments) != 1:
        return _fail(["usage: python -m engine estimate RUN.json, or - for standard input"])
    name = arguments[0]
    try:
        if name == "-":
            text = sys.stdin.read()
        else:
            with open(name, encoding="utf-8") as file:  # noqa: PTH123 (pathlib costs start-up time)
                text = file.read()
        run = read_run(load_json(text))
    except RecursionError:
        return _fail([f"{name}: nested too deeply; allowed: a file with one JSON object"])
    except (OSError, ValueError) as error:
        return _fail([f"{name}: {error}; allowed: a file with one JSON object"])
    except InputError as error:
        return _fail(error.problems)
    result = estimate(run)
    sys.stdout.write(json.dumps(result, indent=2) + "\n")
    return 0


def _fail(problems: Sequence[str]) -> int:
    sys.stderr.write("".join(f"{problem}\n" for problem in problems))
    return 2
