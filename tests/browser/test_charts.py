"""A chart becomes live without a visible change, follows new views, and survives without BokehJS.

A tiny page of its own: the lab's charts, the runtime's chart modules, no engine.
"""

import functools
import http.server
import io
import json
import shutil
import threading
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from builder import figures
from engine.answer import reply

THEME = Path(__file__).parents[2] / "theme"
NAMES = ("efficiency_curve", "timeline", "algorithms")
STYLES = ("00-base.css", "10-colors.css", "40-charts.css")
POLICY = "script-src 'self'; style-src 'self' 'unsafe-inline'"
ALL_LIVE = "() => document.querySelectorAll('[data-chart=live]').length === 3"
SHIFT = """() => {
  window.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
}"""


def ask(**values):
    request = {"calculator": "gradient_sync", "values": values, "want": {"svg": list(NAMES)}}
    return reply(request)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("charts")
    answer = ask()
    plots = "".join(
        f'<figure class="chart" data-of="lab" data-output="{name}"><div class="plot" data-plot>'
        f"{answer['extra']['svg'][name]}</div></figure>"
        for name in NAMES
    )
    items = {f"lab.{n}": figures.json_item(f"lab.{n}", answer["outputs"][n]) for n in NAMES}
    (out / "figures.json").write_text(json.dumps(items), encoding="utf-8")
    (out / "other.json").write_text(json.dumps(ask(tokens_per_gpu="20000")["outputs"]), "utf-8")
    (out / "bokeh.js").write_bytes(figures.bokeh_js())
    (out / "boot.js").write_text(
        'import * as chart from "./chart.js"; import { startCharts } from "./charts.js";'
        "window.chart = chart; startCharts();",
        "utf-8",
    )
    for module in [*(THEME / "runtime").glob("chart*.js"), THEME / "runtime" / "figures.js"]:
        shutil.copy(module, out)
    css = "".join((THEME / "styles" / name).read_text(encoding="utf-8") for name in STYLES)
    (out / "style.css").write_text(css, encoding="utf-8")
    (out / "index.html").write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Charts</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<link rel="icon" href="data:,"><link rel="stylesheet" href="style.css">'
        '<body data-figures="figures.json" data-bokeh="bokeh.js">'
        f'<main style="max-width: 40rem; margin: auto">{plots}</main>'
        '<script type="module" src="boot.js"></script>',
        encoding="utf-8",
    )
    return out


@pytest.fixture(scope="module")
def address(folder):
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture
def open_page(browser, address):
    contexts = []

    def opened(*, blocked=False, width=820):
        contexts.append(browser.new_context(viewport={"width": width, "height": 1200}))
        page = contexts[-1].new_page()
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.add_init_script(f"({SHIFT})()")
        if blocked:
            page.route("**/bokeh.js", lambda route: route.abort())
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def live(open_page, address):
    page = open_page()
    page.goto(address)
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
          const still = [...figure.querySelectorAll(".chart-svg text")];
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
    before = Image.open(io.BytesIO(page.screenshot())).convert("L")
    page.unroute("**/bokeh.js")
    page.reload()
    wait(page, ALL_LIVE)
    after = Image.open(io.BytesIO(page.screenshot())).convert("L")
    counts = ImageChops.difference(before, after).histogram()
    # Letters are smoothed a little differently on a canvas; a moved line would be far above this.
    assert sum(counts[96:]) < 0.001 * sum(counts)


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


def show_other(page):
    page.evaluate(
        """async () => {
          const views = await (await fetch("other.json")).json();
          for (const figure of document.querySelectorAll("figure.chart")) {
            window.chart.update(figure, views[figure.dataset.output]);
          }
        }"""
    )


def test_an_update_reaches_the_live_figure(live):
    show_other(live)
    expected = next(p["label"] for p in ask(tokens_per_gpu="20000")["outputs"][NAMES[0]]["points"])
    assert expected in words(live, NAMES[0])[1]


def test_an_update_tells_the_picture_s_words_anew(live):
    expected = next(p["label"] for p in ask(tokens_per_gpu="20000")["outputs"][NAMES[0]]["points"])
    show_other(live)
    label = live.locator(f"[data-output={NAMES[0]}] .chart-svg").get_attribute("aria-label")
    assert expected in label


def test_an_update_before_the_figure_is_live_is_not_lost(open_page, address):
    page = open_page()
    page.goto(address)
    wait(page, "() => Boolean(window.chart)")
    show_other(page)
    wait(page, ALL_LIVE)
    expected = next(p["label"] for p in ask(tokens_per_gpu="20000")["outputs"][NAMES[0]]["points"])
    assert expected in words(page, NAMES[0])[1]


def test_a_live_figure_needs_no_svg(live):
    needs = "() => [...document.querySelectorAll('.chart')].some((one) => chart.needsSvg(one))"
    assert not live.evaluate(needs)


def test_without_the_library_the_static_picture_stays(open_page, address):
    page = open_page(blocked=True)
    page.goto(address)
    wait(page, "() => document.querySelectorAll('[data-chart=static]').length === 3")
    assert page.locator(".chart-svg").first.evaluate("one => getComputedStyle(one).opacity") == "1"


def test_without_the_library_the_engine_must_draw(open_page, address):
    page = open_page(blocked=True)
    page.goto(address)
    wait(page, "() => document.querySelectorAll('[data-chart=static]').length === 3")
    needs = "() => [...document.querySelectorAll('.chart')].every((one) => chart.needsSvg(one))"
    assert page.evaluate(needs)


def test_the_pointer_over_a_curve_gets_its_numbers(live):
    box = live.locator(f"[data-output={NAMES[0]}] .chart-svg").bounding_box()
    live.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tooltip = live.locator(".bk-Tooltip")
    tooltip.first.wait_for(state="visible")
    assert "tokens per GPU" in tooltip.first.evaluate("one => one.shadowRoot.textContent")


def test_a_change_of_the_color_scheme_recolors_the_figure(live):
    read = """() => Object.values(window.Bokeh.index.roots ?? window.Bokeh.index)
      .flatMap((view) => (view.model.renderers ?? []).map((one) => one.data_source))
      .find((one) => one.name === "curves" && one.data.color.length).data.color[0]"""
    before = live.evaluate(read)
    live.emulate_media(color_scheme="dark")
    wait(live, f"() => ({read})() !== '{before}'")
    assert live.evaluate(read) != before
