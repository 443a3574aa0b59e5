"""Command line of the engine: calculators, and commands that read files."""

import sys
from collections.abc import Sequence

from engine import estimate_file, import_run, plan_run, read_trace, sweep_run, terminal
from engine.terminal import Command


def main(arguments: Sequence[str]) -> int:
    """Run a command line; return exit status 0, or 2 for unusable arguments."""
    return terminal.main(arguments, VERBS)


def _trace(arguments: Sequence[str]) -> int:
    """Run the trace calculator on profiler traces; `--sample` prints a sample trace."""
    if arguments == ["--sample"]:
        print(read_trace.sample())
        return 0
    files = [text for text in arguments if "=" not in text and not text.startswith("-")]
    rest = [text for text in arguments if text not in files]
    if not files:
        return terminal.print_problems([f"no file given; usage: {read_trace.USAGE}"])
    try:
        text = read_trace.trace_document(files)
    except OSError as error:
        return terminal.print_problems([str(error)])
    return main([read_trace.CALCULATOR, f"trace={text}", *rest])


VERBS = {
    "estimate": Command(estimate_file.main, "RUN.json"),
    "plan": Command(plan_run.main, "REQUEST.json [--json] [--every] [--workers N]"),
    "sweep": Command(sweep_run.main, "GRID.toml [--out STEM] [--workers N | --scheduler ADDRESS]"),
    "import": Command(
        import_run.main, "FILE ... [--model NAME] [--node NAME] [--gpus N] [--quiet]"
    ),
    "trace": Command(_trace, "FILE ... [name=value ...] [--json]"),
}


if __name__ == "__main__":
    sys.exit(terminal.run_piped(sys.argv[1:], VERBS))
