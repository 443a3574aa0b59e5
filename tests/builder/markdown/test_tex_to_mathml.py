"""Formulas typeset by the real typesetter."""

from pathlib import Path

import pytest

from builder.core.build_cache import BuildCache
from builder.markdown import tex_to_mathml
from builder.outputs import service_makers
from engine.core.equation import Equation

ROOT = Path(__file__).resolve().parents[3]
EQUATION = Equation(
    name="time",
    tex=r"\v{T} = \frac{2(\v{n}-1)}{\v{n}}",
    symbols={"T": ("T", "time"), "n": ("n", "ranks")},
)


@pytest.fixture(scope="module")
def real():
    return service_makers.make_services(ROOT / "engine", ROOT / "theme", ROOT / ".cache")


@pytest.fixture(scope="module")
def template(real):
    formulas = tex_to_mathml.formulas_of(EQUATION).values()
    done, _ = tex_to_mathml.typeset(formulas, BuildCache(), "1", real.typeset)
    return tex_to_mathml.equation_template(EQUATION, done)


def test_an_unknown_macro_is_refused(real):
    formulas = [("a", False), (r"\foo", False)]
    _, wrong = tex_to_mathml.typeset(formulas, BuildCache(), "1", real.typeset)
    assert r"Unsupported function name: \foo" in wrong[r"\foo", False]


def test_a_formula_is_mathml(real):
    done, _ = tex_to_mathml.typeset([("a+b", False)], BuildCache(), "1", real.typeset)
    assert "<mi>a</mi><mo>+</mo><mi>b</mi>" in done["a+b", False]


def test_a_displayed_formula_has_a_row_for_each_sign_it_may_break_at(real):
    done, _ = tex_to_mathml.typeset([("T=a+b=-c", True)], BuildCache(), "1", real.typeset)
    rows = done["T=a+b=-c", True].split("<mrow>")[1:]
    assert [row.split("</mrow>")[0] for row in rows] == [
        "<mi>T</mi>",
        '<mo form="infix">=</mo><mi>a</mi>',
        '<mo form="infix">+</mo><mi>b</mi>',
        '<mo form="infix">=</mo><mo form="prefix" stretchy="false">−</mo><mi>c</mi>',
    ]


def test_what_was_typeset_once_is_remembered(real):
    cache = BuildCache()
    tex_to_mathml.typeset([("a+b", False)], cache, "1", real.typeset)
    done, _ = tex_to_mathml.typeset([("a+b", False)], cache, "1", lambda formulas: [])
    assert "<mi>a</mi>" in done["a+b", False]


def test_another_typesetter_forgets(real):
    cache = BuildCache()
    tex_to_mathml.typeset([("a", False)], cache, "1", real.typeset)
    asked = []
    tex_to_mathml.typeset([("a", False)], cache, "2", lambda f: asked.append(f) or [{"html": ""}])
    assert len(asked) == 1


def test_every_use_of_a_symbol_becomes_a_slot(template):
    assert template.numeric.count('<mn data-slot="n">⟦slot=n⟧</mn>') == 2


def test_numbers_side_by_side_are_multiplied_in_writing():
    symbols = {"T": ("T", "time"), "n": ("n", "ranks"), "a": ("a", "step")}
    equation = Equation(name="x", tex=r"\v{T} = 2\v{n}\,\v{a}", symbols=symbols)
    written = tex_to_mathml.formulas_of(equation)["="][0]
    assert written == r"{\text{slotz0z}} = 2 \cdot {\text{slotz1z}} \cdot {\text{slotz2z}}"


def test_letters_side_by_side_stay_so():
    symbols = {"T": ("T", "time"), "n": ("n", "ranks")}
    equation = Equation(name="x", tex=r"\v{T} = 2\,\v{n}", symbols=symbols)
    assert tex_to_mathml.formulas_of(equation)[""][0] == r"{T} = 2\,{n}"


def test_no_placeholder_is_left(template):
    assert "slotz" not in template.numeric


def test_the_symbolic_side_has_no_slots(template):
    assert "data-slot" not in template.symbolic


def test_a_page_gets_symbols_and_numbers(template):
    html = tex_to_mathml.equation_html(template, {"n": "8 < 9"})
    assert html.startswith(template.symbolic)
    assert html.count('<mn data-slot="n">8 &lt; 9</mn>') == 2
    assert '<mn data-slot="T"></mn>' in html


def test_a_page_that_shows_an_equation_lacks_only_its_other_symbols(template):
    lacking = tex_to_mathml.missing_parts(template, {"time", "time.n"})
    assert lacking is not None
    assert (lacking.symbolic, lacking.numeric) == ("", "")
    assert lacking.symbols == {k: v for k, v in template.symbols.items() if k != "n"}
    assert tex_to_mathml.missing_parts(template, {"time", "time.n", "time.T"}) is None


def test_a_page_without_an_equation_lacks_it_with_empty_slots(template):
    lacking = tex_to_mathml.missing_parts(template, ())
    assert lacking is not None
    assert (lacking.symbolic, lacking.symbols) == (template.symbolic, template.symbols)
    assert lacking.numeric.count('<mn data-slot="n"></mn>') == 2
