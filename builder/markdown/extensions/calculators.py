"""Markdown extension: `[[calculator]]`, `[[calculator.output]]`, `[[calculator.inputs]]` ...

A whole calculator may omit outputs that are shown above it: `[[calculator without=output,output]]`.
"""

import re
import xml.etree.ElementTree as etree
from collections.abc import Iterator
from html import escape
from itertools import takewhile

from markdown import Extension, Markdown  # type: ignore[import-untyped]
from markdown.blockprocessors import BlockProcessor  # type: ignore[import-untyped]
from markdown.inlinepatterns import InlineProcessor  # type: ignore[import-untyped]

from builder.calculators.calculator_context import CHARTS, CalculatorContext
from builder.core import html_tree
from builder.core.problem import ContentError
from builder.markdown.placements import (
    INPUTS,
    PATTERN,
    Placement,
    check_block,
    check_sentence,
    find_calculator,
    parse,
    without_outputs,
)
from builder.markdown.render_state import RenderContext, RenderState, record_value


def block_html(text: str, context: RenderContext, state: RenderState) -> str:
    """Return the HTML of a placement that is a paragraph.

    Raises:
        ContentError: the placement cannot be used.
    """
    placement = parse(text)
    calculator = find_calculator(placement, context.load)
    check_block(placement)
    state.calculators[calculator.name] = None
    if not placement.member:
        calculator = without_outputs(placement, calculator)
        for name in calculator.outputs:
            _record_output(calculator, name, state)
        state.titles[calculator.name] = calculator.title
        return str(context.macros.calculator(calculator, state.unique_id))
    if placement.member == INPUTS:
        return _inputs_html(calculator, context, state)
    for field in calculator.fields:
        if field.name == placement.member:
            return str(context.macros.field(calculator, field, state.unique_id))
    _record_output(calculator, placement.member, state)
    return str(context.macros.output_block(calculator, placement.member))


def sentence_html(text: str, context: RenderContext, state: RenderState) -> str:
    """Return the HTML of a placement inside a sentence.

    Raises:
        ContentError: the placement cannot be used.
    """
    placement = parse(text)
    calculator = find_calculator(placement, context.load)
    check_sentence(placement, calculator)
    for field in calculator.fields:
        if field.name == placement.member:
            state.calculators[calculator.name] = None
            return str(context.macros.inline_input(calculator, field))
    if placement.settings:
        return _fixed_value_html(placement, calculator, context, state)
    _record_output(calculator, placement.member, state)
    if calculator.outputs[placement.member]["kind"] == "badge":
        return str(context.macros.badge(calculator, placement.member))
    macro = context.macros.also if placement.also else context.macros.value
    return str(macro(calculator, placement.member))


def _inputs_html(calculator: CalculatorContext, context: RenderContext, state: RenderState) -> str:
    """Return the HTML of a calculator with all inputs but only its leading numbers."""
    values = takewhile(lambda name: calculator.outputs[name]["kind"] == "value", calculator.outputs)
    names = list(values)
    for name in names:
        _record_output(calculator, name, state)
    state.titles[calculator.name] = calculator.title
    return str(context.macros.calculator(calculator, state.unique_id, names))


def _record_output(calculator: CalculatorContext, name: str, state: RenderState) -> None:
    state.calculators[calculator.name] = None
    kind = calculator.outputs[name]["kind"]
    if kind == "value":
        record_value(calculator, name, state)
    elif kind == "table":
        state.cites |= dict.fromkeys(calculator.sources[name])
    elif kind in (*CHARTS, "scene"):
        state.figures[calculator.name, name] = None


def _fixed_value_html(
    placement: Placement,
    calculator: CalculatorContext,
    context: RenderContext,
    state: RenderState,
) -> str:
    state.calculators[calculator.name] = None
    view, receipt = context.at(calculator, placement.settings, placement.member)
    if placement.also:
        return f'<span class="also">{escape(view["also"])}</span>'
    name = state.unique_id("receipt-fixed")
    state.receipts.append(str(context.macros.fixed_receipt(view, name, receipt)))
    state.cites |= dict.fromkeys(_cited(receipt))
    return str(context.macros.fixed_value(view, name))


def _cited(html: str) -> Iterator[str]:
    links = html_tree.parse(html).elements("a")
    return (link.get("data-cite") for link in links if link.get("data-cite"))


class PlacementBlocks(BlockProcessor):  # type: ignore[misc]
    """Block processor of paragraphs that consist of one placement."""

    def __init__(self, md: Markdown, context: RenderContext, state: RenderState) -> None:
        super().__init__(md.parser)
        self.md, self.context, self.state = md, context, state

    def test(self, parent: etree.Element, block: str) -> bool:
        """Say whether the block consists of one placement."""
        return re.fullmatch(PATTERN, block.strip()) is not None

    def run(self, parent: etree.Element, blocks: list[str]) -> None:
        """Replace the placement by its HTML."""
        raw = blocks.pop(0).strip()
        try:
            html = block_html(raw[2:-2], self.context, self.state)
        except ContentError as error:
            self.state.problems.append((raw, str(error)))
            return
        etree.SubElement(parent, "p").text = self.md.htmlStash.store(html.strip())


class PlacementInline(InlineProcessor):  # type: ignore[misc]
    """Inline processor of placements inside sentences."""

    def __init__(self, md: Markdown, context: RenderContext, state: RenderState) -> None:
        super().__init__(PATTERN, md)
        self.context, self.state = context, state

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:
        """Replace it by its HTML."""
        try:
            html = sentence_html(m[1], self.context, self.state)
        except ContentError as error:
            self.state.in_sentences.append((m[0], str(error)))
            html = ""
        return self.md.htmlStash.store(html.strip()), m.start(0), m.end(0)


class PlacementExtension(Extension):  # type: ignore[misc]
    """Registers the block and the inline processor."""

    def __init__(self, context: RenderContext, state: RenderState) -> None:
        super().__init__()
        self.context, self.state = context, state

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the processors: below code spans (190), above links (160)."""
        blocks = PlacementBlocks(md, self.context, self.state)
        md.parser.blockprocessors.register(blocks, "live", 75)
        inline = PlacementInline(md, self.context, self.state)
        md.inlinePatterns.register(inline, "live", 175)
