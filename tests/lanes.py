"""Which tests `build.py test` runs, and which only `build.py test --all` adds.

The short lane keeps every kind of thing and leaves out repetitions: of the pages in a browser, one
for each template, kind of figure, kind of input and list; of calculators in Pyodide, those of a
fixed sample; of a browser test with several cases (widths, presses, files), the first and last.
A test marked `@pytest.mark.left_to_all("...")` says itself what shows the same there.
Pytest called by itself runs whatever it is asked for.
"""

import os
from collections.abc import Iterable
from typing import TypeVar

import pytest

from tests import units

Case = TypeVar("Case")
OPTION = "--short"
LEFT_TO_ALL = "left_to_all"  # a mark of tests
PROJECT = "WALLCLOCK_PROJECT"  # whose calculators `test_promises.py` tries
VARIABLE = "WALLCLOCK_SHORT_TESTS"  # how the workers of pytest-xdist know
# A greedy cover of templates, lists, blocks, views and inputs; tests/test_lanes.py checks that
# nothing on the site is missing here.
PAGES = (
    "",
    "authors/architecture/",
    "authors/write-a-guide/",
    "courses/newcomer/",
    "explorer/frontier/",
    "guides/gradient-accumulation/",
    "guides/overlap-frontier/",
    "guides/pipeline-schedule-lab/",
    "paths/a-one-gpu/",
    "reference/bibliography/",
    "reference/glossary/",
    "reference/how-fast/",
    "reference/kept/",
    "reference/library/",
    "tools/embed/",
    "tools/sweep/",
    "tools/trace/",
)
SAMPLED = 24  # one calculator in so many is compared with Pyodide in the short lane
# Files of browser tests whose cases are kinds (keys, words, formats, faults), none like another.
KINDS = frozenset(
    f"tests/browser/test_{name}.py"
    for name in (
        *("charts", "failure", "keys", "missing", "receipts"),
        *("saving", "search", "states", "storage", "tools_by_key"),
    )
)


def in_short_lane() -> bool:
    """Return whether these tests were started with `--short`."""
    return bool(os.environ.get(VARIABLE))


def sampled(cases: list[Case], step: int) -> list[Case]:
    """Return one case in so many in the short lane, else all of them."""
    return cases[::step] if in_short_lane() else cases


def is_short(nodeid: str, calculators: tuple[str, ...]) -> bool:
    """Return whether the short lane runs a test; `calculators` are all names, in order."""
    path, _, test = nodeid.partition("::")
    case = units.parameter(test)
    if case is not None and path in units.EVERY_PAGE:
        return case in PAGES
    if path == units.PARITY and case in calculators:
        return calculators.index(case) % SAMPLED == 0
    return True


def is_left_to_all(item: pytest.Item) -> bool:
    """Return whether a test is marked as one for `--all` alone.

    Raises:
        pytest.UsageError: the mark does not say what shows the same in the short lane.
    """
    mark = item.get_closest_marker(LEFT_TO_ALL)
    if mark and not (len(mark.args) == 1 and mark.args[0]):
        message = f"{item.nodeid}: {LEFT_TO_ALL}() does not say what the short lane has instead"
        raise pytest.UsageError(message)
    return mark is not None


def repetitions(nodeids: Iterable[str]) -> set[str]:
    """Return the browser tests between the first and the last case of the same function."""
    cases: dict[str, list[str]] = {}
    for nodeid in nodeids:
        path, _, test = nodeid.partition("::")
        own = path.startswith(units.BROWSER) and path not in {*units.EVERY_PAGE, units.PARITY}
        if own and path not in KINDS and units.parameter(test) is not None:
            cases.setdefault(nodeid.partition("[")[0], []).append(nodeid)
    return {nodeid for same in cases.values() for nodeid in same[1:-1]}
