"""Typesets all formulas of articles and calculators in one call."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from builder.calculators import calculator_context
from builder.calculators.calculator_context import CalculatorContext
from builder.content.article import Article
from builder.core.problem import Problem, problems_where
from builder.core.progress import Report, timed_step
from builder.markdown import tex_to_mathml
from builder.markdown.article_html import ArticleHtml
from builder.markdown.tex_to_mathml import Template
from builder.pages.build_services import Services


@dataclass(frozen=True, slots=True, kw_only=True)
class TypesetFormulas:
    """MathML by formula key, templates by equation name, and problems.

    `version` is that of the typesetter.
    """

    math: Mapping[str, str]
    templates: Mapping[str, Template]
    problems: tuple[Problem, ...]
    version: str


def typeset_formulas(
    prose: Iterable[tuple[Article, ArticleHtml]],
    calculators: Iterable[CalculatorContext],
    services: Services,
    cache: Path,
    report: Report,
) -> TypesetFormulas:
    """Return the typeset formulas of all articles and calculators."""
    articles = tuple(prose)
    equations = {
        e.name: (calculator, e) for calculator in calculators for e in calculator.equations
    }
    parts = {name: tex_to_mathml.formulas_of(equation) for name, (_, equation) in equations.items()}
    formulas = [formula for _, article_html in articles for formula in article_html.formulas]
    formulas += [formula for formulas in parts.values() for formula in formulas.values()]
    with timed_step(report, f"typesetting {len(formulas)} formulas"):
        typeset_html, errors = tex_to_mathml.typeset(
            formulas, cache, services.typeset_version, services.typeset
        )
    problems = [
        problem
        for article, article_html in articles
        for formula in article_html.formulas
        if formula in errors
        for problem in problems_where(
            article.source, article.body, formula[0], f"TeX: {errors[formula]}"
        )
    ]
    for name, (calculator, _) in equations.items():
        for formula in dict.fromkeys(parts[name].values()):
            if formula in errors:
                message = f"equation '{name}': TeX: {errors[formula]}"
                problems.append(
                    Problem(calculator_context.source_path(calculator.name), 1, message)
                )
    return TypesetFormulas(
        math={tex_to_mathml.formula_key(formula): html for formula, html in typeset_html.items()},
        templates={
            name: tex_to_mathml.equation_template(equation, typeset_html)
            for name, (_, equation) in equations.items()
            if not any(formula in errors for formula in parts[name].values())
        },
        problems=tuple(problems),
        version=services.typeset_version,
    )
