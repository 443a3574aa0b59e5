"""The words of the command line: its verbs and what each takes."""

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from builder.core.folders import GENERATOR, Folders
from builder.core.problem import Problem
from builder.core.progress import Options, count_of

WRONG_CONTENT, WRONG_USAGE = 1, 2


def say(text: str) -> None:
    """Print one line at once, also into a pipe."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def told(problems: tuple[Problem, ...]) -> bool:
    """Print every problem; say whether there were any."""
    for problem in problems:
        say(str(problem))
    if problems:
        say(f"{count_of(len(problems), 'problem')}; nothing was written")
    return bool(problems)


ROOT = GENERATOR  # the project that is meant where none is named


def root(given: argparse.Namespace) -> Path:
    """Return the folder of the project that a verb works on."""
    return Path(given.project).resolve() if given.project else ROOT


def places(given: argparse.Namespace, cache: Path | None = None) -> Folders:
    """Return the folders of the project, which is entered: its engine is the one asked."""
    from builder.project.activate_project import enter

    return enter(root(given), cache)


def target(given: argparse.Namespace) -> Path:
    """Return the folder that a build writes."""
    return Path(given.out).resolve() if given.out else root(given) / "site"


def options(given: argparse.Namespace, places: Folders) -> Options:
    """Return the options of a build: what is given, else what the project says."""
    base = getattr(given, "base_url", "") or places.project.address
    return Options(
        base_url=base if not base or base.endswith("/") else base + "/",
        repository=given.repository or places.project.repository,
    )


Runs = Mapping[str, Callable[[argparse.Namespace], int]]


def make_parser(program: str, runs: Runs) -> argparse.ArgumentParser:
    """Return the command line; `runs` holds what each verb does."""
    top = argparse.ArgumentParser(
        prog=program,
        description="Build the guides in content/ into a static site, or work on them.",
        epilog="The first run makes an environment of its own in .venv and installs what it needs.",
    )
    top.add_argument("--project", default="", help="its folder (default: the folder of build.py)")
    top.set_defaults(program=program)
    verbs = top.add_subparsers(required=True, metavar="verb")
    added = {**_of_site(verbs), **_of_author(verbs)}
    for name, verb in added.items():
        verb.set_defaults(run=runs[name])
        if name != "test":  # it passes on all that follows it
            about = "the folder of the project"
            verb.add_argument("--project", default=argparse.SUPPRESS, help=about)
    return top


def _https(text: str) -> str:
    if text and not text.startswith("https://"):
        raise argparse.ArgumentTypeError(f"'{text}' has to begin with https://")
    return text.rstrip("/")


def _of_site(
    verbs: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> dict[str, argparse.ArgumentParser]:
    """Return the verbs that build the site."""
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
    added = {"build": build, "check": check, "serve": serve, "book": book}
    for name, verb in added.items():
        about = "address of the public repository"
        verb.add_argument("--repository", type=_https, default="", help=about)
        if name != "serve":
            about = "where it will be published, for sitemaps"
            verb.add_argument("--base-url", type=_https, default="", help=about)
    return added


def _of_author(
    verbs: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> dict[str, argparse.ArgumentParser]:
    """Return the verbs that help an author."""
    new = verbs.add_parser("new", help="start a guide, a calculator or a project that works")
    new.add_argument("kind", choices=("guide", "calculator", "words", "project"))
    new.add_argument(
        "name",
        help="such as all-to-all (a guide), moving_bytes/all_to_all (in its room), de (words of "
        "the interface), or a folder",
    )
    show = verbs.add_parser("show", help="print the inputs and outputs of a calculator")
    show.add_argument("name", help="such as transfer")
    cite = verbs.add_parser("cite", help="add sources to the bibliography")
    cite.add_argument("source", help="a file of BibTeX, or a DOI such as 10.1145/3458817.3476209")
    test = verbs.add_parser(
        "test",
        help="run all tests, those in a browser included",
        epilog="--project FOLDER tests the project in that folder, --browser with a calculator or "
        "an article also what needs a browser.",
    )
    test.add_argument(
        "rest", nargs=argparse.REMAINDER, help="a calculator, an article, or passed on to pytest"
    )
    return {"new": new, "show": show, "cite": cite, "test": test}
