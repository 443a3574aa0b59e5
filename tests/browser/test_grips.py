import pytest

from tests.browser.reading import live

pytestmark = pytest.mark.browser
MAP, MODELER = "guides/the-map/", "guides/parallelism-modeler/"
# What is dragged to the right, and of which figure; a step of it is told in words.
DRAGGED = {
    "bucket": ("guides/overlap-buckets/", "bucket_lab", "timeline"),
    "num_microbatches": ("guides/pipeline-schedule-lab/", "schedule_lab", "timeline"),
    "start": ("guides/overlap-frontier/", "two_streams", "timeline"),
    "gpus_per_node": (MAP, "parallel_map", "map"),
}
ORDER = "figure[data-output=order_strip]"


def order(page):
    return [
        grip.get_attribute("data-grip-key") for grip in page.locator(f"{ORDER} [data-grip]").all()
    ]


def wait_for_first(page, axis):
    page.wait_for_function(
        "axis => document.querySelector('figure[data-output=order_strip] [data-grip]')"
        ".dataset.gripKey === axis",
        arg=axis,
    )


def near(page):
    page.locator(ORDER).first.scroll_into_view_if_needed()
    page.wait_for_timeout(500)  # the strip is drawn anew when it comes near
    return page


@pytest.fixture
def the_map(labs):
    return near(labs.page(MAP, "parallel_map"))


@pytest.fixture
def touched(visit):
    """A map of its own, which stays one for fingers."""
    page = visit(MAP)
    page.locator(ORDER).first.scroll_into_view_if_needed()
    live(page, "parallel_map")
    return near(page)


def test_a_grip_is_moved_by_an_arrow_key(the_map):
    the_map.locator(f"{ORDER} [data-grip-key=tensor]").first.press("ArrowRight")
    wait_for_first(the_map, "context")
    assert order(the_map)[:2] == ["context", "tensor"]


def test_a_grip_keeps_the_focus_when_it_has_moved(the_map):
    the_map.locator(f"{ORDER} [data-grip-key=tensor]").first.press("ArrowRight")
    wait_for_first(the_map, "context")
    assert the_map.evaluate("() => document.activeElement.dataset.gripKey") == "tensor"


def test_a_grip_says_where_it_stands(the_map):
    grip = the_map.locator(f"{ORDER} [data-grip-key=tensor]").first
    said = [grip.get_attribute(name) for name in ("role", "aria-valuenow", "aria-valuetext")]
    assert said == ["slider", "1", "TP 4, place 1 of 4"]


def test_a_grip_is_dragged_past_its_neighbor(the_map):
    place = the_map.locator(f"{ORDER} [data-grip-key=tensor]").first.bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + 20
    the_map.mouse.move(x, y)
    the_map.mouse.down()
    the_map.mouse.move(x + place["width"], y, steps=10)
    the_map.mouse.up()
    wait_for_first(the_map, "context")
    assert order(the_map)[1] == "tensor"


@pytest.mark.left_to_all("grips of two other figures are dragged, and one by a finger")
def test_dragging_the_border_of_a_stage_moves_layers(visit):
    page = visit(MODELER)
    grip = page.locator("figure[data-output=strip] [data-grip-key=off_first]").first
    grip.scroll_into_view_if_needed()
    live(page, "parallelism_modeler")
    page.locator("figure[data-output=strip]").first.scroll_into_view_if_needed()
    page.wait_for_timeout(500)  # the strip is drawn anew when it comes near
    place = grip.bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + 20
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 40, y, steps=10)
    page.mouse.up()
    box = page.locator("input[name=off_first][data-of=parallelism_modeler]").first
    page.wait_for_function("() => performance.getEntriesByName('update').length > 0")
    assert int(box.input_value()) > 0


def test_a_grip_follows_a_finger(touched):
    grip = touched.locator(f"{ORDER} [data-grip-key=tensor]").first
    touch = touched.context.new_cdp_session(touched)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    # A page for fingers is laid out anew, with larger controls: the place is taken after that.
    grip.evaluate("one => one.scrollIntoView({ block: 'center' })")
    touched.wait_for_timeout(1_000)
    place = grip.bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + 20

    def send(kind, *points):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)})

    send("touchStart", {"x": x, "y": y})
    for part in range(1, 11):
        send("touchMove", {"x": x + part / 10 * place["width"], "y": y})
    send("touchEnd")
    wait_for_first(touched, "context")
    assert order(touched)[1] == "tensor"


@pytest.fixture
def grasp(visit):
    """Open a figure and return its grip of an input."""

    def opened(name, **options):
        address, calculator, output = DRAGGED[name]
        page = visit(address, **options)
        figure = page.locator(f"figure[data-of={calculator}][data-output={output}]").first
        figure.evaluate("one => one.scrollIntoView({ block: 'center' })")
        figure.hover()
        grip = figure.locator(f"[data-grip={name}]").first
        grip.wait_for(state="attached")
        page.wait_for_function("() => !document.querySelector('[data-state=loading]')")
        figure.evaluate("one => one.scrollIntoView({ block: 'center' })")
        page.wait_for_timeout(500)
        return page, grip

    return opened


def told(grip):
    return grip.get_attribute("aria-valuetext")


def wait_until_other(page, grip, before):
    page.wait_for_function(
        "([grip, before]) => grip.getAttribute('aria-valuetext') !== before",
        arg=[grip.element_handle(), before],
    )


@pytest.mark.parametrize("name", DRAGGED)
def test_a_figure_is_grasped_by_mouse_and_by_keyboard(grasp, name):
    page, grip = grasp(name)
    first = told(grip)
    place = grip.bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 13):
        page.mouse.move(x + 10 * step, y)
        page.wait_for_timeout(30)
    page.mouse.up()
    wait_until_other(page, grip, first)
    page.wait_for_timeout(500)
    dragged = told(grip)
    grip.press("ArrowLeft")
    wait_until_other(page, grip, dragged)
    assert page.evaluate("() => document.activeElement.dataset.grip") == name
    assert grip.get_attribute("role") == "slider"
    assert grip.get_attribute("aria-label")


@pytest.mark.left_to_all("grips of two other figures are dragged, and one by a finger")
def test_a_grip_on_a_timeline_follows_a_finger(grasp):
    page, grip = grasp("start", viewport={"width": 390, "height": 844})
    touch = page.context.new_cdp_session(page)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    grip.evaluate("one => one.scrollIntoView({ block: 'center' })")
    page.wait_for_timeout(1_000)
    first, place = told(grip), grip.bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2

    def send(kind, *points):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)})

    send("touchStart", {"x": x, "y": y})
    for step in range(1, 11):
        send("touchMove", {"x": x + 12 * step, "y": y})
    send("touchEnd")
    wait_until_other(page, grip, first)
