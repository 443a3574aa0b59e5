"""A chart becomes live without a visible change, follows new views, and survives without BokehJS.

A tiny page of its own: the lab's charts, the runtime's chart modules, no engine.
"""

import io

import pytest
from PIL import Image, ImageChops

from engine.answer import reply
from engine.calculator import load, make
from tests.browser.made import hosted, write_page
from tests.browser.reading import arrive

NAMES = ("efficiency_curve", "timeline", "algorithms")
ALL_LIVE = "() => document.querySelectorAll('[data-chart=live]').length === 3"
SHIFT = """() => {
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
}"""


def ask(**values):
    return reply({"calculator": "gradient_sync", "values": values})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("charts")
    calculator = load("gradient_sync")
    views = calculator.compute(make(calculator, calculator.defaults))
    other = calculator.compute(make(calculator, {"tokens_per_gpu": 20000}))
    write_page(out, {name: views[name] for name in NAMES}, other)
    return out


@pytest.fixture(scope="module")
def address(folder):
    with hosted(folder) as found:
        yield found


@pytest.fixture(scope="module")
def context(browser):
    """A reader who has been here before: scripts and their compiled code are cached."""
    found = browser.new_context(viewport={"width": 820, "height": 1200})
    yield found
    found.close()


@pytest.fixture
def open_page(browser, address, context):
    contexts, pages = [], []

    def opened(*, blocked=False, width=820, **options):
        window = {"width": width, "height": 1200}
        if options or width != 820:
            contexts.append(browser.new_context(viewport=window, **options))
            page = contexts[-1].new_page()
        else:
            page = context.new_page()
        pages.append(page)
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.add_init_script(f"({SHIFT})()")
        if blocked:
            page.route("**/bokeh.js", lambda route: route.abort())
        return page

    yield opened
    for page in pages:
        page.close()
    for other in contexts:
        other.close()


@pytest.fixture
def live(open_page, address):
    page = open_page()
    page.goto(address)
    arrive(page)
    wait(page, ALL_LIVE)
    return page


def wait(page, condition):
    """Wait for a condition; the page's policy forbids Playwright's own way, which needs eval."""
    for _ in range(300):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never true: {condition}")


def geometry(page, name):
    """(the static frame's box, the live frame's box) on the page, in pixels."""
    return page.evaluate(
        """(name) => {
          const figure = document.querySelector(`[data-output=${name}]`);
          const still = figure.querySelector(".chart-svg").getBoundingClientRect();
          const holder = figure.querySelector(".live").getBoundingClientRect();
          const view = Object.values(window.Bokeh.index.roots ?? window.Bokeh.index)
            .find((one) => figure.contains(one.el));
          const { x, y, width, height } = view.frame.bbox;
          return [[still.x, still.y, still.width, still.height],
                  [holder.x + x, holder.y + y, width, height]];
        }""",
        name,
    )


