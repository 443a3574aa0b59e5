"""Social cards: one per page where the address of the site is known, and drawn only once."""

import io
import re
import shutil
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest
from PIL import Image

from builder import pipeline
from builder.core.build_cache import BuildCache
from builder.figures import social_cards
from tests.builder.conftest import ROOT, SERVICES, silent
from tests.each import each

FONTS = ROOT / "theme" / "fonts"
BASE = "https://example.org/w/"
FIGURE = (
    '<svg viewBox="0 0 {width} {height}"><style></style>'
    '<g class="scene"><rect width="{width}" height="{height}" fill="#2894e7"/></g></svg>'
)
STYLE = ":root{--paper: #fdfcf9;--ink: #22242a}.c-paper{color: var(--paper)}"


@pytest.fixture
def measure():
    return social_cards.text_measure(FONTS)


def built(site, memory, drawn, **options):
    def pngs(svgs):
        drawn.extend(svgs)
        return {name: svg.encode() for name, svg in svgs.items()}

    services = replace(SERVICES, cards=pngs)
    given = pipeline.Options(**options)
    return pipeline.build(site.folders, given, services, memory, silent).output


@pytest.fixture
def lettered(live):
    for path in social_cards.font_files(FONTS):
        shutil.copy(path, live.folders.theme / "fonts")
    return live


def cards_of(output):
    return {path for path in output if re.search(r"/card-[\w-]+-[0-9a-f]{16}\.png$", path)}


def test_every_page_of_a_site_with_an_address_has_a_card(lettered):
    drawn = []
    output = built(lettered, BuildCache(), drawn, base_url=BASE)
    pages = {path for path in output if path.endswith("index.html") and "embed/" not in path}
    pages -= {path for path in pages if path.endswith("/receipts/index.html")}
    assert len(cards_of(output)) == len(drawn) == len(pages) > 1


def test_a_site_without_an_address_has_none(lettered):
    drawn = []
    assert not cards_of(built(lettered, BuildCache(), drawn))
    assert not drawn


def test_a_theme_without_letters_has_none(live):
    assert not cards_of(built(live, BuildCache(), [], base_url=BASE))


def test_a_card_is_drawn_again_only_where_its_words_changed(lettered):
    memory, drawn = BuildCache(), []
    before = cards_of(built(lettered, memory, [], base_url=BASE))
    memory = memory.for_next_build()
    assert cards_of(built(lettered, memory, drawn, base_url=BASE)) == before
    assert not drawn
    source = "content/guides/first.md"
    title = re.search(r'title = "([^"]+)"', (lettered.root / source).read_text("utf-8"))[1]
    lettered.edit(source, f'title = "{title}"', 'title = "Renamed"')
    after = cards_of(built(lettered, memory.for_next_build(), drawn, base_url=BASE))
    assert drawn == [source]
    assert len(after - before) == 1


def test_the_head_of_a_page_names_the_card_by_its_whole_address():
    template = (ROOT / "theme" / "templates" / "base.html").read_text("utf-8")
    for name in ("og:image", "og:image:alt", "og:image:width", "twitter:card"):
        assert f'"{name}"' in template
    assert 'og:image" content="{{ surface.base_url }}{{ content.card[0] }}"' in template


@each(
    ("title", "sentence", "size"),
    [
        ("Ring", "Why a ring?", (400, 300)),
        ("Ring", "Why a ring?", (800, 200)),
        ("Ring", "Why a ring?", (300, 900)),
        ("Ring", "Why a ring?", None),
        ("The longest title that anybody has written for a page " * 2, "And " * 90, (400, 300)),
        ("The longest title that anybody has written for a page", "And then. " * 90, (900, 200)),
    ],
)
def test_words_and_figure_stay_on_the_card_and_apart(title, sentence, size):
    measure = social_cards.text_measure(FONTS)
    picture = FIGURE.format(width=size[0], height=size[1]) if size else ""
    svg = social_cards.card_svg("Wallclock", title, sentence, picture, STYLE, measure)
    lines = social_cards.lines_of(svg)
    assert " ".join(line.text for line in lines).startswith(" ".join(title.split()))
    ends = [line.x + measure(line.text, line.family, line.size) for line in lines]
    assert max(ends) <= social_cards.WIDTH - social_cards.EDGE + 1
    assert (
        max(line.y + 0.3 * line.size for line in lines)
        <= social_cards.HEIGHT - social_cards.EDGE / 2
    )
    tops = [line.y - line.size for line in lines]
    assert tops == sorted(tops)
    for above, below in pairwise(lines):
        if above.family == below.family:  # of one text: apart, and not by half a line
            assert below.size < below.y - above.y < 1.5 * below.size
    assert min(tops) > social_cards.EDGE + 26
    x, y, scale = map(
        float, re.findall(r"translate\(([\d.]+),([\d.]+)\) scale\(([\d.]+)\)", svg)[-1]
    )
    width, height = (size or (24, 12))[0] * scale, (size or (24, 12))[1] * scale
    assert x + width <= social_cards.WIDTH - social_cards.EDGE / 2 + 1
    assert y + height <= social_cards.HEIGHT
    assert x >= max(ends) or y >= max(line.y for line in lines)


def test_a_card_is_a_small_png_that_shows_its_figure(measure):
    svg = social_cards.card_svg(
        "Wallclock", "Ring", "Why?", FIGURE.format(width=400, height=300), STYLE, measure
    )
    first, second = (
        social_cards.render_png(svg, tuple(map(str, social_cards.font_files(FONTS))))
        for _ in range(2)
    )
    assert first == second
    assert len(first) < 60_000
    with Image.open(io.BytesIO(first)) as image:
        assert image.size == (social_cards.WIDTH, social_cards.HEIGHT)
        shown = image.convert("RGB")
    blue = sum(count for count, color in shown.getcolors(1 << 20) if color[2] > 200 > color[0])
    assert blue > 0.9 * 400 * 300
    dark = sum(count for count, color in shown.getcolors(1 << 20) if max(color) < 90)
    assert dark > 500  # the title


def test_many_are_drawn_as_one_is(measure):
    svgs = {
        str(at): social_cards.card_svg("Wallclock", f"No. {at}", "", "", STYLE, measure)
        for at in range(8)
    }
    made = social_cards.render_pngs(svgs, social_cards.font_files(FONTS))
    assert list(made) == list(svgs)
    assert made["3"] == social_cards.render_png(
        svgs["3"], tuple(map(str, social_cards.font_files(FONTS)))
    )
    assert len(set(made.values())) == 8


def test_a_page_of_a_path_takes_the_first_guide_of_it_and_any_other_the_first_of_all():
    def one(kind, path, order):
        return SimpleNamespace(kind=kind, path=path, order=order)

    tool, late, first, other = (
        one("tool", "A One", 0),
        one("guide", "A One", 2),
        one("guide", "A One", 1),
        one("guide", "B Two", 0),
    )
    known = [tool, other, late, first]
    assert social_cards._first_guide(one("path", "A One", 0), known) is first
    assert social_cards._first_guide(one("path", "B Two", 0), known) is other
    assert social_cards._first_guide(one("home", "", 0), known) is first
    assert social_cards._first_guide(one("path", "C Three", 0), known) is None
