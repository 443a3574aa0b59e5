"""Which tests `build.py test` runs, and which only `build.py test --all` adds.

The short lane keeps every kind of thing and leaves out repetitions: of the pages in a browser, one
for each template, kind of figure, kind of input and list; of calculators in Pyodide, those of a
fixed sample. Pytest called by itself runs whatever it is asked for.
"""

import os

from tests import units

OPTION = "--short"
PROJECT = "WALLCLOCK_PROJECT"  # whose calculators `test_promises.py` tries
VARIABLE = "WALLCLOCK_SHORT_TESTS"  # how the workers of pytest-xdist know
# A greedy cover of templates, lists, blocks, views and inputs; tests/test_lanes.py checks that
# nothing on the site is missing here.
PAGES = (
    "",
    "authors/architecture/",
    "authors/write-a-guide/",
    "explorer/frontier/",
    "guides/gradient-accumulation/",
    "guides/overlap-frontier/",
    "guides/pipeline-schedule-lab/",
    "guides/stack-explorer/",
    "paths/a-one-gpu/",
    "reference/bibliography/",
    "reference/glossary/",
    "reference/how-fast/",
    "reference/kept/",
    "tools/embed/",
    "tools/sweep/",
    "tools/trace/",
)
SAMPLED = 8  # one calculator in so many is compared with Pyodide in the short lane


def in_short_lane() -> bool:
    """Return whether these tests were started with `--short`."""
    return bool(os.environ.get(VARIABLE))


def is_short(nodeid: str, calculators: tuple[str, ...]) -> bool:
    """Return whether the short lane runs a test; `calculators` are all names, in order."""
    path, _, test = nodeid.partition("::")
    case = units.parameter(test)
    if case is not None and path in units.EVERY_PAGE:
        return case in PAGES
    if path == units.PARITY and case in calculators:
        return calculators.index(case) % SAMPLED == 0
    return True
