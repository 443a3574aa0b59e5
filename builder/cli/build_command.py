"""The verb `build`: writes the site, using the cache of earlier builds."""

import argparse
import time
from typing import TYPE_CHECKING

from builder.cli import parser, up_to_date
from builder.cli.parser import WRONG_CONTENT, WRONG_USAGE, print_line, report_problems
from builder.core.folders import Folders
from builder.core.progress import Options, html_pages, pluralize
from builder.outputs import output_folder

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
    digest = up_to_date.inputs_digest(folders, options)
    if up_to_date.is_current(folders.cache, target, digest):
        print_line(f"{target.name}/: nothing new, {time.perf_counter() - start:.2f} s")
        return 0
    built = build_with_cache(folders, options)
    if report_problems(built.problems):
        return WRONG_CONTENT
    output_folder.replace_output(target, built.output)
    up_to_date.record_build(folders.cache, target, digest)
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
