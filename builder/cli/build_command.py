"""The verb `build`: the site, from what earlier builds left and what has changed since."""

import argparse
import time
from typing import TYPE_CHECKING

from builder.cli import parser, up_to_date
from builder.cli.parser import WRONG_CONTENT, WRONG_USAGE, say, told
from builder.core.folders import Folders
from builder.core.progress import Options, count_of, pages_among
from builder.outputs import output_folder

if TYPE_CHECKING:  # what builds takes long to import, and a build of nothing new needs none of it
    from builder.core.build_cache import Memo
    from builder.core.progress import Report
    from builder.pipeline import Built


def build(given: argparse.Namespace) -> int:
    """Build the site, unless nothing that it is made of has changed."""
    began = time.perf_counter()
    target = parser.target(given)
    if not output_folder.is_ours(target):
        say(f"--out {given.out} is no output of an earlier build; name a new or an empty folder")
        return WRONG_USAGE
    places = parser.places(given)
    options = parser.options(given, places)
    read = up_to_date.inputs(places, options)
    if up_to_date.is_current(places.cache, target, read):
        say(f"{target.name}/: nothing new, {time.perf_counter() - began:.2f} s")
        return 0
    built = once(places, options)
    if told(built.problems):
        return WRONG_CONTENT
    output_folder.swap_in(target, built.output)
    up_to_date.leave(places.cache, target, read)
    pages = sum(name.endswith("index.html") for name in pages_among(built.output))
    took = time.perf_counter() - began
    made = f"{count_of(pages, 'page')}, {count_of(len(built.output), 'file')}"
    say(f"{target.name}/: {made}, {took:.2f} s")
    return 0


def once(places: Folders, options: Options, report: "Report" = say) -> "Built":
    """Build with what earlier runs left in the cache, and leave there what this one made."""
    from builder.core import build_cache

    kept = build_cache.place(places)
    memory = build_cache.load(kept)
    built = anew(places, options, memory, report)
    if memory.made:
        memory.save(kept)
    return built


def anew(places: Folders, options: Options, memory: "Memo", report: "Report" = say) -> "Built":
    """Build with the real makers."""
    from builder import pipeline
    from builder.core import gc_tuning
    from builder.outputs import service_makers

    gc_tuning.look_seldom()
    return pipeline.build(places, options, service_makers.of(places), memory, report)
