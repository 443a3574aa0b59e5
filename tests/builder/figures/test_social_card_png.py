import io

import pytest
from PIL import Image

from builder.figures import social_cards

RED = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="3" height="2">'
    '<rect width="3" height="2" fill="#ff0000"/></svg>'
)


def shades():
    """A drawing of 1024 colors far from each other."""
    rows = "".join(
        f'<rect x="{at % 32}" y="{at // 32}" width="1" height="1" '
        f'fill="#{at * 37 % 256:02x}{at * 91 % 256:02x}{at * 151 % 253:02x}"/>'
        for at in range(1024)
    )
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32">{rows}</svg>'


class Pool:
    """Other processes that are none, and what they were given."""

    def __init__(self):
        self.calls = []

    def __call__(self, way):
        self.calls.append(way)
        return self

    def Pool(self):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def map(self, draw, svgs, chunksize):
        svgs = list(svgs)
        self.calls.append((len(svgs), chunksize))
        return [draw(svg) for svg in svgs]


@pytest.fixture
def pool(monkeypatch):
    made = Pool()
    monkeypatch.setattr(social_cards.multiprocessing, "get_context", made)
    monkeypatch.setattr(social_cards, "render_png", lambda svg, fonts: (svg, fonts))
    return made


def test_a_drawing_is_a_png_of_its_own_size():
    with Image.open(io.BytesIO(social_cards.render_png(RED, ()))) as image:
        assert (image.format, image.mode, image.size) == ("PNG", "P", (3, 2))
        assert image.convert("RGB").getcolors() == [(6, (255, 0, 0))]


def test_a_drawing_has_128_colors_at_most():
    with Image.open(io.BytesIO(social_cards.render_png(shades(), ()))) as image:
        assert len(image.getcolors()) == 128


def test_the_fonts_are_those_given_and_none_of_the_system(monkeypatch):
    import resvg_py

    asked, draw = {}, resvg_py.svg_to_bytes

    def kept(**given):
        asked.update(given)
        return draw(**{**given, "font_files": []})

    monkeypatch.setattr(resvg_py, "svg_to_bytes", kept)
    social_cards.render_png(RED, ("a.ttf", "b.ttf"))
    assert asked == {
        "svg_string": RED,
        "skip_system_fonts": True,
        "font_files": ["a.ttf", "b.ttf"],
    }


def test_six_are_drawn_here(pool, tmp_path):
    svgs = {str(at): f"svg {at}" for at in range(6)}
    fonts = [tmp_path / "a.ttf"]
    assert social_cards.render_pngs(svgs, fonts) == {
        name: (svg, (str(fonts[0]),)) for name, svg in svgs.items()
    }
    assert pool.calls == []


def test_seven_are_drawn_by_processes_that_are_started_anew(pool, tmp_path):
    svgs = {str(at): f"svg {at}" for at in range(7)}
    found = social_cards.render_pngs(svgs, [tmp_path / "a.ttf"])
    assert list(found.items()) == [
        (name, (svg, (str(tmp_path / "a.ttf"),))) for name, svg in svgs.items()
    ]
    assert pool.calls == ["spawn", (7, 2)]


def test_nothing_is_drawn_of_nothing(pool):
    assert social_cards.render_pngs({}, []) == {}
