"""The engine in a terminal: its calculators, and what reads a file of its own."""

import sys
from collections.abc import Sequence

from engine import estimate, import_run, plan_run, read_trace, sweep_run, terminal
from engine.terminal import Verb


def main(arguments: Sequence[str]) -> int:
    """Run one command; return the exit status: 0, or 2 where a name or a value cannot be used."""
    return terminal.main(arguments, VERBS)


def _trace(arguments: Sequence[str]) -> int:
    """Read traces and print what the calculator of traces says; --sample prints one to try."""
    if arguments == ["--sample"]:
        print(read_trace.sample())
        return 0
    files = [text for text in arguments if "=" not in text and not text.startswith("-")]
    rest = [text for text in arguments if text not in files]
    if not files:
        return terminal.fail([f"no file given; usage: {read_trace.USAGE}"])
    try:
        text = read_trace.text_of(files)
    except OSError as error:
        return terminal.fail([str(error)])
    return main([read_trace.CALCULATOR, f"trace={text}", *rest])


VERBS = {
    "estimate": Verb(estimate.main, "RUN.json"),
    "plan": Verb(plan_run.main, "REQUEST.json [--json] [--every] [--workers N]"),
    "sweep": Verb(sweep_run.main, "GRID.toml [--out STEM] [--workers N | --scheduler ADDRESS]"),
    "import": Verb(import_run.main, "FILE ... [--model NAME] [--node NAME] [--gpus N] [--quiet]"),
    "trace": Verb(_trace, "FILE ... [name=value ...] [--json]"),
}


if __name__ == "__main__":
    sys.exit(terminal.piped(sys.argv[1:], VERBS))
