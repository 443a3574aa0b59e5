"""Formulas: TeX in, MathML out, typeset once and kept in the cache by what they say."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from html import escape, unescape
from pathlib import Path

from builder.content.placeholders import math_mark
from builder.core.folders import digest, write_whole
from engine.core.equation import Equation

Formula = tuple[str, bool]  # TeX, whether it is displayed
Typeset = Mapping[Formula, str]
Typesetter = Callable[[list[dict[str, object]]], list[dict[str, str]]]

_ARITHMATEX = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
_BLOCK = ' class="tml-display" style="display:block math;"'
_SLOT = re.compile(r"<mtext[^>]*>slotz(\d+)z</mtext>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """An equation typeset: with symbols, with empty slots, and each symbol alone."""

    name: str
    symbolic: str
    numeric: str
    symbols: Mapping[str, str]


def extract(html: str) -> tuple[str, list[Formula]]:
    """Return the HTML with a mark for each formula, and the formulas."""
    found: dict[str, Formula] = {}

    def one(match: re.Match[str]) -> str:
        formula = (unescape(match[2]).strip(), match[1] == "div")
        found[name_of(formula)] = formula
        mark = math_mark(name_of(formula))
        return f'<div class="formula">{mark}</div>' if formula[1] else mark

    return _ARITHMATEX.sub(one, html), list(found.values())


def name_of(formula: Formula) -> str:
    """Return the name of a formula in marks and in the cache."""
    return digest((formula[0], "display" if formula[1] else "inline"))


def typeset(
    formulas: Iterable[Formula], cache: Path, version: str, run: Typesetter
) -> tuple[dict[Formula, str], dict[Formula, str]]:
    """Return (MathML of each formula, message for each that cannot be typeset).

    Args:
        formulas: what to typeset.
        cache: the folder of the cache; one file there holds all formulas of this version.
        version: of the typesetter; another one starts an empty cache.
        run: typesets a list in one call.
    """
    path = cache / f"math-{version}.json"
    known = _kept(path)
    wanted = list(dict.fromkeys(formulas))
    missing = [formula for formula in wanted if name_of(formula) not in known]
    wrong: dict[Formula, str] = {}
    if missing:
        answers = run([{"tex": tex, "display": display} for tex, display in missing])
        for formula, answer in zip(missing, answers, strict=True):
            if "error" in answer:
                wrong[formula] = " ".join(answer["error"].replace("\u0332", "").split())
            else:
                known[name_of(formula)] = answer["html"]
        write_whole(path, json.dumps(known, ensure_ascii=False, indent=0).encode())
    # A displayed formula is a block without being told: browsers know it by its `display`.
    return {f: known[name_of(f)].replace(_BLOCK, "") for f in wanted if f not in wrong}, wrong


def _kept(path: Path) -> dict[str, str]:
    """Return what the cache holds; a damaged one is empty."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    sound = isinstance(found, dict) and all(isinstance(text, str) for text in found.values())
    return found if sound else {}


def formulas_of(equation: Equation) -> dict[str, Formula]:
    """Return what to typeset for an equation: "" symbolic, "=" numeric, else one symbol."""
    return {
        "": (_fill(equation.tex, {key: tex for key, (tex, _) in equation.symbols.items()}), True),
        "=": (_numeric(equation), True),
        **{key: (tex, False) for key, (tex, _) in equation.symbols.items()},
    }


def _numeric(equation: Equation) -> str:
    # Letters side by side are a product; numbers side by side would be another number.
    tex = re.sub(r"\\,(?!\\mathrm\{d\})", r" \\cdot ", equation.tex)
    tex = re.sub(r"(\d)(?=\\v\{)", r"\1 \\cdot ", tex)
    slots = {key: rf"\text{{slotz{i}z}}" for i, key in enumerate(equation.symbols)}
    return _fill(tex, slots)


def _fill(tex: str, texts: Mapping[str, str]) -> str:
    # Braces keep a symbol such as \beta_{n} one piece under a superscript or a fraction.
    return re.sub(r"\\v\{(\w+)\}", lambda m: "{" + texts.get(m[1], "") + "}", tex)


def template(equation: Equation, done: Typeset) -> Template:
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
        found = templates.get(match[2])
        if found is None:  # reported elsewhere
            return match[0]
        given = re.search(r"data-symbols=(['\"])(.*?)\1", match[1])
        symbols = json.loads(unescape(given[2])) if given else {}
        numeric = re.sub(
            r'(<mn data-slot="(\w+)">)(?=</mn>)',
            lambda slot: slot[1] + escape(symbols.get(slot[2], "")),
            found.numeric,
        )
        # What is filled needs its texts no more: they stand in the slots.
        opening = match[1].replace(f" {given[0]}", "") if given else match[1]
        return f"{opening}{found.symbolic}{numeric}</div>"

    def symbol(match: re.Match[str]) -> str:
        name, _, key = match[2].rpartition(".")
        if name not in templates or key not in templates[name].symbols:
            return match[0]
        return f"{match[1]}{templates[name].symbols[key]}</span>"

    html = re.sub(r'(<div data-equation="([\w.]+)"[^>]*>)</div>', equation, html)
    return re.sub(r'(<span data-tex="([\w.]+)"[^>]*>)</span>', symbol, html)


def missing(template: Template, html: str) -> Template | None:
    """Return what of an equation this HTML of a page does not show, so that it has to be added."""
    shown = f'<div data-equation="{template.name}"' in html
    symbols = {
        key: math
        for key, math in template.symbols.items()
        if f'data-tex="{template.name}.{key}"' not in html
    }
    if shown and not symbols:
        return None
    bare = {"symbolic": "", "numeric": ""} if shown else {}
    return replace(template, symbols=symbols, **bare)
