"""The player of a timeline, on a page of its own: made views, the site's templates and scripts."""

import pytest

from tests.browser.made import hosted, views, write_page
from tests.browser.reading import arrive

pytestmark = pytest.mark.browser
WINDOW = {"width": 1000, "height": 900}
FIGURE = "figure[data-output=run]"
# All that the player draws follows from these: paths, their places, the grip.
STATE = f"""() => [
  document.querySelector("{FIGURE} .layer").outerHTML,
  document.querySelector("{FIGURE} [data-scrub]").value,
  document.querySelector("{FIGURE} [data-frame-caption]").textContent,
]"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("timeline") / "page"
    write_page(folder, views(), views(backward=2.5e-3))
    with hosted(folder) as found:
        yield found


@pytest.fixture(scope="module")
def context(browser):
    """A reader who has been here before: scripts and their compiled code are cached."""
    found = browser.new_context(viewport=WINDOW)
    yield found
    found.close()


@pytest.fixture
def opened(browser, address, context):
    contexts, pages = [], []

    def open_page(*, blocked=False, **options):
        if options:
            contexts.append(browser.new_context(viewport=WINDOW, **options))
        page = (contexts[-1] if options else context).new_page()
        pages.append(page)
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        if blocked:
            page.route("**/bokeh.js", lambda route: route.abort())
        page.goto(address)
        arrive(page)
        state = "static" if blocked else "live"
        page.locator(f"{FIGURE}[data-chart={state}]").wait_for()
        page.locator(f"{FIGURE} [data-scrub]").wait_for()
        return page

    yield open_page
    for page in pages:
        page.close()
    for other in contexts:
        other.close()


@pytest.fixture
def page(opened):
    return opened()


def part(page, selector):
    return page.locator(f"{FIGURE} {selector}")


def caption(page):
    return part(page, "[data-frame-caption]").text_content()


def step(page, by, times=1):
    for _ in range(times):
        part(page, f"[data-step='{by}']").click()


def seek(page, share):
    part(page, "[data-scrub]").evaluate(
        "(grip, share) => { grip.value = share * grip.max;"
        " grip.dispatchEvent(new Event('input', {bubbles: true})); }",
        share,
    )


def path(page, name):
    return part(page, f".layer .{name}").get_attribute("d") or ""


def place(page, lane, time):
    """Where a time (milliseconds) of a lane lies in the window."""
    box = part(page, ".chart-svg").bounding_box()
    return box["x"] + box["width"] * time / (27 * 1.03), box["y"] + 34 * lane + 17


def test_at_first_the_whole_run_is_shown(page):
    assert path(page, "cursor") == ""


def test_a_step_back_goes_to_the_last_event_but_one(page):
    step(page, -1)
    assert caption(page) == "25.0 ms: B4 ends on stage 0; B5 ends on stage 1; 1 more."


@pytest.mark.left_to_all("another key, click or part of the same player is tried")
def test_home_is_the_start(page):
    part(page, "[data-scrub]").press("Home")
    assert caption(page) == "0 s: F0 starts on stage 0."


@pytest.mark.parametrize(
    ("key", "time"), [("ArrowRight", "2.00 ms"), ("ArrowLeft", "0 s"), ("End", "27.0 ms")]
)
def test_a_key_moves_the_time(page, key, time):
    part(page, "[data-scrub]").press("Home")
    step(page, 1)
    part(page, "[data-scrub]").press(key)
    assert caption(page).startswith(f"{time}:")


def test_stepping_forward_and_back_comes_to_the_same_picture(page):
    part(page, "[data-scrub]").press("Home")
    step(page, 1, 5)
    stepped = page.evaluate(STATE)
    part(page, "[data-scrub]").press("End")
    step(page, -1, 30)
    step(page, 1, 5)
    assert page.evaluate(STATE) == stepped


@pytest.mark.left_to_all("another key, click or part of the same player is tried")
def test_seeking_to_a_time_draws_what_stepping_to_it_draws(page):
    part(page, "[data-scrub]").press("Home")
    step(page, 1, 4)
    stepped = page.evaluate(STATE)
    share = float(part(page, "[data-scrub]").input_value()) / 10000
    seek(page, 0.8)
    seek(page, share + 0.002)
    assert page.evaluate(STATE) == stepped


def test_playing_to_the_end_draws_what_seeking_to_it_draws(page):
    part(page, "[data-scrub]").press("End")
    sought = page.evaluate(STATE)
    step(page, -1)
    part(page, "[data-speed]").select_option("4")
    part(page, "[data-play]").click()
    page.wait_for_function(f"() => ({STATE})()[2].startsWith('27.0')")
    page.wait_for_function(
        f"() => document.querySelector('{FIGURE} [data-play]').textContent==='Play'"
    )
    assert page.evaluate(STATE) == sought


def test_the_space_bar_plays(page):
    part(page, "[data-scrub]").press(" ")
    assert part(page, "[data-play]").text_content() == "Pause"


def test_reduced_motion_plays_from_event_to_event(opened):
    page = opened(reduced_motion="reduce")
    part(page, "[data-speed]").select_option("4")
    part(page, "[data-play]").click()
    # Not for one moment of the run: a busy machine may look too late.
    page.wait_for_function(f"() => parseFloat(({STATE})()[2]) >= 3")
    part(page, "[data-play]").click()
    values = {round(ms * 10000 / (27 * 1.03)) for ms in range(28)}
    assert int(part(page, "[data-scrub]").input_value()) in values


def test_a_click_on_a_span_tells_what_it_waited_for(page):
    page.mouse.click(*place(page, 2, 2.5))
    assert "It waits for F0 on stage 1, which ends at 2.00 ms. That waits for F0 on stage 0" in (
        caption(page)
    )


def test_a_click_on_an_idle_place_tells_what_ends_it(page):
    page.mouse.click(*place(page, 0, 10))
    assert caption(page).startswith(
        "stage 0 is idle here until B0 starts at 15.0 ms. It waits for B0 on stage 1"
    )


@pytest.mark.left_to_all("another key, click or part of the same player is tried")
def test_the_chain_of_an_idle_place_is_drawn_as_far_as_it_lasts(page):
    page.mouse.click(*place(page, 0, 10))
    # From 6 ms on: F5 on stages 1 to 3, then B0 on stages 3 to 0.
    assert path(page, "chain").count("Z") == 7


def test_a_tap_is_a_click(opened):
    page = opened(has_touch=True)
    page.touchscreen.tap(*place(page, 2, 2.5))
    assert caption(page).startswith("F0 on stage 2")


def test_keys_go_from_span_to_span_of_a_lane(page):
    picture = part(page, "[data-plot]")
    for key in ("ArrowRight", "ArrowRight", "ArrowRight"):
        picture.press(key)
    assert caption(page).startswith("F2 on stage 0")


@pytest.mark.left_to_all("another key, click or part of the same player is tried")
def test_keys_reach_an_idle_place(page):
    picture = part(page, "[data-plot]")
    for key in ("ArrowDown", "End", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft"):
        picture.press(key)
    picture.press("Home")
    picture.press("ArrowDown")
    assert caption(page).startswith("stage 1 is idle here until F0 starts at 1.00 ms")


@pytest.mark.left_to_all("another key, click or part of the same player is tried")
def test_after_a_click_the_keys_go_on_from_there(page):
    page.mouse.click(*place(page, 2, 2.5))
    page.keyboard.press("ArrowRight")
    assert caption(page).startswith("F1 on stage 2")


def test_escape_lets_go(page):
    page.mouse.click(*place(page, 2, 2.5))
    part(page, "[data-plot]").press("Escape")
    assert path(page, "chain") == path(page, "chosen") == path(page, "linked") == ""


def update(page):
    page.evaluate(
        f"""async () => window.chart.updateChart(
          document.querySelector("{FIGURE}"), (await (await fetch("other.json")).json()).run)"""
    )


def test_a_pinned_run_stays_behind_the_next_one(page):
    part(page, "[data-pin]").click()
    pinned = path(page, "ghost")
    update(page)
    assert path(page, "ghost").count("M") == pinned.count("M") > 0


@pytest.mark.left_to_all("another key, click or part of the same player is tried")
def test_the_end_of_the_pinned_run_is_told(page):
    part(page, "[data-pin]").click()
    update(page)
    assert caption(page) == "Pinned run: 27.0 ms. This one: 31.5 ms."


MEET = """figure => {
  const box = (one) => one.getBoundingClientRect();
  const label = box(figure.querySelector(".ghost-label"));
  const texts = [...figure.querySelectorAll("svg text:not(.ghost-label)")];
  return texts.filter((text) => {
    const it = box(text);
    return it.width && it.left < label.right && label.left < it.right
      && it.top < label.bottom && label.top < it.bottom;
  }).map((text) => text.textContent);
}"""


@pytest.mark.left_to_all("another key, click or part of the same player is tried")
@pytest.mark.parametrize("width", [390, 1000])
def test_the_label_of_a_pinned_run_meets_no_other_text(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    part(page, "[data-pin]").click()
    assert page.locator(FIGURE).evaluate(MEET) == []


@pytest.mark.left_to_all("another key, click or part of the same player is tried")
def test_unpinning_takes_the_ghost_away(page):
    part(page, "[data-pin]").click()
    part(page, "[data-pin]").click()
    assert (path(page, "ghost"), part(page, "[data-pin]").text_content()) == (
        "",
        "Keep to compare",
    )


def test_a_drag_across_looks_closer(page):
    x, y = place(page, 1, 5)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(place(page, 1, 10)[0], y, steps=5)
    page.mouse.up()
    labels = page.evaluate(
        f"""() => {{
          const figure = document.querySelector("{FIGURE}");
          const view = Object.values(window.Bokeh.index.roots ?? window.Bokeh.index)
            .find((one) => figure.contains(one.el));
          const words = view.model.renderers.map((one) => one.data_source)
            .find((one) => one.name === "words");
          return words.data.text.filter((text) => text.endsWith(" ms"));
        }}"""
    )
    assert labels[0] in ("5 ms", "6 ms")


def test_the_first_next_begins_the_run(page):
    step(page, 1)
    assert part(page, "[data-scrub]").input_value() == "0"
    step(page, 1)
    assert part(page, "[data-scrub]").input_value() != "0"


@pytest.mark.left_to_all("another key, click or part of the same player is tried")
def test_the_whole_run_comes_back(page):
    before = page.evaluate(STATE)
    part(page, "[data-zoom]").click()
    part(page, "[data-whole]").click()
    assert page.evaluate(STATE) == before


@pytest.mark.left_to_all("another key, click or part of the same player is tried")
def test_playing_on_turns_the_page_when_a_part_is_shown(page):
    part(page, "[data-scrub]").press("Home")
    part(page, "[data-zoom]").click()
    part(page, "[data-scrub]").press("End")
    assert 0 < int(part(page, "[data-scrub]").input_value()) <= 10000


def test_without_the_chart_library_it_plays_all_the_same(opened):
    page = opened(blocked=True)
    step(page, -1)
    assert caption(page).startswith("25.0 ms")


@pytest.mark.left_to_all("another key, click or part of the same player is tried")
def test_without_the_chart_library_a_part_is_drawn_large_all_the_same(opened):
    page = opened(blocked=True)
    texts = page.locator(f"{FIGURE} .chart-svg text.tick, {FIGURE} .chart-svg .tick text")
    before = texts.all_text_contents()
    part(page, "[data-zoom]").click()
    assert texts.all_text_contents() != before


def test_nothing_went_wrong(page):
    part(page, "[data-zoom]").click()
    step(page, -1, 3)
    update(page)
    assert page.errors == []
