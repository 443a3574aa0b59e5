"""Addresses of shared files in pages, filled in last.

They carry a hash, so a comma in a style sheet changes the address in every page. Pages are made and
checked with marks in their place, and so only once.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from jinja2.utils import htmlsafe_json_dumps

from builder.theme.assets import Shell

FIGURES, ARCHIVES = "⟦asset-figures⟧", "⟦asset-archives⟧"
_MARK = re.compile(r"⟦asset-[^⟦⟧]*⟧")
_SHARED = ("styles", "early", "script", "worker", "runtime", "bokeh")


def stand_in(shell: Shell) -> Shell:
    """Return the shell with a mark for each address that it has."""
    marks = {name: f"⟦asset-{name}⟧" for name in _SHARED if getattr(shell, name)}
    fonts = tuple(f"⟦asset-font-{number}⟧" for number in range(len(shell.fonts)))
    some = tuple(
        replace(sheet, address=f"⟦asset-sheet-{number}⟧") for number, sheet in enumerate(shell.some)
    )
    return replace(shell, style_text="", fonts=fonts, some=some, **marks)


def of_page(shell: Shell, figures: str, archives: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return mark -> what stands in its place on a page.

    Args:
        shell: what all pages load.
        figures: address of the page's charts.
        archives: calculator -> addresses of what it needs, from the page.
    """
    shared = {f"⟦asset-{name}⟧": str(getattr(shell, name)) for name in _SHARED}
    fonts = {f"⟦asset-font-{number}⟧": font for number, font in enumerate(shell.fonts)}
    some = {f"⟦asset-sheet-{number}⟧": one.address for number, one in enumerate(shell.some)}
    own = {FIGURES: figures, ARCHIVES: str(htmlsafe_json_dumps(archives, sort_keys=True))}
    return {**shared, **fonts, **some, **own}


def filled(text: str, addresses: Mapping[str, str]) -> str:
    """Return the text with the addresses in place of their marks."""
    if "⟦asset-" not in text:
        return text
    return _MARK.sub(lambda mark: addresses.get(mark[0], mark[0]), text)
