"""The drawing of which part imports which."""

import pytest

from builder.pages.page_context import draw, package_graph, topological_order


class Told:
    """Imports that are told, and not read: module -> those that it imports."""

    def __init__(self, direct):
        self.sources = direct
        self.direct_imports = direct.__getitem__


def test_a_part_is_a_package_or_a_room_of_the_engine():
    made = package_graph(
        Told(
            {
                "engine/__init__.py": [],
                "build.py": ["builder/serve/serve.py"],
                "builder/serve/serve.py": [
                    "builder/__init__.py",
                    "builder/core/build_cache.py",
                    "engine/answer.py",
                ],
                "builder/markdown/extensions/references.py": [
                    "engine/run/__init__.py",
                    "engine/run/job.py",
                ],
                "engine/answer.py": ["engine/core/units.py"],
                "engine/run/job.py": ["engine/run/logs/nccl.py", "engine/core/units.py"],
                "engine/run/logs/nccl.py": [],
                "engine/core/units.py": [],
            }
        )
    )
    assert made == {
        "build": {"builder"},
        "builder": {"engine.answer", "engine.run"},
        "engine.answer": {"engine.core"},
        "engine.run": {"engine.core"},
        "engine.core": set(),
    }
    assert list(made) == ["build", "builder", "engine.answer", "engine.run", "engine.core"]


@pytest.mark.parametrize(
    ("graph", "order"),
    [
        ({}, []),
        ({"b": ["c"], "a": ["b"], "c": []}, ["c", "b", "a"]),
        ({"b": [], "a": [], "d": ["a"], "c": ["b"]}, ["a", "b", "c", "d"]),
        ({"a": ["elsewhere"]}, ["a"]),
        ({"z": ["a"], "a": ["z"], "b": ["z"]}, ["a", "z", "b"]),
        ({"b": ["a"], "a": ["b"], "c": [], "d": ["c"]}, ["c", "d", "a", "b"]),
    ],
)
def test_each_part_comes_after_those_that_it_imports_and_circles_go_by_name(graph, order):
    assert topological_order(graph) == order


def square(x, y, kind):
    return f'<rect x="{x}" y="{y}" width="12" height="12" class="{kind}" fill="currentColor"/>'


def test_a_square_stands_where_a_row_imports_a_column():
    # Rows of 18 from (150, 130); a square lies 3 within its cell.
    assert draw({"b&c": {"a"}, "a": set()}) == (
        '<div class="scroll" tabindex="0"><svg class="import-map" viewBox="0 0 256 174" role="img" '
        'aria-label="2 parts; each imports only parts above it" font-size="13" '
        'fill="currentColor">'
        '<text x="142" y="143" text-anchor="end">a</text>'
        '<text transform="translate(163 122) rotate(-60)">a</text>'
        '<text x="142" y="161" text-anchor="end">b&amp;c</text>'
        '<text transform="translate(181 122) rotate(-60)">b&amp;c</text>'
        + square(153, 133, "c-idle")
        + square(153, 151, "c-compute")
        + square(171, 151, "c-idle")
        + "</svg></div>"
    )


def test_a_circle_shows_above_the_diagonal():
    made = draw({"b": ["a"], "a": ["b"]})
    assert made.count('"c-compute"') == 2
    assert square(171, 133, "c-compute") in made


def test_nothing_is_an_empty_drawing():
    assert draw({}) == (
        '<div class="scroll" tabindex="0"><svg class="import-map" viewBox="0 0 220 138" role="img" '
        'aria-label="0 parts; each imports only parts above it" font-size="13" '
        'fill="currentColor"></svg></div>'
    )
