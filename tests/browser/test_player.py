import pytest

from tests.browser.reading import arrive

pytestmark = pytest.mark.browser
PAGE, FIGURE = "guides/collectives-by-hand/", ".scene-figure[data-of=collective_steps]"
# As the engine draws it, also where a reply has put the same in the place of the built one.
DRAWING = """figure => figure.querySelector('[data-stage]').innerHTML
  .replace(' xmlns="http://www.w3.org/2000/svg"', '')"""


def figure(page):
    found = page.locator(FIGURE)
    found.scroll_into_view_if_needed()
    found.locator("[data-scrub]:enabled").wait_for()  # its frames come when it is near
    return found


def at(found):
    return int(found.locator("[data-scrub]").input_value())


def seek(found, frame):
    found.locator("[data-scrub]").evaluate(
        "(scrub, frame) => { scrub.value = frame;"
        " scrub.dispatchEvent(new Event('input', {bubbles: true})); }",
        frame,
    )


@pytest.fixture
def player(opened):
    """The player of a page that other tests use as well, paused a step after its beginning."""
    page = opened(PAGE).page
    arrive(page)
    found = figure(page)
    seek(found, 1)
    yield found
    if found.locator("[data-play]").text_content() == "Pause":
        found.locator("[data-play]").click()
    found.locator("[data-speed]").select_option("1")


def test_it_opens_with_a_frame_that_shows_messages(visit):
    found = figure(visit(PAGE))
    assert at(found) > 0
    caption = found.locator("[data-frame-caption]").text_content()
    assert caption == found.locator("[data-steps] li").nth(at(found)).text_content()


def test_next_goes_one_step_on(player):
    before = at(player)
    player.locator("[data-step='1']").click()
    assert at(player) == before + 1


@pytest.mark.left_to_all("the player steps, jumps, plays, stops, and keeps its frame")
def test_play_begins_at_the_beginning(visit):
    found = figure(visit(PAGE))
    found.locator("[data-play]").click()
    assert at(found) == 0


def test_the_caption_belongs_to_the_frame(player):
    seek(player, 3)
    listed = player.locator("[data-steps] li").nth(3).text_content()
    assert player.locator("[data-frame-caption]").text_content() == listed


def test_jumping_to_a_frame_draws_what_stepping_to_it_draws(player):
    for _ in range(5 - at(player)):
        player.locator("[data-step='1']").click()
    stepped = player.evaluate(DRAWING)
    seek(player, 9)
    seek(player, 5)
    assert player.evaluate(DRAWING) == stepped


@pytest.mark.left_to_all("the player steps, jumps, plays, stops, and keeps its frame")
def test_going_back_to_the_opening_frame_draws_the_first_picture(visit):
    found = figure(visit(PAGE))
    first, opening = found.evaluate(DRAWING), at(found)
    seek(found, 8)
    seek(found, 0)
    assert found.evaluate(DRAWING) != first
    seek(found, opening)
    assert found.evaluate(DRAWING) == first


def test_play_moves_on_by_itself(player):
    player.locator("[data-speed]").select_option("4")
    player.locator("[data-play]").click()
    player.page.wait_for_function(
        f"() => Number(document.querySelector('{FIGURE} [data-scrub]').value) >= 2"
    )
    assert player.locator("[data-play]").text_content() == "Pause"


def test_play_stops_at_the_end(player):
    seek(player, int(player.locator("[data-scrub]").get_attribute("max")) - 1)
    player.locator("[data-speed]").select_option("4")
    player.locator("[data-play]").click()
    player.page.wait_for_function(
        f"() => document.querySelector('{FIGURE} [data-play]').textContent === 'Play'"
    )
    assert at(player) == int(player.locator("[data-scrub]").get_attribute("max"))


@pytest.mark.parametrize(("key", "frame"), [("ArrowRight", 5), ("ArrowLeft", 3), ("Home", 0)])
def test_a_key_moves_the_player(player, key, frame):
    seek(player, 4)
    player.locator("[data-scrub]").press(key)
    assert at(player) == frame


def test_the_space_bar_plays(player):
    player.locator("[data-scrub]").press(" ")
    assert player.locator("[data-play]").text_content() == "Pause"


LONGEST = """figure => Math.max(...[...figure.querySelectorAll('.scene > *')].flatMap(
  (shape) => getComputedStyle(shape).transitionDuration.split(',').map(parseFloat)))"""


def test_shapes_move_between_frames(player):
    assert player.evaluate(LONGEST) > 0.1


def test_nothing_moves_with_reduced_motion(visit):
    found = figure(visit(PAGE, reduced_motion="reduce"))
    assert found.evaluate(LONGEST) < 0.001


def test_a_new_drawing_keeps_the_frame(visit):
    page = visit(PAGE)
    found = figure(page)
    seek(found, 4)
    before = found.evaluate(DRAWING)
    page.locator('select[name="algorithm"][data-of="collective_steps"]').first.select_option(
        index=1
    )
    page.wait_for_function(
        f"before => document.querySelector('{FIGURE} [data-stage]').innerHTML !== before",
        arg=before,
    )
    assert at(found) == 4


@pytest.mark.left_to_all("the player steps, jumps, plays, stops, and keeps its frame")
def test_a_new_drawing_does_not_stop_what_plays(visit):
    page = visit(PAGE)
    found = figure(page)
    found.locator("[data-play]").click()
    before = found.locator("[data-stage] .scene > *").count()
    page.locator('input.drag[name="world_size"][data-of="collective_steps"]').first.press("ArrowUp")
    page.wait_for_function(
        f"count => document.querySelectorAll('{FIGURE} [data-stage] .scene > *').length !== count",
        arg=before,
    )
    assert found.locator("[data-play]").text_content() == "Pause"
