"""The verbs of build.py, and its main function."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from builder.cli import parser
from builder.cli.build_command import build
from builder.cli.check_command import check
from builder.cli.parser import (
    WRONG_CONTENT,
    WRONG_USAGE,
    Verbs,
    make_parser,
    print_line,
    report_problems,
)
from builder.core.problem import ServiceError
from builder.core.progress import pluralize
from builder.project import project_file

APPROVE = "tests.engine.calculators.approved"


def command() -> int:
    """Run one verb on the project in the current folder (the installed `wallclock` command)."""
    arguments = sys.argv[1:]
    return main(
        arguments if arguments[:1] == ["--project"] else ["--project", os.curdir, *arguments],
        "wallclock",
    )


def main(arguments: list[str], program: str = "build.py") -> int:
    """Run one verb; return 0, 1 for problems in the content, 2 for wrong usage."""
    own_arguments, pytest_arguments = _split_pytest_arguments(arguments)
    parsed = make_parser(program, VERBS).parse_args(own_arguments)
    if pytest_arguments:
        parsed.rest = pytest_arguments
    try:
        return int(parsed.run(parsed))
    except ServiceError as error:
        print_line(str(error))
        return WRONG_CONTENT
    except project_file.ProjectError as error:
        report_problems(error.problems)
        return WRONG_CONTENT
    except OSError as error:  # a full disk, a folder that cannot be written
        location = f"{error.filename}: " if error.filename else ""
        print_line(f"{location}{error.strerror or error}; nothing was written")
        return WRONG_CONTENT


def _split_pytest_arguments(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Return (own arguments, arguments after `test`, which pytest gets)."""
    verb_index = 2 if arguments[:1] == ["--project"] else 0
    first_argument = arguments[verb_index + 1 : verb_index + 2]
    if arguments[verb_index : verb_index + 1] != ["test"] or first_argument in (["-h"], ["--help"]):
        return arguments, []
    return arguments[: verb_index + 1], arguments[verb_index + 1 :]


def _serve(arguments: argparse.Namespace) -> int:
    from builder.serve import serve

    return serve.run(parser.project_root(arguments), arguments, print_line)


def _book(arguments: argparse.Namespace) -> int:
    status = build(arguments)
    if status:
        return status
    from builder.cli import book
    from builder.content import content_folder, navigation

    folders = parser.open_project(arguments)
    texts = content_folder.read_content(folders, drafts=False)
    paths = {path.letter: path for path in navigation.learning_paths(texts.articles)}
    if arguments.path not in paths:
        print_line(f"there is no path '{arguments.path}'; there are {', '.join(sorted(paths))}")
        return WRONG_USAGE
    target = Path(arguments.pdf or f"path-{arguments.path.lower()}.pdf").resolve()
    target.write_bytes(
        book.print_book(paths[arguments.path], parser.target_folder(arguments), folders.project)
    )
    print_line(f"{target.name}: {pluralize(len(paths[arguments.path].guides), 'guide')}")
    return 0


def _new(arguments: argparse.Namespace) -> int:
    from builder.cli import new_files, new_project

    root = (
        Path(arguments.name).resolve()
        if arguments.kind == "project"
        else parser.project_root(arguments)
    )
    try:
        if arguments.kind == "project":
            paths = new_project.make_project(root)
        else:
            engine = project_file.read_project(root).engine
            paths = new_files.make_files(root, arguments.kind, arguments.name, engine)
    except ValueError as error:
        print_line(str(error))
        return WRONG_USAGE
    for path in paths:
        print_line(f"made {path.relative_to(root)}")
    if arguments.kind == "project":
        python = "" if arguments.program == "wallclock" else "python "
        print_line(f"see it: {python}{sys.argv[0]} serve --project {arguments.name}")
    if arguments.kind == "calculator":
        _approve_numbers(root, arguments.name.rpartition("/")[2])
    if arguments.kind == "guide":
        print_line("it is a draft: serve shows it, build leaves it out until 'draft' is removed")
    return 0


def _approve_numbers(root: Path, name: str) -> None:
    """Approve the numbers of a new calculator where the project keeps approved numbers."""
    if not (root / "tests/engine/calculators/approved.py").is_file():
        return
    command = [sys.executable, "-m", APPROVE, name]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        print_line(f"its numbers could not be approved: python -m {APPROVE} {name}")
    else:
        print_line(f"approved its numbers; when they change: python -m {APPROVE} {name}")


def _cite(arguments: argparse.Namespace) -> int:
    from builder.cli import cite_command

    try:
        keys = cite_command.add_sources(
            parser.project_root(arguments), arguments.source, report=print_line
        )
    except cite_command.CiteError as error:
        print_line(str(error))
        return WRONG_CONTENT
    for key in keys:
        print_line(
            f"added {key}: cite it as [@{key}], and say in 'used_for' what was taken from it"
        )
    return 0


def _show(arguments: argparse.Namespace) -> int:
    from builder.cli import show_command

    parser.open_project(arguments)
    try:
        print_line("\n".join(show_command.describe_calculator(arguments.name)))
    except ValueError as error:
        print_line(str(error))
        return WRONG_USAGE
    return 0


def _test(arguments: argparse.Namespace) -> int:
    from builder.cli import test_command

    # All arguments after `test` are for pytest, except for this.
    project_parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    project_parser.add_argument("--project", default=arguments.project)
    parsed, pytest_arguments = project_parser.parse_known_args(arguments.rest)
    return test_command.run(parser.open_project(parsed).root, pytest_arguments, print_line)


VERBS: Verbs = {
    "build": build,
    "check": check,
    "serve": _serve,
    "book": _book,
    "new": _new,
    "show": _show,
    "cite": _cite,
    "test": _test,
}
