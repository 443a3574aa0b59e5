"""`python -m tests.cost [NAME ...]`: what a calculator and a guide cost the tests, in CPU seconds.

Counts the time of all processes, the browser's too, in the tests that every calculator and every
page get by themselves; without names, of some drawn from all. What is made once for all (the site,
the browser) is left out. Linux only: it reads /proc.
"""

import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.calculator import names

ROOT = Path(__file__).resolve().parents[1]
DRAWN = 6
TESTS = (
    "tests/engine/calculators",
    "tests/builder/test_articles.py",
    "tests/browser/test_every_figure.py",
    "tests/browser/test_every_page.py",
    "tests/browser/test_features.py",
    "tests/browser/test_parity.py",
)
_PARAMETER = re.compile(r"\[(?:guides/)?([\w-]+)/?\]$")


def spent() -> float:
    """Return the CPU seconds of this process and of all that it started and that still run."""
    children, seconds = defaultdict(list), {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = stat.read_text("utf-8").rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        number = int(stat.parent.name)
        children[int(after_name[1])].append(number)
        seconds[number] = sum(map(int, after_name[11:15])) / os.sysconf("SC_CLK_TCK")
    waiting, total = [os.getpid()], 0.0
    while waiting:
        number = waiting.pop()
        total += seconds.get(number, 0.0)
        waiting += children[number]
    return total


class Meter:
    """A plugin: keeps the tests of the chosen names and adds up what each of them costs."""

    def __init__(self, chosen: list[str]) -> None:
        self.chosen = chosen
        self.costs: dict[str, dict[str, float]] = {name: defaultdict(float) for name in chosen}
        self.shared = 0.0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if name_of(item.nodeid) in self.chosen]

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Iterator[None]:
        before, within = spent(), self.shared
        result = yield
        if fixturedef.scope == "session":
            self.shared = within + spent() - before
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        before, self.shared = spent(), 0.0
        result = yield
        file = item.nodeid.partition("::")[0].rpartition("/")[2]
        self.costs[name_of(item.nodeid)][file] += spent() - before - self.shared
        return result


def name_of(nodeid: str) -> str:
    """Return the calculator or the guide that a test is about, "" if it is about none."""
    found = _PARAMETER.search(nodeid)
    return found[1] if found else ""


def drawn(every: list[str]) -> list[str]:
    """Return some of all, evenly spread."""
    return every[:: max(1, len(every) // DRAWN)][:DRAWN]


def main(given: list[str]) -> int:
    """Run the tests and print what they cost."""
    guides = sorted(path.stem for path in (ROOT / "content" / "guides").glob("*.md"))
    meter = Meter(given or drawn(names()) + drawn(guides))
    status = pytest.main(["-q", *TESTS], plugins=[meter])
    for kind, of_kind in (("calculator", names()), ("guide", guides)):
        found = {name: cost for name, cost in meter.costs.items() if name in of_kind}
        for name, costs in found.items():
            parts = ", ".join(f"{file} {cost:.1f}" for file, cost in costs.items())
            print(f"{kind} {name}: {sum(costs.values()):.1f} s ({parts})")
        if found:
            mean = sum(sum(costs.values()) for costs in found.values()) / len(found)
            print(f"a {kind} costs {mean:.1f} s of CPU")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
