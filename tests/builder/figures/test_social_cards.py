"""Social cards: what they say and how they are drawn."""

import io
import re
import shutil
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest
from PIL import Image, ImageFont

from builder import pipeline
from builder.core.build_cache import BuildCache
from builder.figures import social_cards
from builder.figures.social_cards import Line
from tests.builder.conftest import ROOT, SERVICES, silent
from tests.builder.figures.card_lines import lines_of
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
    lines = lines_of(svg)
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


TITLE, TEXT = "Card Serif", "Inter"
LANES = (
    '<rect class="c-compute" width="15" height="4.5" fill="currentColor"/>'
    '<rect class="c-communication" x="6" y="7.5" width="18" height="4.5" fill="currentColor"/>'
)


def by_letters(text, family, size):
    return len(text) * size / 2


def by_words(text, family, size):
    """No two words stand on one line beside a figure, and none is too wide."""
    return 300.0 * len(text.split())


def one_a_line(text, family, size):
    """The same under the text of a wide figure."""
    return 600.0 * len(text.split())


def figure(width, height):
    return f'<svg viewBox="0 0 {width} {height}"><g class="scene"><b/></g></svg>'


def drawn(title="Ring", sentence="Why?", picture="", measure=by_letters):
    return social_cards.card_svg("Site", title, sentence, picture, "", measure)


def sizes_of(svg):
    lines = lines_of(svg)
    return (
        next(one.size for one in lines if one.family == TITLE),
        next(one.size for one in lines if one.family == TEXT),
    )


def words(count):
    return " ".join(f"w{at}" for at in range(1, count + 1))


def sentence_of(svg):
    return " ".join(one.text for one in lines_of(svg) if one.family == TEXT)


def place_of(svg):
    return re.findall(r'translate\(([\d.]+,[\d.]+)\) scale\(([\d.]+)\)"', svg)[-1]


def test_a_page_without_a_figure_has_the_mark_large_beside_its_words():
    # The title's line is 132 + 60 x 1.14, the sentence's 16 and 29 x 1.38 below. The mark is
    # enlarged 12 times in a place of 544 x 518 pixels at (600, 56).
    assert drawn("R & D") == (
        '<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630" font-family="Inter">'
        '<style></style><rect width="1200" height="630" class="c-paper" fill="currentColor"/>'
        f'<g transform="translate(56,56)"><g transform="scale(2.4)">{LANES}</g>'
        '<text x="72" y="26" font-size="30" class="c-ink" fill="currentColor" '
        'font-weight="700">Site</text></g>'
        '<text x="56" y="200.4" font-size="60" font-family="Card Serif" class="c-ink" '
        'fill="currentColor" font-weight="700">R &amp; D</text>'
        '<text x="56" y="256.4" font-size="29" font-family="Inter" class="c-muted" '
        'fill="currentColor">Why?</text>'
        f'<g transform="translate(728.0,243.0) scale(12.0000)">{LANES}</g></svg>'
    )


def test_the_lines_of_a_card_are_read_from_it():
    assert lines_of(drawn("R & D", "Why <so>?")) == [
        Line(text="R & D", x=56, y=200.4, size=60, family=TITLE),
        Line(text="Why <so>?", x=56, y=256.4, size=29, family=TEXT),
    ]


def test_the_site_is_named_as_text():
    assert ">A &amp; B</text>" in social_cards.card_svg("A & B", "Ring", "Why?", "", "", by_letters)


def test_the_rules_are_those_that_the_card_needs():
    sheet = ".c-ink{color:red}.c-muted{color:blue}.c-other{color:green}"
    svg = social_cards.card_svg("Site", "Ring", "Why?", "", sheet, by_letters)
    assert "<style>.c-ink{color:red}.c-muted{color:blue}</style>" in svg


@each(
    ("size", "place"),
    [
        ((400, 300), ("600.0,111.0", "1.3600")),  # as wide as 544; 56 + (518 - 408) / 2
        ((399, 200), ("600.0,178.7", "1.3634")),
        ((100, 100), ("792.0,235.0", "1.6000")),  # not enlarged any more
        ((259, 518), ("742.5,56.0", "1.0000")),  # as high as there is room
        # From a width of twice the height on, it lies under the words, from 288.02 on.
        ((400, 200), ("286.0,288.0", "1.5699")),  # as high as 313.98
        ((200, 100), ("440.0,365.0", "1.6000")),
        ((1088, 100), ("56.0,395.0", "1.0000")),  # as wide as the words
    ],
)
def test_a_figure_lies_in_the_middle_of_its_place(size, place):
    assert place_of(drawn(picture=figure(*size))) == place


