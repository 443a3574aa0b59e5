"""Pointing at an object marks it in every view of the page that shows it."""

import pytest

from engine.core.units import COUNT, SECONDS
from engine.core.views import Axis, Lines, Series
from tests.browser.made import hosted, views, write_page
from tests.browser.reading import arrive

pytestmark = pytest.mark.browser
# The names of the views that mark something.
MARKED = """() => [...document.querySelectorAll("[data-output]")].filter((view) =>
  view.querySelector("[data-linked]") || view.querySelector(".layer .linked[d*=M]"))
  .map((view) => view.dataset.output).sort()"""
EVERYWHERE = ["memory", "picture", "run", "stages"]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("links") / "page"
    write_page(folder, views())
    with hosted(folder) as found:
        yield found


@pytest.fixture(scope="module")
def made(browser, address):
    context = browser.new_context(viewport={"width": 1000, "height": 2200})
    page = context.new_page()
    page.goto(address)
    arrive(page)
    for name in ("run", "memory"):
        page.locator(f"[data-output={name}][data-chart=live]").wait_for()
        page.locator(f"[data-output={name}] .layer").wait_for(state="attached")
    yield page
    context.close()


@pytest.fixture
def page(made):
    """The page, on which nothing is marked, pointed at or focused."""
    made.locator("h1").hover()
    made.keyboard.press("Escape")
    made.evaluate("() => document.activeElement.blur()")
    made.wait_for_function(f"() => ({MARKED})().length === 0")
    return made


def point(page, name, x, y):
    """Move the pointer over a chart: x is a share of its frame, y pixels from its top."""
    box = page.locator(f"[data-output={name}] .chart-svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] * x, box["y"] + y)


def test_a_row_of_a_table_marks_its_object_in_all_views(page):
    page.locator("tr[data-links='stage:1']").hover()
    assert page.evaluate(MARKED) == EVERYWHERE


def test_a_shape_of_a_scene_marks_its_object_in_all_views(page):
    page.locator("[data-stage] [data-links='stage:2']").hover()
    assert page.evaluate(MARKED) == EVERYWHERE


def test_a_span_marks_its_objects_in_all_views(page):
    point(page, "run", 0.02, 17)
    assert page.evaluate(MARKED) == EVERYWHERE


def test_a_bar_marks_its_object_in_all_views(page):
    point(page, "memory", 0.9, 46 + 31)
    assert page.evaluate(MARKED) == EVERYWHERE


def test_a_segment_marks_its_own_object(page):
    point(page, "memory", 0.2, 46 + 31)
    assert page.evaluate(MARKED) == ["memory"]


def test_the_focus_on_a_row_does_the_same(page):
    page.locator("tr[data-links='stage:0']").focus()
    assert page.evaluate(MARKED) == EVERYWHERE


def test_arrow_keys_go_from_row_to_row(page):
    page.locator("tr[data-links='stage:0']").press("ArrowDown")
    assert page.evaluate("() => document.activeElement.dataset.links") == "stage:1"


def test_only_one_row_is_a_stop_of_the_tab_key(page):
    assert page.locator("tr[tabindex='0']").count() == 1


def test_arrow_keys_in_a_chart_do_the_same(page):
    page.locator("[data-output=run] [data-plot]").press("ArrowDown")
    assert page.evaluate(MARKED) == EVERYWHERE


def test_arrow_keys_in_a_scene_do_the_same(page):
    page.locator("[data-output=picture] [data-stage]").press("ArrowDown")
    assert page.evaluate(MARKED) == EVERYWHERE


def test_escape_clears(page):
    page.locator("tr[data-links='stage:0']").press("Escape")
    assert page.evaluate(MARKED) == []


def test_leaving_clears(page):
    page.locator("[data-stage] [data-links='stage:2']").hover()
    page.locator("h1").hover()
    assert page.evaluate(MARKED) == []


def test_a_marked_row_of_a_chart_lies_where_the_bar_is(page):
    page.locator("tr[data-links='stage:1']").hover()
    path = page.locator("[data-output=memory] .layer .linked").get_attribute("d")
    assert path == "M0 68H1000V86H0Z"


def named(key):
    """A curve with a key of the reader's choice; curves name no objects."""
    return Lines(
        title="Time over ranks",
        x=Axis(label="ranks", quantity=COUNT, low=0.0, high=8.0),
        y=Axis(label="time", quantity=SECONDS, low=0.0, high=1.0),
        series=(Series(key=key, label="links", x=(1.0, 8.0), y=(0.1, 0.9), color="expert"),),
    )


@pytest.mark.parametrize("key", ["links", "network"])
def test_a_curve_of_any_name_is_live_and_marks_nothing(browser, tmp_path, key):
    """A curve named `links` once was taken for marks that name objects, and broke its page."""
    write_page(tmp_path / "page", {"ranks": named(key)})
    with hosted(tmp_path / "page") as address:
        page, errors = browser.new_page(), []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        arrive(page)
        page.locator("[data-output=ranks][data-chart=live]").wait_for()
        point(page, "ranks", 0.5, 100)
        page.wait_for_timeout(300)  # what follows a chart is imported after it is live
        assert not errors
        assert page.evaluate(MARKED) == []
        assert page.locator("[data-output=ranks] .layer").count() == 0
        page.close()
