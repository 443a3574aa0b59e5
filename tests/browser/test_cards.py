"""The social card of every page of the real site, as its words and its figure give it."""

import io
from pathlib import Path

import pytest
from PIL import Image, ImageFont

from builder.content import content_folder
from builder.core import folders, html_tree
from builder.figures import hero_figures, social_cards
from builder.project import project_file
from tests.browser.pages import PAGES
from tests.builder.figures.card_lines import lines_of

THEME = Path(__file__).resolve().parents[2] / "theme"
FONTS = THEME / "fonts"
SOME = 9  # every ninth is drawn


@pytest.fixture(scope="module")
def style():
    return hero_figures.drawing_rules(THEME / "styles")


@pytest.fixture(scope="module")
def sheets(site, style):
    places = folders.project_folders(project_file.read_project(THEME.parent), THEME.parent)
    texts = content_folder.read_content(places, drafts=False)
    pages = {
        article.source: (article, _drawings(site / article.url / "index.html"))
        for article in texts.articles
    }
    return social_cards.card_contents(places.project.name, pages, style)


def _drawings(page):
    drawings = html_tree.parse(page.read_text("utf-8")).elements("svg")
    return [one.html() for one in drawings if {"scene", "chart-svg"} & set(one.classes)]


@pytest.fixture(scope="module")
def drawn(sheets, style):
    measure = social_cards.text_measure(FONTS)
    return {
        source: social_cards.draw_card(sheet, style, measure) for source, sheet in sheets.items()
    }


def test_every_page_has_one_that_says_what_it_is_about(sheets):
    assert len(sheets) == len(PAGES)
    assert all(one.title and one.sentence for one in sheets.values())
    with_figure = [one for one in sheets.values() if one.figure]
    # Pages of reference and for authors may be tables and text alone.
    shown = [
        one
        for source, one in sheets.items()
        if "/reference/" not in source and "/authors/" not in source
    ]
    assert len([one for one in shown if one.figure]) > 0.8 * len(shown)
    assert all(one.figure_text for one in with_figure)


def test_a_guide_shows_its_own_figure(sheets):
    guides = {source: one for source, one in sheets.items() if "/guides/" in source}
    assert all(one.figure for one in guides.values())
    assert len({one.figure for one in guides.values()}) > 0.8 * len(guides)


def test_all_words_stand_on_the_card_in_letters_that_its_fonts_have(drawn):
    measure = social_cards.text_measure(FONTS)
    letters = [ImageFont.truetype(str(path), 40) for path in social_cards.font_files(FONTS)]
    unknown = [bytes(font.getmask("\uffff")) for font in letters]
    wrong = []
    for source, svg in drawn.items():
        for line in lines_of(svg):
            end = line.x + measure(line.text, line.family, line.size)
            if (
                end > social_cards.WIDTH - social_cards.EDGE + 1
                or line.y > social_cards.HEIGHT - social_cards.EDGE / 2
            ):
                wrong.append(f"{source}: '{line.text}' leaves the card")
    for letter in sorted(set("".join(drawn.values()))):
        pairs = zip(letters, unknown, strict=True)
        if letter.isprintable() and all(bytes(f.getmask(letter)) == none for f, none in pairs):
            wrong.append(f"no font has '{letter}'")
    assert not wrong


def test_no_card_is_empty(drawn):
    some = {source: drawn[source] for source in sorted(drawn)[::SOME]}
    made = social_cards.render_pngs(some, social_cards.font_files(FONTS))
    assert len(made) > 5
    for source, png in made.items():
        with Image.open(io.BytesIO(png)) as image:
            assert image.size == (social_cards.WIDTH, social_cards.HEIGHT), source
            shown = image.convert("RGB")
        right = shown.crop(
            (
                social_cards.WIDTH // 2,
                social_cards.HEIGHT // 4,
                social_cards.WIDTH,
                social_cards.HEIGHT,
            )
        )
        left = shown.crop((0, 100, social_cards.WIDTH // 2, social_cards.HEIGHT // 2))
        assert len(right.getcolors(1 << 20)) > 2, source  # paper and what is drawn on it
        assert len(left.getcolors(1 << 20)) > 8, source
