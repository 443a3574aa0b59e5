"""The verb `build`: the site, from what earlier builds left and what has changed since."""

import argparse
import time
from typing import TYPE_CHECKING

from builder import output, unchanged
from builder.counts import count_of, pages_among
from builder.folders import Folders
from builder.options import Options
from builder.verbs import arguments
from builder.verbs.say import WRONG_CONTENT, WRONG_USAGE, say, told

if TYPE_CHECKING:  # what builds takes long to import, and a build of nothing new needs none of it
    from builder.memo import Memo
    from builder.pipeline import Built
    from builder.progress import Report


def build(given: argparse.Namespace) -> int:
    """Build the site, unless nothing that it is made of has changed."""
    began = time.perf_counter()
    target = arguments.target(given)
    if not output.is_ours(target):
        say(f"--out {given.out} is no output of an earlier build; name a new or an empty folder")
        return WRONG_USAGE
    places = arguments.places(given)
    options = arguments.options(given, places)
    read = unchanged.inputs(places, options)
    if unchanged.is_current(places.cache, target, read):
        say(f"{target.name}/: nothing new, {time.perf_counter() - began:.2f} s")
        return 0
    built = once(places, options)
    if told(built.problems):
        return WRONG_CONTENT
    output.swap_in(target, built.output)
    unchanged.leave(places.cache, target, read)
    pages = sum(name.endswith("index.html") for name in pages_among(built.output))
    took = time.perf_counter() - began
    made = f"{count_of(pages, 'page')}, {count_of(len(built.output), 'file')}"
    say(f"{target.name}/: {made}, {took:.2f} s")
    return 0


def once(places: Folders, options: Options, report: "Report" = say) -> "Built":
    """Build with what earlier runs left in the cache, and leave there what this one made."""
    from builder import memo

    kept = memo.place(places)
    memory = memo.load(kept)
    built = anew(places, options, memory, report)
    if memory.made:
        memory.save(kept)
    return built


def anew(places: Folders, options: Options, memory: "Memo", report: "Report" = say) -> "Built":
    """Build with the real makers."""
    from builder import garbage, pipeline, services

    garbage.look_seldom()
    return pipeline.build(places, options, services.of(places), memory, report)
