"""The verb `check`: two builds that have to agree, one from nothing; the addresses of others."""

import argparse
import datetime
import tempfile
from collections.abc import Mapping
from pathlib import Path

from builder.cli import parser
from builder.cli.build_command import anew, once
from builder.cli.parser import WRONG_CONTENT, say, told
from builder.core.folders import Folders
from builder.core.progress import count_of
from builder.outputs import output_folder


def check(given: argparse.Namespace) -> int:
    """Build from nothing and from what is in the cache, compare, and throw both away."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from builder.core import build_cache
    from builder.core.folders import digest

    another = ProcessPoolExecutor(1, get_context("spawn"))
    with tempfile.TemporaryDirectory() as scratch, another:
        # An empty cache: a check believes nothing that an earlier build left behind. The other
        # process does believe it, so that the two tell what is wrong with it. It orders its sets by
        # other hashes, as did those that filled the cache, and works while this one does.
        second = another.submit(_digests, given)
        places = parser.places(given, Path(scratch) / "cache")
        first = anew(places, parser.options(given, places), build_cache.Memo())
        if told(first.problems):
            return WRONG_CONTENT
        output_folder.swap_in(Path(scratch) / "site", first.output)
        made, again = {n: digest((one,)) for n, one in first.output.items()}, second.result()
    if made != again:
        differing = [name for name in sorted({*made, *again}) if made.get(name) != again.get(name)]
        say(
            "a build from nothing and one with what is in the cache differ in "
            f"{', '.join(differing)}; delete {parser.places(given).cache} if that is "
            "from others"
        )
        return WRONG_CONTENT
    say(f"{len(first.output)} files, built twice with the same bytes, no problems")
    return _links(given, places, first.output) if given.links or given.online else 0


def _digests(given: argparse.Namespace) -> dict[str, str]:
    """Return the digest of every file of a build with the project's cache, without a word."""
    from builder.core.folders import digest

    places = parser.places(given)
    built = once(places, parser.options(given, places), lambda _: None)
    return {name: digest((content,)) for name, content in built.output.items()}


def _links(given: argparse.Namespace, places: Folders, output: Mapping[str, bytes]) -> int:
    from builder.cli import external_links

    options = parser.options(given, places)
    wanted = external_links.addresses(output, (options.base_url, options.repository))
    if given.online:
        say(f"asking {count_of(len(wanted), 'address')} ...")
        today = datetime.date.today()
        answers = external_links.asked(places.root, wanted, today, external_links.status_of)
    else:
        answers = external_links.kept(places.root)
    gone, unheard = (
        external_links.problems(places, wanted, answers),
        external_links.unheard(wanted, answers),
    )
    for line in (*gone, *([unheard] if unheard else [])):
        say(str(line))
    say(f"{count_of(len(wanted), 'address')} of other sites, {len(gone)} of them gone")
    return WRONG_CONTENT if gone else 0
