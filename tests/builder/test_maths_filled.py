"""Where a page shows an equation, the build fills it in as the page's own script does."""

from builder.markdown.tex_to_mathml import Template, fill_static

NUMERIC = '<math><mn data-slot="n"></mn><mo>/</mo><mn data-slot="p"></mn></math>'
TEMPLATES = {
    "speed": Template(name="speed", symbolic="<math>v</math>", numeric=NUMERIC, symbols={})
}


def test_an_equation_holds_its_symbols_and_its_numbers_and_no_text_for_either():
    place = """<div data-equation="speed" data-symbols='{"n": "3 &lt; 4"}'></div>"""
    filled = NUMERIC.replace('"n">', '"n">3 &lt; 4', 1)
    assert fill_static(place, TEMPLATES) == (
        f'<div data-equation="speed"><math>v</math>{filled}</div>'
    )


def test_an_equation_without_numbers_has_empty_places():
    place = '<div data-equation="speed"></div>'
    assert fill_static(place, TEMPLATES) == place.replace("</", f"<math>v</math>{NUMERIC}</", 1)


def test_an_unknown_equation_is_left_as_it_is():
    place = '<div data-equation="mass"></div>'
    assert fill_static(place, TEMPLATES) == place
