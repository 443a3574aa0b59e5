"""Scenes of group tests: a row per round, a cell per node."""

from collections.abc import Iterator, Sequence

from engine.core.text import Text, say
from engine.core.units import BANDWIDTH, GB, Count
from engine.core.views import Frame, Scene, Shape
from engine.draw.shapes import rect, text
from engine.simulate.collectives.link_hunt import GroupTest, TestRound

_WIDTH, _LEFT, _TOP, _ROW, _HEIGHT, _FONT = 752.0, 64.0, 44.0, 56.0, 36.0, 23.0
_LEGEND = 40.0


def group_scene(nodes: Count, rounds: Sequence[TestRound], title: str) -> Scene:
    """Return the scene, one frame per round; the last one opens."""
    rows = max(1, len(rounds))
    shown = range(1, rows + 1)
    frames = tuple(
        Frame(caption=_caption(rounds, last), shapes=tuple(_shapes(nodes, rounds, last)))
        for last in shown
    )
    return Scene(
        title=title,
        width=_WIDTH,
        height=_TOP + rows * _ROW + _LEGEND,
        frames=frames,
        opening=min(1, len(frames) - 1),
        caption="Each row is a round of tests. A cell holds the bus bandwidth of the group that "
        "its node was tested in, in GB/s; a line under cells joins the nodes of a group.",
    )


def _shapes(nodes: Count, rounds: Sequence[TestRound], last: Count) -> Iterator[Shape]:
    wide = (_WIDTH - _LEFT) / nodes
    yield text("nodes", 2, 28, _FONT, "node", "start", "value c-muted")
    for node in range(nodes):
        yield text(f"n{node}", _LEFT + (node + 0.5) * wide, 28, _FONT, f"{node}", "middle",
                   "value c-muted")  # fmt: skip
    for number in range(max(1, len(rounds))):
        tests = rounds[number] if number < min(last, len(rounds)) else ()
        top = _TOP + number * _ROW
        yield text(f"r{number}", 2, top + 26, _FONT, f"{number}" if tests else "", "start")
        yield from _row(number, tests, nodes, (top, wide))
    yield from _legend(_TOP + max(1, len(rounds)) * _ROW + 4)


def _row(
    number: Count, tests: TestRound, nodes: Count, top_and_width: tuple[float, float]
) -> Iterator[Shape]:
    top, wide = top_and_width
    of = {node: test for test in tests for node in test.group}
    for node in range(nodes):
        test = of.get(node)
        look, opacity = _look(test)
        left = _LEFT + node * wide
        yield rect(f"c{number}.{node}", (left + 1.5, top), (wide - 3, _HEIGHT), look,
                   (("fill-opacity", opacity),))  # fmt: skip
        words = f"{test.reached / GB:.0f}" if test else ""
        yield text(f"t{number}.{node}", left + wide / 2, top + 26, _FONT, words, "middle",
                   "value c-ink")  # fmt: skip
        joined = test is not None and of.get(node + 1) is test
        line = (wide if joined else wide - 10, 3.0)
        yield rect(f"l{number}.{node}", (left + 5, top + _HEIGHT + 4), line, "cell c-ink",
                   (("opacity", "0.7" if test else "0"),))  # fmt: skip


def _look(test: GroupTest | None) -> tuple[str, str]:
    if test is None:
        return "cell c-muted", "0.06"
    return ("cell c-communication", "0.45") if test.slow else ("cell c-data", "0.4")


def _legend(top: float) -> Iterator[Shape]:
    left = _LEFT
    for key, look, opacity, words in (
        ("slow", "cell c-communication", "0.45", "slow group"),
        ("fine", "cell c-data", "0.4", "healthy group"),
        ("none", "cell c-muted", "0.06", "not tested"),
    ):
        yield rect(f"{key}.key", (left, top), (20, 20), look, (("fill-opacity", opacity),))
        yield text(f"{key}.words", left + 28, top + 18, _FONT, words, "start")
        left += 220


def _caption(rounds: Sequence[TestRound], last: Count) -> Text:
    if not rounds:
        return "Nothing has been tested yet."
    tests = rounds[last - 1]
    slow = [test for test in tests if test.slow]
    begin = f"Round {last - 1}: {group_count(len(tests))} tested"
    if not slow:
        return f"{begin}, and none is slow."
    words = f"{begin}, {len(slow)} slow. Nodes {group_words(slow[0].group)} reach {{b}} of {{e}}."
    return say(words, b=(slow[0].reached, BANDWIDTH), e=(slow[0].expected, BANDWIDTH))


def group_count(count: Count) -> str:
    """Return a count of groups in words."""
    return f"{count} group{'s' if count != 1 else ''}"


def group_words(group: Sequence[int]) -> str:
    """Return the nodes of a group as "0 to 7", or "3 and 12"."""
    if len(group) > 2 and list(group) == list(range(group[0], group[-1] + 1)):
        return f"{group[0]} to {group[-1]}"
    *others, last = map(str, group)
    return f"{', '.join(others)} and {last}" if others else last
