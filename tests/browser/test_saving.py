"""Figures leave the page as files that other programs can read."""

import io
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page

from tests.browser.conftest import LAB
from tests.browser.reading import live

pytestmark = pytest.mark.browser
SVG = "{http://www.w3.org/2000/svg}"


def saved(page: Page, figure, kind: str) -> bytes:
    """Return the file behind a figure's button."""
    figure.locator("details.data").first.evaluate("one => (one.open = true)")
    with page.expect_download() as waiting:
        figure.locator(f'[data-download="{kind}"]').first.click()
    return Path(waiting.value.path()).read_bytes()


def test_a_scene_is_saved_as_a_picture_in_the_light_colors(visit):
    page = visit("guides/collectives-by-hand/", color_scheme="dark", accept_downloads=True)
    figure = page.locator("figure[data-kind=scene]").first
    image = Image.open(io.BytesIO(saved(page, figure, "png"))).convert("RGB")
    assert image.getpixel((1, 1)) == (0xFD, 0xFC, 0xF9)
    assert len(image.getcolors(1 << 24) or ()) > 20


@pytest.mark.parametrize(
    ("path", "state", "output"),
    [
        ("guides/collectives-by-hand/", "collectives_by_hand.world_size=6", "scene"),
        (LAB, "gradient_sync.world_size=16", "algorithms"),
    ],
    ids=["scene", "chart"],
)
def test_a_figure_is_saved_with_its_title_its_page_and_a_link_to_its_state(
    visit, path, state, output
):
    page = visit(f"{path}?{state}")
    of = state.partition(".")[0]
    live(page, of)
    figure = page.locator(f"figure[data-output={output}][data-of={of}]").first
    root = ElementTree.fromstring(saved(page, figure, "svg"))
    words = [one.text for one in root.iter(f"{SVG}text")]
    assert figure.locator("figcaption > strong, .view-title").first.text_content() in words
    assert page.title() in words
    assert page.url.partition("?")[0] in words
    link = root.find(f".//{SVG}a").attrib["href"]
    assert state in link
    assert "made=20" in link


@pytest.mark.left_to_all("a scene and each kind of chart are saved")
def test_a_scene_is_saved_as_it_stands(visit):
    page = visit("guides/collectives-by-hand/")
    figure = page.locator("figure[data-kind=scene]").first
    first = saved(page, figure, "svg")
    figure.locator("[data-step='1']").click()
    assert saved(page, figure, "svg") != first


@pytest.mark.parametrize("output", ["timeline", "algorithms", "parts"])
def test_a_chart_is_saved_with_a_size_its_title_and_its_colors(visit, output):
    page = visit()
    figure = page.locator(f"figure[data-output={output}]").first
    text = saved(page, figure, "svg").decode()
    root = ElementTree.fromstring(text)
    assert float(root.attrib["width"]) == 752
    assert float(root.attrib["height"]) > 100
    assert ".c-ink { color: #22242a; }" in text
    title = figure.locator("figcaption > strong, .view-title").first.text_content()
    assert title in {one.text for one in root.iter(f"{SVG}text")}
