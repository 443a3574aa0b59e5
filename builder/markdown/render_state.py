"""What the Markdown extensions are given and what they find while they render one article."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from builder.calculators import calculator_context
from builder.calculators.calculator_context import Live
from builder.content.library import Library


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What every article is rendered with.

    Attributes:
        library: references and terms.
        load: name -> calculator.
        macros: the module of theme/templates/calculator.html.
        blocks: the module of theme/templates/blocks.html.
        at: (calculator, settings, output) -> (view JSON, receipt) of a value for other inputs.
        expanded: Markdown -> the same with the formula sheet where it is asked for.
    """

    library: Library
    load: Callable[[str], Live]
    macros: Any
    blocks: Any
    at: Callable[[Live, Mapping[str, str], str], tuple[dict[str, Any], str]] = calculator_context.at
    expanded: Callable[[str], str] = str


@dataclass(slots=True, kw_only=True)
class Findings:
    """Filled while one article is rendered, then read once and cleared for the next.

    Attributes:
        problems: (the text it is about as it stands in the source, message).
        in_sentences: the same of placements; one alone in its paragraph is not meant.
        cites: keys in the order of their first citation.
        terms: names of glossary entries, in the order of their first use.
        calculators: those placed, whole or in part.
        figures: outputs placed as a chart or a scene, as (calculator, output).
        values: live values placed, as (calculator, output); each gets one receipt.
        receipts: HTML of those that are not live, and what guesses are compared with.
        titles: id -> what a cross reference to it says, of illustrations and calculators.
        links: targets of links to other articles and anchors, as written.
        images: sources of images as written.
        formulas: (TeX, whether it is displayed).
        raw: (HTML, message) of what an article may not hold.
        answers: (text of the true answer, HTML marker of the prompt) of predictions.
    """

    problems: list[tuple[str, str]] = field(default_factory=list)
    in_sentences: list[tuple[str, str]] = field(default_factory=list)
    cites: dict[str, None] = field(default_factory=dict)
    terms: dict[str, None] = field(default_factory=dict)
    calculators: dict[str, None] = field(default_factory=dict)
    figures: dict[tuple[str, str], None] = field(default_factory=dict)
    values: dict[tuple[str, str], None] = field(default_factory=dict)
    receipts: list[str] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    formulas: dict[tuple[str, bool], None] = field(default_factory=dict)
    raw: list[tuple[str, str]] = field(default_factory=list)
    answers: list[tuple[str, str]] = field(default_factory=list)
    _ids: dict[str, int] = field(default_factory=dict)

    def clear(self) -> None:
        """Forget the article before."""
        for one in fields(self):
            getattr(self, one.name).clear()

    def identify(self, name: str) -> str:
        """Return `name` as an id, then name-2, name-3 for its repeats on the page."""
        self._ids[name] = self._ids.get(name, 0) + 1
        return name if self._ids[name] == 1 else f"{name}-{self._ids[name]}"


def show_value(found: Live, name: str, findings: Findings) -> None:
    """Note that the page shows the value `name`, so that it gets its receipt and references."""
    findings.calculators[found.name] = None
    findings.values[found.name, name] = None
    findings.cites |= dict.fromkeys(found.sources[name])
