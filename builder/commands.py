"""The verbs of build.py."""

import argparse
import datetime
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from builder import output, project_file, unchanged
from builder.command_line import Runs, parser
from builder.counts import count_of
from builder.folders import Folders
from builder.options import Options
from builder.problem import Problem, ServiceError

if TYPE_CHECKING:  # what builds takes long to import, and a build of nothing new needs none of it
    from builder.memo import Memo
    from builder.pipeline import Built
    from builder.progress import Report

ROOT = Path(__file__).resolve().parent.parent
WRONG_CONTENT, WRONG_USAGE = 1, 2


def say(text: str) -> None:
    """Print one line at once, also into a pipe."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def command() -> int:
    """Run one verb as the installed command does, on the project in the present folder."""
    own = sys.argv[1:]
    return main(own if own[:1] == ["--project"] else ["--project", os.curdir, *own], "wallclock")


def main(arguments: list[str], program: str = "build.py") -> int:
    """Run one verb; return 0, 1 for problems in the content, 2 for wrong usage."""
    own, passed = _passed_on(arguments)
    given = parser(program, VERBS).parse_args(own)
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


def once(places: Folders, options: Options) -> "Built":
    """Build with what earlier runs left in the cache, and leave there what this one made."""
    from builder import memo

    kept = memo.place(places)
    memory = memo.load(kept)
    built = anew(places, options, memory)
    if memory.made:
        memory.save(kept)
    return built


def anew(places: Folders, options: Options, memory: "Memo", report: "Report" = say) -> "Built":
    """Build with the real makers."""
    from builder import pipeline, services

    return pipeline.build(places, options, services.of(places), memory, report)


def told(problems: tuple[Problem, ...]) -> bool:
    """Print every problem; say whether there were any."""
    for problem in problems:
        say(str(problem))
    if problems:
        say(f"{count_of(len(problems), 'problem')}; nothing was written")
    return bool(problems)


def _build(given: argparse.Namespace) -> int:
    began = time.perf_counter()
    target = _target(given)
    if not output.is_ours(target):
        say(f"--out {given.out} is no output of an earlier build; name a new or an empty folder")
        return WRONG_USAGE
    places = _places(given)
    options = _options(given, places)
    read = unchanged.inputs(places, options)
    if unchanged.is_current(places.cache, target, read):
        say(f"{target.name}/: nothing new, {time.perf_counter() - began:.2f} s")
        return 0
    built = once(places, options)
    if told(built.problems):
        return WRONG_CONTENT
    output.swap_in(target, built.output)
    unchanged.leave(places.cache, target, read)
    pages = sum(name.endswith("index.html") for name in built.output)
    took = time.perf_counter() - began
    made = f"{count_of(pages, 'page')}, {count_of(len(built.output), 'file')}"
    say(f"{target.name}/: {made}, {took:.2f} s")
    return 0


def _check(given: argparse.Namespace) -> int:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from builder import memo
    from builder.folders import digest

    another = ProcessPoolExecutor(1, get_context("spawn"))
    with tempfile.TemporaryDirectory() as scratch, another:
        # Empty caches: a check believes nothing that an earlier build left behind. The other
        # process orders its sets by other hashes, and works while this one does.
        second = another.submit(_digests, given, Path(scratch) / "other")
        places = _places(given, Path(scratch) / "cache")
        first = anew(places, _options(given, places), memo.Memo())
        if told(first.problems):
            return WRONG_CONTENT
        output.swap_in(Path(scratch) / "site", first.output)
        made, again = {n: digest((one,)) for n, one in first.output.items()}, second.result()
    if made != again:
        differing = [name for name in sorted({*made, *again}) if made.get(name) != again.get(name)]
        say(f"two builds of the same content differ in {', '.join(differing)}")
        return WRONG_CONTENT
    say(f"{len(first.output)} files, built twice with the same bytes, no problems")
    return _links(given, places, first.output) if given.links or given.online else 0


def _digests(given: argparse.Namespace, cache: Path) -> dict[str, str]:
    """Return the digest of every file of a build with an empty cache, without a word."""
    from builder import memo
    from builder.folders import digest

    places = _places(given, cache)
    built = anew(places, _options(given, places), memo.Memo(), lambda _: None)
    return {name: digest((content,)) for name, content in built.output.items()}


def _links(given: argparse.Namespace, places: Folders, output: Mapping[str, bytes]) -> int:
    from builder import outside

    options = _options(given, places)
    wanted = outside.addresses(output, (options.base_url, options.repository))
    if given.online:
        say(f"asking {count_of(len(wanted), 'address')} ...")
        today = datetime.date.today()
        answers = outside.asked(places.root, wanted, today, outside.status_of)
    else:
        answers = outside.kept(places.root)
    gone, unheard = outside.problems(places, wanted, answers), outside.unheard(wanted, answers)
    for line in (*gone, *([unheard] if unheard else [])):
        say(str(line))
    say(f"{count_of(len(wanted), 'address')} of other sites, {len(gone)} of them gone")
    return WRONG_CONTENT if gone else 0


def _serve(given: argparse.Namespace) -> int:
    from builder import serve

    return serve.run(_root(given), given, say)


def _book(given: argparse.Namespace) -> int:
    done = _build(given)
    if done:
        return done
    from builder import book, content, navigation

    places = _places(given)
    texts = content.read(places, drafts=False)
    paths = {path.letter: path for path in navigation.learning_paths(texts.articles)}
    if given.path not in paths:
        say(f"there is no path '{given.path}'; there are {', '.join(sorted(paths))}")
        return WRONG_USAGE
    target = Path(given.pdf or f"path-{given.path.lower()}.pdf").resolve()
    target.write_bytes(book.book(paths[given.path], _target(given), places.project))
    say(f"{target.name}: {count_of(len(paths[given.path].guides), 'guide')}")
    return 0


def _new(given: argparse.Namespace) -> int:
    from builder import new_project, scaffold

    root = Path(given.name).resolve() if given.kind == "project" else _root(given)
    try:
        if given.kind == "project":
            made = new_project.make(root)
        else:
            engine = project_file.read(root).engine
            made = scaffold.make(root, given.kind, given.name, engine)
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
    from builder import cite

    try:
        keys = cite.add(_root(given), given.source, report=say)
    except cite.CiteError as error:
        say(str(error))
        return WRONG_CONTENT
    for key in keys:
        say(f"added {key}: cite it as [@{key}], and say in 'used_for' what was taken from it")
    return 0


def _show(given: argparse.Namespace) -> int:
    from builder import show

    _places(given)
    try:
        say("\n".join(show.lines(given.name)))
    except ValueError as error:
        say(str(error))
        return WRONG_USAGE
    return 0


def _test(given: argparse.Namespace) -> int:
    from builder import test_command

    # All that follows `test` is for pytest, save this.
    own = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    own.add_argument("--project", default=given.project)
    named, rest = own.parse_known_args(given.rest)
    return test_command.run(_places(named).root, rest, say)


def _root(given: argparse.Namespace) -> Path:
    """Return the folder of the project that a verb works on."""
    return Path(given.project).resolve() if given.project else ROOT


def _places(given: argparse.Namespace, cache: Path | None = None) -> Folders:
    from builder.enter import enter

    return enter(_root(given), cache)


def _target(given: argparse.Namespace) -> Path:
    return Path(given.out).resolve() if given.out else _root(given) / "site"


def _options(given: argparse.Namespace, places: Folders) -> Options:
    base = getattr(given, "base_url", "") or places.project.address
    return Options(
        base_url=base if not base or base.endswith("/") else base + "/",
        repository=given.repository or places.project.repository,
    )


VERBS: Runs = {
    "build": _build,
    "check": _check,
    "serve": _serve,
    "book": _book,
    "new": _new,
    "show": _show,
    "cite": _cite,
    "test": _test,
}
