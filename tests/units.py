"""How the tests are dealt to the workers of pytest-xdist, and in which order.

What shares something costly stays on one worker: the tests of a file, of a calculator (whose
replies are computed once, in a browser as well), of a page in the browser (which is opened once).
One in a browser comes first; while its worker builds the site, the others take what needs none. The
pages come last: each is short, so that all workers end together.
"""

import re
import zlib

from xdist.scheduler import LoadScopeScheduling

CALCULATORS = ("tests/engine/calculators/test_", "tests/browser/test_parity.py")
BROWSER = "tests/browser/"
# What is tried on every page, in this order: first as it arrives, then what a reader changes.
APART = tuple(
    f"tests/browser/test_{name}.py" for name in ("every_page", "features", "every_figure")
)
_PARAMETER = re.compile(r"\[([^\]]*)\]$")


def unit(nodeid: str) -> str:
    """Return the name of the unit that a test is dealt out with."""
    path, _, test = nodeid.partition("::")
    parameter = _PARAMETER.search(test)
    if parameter and path.startswith(CALCULATORS):
        return f"calculator {parameter[1]}"
    if parameter and path in APART:
        return f"page {parameter[1]}"
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
        within = APART.index(path) if path in APART else 0
        return (0 if name == first else kind), found[name], within

    return sorted(range(len(nodeids)), key=rank)


class Dealing(LoadScopeScheduling):
    """Deals the tests out by units."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)
