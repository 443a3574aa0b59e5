"""Tests that share something costly are dealt to one worker, the browser's first."""

from tests.units import ordered, unit

NODES = [
    "tests/builder/test_pages.py::test_one",
    "tests/engine/calculators/test_calculators.py::test_one[a]",
    "tests/engine/calculators/test_calculators.py::test_one[b]",
    "tests/engine/calculators/test_calculators.py::test_two[a]",
    "tests/engine/calculators/test_fields.py::test_one[a]",
    "tests/browser/test_live.py::test_one[x]",
    "tests/browser/test_every_figure.py::test_one[guides/zero-1/]",
    "tests/browser/test_every_figure.py::test_one[tools/job-time/]",
]


def test_a_unit_is_a_file_a_calculator_or_a_page():
    assert [unit(node) for node in NODES] == [
        "tests/builder/test_pages.py",
        "calculator a",
        "calculator b",
        "calculator a",
        "calculator a",
        "tests/browser/test_live.py",
        "tests/browser/test_every_figure.py guides/zero-1/",
        "tests/browser/test_every_figure.py tools/job-time/",
    ]


def test_calculators_are_computed_while_the_first_in_a_browser_build_the_site():
    assert ordered(NODES) == [5, 1, 3, 4, 2, 6, 7, 0]


def test_the_order_of_what_is_no_browsers_stays():
    assert ordered([NODES[0], "tests/builder/test_output.py::test_one"]) == [0, 1]