@each(
    ("letters", "sizes"),
    [
        (16, (60, 29)),
        (17, (54, 29)),
        (18, (54, 29)),
        (19, (48, 29)),
        (20, (48, 29)),
        (21, (42, 29)),
        (23, (42, 29)),
        (24, (36, 25)),  # ten more than the sentence at least
        (27, (36, 25)),
        (28, (30, 19)),
        (33, (30, 19)),
    ],
)
def test_a_long_word_of_a_title_makes_it_small(letters, sizes):
    assert sizes_of(drawn("x" * letters)) == sizes


def test_a_title_that_is_too_long_in_the_smallest_size_is_refused():
    with pytest.raises(ValueError, match=r"^a title is too long for a card$"):
        drawn("x" * 34)


@each(
    ("size", "width", "fits"),
    [((1, 1), 500, True), ((1, 1), 500.5, False), ((2, 1), 1088, True), ((2, 1), 1088.5, False)],
)
def test_a_line_may_be_as_wide_as_its_place(size, width, fits):
    def measure(text, family, size):
        return width

    if fits:
        lines = lines_of(drawn("Two words", "And two", figure(*size), measure))
        assert [one.text for one in lines] == ["Two words", "And two"]
    else:
        with pytest.raises(ValueError, match="too long"):
            drawn("Two", "And", figure(*size), measure)


@each(
    ("title", "sentence", "sizes"),
    [
        (1, 8, (60, 29)),
        (1, 9, (60, 27)),
        (2, 8, (60, 25)),
        (3, 6, (54, 29)),
        (3, 7, (48, 27)),
        (4, 5, (48, 29)),
        (5, 7, (42, 19)),
        (6, 7, (36, 17)),
        (1, 16, (42, 17)),
    ],
)
def test_beside_a_figure_the_sizes_are_the_largest_that_fit_in_442_pixels(title, sentence, sizes):
    assert sizes_of(drawn(words(title), words(sentence), measure=by_words)) == sizes


@each(
    ("title", "sentence", "sizes"),
    [(1, 2, (60, 29)), (1, 3, (60, 21)), (1, 4, (54, 17)), (2, 1, (54, 27)), (2, 2, (42, 23))],
)
def test_above_a_wide_figure_they_are_those_that_fit_in_four_tenths_of_it(title, sentence, sizes):
    svg = drawn(words(title), words(sentence), figure(200, 100), one_a_line)
    assert sizes_of(svg) == sizes


def test_lines_of_one_text_follow_each_other_by_its_leading():
    lines = lines_of(drawn("a b", "c d", measure=by_words))
    # 132 + 68.4, + 68.4, + 16 + 40.02, + 40.02
    assert [(one.text, one.y) for one in lines] == [
        ("a", 200.4),
        ("b", 268.8),
        ("c", 324.8),
        ("d", 364.8),
    ]


@each(
    ("sentence", "kept"),
    [
        (words(16), words(16)),
        (words(17), words(15) + " ..."),
        (words(18), words(15) + " ..."),
        *((f"Why so{mark} {words(16)}", f"Why so{mark}") for mark in ".?!"),
        *((f"Why so{mark} {words(16)}", "Why so") for mark in ":;"),
        (f"One. Two: {words(16)}", "One. Two"),
        (f"One, two {words(14)} end", f"One, two {words(13)} ..."),
    ],
)
def test_a_sentence_that_does_not_fit_is_shortened_from_its_end(sentence, kept):
    assert sentence_of(drawn("Ring", sentence, measure=by_words)) == kept


def test_a_page_may_have_no_sentence():
    assert [one.text for one in lines_of(drawn(sentence=""))] == ["Ring"]


def test_sixteen_lines_of_the_smallest_text_fit_on_a_card():
    lines = lines_of(drawn(words(1), words(16), measure=by_words))
    assert lines[-1].y == 571.2  # 132 + 42 x 1.14 + 16 + 16 x 17 x 1.38, of 574


def test_text_is_measured_in_the_fonts_of_cards():
    measure = social_cards.text_measure(FONTS)
    for family, name in ((TEXT, "inter-400.ttf"), (TITLE, "source-serif-600.ttf")):
        known = ImageFont.truetype(str(FONTS / name), 100).getlength("Ring")
        assert measure("Ring", family, 100) == known
        assert measure("Ring", family, 50) == known / 2


def test_the_letters_of_cards_are_in_three_files():
    names = ["inter-400.ttf", "inter-700.ttf", "source-serif-600.ttf"]
    assert social_cards.font_files(FONTS) == [FONTS / name for name in names]
