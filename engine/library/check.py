"""`python -m engine check FILE ...`: whether configurations fit, and what a change does to them."""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.core.numbers import format_value
from engine.core.units import BYTES, RATIO, SECONDS, TOKEN_RATE, Quantity, Ratio
from engine.library.functions import estimate, read_texts
from engine.library.results import Estimate
from engine.run.document import InputError
from engine.run.importers.text_error import TextError

USAGE = (
    "python -m engine check FILE ... [--base REF] [--slower PERCENT] [--node NAME] [--gpus N] "
    "[--json]"
)
DOES_NOT_FIT, UNUSABLE = 1, 2
_SHOWN: tuple[tuple[str, str, Quantity], ...] = (
    ("memory_process", "Memory of a GPU", BYTES),
    ("step_time", "Step", SECONDS),
    ("tokens_per_second_per_gpu", "Tokens/s of a GPU", TOKEN_RATE),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A configuration as it is, and as it was.

    Attributes:
        name: of its files.
        now: its estimate; None where it cannot be read.
        before: its estimate at the base; None without one.
        problems: why it cannot be read, a line each.
        warnings: what the estimate leaves out.
    """

    name: str
    now: Estimate | None
    before: Estimate | None = None
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def slowdown(self) -> Ratio:
        """Return by which share a step takes longer than at the base; 0 without one."""
        return self.now.step_time / self.before.step_time - 1 if self.now and self.before else 0.0


def main(arguments: Sequence[str]) -> int:
    """Print a Markdown table; return 0, 1 if something does not fit or is slower, 2 if unusable."""
    options = _parser().parse_args(arguments)
    checked = [_check(name, options) for name in options.files]
    if options.json:
        sys.stdout.write(json.dumps([_plain(setup) for setup in checked], indent=2) + "\n")
    else:
        sys.stdout.write("\n".join(table(checked)) + "\n")
    for setup in checked:
        sys.stderr.write("".join(f"{setup.name}: {problem}\n" for problem in setup.problems))
    if any(setup.problems for setup in checked):
        return UNUSABLE
    slower = [setup for setup in checked if 100 * setup.slowdown > options.slower]
    sys.stderr.write(
        "".join(
            f"{setup.name}: a step takes {100 * setup.slowdown:.1f} % longer; allowed: "
            f"{options.slower:g} %\n"
            for setup in slower
        )
    )
    return (
        DOES_NOT_FIT if slower or any(setup.now and not setup.now.fits for setup in checked) else 0
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        usage=USAGE,
        allow_abbrev=False,
        description="Tell whether training configurations fit their GPUs, as a Markdown table.",
        epilog="Exit status: 0 if all fit, 1 if one does not fit or has become too slow, 2 if one "
        "cannot be read.",
    )
    parser.add_argument("files", nargs="+", help="a run file or a configuration; A+B: of one job")
    parser.add_argument("--base", default="", help="git revision to compare with, such as main")
    parser.add_argument(
        "--slower",
        type=float,
        default=float("inf"),
        metavar="PERCENT",
        help="by how much a step may become slower",
    )
    parser.add_argument("--node", default="dgx-h100", help="machines, where no file names them")
    parser.add_argument("--gpus", type=int, default=0, help="GPUs, where no file names them")
    parser.add_argument("--json", action="store_true", help="the numbers in SI units")
    return parser


def _check(name: str, options: argparse.Namespace) -> Checked:
    paths = name.split("+")
    try:
        config = read_texts(
            {path: _text(path) for path in paths}, node=options.node, gpus=options.gpus
        )
        now = estimate(config)
    except InputError as error:
        return Checked(name=name, now=None, problems=error.problems)
    except (OSError, UnicodeDecodeError, TextError) as error:
        return Checked(name=name, now=None, problems=(str(error),))
    before = _estimate_before(paths, options) if options.base else None
    return Checked(name=name, now=now, before=before, warnings=config.warnings)


def _estimate_before(paths: Sequence[str], options: argparse.Namespace) -> Estimate | None:
    """Return the estimate at the base, None where the files were not there or unusable."""
    texts = {path: _text_at(options.base, path) for path in paths}
    if any(text is None for text in texts.values()):
        return None
    known = {path: text for path, text in texts.items() if text is not None}
    try:
        return estimate(read_texts(known, node=options.node, gpus=options.gpus))
    except (InputError, TextError):
        return None


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 (the engine knows no paths)
        return file.read()


def _text_at(revision: str, path: str) -> str | None:
    """Return a file of a git revision, None where it has none."""
    done = subprocess.run(["git", "show", f"{revision}:./{path}"], capture_output=True, check=False)
    return None if done.returncode else done.stdout.decode("utf-8", "replace")


def table(checked: Sequence[Checked]) -> Iterator[str]:
    """Yield the lines of a Markdown table: what each configuration takes, and what has changed."""
    titles = ("Configuration", "Fits", *(title for _, title, _ in _SHOWN))
    yield f"| {' | '.join(titles)} |"
    yield f"|{'---|' * len(titles)}"
    for setup in checked:
        if setup.now is None:
            cells = ["cannot be read", *[""] * len(_SHOWN)]
        else:
            cells = [
                _verdict(setup),
                *(_cell(setup, name, quantity) for name, _, quantity in _SHOWN),
            ]
        yield f"| `{setup.name}` | {' | '.join(cells)} |"
    notes = [
        f"`{setup.name}`: {note}"
        for setup in checked
        for note in (
            *(setup.now.problems if setup.now else setup.problems),
            *setup.warnings,
        )
    ]
    if notes:
        yield ""
        yield from (f"- {note}" for note in notes)


def _verdict(setup: Checked) -> str:
    words = {"fits": "yes", "tight": "tight", "does not fit": "**no**"}
    assert setup.now
    now = words[setup.now.fit]
    if setup.before is None or setup.before.fit == setup.now.fit:
        return now
    return f"{now} (was: {words[setup.before.fit].strip('*')})"


def _cell(setup: Checked, name: str, quantity: Quantity) -> str:
    """Return a value with its change: "71.2 GB (+3.4 %)"."""
    value = getattr(setup.now, name)
    shown = format_value(value, quantity)
    if setup.before is None:
        return shown
    change = value / getattr(setup.before, name) - 1
    return f"{shown} ({_signed(change)})" if abs(change) >= 5e-4 else f"{shown} (same)"


def _signed(change: Ratio) -> str:
    sign = "+" if change > 0 else "−"
    if abs(change) >= 1:
        return f"{format_value(1 + change, RATIO)}"
    return f"{sign}{100 * abs(change):.1f} %"


def _plain(setup: Checked) -> Mapping[str, Any]:
    """Return one configuration as plain data in SI units."""

    def numbers(result: Estimate | None) -> Mapping[str, Any] | None:
        if result is None:
            return None
        return {"fit": result.fit} | {name: getattr(result, name) for name, _, _ in _SHOWN}

    return {
        "name": setup.name,
        "now": numbers(setup.now),
        "before": numbers(setup.before),
        "problems": [*(setup.now.problems if setup.now else setup.problems)],
        "warnings": [*setup.warnings],
    }
