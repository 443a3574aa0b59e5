"""Command-line parser: the verbs, their arguments, and options derived from them."""

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from builder.core.folders import GENERATOR, Folders
from builder.core.problem import Problem
from builder.core.progress import Options, pluralize

WRONG_CONTENT, WRONG_USAGE = 1, 2


def print_line(text: str) -> None:
    """Print a line and flush it."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def report_problems(problems: tuple[Problem, ...]) -> bool:
    """Print every problem; return whether there are any."""
    for problem in problems:
        print_line(str(problem))
    if problems:
        print_line(f"{pluralize(len(problems), 'problem')}; nothing was written")
    return bool(problems)


DEFAULT_PROJECT = GENERATOR  # the project if none is named


def project_root(arguments: argparse.Namespace) -> Path:
    """Return the root folder of the project."""
    return Path(arguments.project).resolve() if arguments.project else DEFAULT_PROJECT


def open_project(arguments: argparse.Namespace, cache: Path | None = None) -> Folders:
    """Activate the project and return its folders."""
    from builder.project.activate_project import activate_project

    return activate_project(project_root(arguments), cache)


def target_folder(arguments: argparse.Namespace) -> Path:
    """Return the output folder of a build."""
    return Path(arguments.out).resolve() if arguments.out else project_root(arguments) / "site"


def build_options(arguments: argparse.Namespace, folders: Folders) -> Options:
    """Return the build options: from the command line, else from the project's settings."""
    base_url = getattr(arguments, "base_url", "") or folders.project.address
    return Options(
        base_url=base_url if not base_url or base_url.endswith("/") else base_url + "/",
        repository=arguments.repository or folders.project.repository,
    )


Verbs = Mapping[str, Callable[[argparse.Namespace], int]]


def make_parser(program: str, commands: Verbs) -> argparse.ArgumentParser:
    """Return the argument parser; `commands` maps a verb to its function."""
    top = argparse.ArgumentParser(
        prog=program,
        description="Build the guides in content/ into a static site, or work on them.",
        epilog="The first run makes an environment of its own in .venv and installs what it needs.",
    )
    top.add_argument("--project", default="", help="its folder (default: the folder of build.py)")
    top.set_defaults(program=program)
    verbs = top.add_subparsers(required=True, metavar="verb")
    verb_parsers = {**_add_site_verbs(verbs), **_add_author_verbs(verbs)}
    for name, verb in verb_parsers.items():
        verb.set_defaults(run=commands[name])
        if name != "test":  # it passes on all that follows it
            help_text = "the folder of the project"
            verb.add_argument("--project", default=argparse.SUPPRESS, help=help_text)
    return top


def _https(text: str) -> str:
    if text and not text.startswith("https://"):
        raise argparse.ArgumentTypeError(f"'{text}' has to begin with https://")
    return text.rstrip("/")


def _add_site_verbs(
    verbs: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> dict[str, argparse.ArgumentParser]:
    """Add the verbs that build the site; return their parsers."""
    build = verbs.add_parser("build", help="write the site to a folder")
    build.add_argument("--out", default="", help="the folder (default: site in the project)")
    check = verbs.add_parser("check", help="build from nothing and from the cache, and compare")
    check.add_argument(
        "--links", action="store_true", help="also addresses of other sites, as last heard"
    )
    check.add_argument("--online", action="store_true", help="ask those addresses now")
    serve = verbs.add_parser("serve", help="serve on 127.0.0.1, rebuild and reload on every change")
    serve.add_argument("--port", type=int, default=8000, help="default: %(default)s; 0: any")
    book = verbs.add_parser("book", help="print a learning path as PDF, by an installed Chromium")
    book.add_argument("path", help="its letter, such as B")
    book.add_argument("--pdf", default="", help="the file (default: path-LETTER.pdf)")
    book.add_argument("--out", default="", help="the folder of the site (default: site)")
    verb_parsers = {"build": build, "check": check, "serve": serve, "book": book}
    for name, verb in verb_parsers.items():
        help_text = "address of the public repository"
        verb.add_argument("--repository", type=_https, default="", help=help_text)
        if name != "serve":
            help_text = "where it will be published, for sitemaps"
            verb.add_argument("--base-url", type=_https, default="", help=help_text)
    return verb_parsers


def _add_author_verbs(
    verbs: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> dict[str, argparse.ArgumentParser]:
    """Add the verbs for authors; return their parsers."""
    new = verbs.add_parser("new", help="start a guide, a calculator or a project that works")
    new.add_argument("kind", choices=("guide", "calculator", "words", "project"))
    new.add_argument(
        "name",
        help="such as all-to-all (a guide), moving_bytes/all_to_all (in its room), de (words of "
        "the interface), or a folder",
    )
    show = verbs.add_parser("show", help="print the inputs and outputs of a calculator")
    show.add_argument("name", help="such as duration")
    cite = verbs.add_parser("cite", help="add sources to the bibliography")
    cite.add_argument("source", help="a file of BibTeX, or a DOI such as 10.1145/3458817.3476209")
    test = verbs.add_parser(
        "test",
        help="run the tests: every kind of thing once, in a browser too",
        epilog="--all adds every page and every combination; --project FOLDER tests the project in "
        "that folder and what its calculators promise; --browser with a calculator or an article "
        "adds what needs a browser.",
    )
    test.add_argument(
        "rest", nargs=argparse.REMAINDER, help="a calculator, an article, or passed on to pytest"
    )
    return {"new": new, "show": show, "cite": cite, "test": test}
