"""The verb `check`: compares a fresh build with a cached one, and checks external links."""

import argparse
import datetime
import tempfile
from collections.abc import Mapping
from pathlib import Path

from builder.cli import parser
from builder.cli.build_command import build_with_cache, build_with_services
from builder.cli.parser import WRONG_CONTENT, print_line, report_problems
from builder.core.folders import Folders
from builder.core.progress import pluralize
from builder.outputs import output_folder


def check(arguments: argparse.Namespace) -> int:
    """Build without and with the cache, compare both outputs, and discard them."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from builder.core import build_cache
    from builder.core.folders import digest

    worker = ProcessPoolExecutor(1, get_context("spawn"))
    with tempfile.TemporaryDirectory() as temporary, worker:
        # The build here has an empty cache. The concurrent build in the other process uses the
        # project's cache, so that a difference shows a wrong cache entry. Its hash seed differs,
        # as did those of the builds that filled the cache.
        cached_build = worker.submit(_cached_build_digests, arguments)
        folders = parser.open_project(arguments, Path(temporary) / "cache")
        fresh_build = build_with_services(
            folders, parser.build_options(arguments, folders), build_cache.BuildCache()
        )
        if report_problems(fresh_build.problems):
            return WRONG_CONTENT
        output_folder.replace_output(Path(temporary) / "site", fresh_build.output)
        fresh_digests, cached_digests = (
            {n: digest((content,)) for n, content in fresh_build.output.items()},
            cached_build.result(),
        )
    if fresh_digests != cached_digests:
        differing = [
            name
            for name in sorted({*fresh_digests, *cached_digests})
            if fresh_digests.get(name) != cached_digests.get(name)
        ]
        print_line(
            "a build from nothing and one with what is in the cache differ in "
            f"{', '.join(differing)}; delete {parser.open_project(arguments).cache} if that is "
            "from others"
        )
        return WRONG_CONTENT
    print_line(f"{len(fresh_build.output)} files, built twice with the same bytes, no problems")
    return (
        _check_external_links(arguments, folders, fresh_build.output)
        if arguments.links or arguments.online
        else 0
    )


def _cached_build_digests(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the digest of every file of a silent build with the project's cache."""
    from builder.core.folders import digest

    folders = parser.open_project(arguments)
    built = build_with_cache(folders, parser.build_options(arguments, folders), lambda _: None)
    return {name: digest((content,)) for name, content in built.output.items()}


def _check_external_links(
    arguments: argparse.Namespace, folders: Folders, output: Mapping[str, bytes]
) -> int:
    from builder.cli import external_links

    options = parser.build_options(arguments, folders)
    urls = external_links.external_urls(output, (options.base_url, options.repository))
    if arguments.online:
        print_line(f"asking {pluralize(len(urls), 'address')} ...")
        today = datetime.date.today()
        answers = external_links.ask_all(folders.root, urls, today, external_links.fetch_status)
    else:
        answers = external_links.load_answers(folders.root)
    gone, unanswered = (
        external_links.problems(folders, urls, answers),
        external_links.unanswered_message(urls, answers),
    )
    for line in (*gone, *([unanswered] if unanswered else [])):
        print_line(str(line))
    print_line(f"{pluralize(len(urls), 'address')} of other sites, {len(gone)} of them gone")
    return WRONG_CONTENT if gone else 0
