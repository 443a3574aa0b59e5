"""How the tests are dealt to the workers of pytest-xdist, and in which order.

What shares something costly stays on one worker: the tests of a file, of a calculator (whose
replies are computed once, in a browser as well), of a page in the browser (which is opened once).
One in a browser comes first; while its worker builds the site, the others take what needs none. The
pages come last: each is short, so that all workers end together.
"""

import re
import zlib

from xdist.scheduler import LoadScopeScheduling

PARITY = "tests/browser/test_parity.py"
CALCULATORS = ("tests/engine/calculators/test_", PARITY)
BROWSER = "tests/browser/"
# What is tried on every page, in this order: first as it arrives, then what a reader changes.
EVERY_PAGE = tuple(
    f"tests/browser/test_{name}.py" for name in ("every_page", "features", "every_figure")
)
_PARAMETER = re.compile(r"\[([^\]]*)\]$")


def parameter(test: str) -> str | None:
    """Return the case in the brackets behind a test's name; None without any."""
    match = _PARAMETER.search(test)
    return match[1] if match else None


def unit(nodeid: str) -> str:
    """Return the name of the unit that a test is dealt out with."""
    path, _, test = nodeid.partition("::")
    case = parameter(test)
    if case is not None and path.startswith(CALCULATORS):
        return f"calculator {case}"
    if case is not None and path in EVERY_PAGE:
        return f"page {case}"
    return path


def is_in_shard(nodeid: str, shard: str) -> bool:
    """Return whether a test belongs to a shard such as "2/4"; a unit is never divided."""
    place, _, count = shard.partition("/")
    return zlib.crc32(unit(nodeid).encode()) % int(count) == int(place) - 1


def ordered(nodeids: list[str]) -> list[int]:
    """Return the places of the tests in the order in which they are dealt out."""
    units = [unit(nodeid) for nodeid in nodeids]
    first = next((one for one in units if one.startswith(BROWSER)), "")
    found = {one: place for place, one in reversed(list(enumerate(units)))}

    def rank(place: int) -> tuple[int, int, int]:
        name, path = units[place], nodeids[place].partition("::")[0]
        starts = (first, "tests/", "calculator ", BROWSER, "page ")
        kind = max(at for at, start in enumerate(starts) if name.startswith(start))
        within = EVERY_PAGE.index(path) if path in EVERY_PAGE else 0
        return (0 if name == first else kind), found[name], within

    return sorted(range(len(nodeids)), key=rank)


class Dealing(LoadScopeScheduling):
    """Deals the tests out by units."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)
