import pytest

from builder.markdown import reference_lists
from engine.core.numbers import DEFAULT
from engine.core.views import Table
from tests.each import each


@pytest.fixture
def tables(monkeypatch):
    def kept(table, display):
        assert display is DEFAULT
        return table

    monkeypatch.setattr(reference_lists, "table_fragment", kept)
    return lambda places: list(reference_lists.measurement_tables({"places": places}))


def test_a_place_has_a_table_of_first_visits_and_one_of_those_after_them(tables):
    sides = {
        "ours": {"first": {"bytes": 12_000, "seen": 300}, "again": {"seen": 40}},
        "theirs": {"first": {"seen": 900, "used": 1200}, "again": {"bytes": 0, "seen": 70}},
    }
    assert tables({"home page": sides}) == [
        Table(
            title="Home page, first visit",
            columns=("Made with", "kB", "Seen", "Used"),
            rows=(("ours", "12", "300", "none"), ("theirs", "none", "900", "1,200")),
        ),
        Table(
            title="Home page, repeated visit",
            columns=("Made with", "Seen", "kB"),
            rows=(("ours", "40", "none"), ("theirs", "70", "0")),
        ),
    ]


def test_places_come_in_the_order_of_the_file(tables):
    side = {"ours": {"first": {}, "again": {}}}
    assert [table.title for table in tables({"b": side, "a": side})] == [
        "B, first visit",
        "B, repeated visit",
        "A, first visit",
        "A, repeated visit",
    ]


def test_nothing_measured_gives_no_table():
    assert list(reference_lists.measurement_tables({})) == []


def test_a_table_is_html():
    sides = {"ours": {"first": {"seen": 300}, "again": {"seen": 40}}}
    first, again = reference_lists.measurement_tables({"places": {"home": sides}})
    assert "<caption>Home, first visit</caption>" in first
    assert "<caption>Home, repeated visit</caption>" in again


@each(
    ("name", "value", "told"),
    [
        ("bytes", 1_234_567, "1,235"),
        ("bytes", 400, "0"),
        ("bytes", 600, "1"),
        ("bytes", None, "none"),
        ("seen", 0, "0"),
        ("seen", 0.0014, "0.001"),
        ("seen", 0.9994, "0.999"),
        ("seen", 1, "1"),
        ("seen", 1.4, "1"),
        ("seen", 12345.6, "12,346"),
        ("seen", None, "none"),
    ],
)
def test_a_cell_is_rounded_to_what_can_be_read(tables, name, value, told):
    table = tables({"home": {"ours": {"first": {name: value}, "again": {}}}})[0]
    assert table.rows == (("ours", told),)
