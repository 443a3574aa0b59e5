"""The verbs of build.py."""

import argparse
import os
import sys
from pathlib import Path

from builder.cli import parser
from builder.cli.build_command import build
from builder.cli.check_command import check
from builder.cli.parser import WRONG_CONTENT, WRONG_USAGE, Runs, make_parser, say, told
from builder.core.problem import ServiceError
from builder.core.progress import count_of
from builder.project import project_file


def command() -> int:
    """Run one verb as the installed command does, on the project in the present folder."""
    own = sys.argv[1:]
    return main(own if own[:1] == ["--project"] else ["--project", os.curdir, *own], "wallclock")


def main(arguments: list[str], program: str = "build.py") -> int:
    """Run one verb; return 0, 1 for problems in the content, 2 for wrong usage."""
    own, passed = _passed_on(arguments)
    given = make_parser(program, VERBS).parse_args(own)
    if passed:
        given.rest = passed
    try:
        return int(given.run(given))
    except ServiceError as error:
        say(str(error))
        return WRONG_CONTENT
    except project_file.ProjectError as error:
        told(error.problems)
        return WRONG_CONTENT
    except OSError as error:  # a full disk, a folder that cannot be written
        where = f"{error.filename}: " if error.filename else ""
        say(f"{where}{error.strerror or error}; nothing was written")
        return WRONG_CONTENT


def _passed_on(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return (our arguments, those that follow `test` and are for pytest)."""
    verb = 2 if arguments[:1] == ["--project"] else 0
    first = arguments[verb + 1 : verb + 2]
    if arguments[verb : verb + 1] != ["test"] or first in (["-h"], ["--help"]):
        return arguments, []
    return arguments[: verb + 1], arguments[verb + 1 :]


def _serve(given: argparse.Namespace) -> int:
    from builder.serve import serve

    return serve.run(parser.root(given), given, say)


def _book(given: argparse.Namespace) -> int:
    done = build(given)
    if done:
        return done
    from builder.cli import book
    from builder.content import content_folder, navigation

    places = parser.places(given)
    texts = content_folder.read(places, drafts=False)
    paths = {path.letter: path for path in navigation.learning_paths(texts.articles)}
    if given.path not in paths:
        say(f"there is no path '{given.path}'; there are {', '.join(sorted(paths))}")
        return WRONG_USAGE
    target = Path(given.pdf or f"path-{given.path.lower()}.pdf").resolve()
    target.write_bytes(book.book(paths[given.path], parser.target(given), places.project))
    say(f"{target.name}: {count_of(len(paths[given.path].guides), 'guide')}")
    return 0


def _new(given: argparse.Namespace) -> int:
    from builder.cli import new_files, new_project

    root = Path(given.name).resolve() if given.kind == "project" else parser.root(given)
    try:
        if given.kind == "project":
            made = new_project.make(root)
        else:
            engine = project_file.read(root).engine
            made = new_files.make(root, given.kind, given.name, engine)
    except ValueError as error:
        say(str(error))
        return WRONG_USAGE
    for path in made:
        say(f"made {path.relative_to(root)}")
    if given.kind == "project":
        python = "" if given.program == "wallclock" else "python "
        say(f"see it: {python}{sys.argv[0]} serve --project {given.name}")
    if given.kind == "guide":
        say("it is a draft: serve shows it, build leaves it out until 'draft' is removed")
    return 0


def _cite(given: argparse.Namespace) -> int:
    from builder.cli import cite_command

    try:
        keys = cite_command.add(parser.root(given), given.source, report=say)
    except cite_command.CiteError as error:
        say(str(error))
        return WRONG_CONTENT
    for key in keys:
        say(f"added {key}: cite it as [@{key}], and say in 'used_for' what was taken from it")
    return 0


def _show(given: argparse.Namespace) -> int:
    from builder.cli import show_command

    parser.places(given)
    try:
        say("\n".join(show_command.lines(given.name)))
    except ValueError as error:
        say(str(error))
        return WRONG_USAGE
    return 0


def _test(given: argparse.Namespace) -> int:
    from builder.cli import test_command

    # All that follows `test` is for pytest, save this.
    own = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    own.add_argument("--project", default=given.project)
    named, rest = own.parse_known_args(given.rest)
    return test_command.run(parser.places(named).root, rest, say)


VERBS: Runs = {
    "build": build,
    "check": check,
    "serve": _serve,
    "book": _book,
    "new": _new,
    "show": _show,
    "cite": _cite,
    "test": _test,
}
