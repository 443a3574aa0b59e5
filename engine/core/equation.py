"""Equations as TeX with a slot per symbol: typeset at build time, filled with live numbers."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Equation:
    r"""An equation whose TeX serves both for symbols and for substituted numbers.

    Every symbol is written `\v{key}`; the builder typesets the TeX twice, once with the TeX of
    each symbol and once with an empty slot that Python's text for the current value fills.

    Attributes:
        name: unique among all equations; the page finds the typeset template by it.
        tex: the right and left side, e.g. r"\v{T} = 2(\v{n}-1)\,\v{a}".
        symbols: key -> (TeX of the symbol, its meaning in words), e.g. {"n": ("n", "GPUs")}.
        sources: keys of the bibliography.
        title: its heading on the formula sheet; empty: its name.
        says: what it says, in a sentence, where no function beside it says so.
    """

    name: str
    tex: str
    symbols: Mapping[str, tuple[str, str]]
    sources: tuple[str, ...] = ()
    title: str = ""
    says: str = ""