def words(page, name):
    """(texts of the static picture, texts of the live one), sorted."""
    return page.evaluate(
        """(name) => {
          const figure = document.querySelector(`[data-output=${name}]`);
          const view = Object.values(window.Bokeh.index.roots ?? window.Bokeh.index)
            .find((one) => figure.contains(one.el));
          const source = view.model.renderers.map((one) => one.data_source)
            .find((one) => one.name === "words");
          const still = [...figure.querySelectorAll(".chart-svg text")]
            .filter((one) => getComputedStyle(one.parentElement).display !== "none");
          return [still.map((one) => one.textContent).sort(), [...source.data.text].sort()];
        }""",
        name,
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_live_frame_lies_on_the_static_one(live, name):
    still, moving = geometry(live, name)
    assert moving == pytest.approx(still, abs=1.0)


@pytest.mark.parametrize("name", NAMES)
def test_live_and_static_carry_the_same_texts(live, name):
    still, moving = words(live, name)
    assert moving == still


@pytest.mark.parametrize("width", [390, 820])
def test_the_swap_cannot_be_seen(open_page, address, width):
    page = open_page(blocked=True, width=width)
    page.goto(address)
    arrive(page)
    before = Image.open(io.BytesIO(page.screenshot())).convert("L")
    page.unroute("**/bokeh.js")
    page.reload()
    arrive(page)
    wait(page, ALL_LIVE)
    after = Image.open(io.BytesIO(page.screenshot())).convert("L")
    counts = ImageChops.difference(before, after).histogram()
    # Letters are smoothed a little differently on a canvas; a moved line would be far above this.
    assert sum(counts[96:]) < 0.001 * sum(counts)


@pytest.mark.left_to_all("the live picture is laid on the static one, and is updated")
@pytest.mark.parametrize("scale", [1, 2])
def test_at_the_left_edge_live_and_static_pictures_are_one(open_page, address, scale):
    """Nothing of a label, a tick or a bar is drawn twice, cut or moved, after a change neither."""
    shots = {}
    for blocked in (True, False):
        page = open_page(blocked=blocked, device_scale_factor=scale)
        page.goto(address)
        arrive(page)
        state = "static" if blocked else "live"
        wait(page, f"() => document.querySelectorAll('[data-chart={state}]').length === 3")
        show_other(page)
        page.wait_for_timeout(500)
        for name in ("timeline", "algorithms"):
            plot = page.locator(f"[data-output={name}] [data-plot]")
            plot.scroll_into_view_if_needed()
            shots[name, blocked] = Image.open(io.BytesIO(plot.screenshot())).convert("L")
    for name in ("timeline", "algorithms"):
        off = ImageChops.difference(shots[name, True], shots[name, False])
        edge = off.crop((0, 0, 12 * scale, off.height))
        assert sum(edge.histogram()[64:]) == 0, name


def test_becoming_live_moves_nothing(live):
    assert live.evaluate("() => window.shift") == 0


def test_a_policy_without_eval_suffices(live):
    assert live.errors == []


def test_a_page_under_a_live_chart_still_scrolls(live):
    captured = live.evaluate(
        """() => [...document.querySelectorAll(".live")].flatMap((one) => {
          const found = [], walk = (root) => {
            for (const element of root.querySelectorAll("*")) {
              found.push(getComputedStyle(element).touchAction);
              if (element.shadowRoot) walk(element.shadowRoot);
            }
          };
          walk(one);
          return found;
        })"""
    )
    assert set(captured) <= {"auto", "manipulation", "pan-x pan-y"}


def test_the_canvas_is_no_stop_of_the_tab_key(live):
    stops = live.evaluate(
        """() => [...document.querySelectorAll(".live")].flatMap((one) => {
          const found = [], walk = (root) => {
            for (const element of root.querySelectorAll("*")) {
              if (element.tabIndex >= 0) found.push(element.className);
              if (element.shadowRoot) walk(element.shadowRoot);
            }
          };
          walk(one);
          return found;
        })"""
    )
    assert stops == []


def show_other(page):
    # Kept by the page: Chromium may collect a promise that only the test waits for.
    page.evaluate(
        """() => {
          window.shown = false;
          fetch("other.json").then((reply) => reply.json()).then((views) => {
            for (const figure of document.querySelectorAll("figure.chart")) {
              window.chart.updateChart(figure, views[figure.dataset.output]);
            }
            window.shown = true;
          });
        }"""
    )
    page.wait_for_function("() => window.shown", polling=50)


def test_an_update_reaches_the_live_figure(live):
    show_other(live)
    expected = next(p["label"] for p in ask(tokens_per_gpu="20000")["outputs"][NAMES[0]]["points"])
    assert expected in words(live, NAMES[0])[1]


def watch_frames(page, name="timeline"):
    """Note the right ends of all bars, and the words, of every frame from now on."""
    page.evaluate(
        """(name) => {
          const figure = document.querySelector(`[data-output=${name}]`);
          const view = Object.values(window.Bokeh.index.roots ?? window.Bokeh.index)
            .find((one) => figure.contains(one.el));
          const source = (name) => view.model.renderers.map((one) => one.data_source)
            .find((one) => one.name === name);
          window.frames = [];
          const look = () => {
            window.frames.push(
              [source("boxes").data.x1.join(), source("words").data.text.join("|")]);
            requestAnimationFrame(look);
          };
          requestAnimationFrame(look);
        }""",
        name,
    )


def pictures(page):
    """Return the (bars, words) that followed one another, each once."""
    page.wait_for_timeout(800)
    frames = page.evaluate("() => window.frames")
    return [now for before, now in zip([None, *frames], frames, strict=False) if now != before]


def test_bars_move_and_their_numbers_are_the_new_ones_at_once(live):
    live.wait_for_timeout(400)
    watch_frames(live)
    show_other(live)
    before, *after = pictures(live)
    assert len({bars for bars, _ in after}) > 1
    assert before[1] != after[0][1]
    assert len({words for _, words in after}) == 1


def test_without_motion_a_chart_is_what_it_is_at_once(open_page, address):
    page = open_page(reduced_motion="reduce")
    page.goto(address)
    arrive(page)
    wait(page, ALL_LIVE)
    page.wait_for_timeout(400)
    watch_frames(page)
    show_other(page)
    assert len(pictures(page)) == 2


@pytest.mark.left_to_all("the live picture is laid on the static one, and is updated")
def test_an_update_tells_the_picture_s_words_anew(live):
    expected = next(p["label"] for p in ask(tokens_per_gpu="20000")["outputs"][NAMES[0]]["points"])
    show_other(live)
    label = live.locator(f"[data-output={NAMES[0]}] .chart-svg").get_attribute("aria-label")
    assert expected in label


@pytest.mark.left_to_all("the live picture is laid on the static one, and is updated")
def test_an_update_before_the_figure_is_live_is_not_lost(open_page, address):
    page = open_page()
    page.goto(address)
    arrive(page)
    wait(page, "() => Boolean(window.chart)")
    show_other(page)
    wait(page, ALL_LIVE)
    expected = next(p["label"] for p in ask(tokens_per_gpu="20000")["outputs"][NAMES[0]]["points"])
    assert expected in words(page, NAMES[0])[1]


def test_without_the_library_the_static_picture_stays(open_page, address):
    page = open_page(blocked=True)
    page.goto(address)
    arrive(page)
    wait(page, "() => document.querySelectorAll('[data-chart=static]').length === 3")
    assert page.locator(".chart-svg").first.evaluate("one => getComputedStyle(one).opacity") == "1"


@pytest.mark.left_to_all("the live picture is laid on the static one, and is updated")
def test_a_figure_that_the_pointer_enters_first_comes_alive_once(open_page, address):
    page = open_page()
    page.goto(address)
    page.locator("figure.chart").first.hover()
    wait(page, ALL_LIVE)
    layers = page.locator("figure.chart .live")
    assert layers.count() == 3
    assert page.errors == []


@pytest.mark.left_to_all("the live picture is laid on the static one, and is updated")
def test_a_library_that_did_not_come_is_fetched_at_the_next_touch(open_page, address):
    page = open_page(blocked=True)
    page.goto(address)
    arrive(page)
    wait(page, "() => document.querySelectorAll('[data-chart=static]').length === 3")
    page.unroute("**/bokeh.js")
    page.locator("figure.chart").first.hover()
    wait(page, "() => document.querySelectorAll('[data-chart=live]').length === 1")
    assert page.errors == []


@pytest.mark.left_to_all("the live picture is laid on the static one, and is updated")
def test_without_the_library_the_static_picture_follows(open_page, address):
    page = open_page(blocked=True)
    page.goto(address)
    arrive(page)
    wait(page, "() => document.querySelectorAll('[data-chart=static]').length === 3")
    expected = next(p["label"] for p in ask(tokens_per_gpu="20000")["outputs"][NAMES[0]]["points"])
    texts = page.locator(f"[data-output={NAMES[0]}] .chart-svg text")
    assert expected not in texts.all_text_contents()
    show_other(page)
    assert expected in texts.all_text_contents()


def test_the_pointer_over_a_curve_gets_its_numbers(live):
    box = live.locator(f"[data-output={NAMES[0]}] .chart-svg").bounding_box()
    live.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tooltip = live.locator(".bk-Tooltip")
    tooltip.first.wait_for(state="visible")
    assert "tokens per GPU" in tooltip.first.evaluate("one => one.shadowRoot.textContent")


def test_on_a_phone_the_numbers_of_a_curve_stay_in_the_window(open_page, address):
    page = open_page(width=390)
    page.goto(address)
    arrive(page)
    wait(page, ALL_LIVE)
    box = page.locator(f"[data-output={NAMES[0]}] .chart-svg").bounding_box()
    tooltip = page.locator(".bk-Tooltip").first
    for part in (0.02, 0.3, 0.35, 0.4, 0.45, 0.5, 0.98):
        page.mouse.move(box["x"] + part * box["width"], box["y"] + box["height"] / 2)
        tooltip.wait_for(state="visible")
        shown = tooltip.bounding_box()
        assert shown["x"] >= 0
        assert shown["x"] + shown["width"] <= 390


def test_a_change_of_the_color_scheme_recolors_the_figure(live):
    read = """() => Object.values(window.Bokeh.index.roots ?? window.Bokeh.index)
      .flatMap((view) => (view.model.renderers ?? []).map((one) => one.data_source))
      .find((one) => one.name === "curves" && one.data.color.length).data.color[0]"""
    before = live.evaluate(read)
    live.emulate_media(color_scheme="dark")
    wait(live, f"() => ({read})() !== '{before}'")
    assert live.evaluate(read) != before


EDGES = """() => [...document.querySelectorAll("[data-chart=live]")].flatMap((figure) => {
  const found = [];
  const look = (root) => root.querySelectorAll("*").forEach((one) => {
    if (one.shadowRoot) look(one.shadowRoot);
    if (one.tagName === "CANVAS" && one.height) found.push(one);
  });
  look(figure);
  return found.map((one) =>
    [...one.getContext("2d").getImageData(0, 0, 1, one.height).data].join());
})"""


@pytest.mark.left_to_all("the live picture is laid on the static one, and is updated")
def test_a_chart_that_was_narrow_leaves_no_ink_at_its_edge(live):
    before = live.evaluate(EDGES)
    assert len(before) >= 3
    for width in (390, 600, 820):
        live.set_viewport_size({"width": width, "height": 1200})
        live.wait_for_timeout(300)
    assert live.evaluate(EDGES) == before
