"""How the tests are dealt to the workers of pytest-xdist, and in which order.

What shares something costly stays on one worker: the tests of a file, of a calculator (whose
replies are computed once), of a page in the browser (which is opened once). The browser's come
first, since they take longest; while one worker builds the site, the others compute calculators.
"""

import re

from xdist.scheduler import LoadScopeScheduling

CALCULATORS = "tests/engine/calculators/test_"
BROWSER = "tests/browser/"
# Files of which every parameter can be tried by itself.
APART = tuple(
    f"tests/browser/test_{name}.py" for name in ("every_figure", "every_page", "features", "parity")
)
_PARAMETER = re.compile(r"\[([^\]]*)\]$")


def unit(nodeid: str) -> str:
    """Return the name of the unit that a test is dealt out with."""
    path, _, test = nodeid.partition("::")
    parameter = _PARAMETER.search(test)
    if parameter and path.startswith(CALCULATORS):
        return f"calculator {parameter[1]}"
    if parameter and path in APART:
        return f"{path} {parameter[1]}"
    return path


def ordered(nodeids: list[str]) -> list[int]:
    """Return the places of the tests in the order in which they are dealt out."""
    units = [unit(nodeid) for nodeid in nodeids]
    first = next((one for one in units if one.startswith(BROWSER)), "")
    found = {one: place for place, one in reversed(list(enumerate(units)))}

    def rank(place: int) -> tuple[int, int]:
        name = units[place]
        kinds = (name == first, name.startswith("calculator "), name.startswith(BROWSER), True)
        return kinds.index(True), found[name]

    return sorted(range(len(nodeids)), key=rank)


class Dealing(LoadScopeScheduling):
    """Deals the tests out by units."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)
