"""Context and state of rendering an article, shared by the Markdown extensions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from builder.calculators import calculator_context
from builder.calculators.calculator_context import CalculatorContext
from builder.content.library import Library


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderContext:
    """The context that all articles are rendered with.

    Attributes:
        library: references and terms.
        load: name -> calculator.
        macros: the module of theme/templates/calculator.html.
        blocks: the module of theme/templates/blocks.html.
        at: (calculator, settings, output) -> (view JSON, receipt) of a value for other inputs.
        expand: Markdown -> Markdown with the formula sheet in place of its placement.
    """

    library: Library
    load: Callable[[str], CalculatorContext]
    macros: Any
    blocks: Any
    at: Callable[[CalculatorContext, Mapping[str, str], str], tuple[dict[str, Any], str]] = (
        calculator_context.value_at
    )
    expand: Callable[[str], str] = str


@dataclass(slots=True, kw_only=True)
class RenderState:
    """Data that the extensions collect while one article is rendered; cleared for the next.

    Attributes:
        problems: (source text that a problem is about, message).
        in_sentences: the same for placements in sentences, without those alone in a paragraph.
        cites: keys in the order of their first citation.
        terms: names of glossary entries, in the order of their first use.
        calculators: names of the calculators placed, whole or in part.
        figures: outputs placed as a chart or a scene, as (calculator, output).
        values: live values placed, as (calculator, output); each gets one receipt.
        receipts: HTML of the receipts of values that are not live, and of prediction data.
        titles: id -> cross-reference text of illustrations and calculators.
        links: targets of links to other articles and anchors, as written.
        images: sources of images as written.
        formulas: (TeX, whether it is displayed).
        raw: (HTML, message) of disallowed raw HTML.
        answers: (id of the prompt, text of the true answer) of predictions.
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
        """Clear the data of the previous article."""
        for collection in fields(self):
            getattr(self, collection.name).clear()

    def unique_id(self, name: str) -> str:
        """Return `name` as an id, then name-2, name-3 for its repeats on the page."""
        self._ids[name] = self._ids.get(name, 0) + 1
        return name if self._ids[name] == 1 else f"{name}-{self._ids[name]}"


def record_value(calculator: CalculatorContext, name: str, state: RenderState) -> None:
    """Record that the page shows the value `name`, so that it gets its receipt and references."""
    state.calculators[calculator.name] = None
    state.values[calculator.name, name] = None
    state.cites |= dict.fromkeys(calculator.sources[name])
