"""The verb `build`: writes the site, unless its inputs are those of the last build."""

import argparse
import json
import sys
import sysconfig
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from builder.cli import parser
from builder.cli.parser import WRONG_CONTENT, WRONG_USAGE, print_line, report_problems
from builder.core.folders import SCRIPTS, Folders, digest, digest_of_files, files, write_atomically
from builder.core.progress import Options, html_pages, pluralize
from builder.outputs import output_folder
from builder.project.project_file import FILE
from builder.project.python_packages import LOCK

if TYPE_CHECKING:  # the pipeline takes long to import, and an up-to-date build needs none of it
    from builder.core.build_cache import BuildCache
    from builder.core.progress import Report
    from builder.pipeline import BuildResult


def build(arguments: argparse.Namespace) -> int:
    """Build the site, unless its inputs are unchanged."""
    start = time.perf_counter()
    target = parser.target_folder(arguments)
    if not output_folder.is_replaceable(target):
        print_line(
            f"--out {arguments.out} is no output of an earlier build; name a new or an empty folder"
        )
        return WRONG_USAGE
    folders = parser.open_project(arguments)
    options = parser.build_options(arguments, folders)
    digest = inputs_digest(folders, options)
    if is_current(folders.cache, target, digest):
        print_line(f"{target.name}/: nothing new, {time.perf_counter() - start:.2f} s")
        return 0
    built = build_with_cache(folders, options)
    if report_problems(built.problems):
        return WRONG_CONTENT
    output_folder.replace_output(target, built.output)
    record_build(folders.cache, target, digest)
    pages = sum(name.endswith("index.html") for name in html_pages(built.output))
    seconds = time.perf_counter() - start
    summary = f"{pluralize(pages, 'page')}, {pluralize(len(built.output), 'file')}"
    print_line(f"{target.name}/: {summary}, {seconds:.2f} s")
    return 0


def build_with_cache(
    folders: Folders, options: Options, report: "Report" = print_line
) -> "BuildResult":
    """Build with the cache of earlier builds, and save the new cache entries."""
    from builder.core import build_cache

    path = build_cache.cache_file(folders)
    cache = build_cache.load(path)
    built = build_with_services(folders, options, cache, report)
    if cache.computed:
        cache.save(path)
    return built


def build_with_services(
    folders: Folders, options: Options, cache: "BuildCache", report: "Report" = print_line
) -> "BuildResult":
    """Build with the project's services."""
    from builder import pipeline
    from builder.core import gc_tuning
    from builder.outputs import service_makers

    gc_tuning.reduce_gc_frequency()
    return pipeline.build(folders, options, service_makers.project_services(folders), cache, report)


# Skips builds whose inputs and output are unchanged since the last build.

THEME_FOLDERS = ("templates", "styles", "runtime", "fonts")
THEME_FILES = ("package-lock.json", "keys.toml", *SCRIPTS)


def inputs_digest(folders: Folders, options: object) -> str:
    """Return the digest of all inputs of a build: files, versions and options."""
    input_folders = [
        folders.content,
        *folders.code,
        *(folders.theme / name for name in THEME_FOLDERS),
    ]
    input_files = [
        folders.root / FILE,
        folders.root / LOCK,
        *(folders.theme / name for name in THEME_FILES),
    ]
    packages = Path(sysconfig.get_paths()["purelib"]).stat().st_mtime_ns
    return digest(
        (
            *(digest_of_files(folder) for folder in input_folders),
            *(path.read_bytes() for path in input_files if path.is_file()),
            f"{sys.version} {packages} {options!r}",
        )
    )


def is_current(cache: Path, target: Path, digest: str) -> bool:
    """Return whether the folder holds the unchanged output of a build with these inputs."""
    try:
        record = json.loads(_record_file(cache, target).read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return bool(record == [digest, _output_digest(target)])


def record_build(cache: Path, target: Path, digest: str) -> None:
    """Record the inputs and the output of a build."""
    with suppress(OSError):  # without the record, the next build builds again
        write_atomically(
            _record_file(cache, target), json.dumps([digest, _output_digest(target)]).encode()
        )


def _record_file(cache: Path, target: Path) -> Path:
    return cache / "built" / f"{digest((str(target),))}.json"


def _output_digest(target: Path) -> str:
    """Return the digest of paths, sizes and dates of the output files."""
    stats = ((path, path.stat()) for path in files(target))
    return digest(f"{path} {stat.st_size} {stat.st_mtime_ns}" for path, stat in stats)
