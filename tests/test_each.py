"""The decorator that makes one test of many cases: none is left out, and those that fail named."""

import inspect

import pytest

from tests.each import CasesFailed, each


def test_every_case_is_tried_though_some_fail():
    tried = []

    @each("a", [1, 2])
    @each(("b", "c"), [(3, 4), pytest.param(5, 6, id="five")])
    def test(a, b, c):
        tried.append((a, b, c))
        assert (a, b) != (2, 5), "no"

    with pytest.raises(CasesFailed, match=r"1 of 4 cases failed:\n2-five: AssertionError: no"):
        test()
    assert tried == [(1, 3, 4), (1, 5, 6), (2, 3, 4), (2, 5, 6)]


def test_fixtures_and_marks_stay():
    @pytest.mark.parametrize("z", [7])
    @each("a", "xy", ids=["first", "second"])
    def test(tmp_path, a, z):
        assert (tmp_path, z) == ("here", 7)
        assert a in "xy"

    assert list(inspect.signature(test).parameters) == ["tmp_path", "z"]
    assert [mark.name for mark in test.pytestmark] == ["parametrize"]
    test(tmp_path="here", z=7)


def test_one_test_of_each_group():
    @each("a", [pytest.param(1, id="one.x"), pytest.param(2, id="two.x")], by=True)
    def test(a):
        assert a != 2

    assert test.pytestmark[0].args == ("group", ["one", "two"])
    test(group="one")
    with pytest.raises(CasesFailed, match=r"two\.x"):
        test(group="two")


def test_costly_cases_are_made_when_the_test_runs():
    made = []

    @each("a", lambda: made or made.append(1) or made)
    def test(a):
        assert a == 1

    assert made == []
    test()
    assert made == [1]


def test_a_list_without_a_case_is_no_test():
    @each("a", [])
    def test(a):
        raise AssertionError

    with pytest.raises(AssertionError, match="there is no case for a"):
        test()
