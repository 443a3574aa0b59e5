"""All formulas of a build are typeset in one call, and those that fail are named."""

from dataclasses import dataclass, replace

import pytest

from builder.calculators import calculator_context
from builder.content.article import Article
from builder.core.build_cache import BuildCache
from builder.core.problem import Problem
from builder.markdown import tex_to_mathml
from builder.markdown.article_html import ArticleHtml
from builder.pages import page_inputs
from builder.pages.page_inputs import typeset_formulas
from engine.core.equation import Equation
from tests.builder.conftest import SERVICES, silent

TIME = Equation(name="time", tex=r"\v{T} = \v{n}", symbols={"T": ("T", "time"), "n": ("n", "GPUs")})
COST = Equation(name="cost", tex=r"\v{C}", symbols={"C": ("C", "cost")})
BAD = Equation(name="bad", tex=r"\v{x} + \v{y}", symbols={"x": (r"\foo", "x"), "y": (r"\foo", "y")})
WRONG = r"TeX: Unsupported function name: \foo"


@dataclass(frozen=True)
class Found:
    """A calculator, as far as its equations are asked for."""

    name: str
    equations: tuple[Equation, ...]


RING, TREE = Found("ring", (TIME,)), Found("tree", (COST, TIME))


def article(name, body):
    return Article(
        source=f"content/{name}.md",
        slug=name,
        url=f"{name}/",
        kind="page",
        title="T",
        summary="S",
        text=body,
        body=body,
    )


def prose(*formulas):
    return ArticleHtml(html="", formulas=formulas)


@pytest.fixture(autouse=True)
def sources(monkeypatch):
    monkeypatch.setattr(calculator_context, "source_path", lambda name: f"tiny/{name}.py")


@pytest.fixture
def calls():
    return []


@pytest.fixture
def made(calls):
    cache = BuildCache()

    def run(formulas):
        calls.append([(one["tex"], one["display"]) for one in formulas])
        return SERVICES.typeset(formulas)

    def make(articles=(), calculators=(), report=silent):
        services = replace(SERVICES, typeset=run, typeset_version="7")
        return typeset_formulas(iter(articles), iter(calculators), services, cache, report)

    return make


def test_prose_and_equations_are_typeset_in_one_call_each_formula_once(made, calls):
    texts = [(article("a", "$n$"), prose(("n", False), ("n", True)))]
    found = made(texts, (RING, TREE))
    slots = r"{\text{slotz0z}}"
    assert calls == [
        [
            ("n", False),
            ("n", True),
            ("{T} = {n}", True),
            (rf"{slots} = {{\text{{slotz1z}}}}", True),
            ("T", False),
            ("{C}", True),
            (slots, True),
            ("C", False),
        ]
    ]
    assert found.problems == ()


def test_mathml_is_found_by_the_name_of_its_formula(made):
    found = made([(article("a", "$n$"), prose(("n", False), ("m", True)))])
    assert found.math == {
        tex_to_mathml.formula_key(("n", False)): "<math>n</math>",
        tex_to_mathml.formula_key(("m", True)): "<math>m</math>",
    }
    assert found.templates == {}
    assert found.version == "7"


def test_an_equation_has_a_template_by_its_name(made):
    found = made((), (RING, TREE))
    assert list(found.templates) == ["time", "cost"]
    assert found.templates["time"].symbols == {"T": "<math>T</math>", "n": "<math>n</math>"}
    assert found.templates["cost"].symbolic == "<math>{C}</math>"


def test_a_formula_that_fails_is_named_on_every_line_of_every_article_that_has_it(made):
    texts = [
        (article("a", "\n$\\foo$\n\n$\\foo$\n$n$"), prose(("n", False), (r"\foo", False))),
        (article("b", "$\\foo$"), prose((r"\foo", False))),
    ]
    found = made(texts)
    assert found.problems == (
        Problem("content/a.md", 2, WRONG),
        Problem("content/a.md", 4, WRONG),
        Problem("content/b.md", 1, WRONG),
    )
    assert found.math == {tex_to_mathml.formula_key(("n", False)): "<math>n</math>"}


def test_an_equation_that_fails_is_named_in_its_calculator_once_and_has_no_template(made):
    found = made((), (RING, Found("star", (BAD,))))
    message = f"equation 'bad': {WRONG}"
    assert found.problems == (
        Problem("tiny/star.py", 1, message),  # the whole equation
        Problem("tiny/star.py", 1, message),  # and its symbol, which two keys have
    )
    assert list(found.templates) == ["time"]


def test_an_equation_with_one_symbol_that_fails_has_no_template(made):
    half = replace(BAD, name="half", tex=r"\v{y}", symbols={"y": ("y", "y"), "x": (r"\foo", "x")})
    found = made((), (Found("star", (half,)),))
    assert found.templates == {}
    assert found.problems == (Problem("tiny/star.py", 1, f"equation 'half': {WRONG}"),)


def test_problems_of_articles_come_before_those_of_calculators(made):
    texts = [(article("a", "$\\foo$"), prose((r"\foo", False)))]
    found = made(texts, (Found("star", (BAD,)),))
    assert [one.path for one in found.problems] == ["content/a.md", "tiny/star.py", "tiny/star.py"]


def test_what_is_done_is_said_with_how_many_formulas_there_are(made, monkeypatch):
    said = []

    class Step:
        def __init__(self, report, what):
            report(what)

        def __enter__(self):
            return None

        def __exit__(self, *error):
            return None

    monkeypatch.setattr(page_inputs, "timed_step", Step)
    made([(article("a", "$n$"), prose(("n", False)))], (TREE,), said.append)
    assert said == ["typesetting 8 formulas"]  # one, three of the cost, four of the time


def test_nothing_to_typeset_is_nothing(made, calls):
    found = made()
    assert (found.math, found.templates, found.problems) == ({}, {}, ())
    assert calls == []


def test_what_was_typeset_is_kept_in_the_cache(made, calls):
    texts = [(article("a", "$n$"), prose(("n", False)))]
    assert made(texts) == made(texts)
    assert len(calls) == 1
