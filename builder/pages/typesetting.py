"""All formulas of a build, typeset in one call: those of the prose and those of calculators."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from builder.calculators import calculator_context
from builder.calculators.calculator_context import Live
from builder.content.article import Article
from builder.core.problem import Problem, located
from builder.core.progress import Report, step
from builder.markdown import tex_to_mathml
from builder.markdown.article_html import Prose
from builder.markdown.tex_to_mathml import Template
from builder.pages.build_services import Services


@dataclass(frozen=True, slots=True, kw_only=True)
class Typeset:
    """MathML by the name of the formula; templates by the name of the equation; what failed.

    `version` is that of the typesetter.
    """

    math: Mapping[str, str]
    templates: Mapping[str, Template]
    problems: tuple[Problem, ...]
    version: str


def typeset(
    prose: Iterable[tuple[Article, Prose]],
    calculators: Iterable[Live],
    services: Services,
    cache: Path,
    report: Report,
) -> Typeset:
    """Return everything typeset."""
    articles = tuple(prose)
    shown = {e.name: (found, e) for found in calculators for e in found.equations}
    parts = {name: tex_to_mathml.formulas_of(equation) for name, (_, equation) in shown.items()}
    wanted = [formula for _, made in articles for formula in made.formulas]
    wanted += [formula for formulas in parts.values() for formula in formulas.values()]
    with step(report, f"typesetting {len(wanted)} formulas"):
        done, wrong = tex_to_mathml.typeset(
            wanted, cache, services.typeset_version, services.typeset
        )
    problems = [
        problem
        for article, made in articles
        for formula in made.formulas
        if formula in wrong
        for problem in located(article.source, article.body, formula[0], f"TeX: {wrong[formula]}")
    ]
    for name, (found, _) in shown.items():
        for formula in dict.fromkeys(parts[name].values()):
            if formula in wrong:
                message = f"equation '{name}': TeX: {wrong[formula]}"
                problems.append(Problem(calculator_context.source(found.name), 1, message))
    return Typeset(
        math={tex_to_mathml.name_of(formula): html for formula, html in done.items()},
        templates={
            name: tex_to_mathml.template(equation, done)
            for name, (_, equation) in shown.items()
            if not any(formula in wrong for formula in parts[name].values())
        },
        problems=tuple(problems),
        version=services.typeset_version,
    )
