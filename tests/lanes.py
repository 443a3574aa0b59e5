"""Which tests `build.py test` runs, and which only `build.py test --all` adds.

The short lane keeps every kind of thing and leaves out repetitions: of the pages in a browser, one
for each template, kind of figure, kind of input and list; of calculators in Pyodide, those of a
fixed sample. Pytest called by itself runs whatever it is asked for.
"""

import os
import re

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
EVERY_PAGE = tuple(
    f"tests/browser/test_{name}.py" for name in ("every_page", "features", "every_figure")
)
PARITY = "tests/browser/test_parity.py"
SAMPLED = 8  # one calculator in so many is compared with Pyodide in the short lane
_PARAMETER = re.compile(r"\[([^\]]*)\]$")


def in_short_lane() -> bool:
    """Return whether these tests were started with `--short`."""
    return bool(os.environ.get(VARIABLE))


def is_short(nodeid: str, calculators: tuple[str, ...]) -> bool:
    """Return whether the short lane runs a test; `calculators` are all names, in order."""
    path, _, test = nodeid.partition("::")
    parameter = _PARAMETER.search(test)
    if parameter and path in EVERY_PAGE:
        return parameter[1] in PAGES
    if parameter and path == PARITY and parameter[1] in calculators:
        return calculators.index(parameter[1]) % SAMPLED == 0
    return True
