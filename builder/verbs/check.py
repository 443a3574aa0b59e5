"""The verb `check`: two builds that have to agree, one from nothing; the addresses of others."""

import argparse
import datetime
import tempfile
from collections.abc import Mapping
from pathlib import Path

from builder import output
from builder.counts import count_of
from builder.folders import Folders
from builder.verbs import arguments
from builder.verbs.build import anew, once
from builder.verbs.say import WRONG_CONTENT, say, told


def check(given: argparse.Namespace) -> int:
    """Build from nothing and from what is in the cache, compare, and throw both away."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    from builder import memo
    from builder.folders import digest

    another = ProcessPoolExecutor(1, get_context("spawn"))
    with tempfile.TemporaryDirectory() as scratch, another:
        # An empty cache: a check believes nothing that an earlier build left behind. The other
        # process does believe it, so that the two tell what is wrong with it. It orders its sets by
        # other hashes, as did those that filled the cache, and works while this one does.
        second = another.submit(_digests, given)
        places = arguments.places(given, Path(scratch) / "cache")
        first = anew(places, arguments.options(given, places), memo.Memo())
        if told(first.problems):
            return WRONG_CONTENT
        output.swap_in(Path(scratch) / "site", first.output)
        made, again = {n: digest((one,)) for n, one in first.output.items()}, second.result()
    if made != again:
        differing = [name for name in sorted({*made, *again}) if made.get(name) != again.get(name)]
        say(
            "a build from nothing and one with what is in the cache differ in "
            f"{', '.join(differing)}; delete {arguments.places(given).cache} if that is from others"
        )
        return WRONG_CONTENT
    say(f"{len(first.output)} files, built twice with the same bytes, no problems")
    return _links(given, places, first.output) if given.links or given.online else 0


def _digests(given: argparse.Namespace) -> dict[str, str]:
    """Return the digest of every file of a build with the project's cache, without a word."""
    from builder.folders import digest

    places = arguments.places(given)
    built = once(places, arguments.options(given, places), lambda _: None)
    return {name: digest((content,)) for name, content in built.output.items()}


def _links(given: argparse.Namespace, places: Folders, output: Mapping[str, bytes]) -> int:
    from builder import outside

    options = arguments.options(given, places)
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
