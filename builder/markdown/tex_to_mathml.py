"""Converts TeX formulas to MathML, cached by their text."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from html import escape, unescape
from pathlib import Path

from builder.content.link_targets import math_placeholder
from builder.core.folders import digest, write_atomically
from engine.core.equation import Equation

Formula = tuple[str, bool]  # TeX, whether it is displayed
Typeset = Mapping[Formula, str]
Typesetter = Callable[[list[dict[str, object]]], list[dict[str, str]]]

_ARITHMATEX = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
_BLOCK = ' class="tml-display" style="display:block math;"'
_SLOT = re.compile(r"<mtext[^>]*>slotz(\d+)z</mtext>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """The MathML of an equation: with symbols, with empty number slots, and of each symbol."""

    name: str
    symbolic: str
    numeric: str
    symbols: Mapping[str, str]


def extract_formulas(html: str) -> tuple[str, list[Formula]]:
    """Return the HTML with a placeholder for each formula, and the formulas."""
    formulas: dict[str, Formula] = {}

    def placeholder(match: re.Match[str]) -> str:
        formula = (unescape(match[2]).strip(), match[1] == "div")
        formulas[formula_key(formula)] = formula
        mark = math_placeholder(formula_key(formula))
        return f'<div class="formula">{mark}</div>' if formula[1] else mark

    return _ARITHMATEX.sub(placeholder, html), list(formulas.values())


def formula_key(formula: Formula) -> str:
    """Return the key of a formula in placeholders and in the cache."""
    return digest((formula[0], "display" if formula[1] else "inline"))


def typeset(
    formulas: Iterable[Formula], cache: Path, version: str, run: Typesetter
) -> tuple[dict[Formula, str], dict[Formula, str]]:
    """Return (MathML of each formula, message for each that cannot be typeset).

    Args:
        formulas: (TeX, whether it is displayed) of each.
        cache: the folder of the cache; one file there holds all formulas of this version.
        version: of the typesetter; a new version starts an empty cache.
        run: typesets a list in one call.
    """
    path = cache / f"math-{version}.json"
    cached = _read_cache(path)
    unique = list(dict.fromkeys(formulas))
    uncached = [formula for formula in unique if formula_key(formula) not in cached]
    errors: dict[Formula, str] = {}
    if uncached:
        results = run([{"tex": tex, "display": display} for tex, display in uncached])
        for formula, result in zip(uncached, results, strict=True):
            if "error" in result:
                errors[formula] = " ".join(result["error"].replace("\u0332", "").split())
            else:
                cached[formula_key(formula)] = result["html"]
        write_atomically(path, json.dumps(cached, ensure_ascii=False, indent=0).encode())
    # Browsers show a formula with `display="block"` as a block without further attributes.
    return {
        f: cached[formula_key(f)].replace(_BLOCK, "") for f in unique if f not in errors
    }, errors


def _read_cache(path: Path) -> dict[str, str]:
    """Return the cached MathML by formula key; a damaged cache counts as empty."""
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    is_valid = isinstance(data, dict) and all(isinstance(text, str) for text in data.values())
    return data if is_valid else {}


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

    def slot(match: re.Match[str]) -> str:
        # <mtext> is space-like: an operator beside it alone would lose its own space.
        return f'<mn data-slot="{escape(keys[int(match[1])])}"></mn>'

    return Template(
        name=equation.name,
        symbolic=done[parts[""]],
        numeric=_SLOT.sub(slot, done[parts["="]]),
        symbols={key: done[parts[key]] for key in keys},
    )


def fill_static(html: str, templates: Mapping[str, Template]) -> str:
    """Return the HTML with every `data-equation` and `data-tex` element filled as the page does."""

    def equation(match: re.Match[str]) -> str:
        template = templates.get(match[2])
        if template is None:  # reported elsewhere
            return match[0]
        symbol_data = re.search(r"data-symbols=(['\"])(.*?)\1", match[1])
        symbols = json.loads(unescape(symbol_data[2])) if symbol_data else {}
        numeric = re.sub(
            r'(<mn data-slot="(\w+)">)(?=</mn>)',
            lambda slot: slot[1] + escape(symbols.get(slot[2], "")),
            template.numeric,
        )
        # The texts are in the slots now, so their attribute is dropped.
        opening = match[1].replace(f" {symbol_data[0]}", "") if symbol_data else match[1]
        return f"{opening}{template.symbolic}{numeric}</div>"

    def symbol(match: re.Match[str]) -> str:
        name, _, key = match[2].rpartition(".")
        if name not in templates or key not in templates[name].symbols:
            return match[0]
        return f"{match[1]}{templates[name].symbols[key]}</span>"

    html = re.sub(r'(<div data-equation="([\w.]+)"[^>]*>)</div>', equation, html)
    return re.sub(r'(<span data-tex="([\w.]+)"[^>]*>)</span>', symbol, html)


def missing_parts(template: Template, html: str) -> Template | None:
    """Return the parts of an equation that a page's HTML lacks, None if it has all of them."""
    shown = f'<div data-equation="{template.name}"' in html
    symbols = {
        key: math
        for key, math in template.symbols.items()
        if f'data-tex="{template.name}.{key}"' not in html
    }
    if shown and not symbols:
        return None
    cleared = {"symbolic": "", "numeric": ""} if shown else {}
    return replace(template, symbols=symbols, **cleared)
