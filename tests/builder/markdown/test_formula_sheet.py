"""The formula sheet's Markdown: read from the engine, nothing written down a second time."""

import re
from collections import Counter

from builder.calculators import calculator_context
from builder.markdown.formula_sheet import PLACEMENT, expand_formula_sheet
from engine.calculators.reference.formula_sheet import calculator as formula_sheet
from engine.formulas import stragglers
from tests.each import each

SHEET = expand_formula_sheet(PLACEMENT)
EQUATIONS = [e for equations in formula_sheet.groups().values() for e in equations]
BY_EQUATION = each("equation", EQUATIONS, ids=lambda e: e.name)


def entry(equation):
    start = SHEET.index(f"{{#{equation.name}}}")
    return re.split(r"\n##", SHEET[start:])[0]


def test_text_without_the_placement_stays_as_it_is():
    assert (
        expand_formula_sheet("One [[formula_sheet.parameters]].")
        == "One [[formula_sheet.parameters]]."
    )


def test_text_around_the_placement_stays():
    assert re.fullmatch(
        r"Before\n.*\nAfter", expand_formula_sheet(f"Before\n{PLACEMENT}\nAfter"), re.DOTALL
    )


@BY_EQUATION
def test_an_equation_has_one_heading(equation):
    assert SHEET.count(f"{{#{equation.name}}}") == 1


@BY_EQUATION
def test_a_heading_is_said_and_no_name_in_code(equation):
    assert equation.title or formula_sheet.EXAMPLES[equation.name].title


@BY_EQUATION
def test_an_equation_is_placed_live_or_typeset(equation):
    filled = equation.name in formula_sheet.EXAMPLES
    assert (f"[[formula_sheet.{equation.name}]]" if filled else "$$") in entry(equation)


@BY_EQUATION
def test_every_symbol_is_explained(equation):
    assert all(f"${tex}$ {text}" in entry(equation) for tex, text in equation.symbols.values())


@BY_EQUATION
def test_every_source_is_cited(equation):
    assert all(f"@{key}" in entry(equation) for key in equation.sources)


@BY_EQUATION
def test_an_entry_says_in_words_what_it_is(equation):
    said = entry(equation).strip().splitlines()[-1]
    assert re.match(r"[A-Z0-9].*\w", said), said


def test_no_two_equations_are_said_to_be_the_same():
    said = Counter(entry(equation).strip().splitlines()[-1] for equation in EQUATIONS)
    assert not [words for words, times in said.items() if times > 1]


def test_an_equation_whose_function_has_another_name_says_what_that_returns():
    assert "The mean of the slowest of n normal step times" in entry(stragglers.SLOWEST)


def test_a_docstring_becomes_a_statement():
    assert "The time of a ring all-reduce: 2(n - 1) steps of one n-th of the buffer each." in SHEET


def test_a_page_cites_what_the_cells_of_its_tables_link_to():
    context, _ = calculator_context.load_without_sources("hardware_table")
    sources = calculator_context.output_sources(context)["accelerators"]
    assert {"nvidia_h100", "deepseek2024", "amd_mi300x"} <= set(sources)
