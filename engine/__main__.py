"""Command line of the engine: calculators, and commands that read files."""

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from engine import terminal
from engine.calculator import load, names
from engine.terminal import Command, print_problems

# Verbs of the generator of sites, which the extra [site] installs; `check` without files is one.
SITE_VERBS = ("build", "serve", "book", "new", "show", "cite", "test")
_NO_SITE = "'{verb}' is a verb of the generator of sites: pip install 'wallclock-training[site]'"
# {words} prints what can stand at a place of a command line.
_COMPLETIONS = {
    "bash": """_wallclock() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" command=""
  [ "$COMP_CWORD" -gt 1 ] && command="${{COMP_WORDS[1]}}"
  COMPREPLY=($(compgen -W "$({words} $command)" -- "$word") $(compgen -f -- "$word"))
}}
complete -o nospace -F _wallclock wallclock""",
    "zsh": """_wallclock() {{
  local command=""
  [ "$CURRENT" -gt 2 ] && command="$words[2]"
  compadd -S '' -- $({words} $command)
  _files
}}
compdef _wallclock wallclock""",
    "fish": """complete -c wallclock -a '({words} (commandline -opc)[2])'""",
}


def main(arguments: Sequence[str]) -> int:
    """Run a command line; return exit status 0, 1 from `check`, or 2 for unusable arguments."""
    return terminal.main(arguments, VERBS)


def command() -> int:
    """Run the arguments of this process, the generator's verbs among them."""
    arguments = sys.argv[1:]
    if (arguments[:1] and arguments[0] in SITE_VERBS) or _is_site_check(arguments):
        return _site(arguments)
    return terminal.run_piped(arguments, VERBS)


def _is_site_check(arguments: Sequence[str]) -> bool:
    """Return whether `check` names no file, and so checks the site in the current folder."""
    first = arguments[1] if len(arguments) > 1 else "-"
    return arguments[:1] == ["check"] and first.startswith("-") and first not in ("-h", "--help")


def _site(arguments: Sequence[str]) -> int:
    """Run a verb of the generator of sites."""
    try:
        site = import_module("wallclock_site")
    except ImportError:
        return print_problems([_NO_SITE.format(verb=arguments[0])])
    status: int = site.main()
    return status


def _run(module: str) -> Callable[[Sequence[str]], int]:
    """Return the function `main` of a module, which is imported when it is called."""

    def run(arguments: Sequence[str]) -> int:
        status: int = import_module(module).main(arguments)
        return status

    return run


def _trace(arguments: Sequence[str]) -> int:
    """Run the trace calculator on profiler traces; `--sample` prints a sample trace."""
    from engine import read_trace

    if list(arguments) == ["--sample"]:
        print(read_trace.sample())
        return 0
    files = [text for text in arguments if "=" not in text and not text.startswith("-")]
    inputs = [text for text in arguments if text not in files]
    if "--help" in arguments or "-h" in arguments:
        print(f"usage: {read_trace.USAGE}\n")
        return main([read_trace.CALCULATOR, "--help"])
    if not files:
        return print_problems([f"no file given; usage: {read_trace.USAGE}"])
    try:
        text = read_trace.trace_document(files)
    except OSError as error:
        return print_problems([str(error)])
    return main([read_trace.CALCULATOR, f"trace={text}", *inputs])


def _completion(arguments: Sequence[str]) -> int:
    """Print the completion script of a shell; "words [COMMAND]": what can stand at a place."""
    if list(arguments[:1]) == ["words"]:
        print("\n".join(_words(arguments[1] if len(arguments) > 1 else "")))
        return 0
    parser = argparse.ArgumentParser(
        prog=f"{terminal.program()} completion",
        allow_abbrev=False,
        description="Print the completion script of a shell.",
        epilog='In ~/.bashrc: eval "$(wallclock completion bash)"',
    )
    parser.add_argument("shell", choices=tuple(_COMPLETIONS))
    shell = parser.parse_args(arguments).shell
    print(_COMPLETIONS[shell].format(words=f"{terminal.program()} completion words"))
    return 0


def _words(command: str) -> list[str]:
    """Return the commands, or the inputs of a calculator."""
    if not command:
        return ["list", *VERBS, *SITE_VERBS, *names()]
    if command in names():
        return [f"{name}=" for name in load(command).fields]
    return []


VERBS = {
    "estimate": Command(_run("engine.estimate_file"), "RUN.json [--json]"),
    "plan": Command(_run("engine.plan_run"), "REQUEST.json [--json] [--every] [--workers N]"),
    "schema": Command(_run("engine.print_schema"), "run | request"),
    "sweep": Command(
        _run("engine.sweep_run"), "GRID.toml [--out STEM] [--workers N | --scheduler ADDRESS]"
    ),
    "import": Command(
        _run("engine.import_run"), "FILE ... [--model NAME] [--node NAME] [--gpus N] [--quiet]"
    ),
    "trace": Command(_trace, "FILE ... [name=value ...] [--json]"),
    "check": Command(_run("engine.library.check"), "FILE ... [--base REF] [--json]"),
    "mcp": Command(_run("engine.library.mcp_server"), "[--site FOLDER]"),
    "completion": Command(_completion, "bash|zsh|fish"),
}


if __name__ == "__main__":
    sys.exit(command())
