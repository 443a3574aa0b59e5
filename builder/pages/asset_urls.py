"""Placeholders for hashed asset URLs in pages, filled in last.

A small change of a style sheet changes its URL in every page. Pages are rendered and checked with
placeholders, and so need not be rendered again.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from jinja2.utils import htmlsafe_json_dumps

from builder.theme.assets import Shell

FIGURES, ARCHIVES = "⟦asset-figures⟧", "⟦asset-archives⟧"
_PLACEHOLDER = re.compile(r"⟦asset-[^⟦⟧]*⟧")
_SHARED_ASSETS = ("styles", "early", "script", "worker", "runtime", "bokeh")


def with_placeholders(shell: Shell) -> Shell:
    """Return the shell with its asset URLs replaced by placeholders."""
    marks = {name: f"⟦asset-{name}⟧" for name in _SHARED_ASSETS if getattr(shell, name)}
    fonts = tuple(f"⟦asset-font-{number}⟧" for number in range(len(shell.fonts)))
    conditional = tuple(
        replace(sheet, address=f"⟦asset-sheet-{number}⟧")
        for number, sheet in enumerate(shell.conditional_styles)
    )
    return replace(shell, style_text="", fonts=fonts, conditional_styles=conditional, **marks)


def page_urls(shell: Shell, figures: str, archives: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return placeholder -> URL on a page.

    Args:
        shell: assets that all pages load.
        figures: URL of the page's charts.
        archives: calculator -> URLs of its archives, relative to the page.
    """
    shared = {f"⟦asset-{name}⟧": str(getattr(shell, name)) for name in _SHARED_ASSETS}
    fonts = {f"⟦asset-font-{number}⟧": font for number, font in enumerate(shell.fonts)}
    conditional = {
        f"⟦asset-sheet-{number}⟧": sheet.address
        for number, sheet in enumerate(shell.conditional_styles)
    }
    page_only = {FIGURES: figures, ARCHIVES: str(htmlsafe_json_dumps(archives, sort_keys=True))}
    return {**shared, **fonts, **conditional, **page_only}


def fill_placeholders(text: str, addresses: Mapping[str, str]) -> str:
    """Return the text with its placeholders replaced by URLs."""
    if "⟦asset-" not in text:
        return text
    return _PLACEHOLDER.sub(lambda mark: addresses.get(mark[0], mark[0]), text)
