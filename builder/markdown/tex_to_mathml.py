"""Converts TeX formulas to MathML, cached by their text."""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

from builder.content.link_targets import fill_placeholders
from builder.core import html_tree
from builder.core.build_cache import BuildCache
from builder.core.folders import digest
from builder.core.html_tree import Element
from engine.core.equation import Equation

Formula = tuple[str, bool]  # TeX, whether it is displayed
Typeset = Mapping[Formula, str]
Typesetter = Callable[[list[dict[str, object]]], list[dict[str, str]]]

_BLOCK = ' class="tml-display" style="display:block math;"'
_SLOT = re.compile(r"slotz(\d+)z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The MathML of an equation: with symbols, with placeholders of numbers, and of each symbol."""

    name: str
    symbolic: str
    numeric: str
    symbols: Mapping[str, str]


def formula_key(formula: Formula) -> str:
    """Return the key of a formula in placeholders and in the cache."""
    return digest((formula[0], "display" if formula[1] else "inline"))


def typeset(
    formulas: Iterable[Formula], cache: BuildCache, version: str, run: Typesetter
) -> tuple[dict[Formula, str], dict[Formula, str]]:
    """Return (MathML of each formula, message for each that cannot be typeset).

    Args:
        formulas: (TeX, whether it is displayed) of each.
        cache: keeps what was typeset.
        version: of the typesetter; a new version typesets all again.
        run: typesets a list in one call.
    """
    unique = {f"formula {formula_key(formula)}": formula for formula in formulas}

    def run_all(names: list[str]) -> list[dict[str, str]]:
        return run([{"tex": unique[name][0], "display": unique[name][1]} for name in names])

    results = cache.get_many(dict.fromkeys(unique, version), run_all)
    by_formula = {unique[name]: result for name, result in results.items()}
    # Browsers show a formula with `display="block"` as a block without further attributes.
    return {
        formula: result["html"].replace(_BLOCK, "")
        for formula, result in by_formula.items()
        if "error" not in result
    }, {
        formula: " ".join(result["error"].replace("\u0332", "").split())
        for formula, result in by_formula.items()
        if "error" in result
    }


def formulas_of(equation: Equation) -> dict[str, Formula]:
    """Return the formulas of an equation: "" symbolic, "=" numeric, other keys one symbol each."""
    return {
        "": (_fill(equation.tex, {key: tex for key, (tex, _) in equation.symbols.items()}), True),
        "=": (_numeric_tex(equation), True),
        **{key: (tex, False) for key, (tex, _) in equation.symbols.items()},
    }


def _numeric_tex(equation: Equation) -> str:
    # Letters side by side are a product; numbers side by side would be another number.
    tex = re.sub(r"\\,(?!\\mathrm\{d\})", r" \\cdot ", equation.tex)
    tex = re.sub(r"(\d)(?=\\v\{)", r"\1 \\cdot ", tex)
    slots = {key: rf"\text{{slotz{i}z}}" for i, key in enumerate(equation.symbols)}
    return _fill(tex, slots)


def _fill(tex: str, texts: Mapping[str, str]) -> str:
    # Braces keep a symbol such as \beta_{n} one piece under a superscript or a fraction.
    return re.sub(r"\\v\{(\w+)\}", lambda m: "{" + texts.get(m[1], "") + "}", tex)


def equation_template(equation: Equation, done: Typeset) -> Template:
    """Return the equation's template from its typeset formulas."""
    parts = formulas_of(equation)
    keys = list(equation.symbols)

    return Template(
        name=equation.name,
        symbolic=done[parts[""]],
        numeric=_with_slots(done[parts["="]], keys),
        symbols={key: done[parts[key]] for key in keys},
    )


def _with_slots(math: str, keys: Sequence[str]) -> str:
    """Return the MathML of an equation with placeholders in the elements of its numbers."""
    root = html_tree.parse(math)
    for text in list(root.elements("mtext")):
        if slot := _SLOT.fullmatch(text.text()):
            # <mtext> is space-like: an operator beside it alone would lose its own space.
            key = keys[int(slot[1])]
            text.replace_with(Element("mn", {"data-slot": key}, [f"⟦slot={key}⟧"]))
    return root.html()


def equation_html(template: Template, numbers: Mapping[str, str]) -> str:
    """Return the MathML of an equation, with symbols and with its numbers."""
    return template.symbolic + _filled(template.numeric, numbers)


def _filled(numeric: str, numbers: Mapping[str, str]) -> str:
    return fill_placeholders(numeric, {"slot": lambda key: escape(numbers.get(key, ""))})


def missing_parts(template: Template, shown: Container[str]) -> Template | None:
    """Return the parts of an equation that a page lacks, None if it has all of them.

    Args:
        template: of the equation.
        shown: names of the equations on the page, and "equation.key" of the symbols.
    """
    symbols = {
        key: math for key, math in template.symbols.items() if f"{template.name}.{key}" not in shown
    }
    if template.name not in shown:
        return replace(template, symbols=symbols, numeric=_filled(template.numeric, {}))
    return replace(template, symbols=symbols, symbolic="", numeric="") if symbols else None
