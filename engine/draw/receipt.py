"""Receipts as HTML fragments: formula, substitution, assumptions, sources."""

import json
from collections.abc import Mapping

from engine.calculator import Calculator, changed_inputs
from engine.core.inputs import Scalar
from engine.core.numbers import Display, format_value, other_system
from engine.core.text import render_text, with_published_digits
from engine.core.views import Published, Value
from engine.draw.escape import escape
from engine.draw.fragments import cite_links

BASES = {
    "modelled": "Modeled: computed by the formula, not measured.",
    "simulated": "Simulated: the outcome of an event simulation, not measured.",
    "measured": "Measured by the source.",
    "compared": "The model's own error: its predictions against what the sources measured.",
    "datasheet": "From the vendor's datasheet.",
    "definition": "True by definition of the units.",
}


def receipt_fragment(
    calculator: Calculator,
    name: str,
    view: Value,
    values: Mapping[str, Scalar],
    display: Display,
) -> str:
    """Return the receipt of `view`, the output `name`, for the input values (SI)."""
    receipt = view.receipt
    text = format_value(view.value, view.quantity, display)
    also = other_system(view.value, view.quantity, display)
    sources = dict.fromkeys(
        (receipt.equation.sources if receipt.equation else ()) + receipt.sources
    )
    parts = [
        f'<p class="receipt-title">{escape(view.label)}</p><p class="big">{text}'
        + (f' <span class="also">= {also}</span>' if also else "")
        + "</p>",
        _equation(view, display),
        _list("Assumptions", [render_text(item, display) for item in receipt.assumptions]),
        _published(receipt.published, display) if receipt.published else "",
        f'<p class="basis">{BASES[receipt.basis]}</p>',
        _sources(sources),
        _link(calculator, values),
    ]
    return f'<div data-receipt="{calculator.name}.{name}">{"".join(parts)}</div>'


def _equation(view: Value, display: Display) -> str:
    receipt = view.receipt
    if receipt.equation is None:
        return ""
    symbols = {key: format_value(v, q, display) for key, (v, q) in receipt.symbols.items()}
    shown = escape(
        json.dumps(symbols, ensure_ascii=False, separators=(",", ":")), quote=False
    ).replace("'", "&#x27;")
    meanings = "".join(
        f'<li data-symbol="{key}"'
        + (f' data-from="{receipt.inputs[key]}"' if key in receipt.inputs else "")
        + f'><span data-tex="{receipt.equation.name}.{key}"></span> {escape(meaning)}: '
        f"{symbols.get(key, '')}</li>"
        for key, (_, meaning) in receipt.equation.symbols.items()
    )
    # A long formula scrolls, so that a keyboard has to reach it.
    return (
        f'<div data-equation="{receipt.equation.name}" tabindex="0" role="group"'
        f' aria-label="Formula"'
        f" data-symbols='{shown}'></div>"
        f'<ul class="symbols">{meanings}</ul>'
    )


def _list(title: str, items: list[str]) -> str:
    if not items:
        return ""
    return (
        f'<p class="receipt-heading">{title}</p><ul>'
        + "".join(f"<li>{escape(i)}</li>" for i in items)
        + "</ul>"
    )


def _published(published: Published, display: Display) -> str:
    text = render_text(with_published_digits(published.text), display)
    return (
        f'<p class="published"><strong>Published elsewhere:</strong> '
        f"{escape(text)}. {escape(render_text(published.reason, display))} "
        f'<a data-cite="{published.source}" href="#ref-{published.source}">source</a></p>'
    )


def _sources(keys: Mapping[str, None]) -> str:
    if not keys:
        return ""
    return f'<p class="sources">Sources: {cite_links(keys)}</p>'


def _link(calculator: Calculator, values: Mapping[str, Scalar]) -> str:
    query = "&".join(
        f"{calculator.name}.{k}={v}" for k, v in changed_inputs(calculator, values).items()
    )
    return (
        f'<p class="actions"><a data-permalink href="?{escape(query)}">Link to this state</a> '
        '<button type="button" data-copy-link>Copy link</button> '
        '<button type="button" data-copy-cite="number">Cite this number</button> '
        '<button type="button" data-report>Report this number</button></p>'
    )
