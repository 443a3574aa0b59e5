"""Tests that share something costly are dealt to one worker; short units come last."""

from tests.units import is_in_shard, ordered, unit

NODES = [
    "tests/builder/pages/test_all_pages.py::test_one",
    "tests/engine/calculators/test_calculators.py::test_one[a]",
    "tests/engine/calculators/test_calculators.py::test_one[b]",
    "tests/engine/calculators/test_calculators.py::test_two[a]",
    "tests/engine/calculators/test_fields.py::test_one[a]",
    "tests/browser/test_live.py::test_one[x]",
    "tests/browser/test_every_figure.py::test_one[guides/zero-1/]",
    "tests/browser/test_every_figure.py::test_one[tools/job-time/]",
    "tests/browser/test_every_page.py::test_one[guides/zero-1/]",
    "tests/browser/test_parity.py::test_one[b]",
    "tests/browser/test_keys.py::test_one",
]


def test_a_unit_is_a_file_a_calculator_or_a_page():
    assert [unit(node) for node in NODES] == [
        "tests/builder/pages/test_all_pages.py",
        "calculator a",
        "calculator b",
        "calculator a",
        "calculator a",
        "tests/browser/test_live.py",
        "page guides/zero-1/",
        "page tools/job-time/",
        "page guides/zero-1/",
        "calculator b",
        "tests/browser/test_keys.py",
    ]


def test_while_the_first_in_a_browser_build_the_site_comes_what_needs_none_and_pages_come_last():
    assert ordered(NODES) == [5, 0, 1, 3, 4, 2, 9, 10, 8, 6, 7]


def test_the_order_of_what_is_no_browsers_stays():
    assert ordered([NODES[0], "tests/builder/outputs/test_output_folder.py::test_one"]) == [0, 1]


def test_shards_divide_the_tests_and_no_unit():
    nodeids = [f"tests/browser/test_every_page.py::test_{i % 3}[guides/{i}/]" for i in range(90)]
    shares = [{one for one in nodeids if is_in_shard(one, f"{n}/4")} for n in range(1, 5)]
    assert sum(map(len, shares)) == len(nodeids)
    of_page = {unit(one) for one in shares[0]}
    assert not any(unit(one) in of_page for share in shares[1:] for one in share)
