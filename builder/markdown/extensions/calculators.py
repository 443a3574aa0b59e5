"""Markdown extension: `[[calculator]]`, `[[calculator.output]]`, `[[calculator.inputs]]` ...

A whole calculator may leave out what stands above it: `[[calculator without=output,output]]`.
"""

import re
import xml.etree.ElementTree as etree
from html import escape
from itertools import takewhile

from markdown import Extension, Markdown  # type: ignore[import-untyped]
from markdown.blockprocessors import BlockProcessor  # type: ignore[import-untyped]
from markdown.inlinepatterns import InlineProcessor  # type: ignore[import-untyped]

from builder.calculators.calculator_context import CHARTS, Live
from builder.core.problem import ContentError
from builder.markdown.placements import (
    INPUTS,
    PATTERN,
    Placement,
    calculator_of,
    check_block,
    check_sentence,
    parse,
    without,
)
from builder.markdown.render_state import Findings, Surroundings, show_value


def block_html(inside: str, around: Surroundings, findings: Findings) -> str:
    """Return the HTML of a placement that has a paragraph of its own.

    Raises:
        ContentError: the placement cannot be used.
    """
    placement = parse(inside)
    found = calculator_of(placement, around.load)
    check_block(placement)
    findings.calculators[found.name] = None
    if not placement.member:
        found = without(placement, found)
        for name in found.outputs:
            _show(found, name, findings)
        findings.titles[found.name] = found.title
        return str(around.macros.calculator(found, findings.identify))
    if placement.member == INPUTS:
        return _inputs(found, around, findings)
    for field in found.fields:
        if field.name == placement.member:
            return str(around.macros.field(found, field, findings.identify))
    _show(found, placement.member, findings)
    return str(around.macros.output_block(found, placement.member))


def sentence_html(inside: str, around: Surroundings, findings: Findings) -> str:
    """Return the HTML of a placement inside a sentence.

    Raises:
        ContentError: the placement cannot be used.
    """
    placement = parse(inside)
    found = calculator_of(placement, around.load)
    check_sentence(placement, found)
    for field in found.fields:
        if field.name == placement.member:
            findings.calculators[found.name] = None
            return str(around.macros.inline_input(found, field))
    if placement.settings:
        return _fixed(placement, found, around, findings)
    _show(found, placement.member, findings)
    if found.outputs[placement.member]["kind"] == "badge":
        return str(around.macros.badge(found, placement.member))
    macro = around.macros.also if placement.also else around.macros.value
    return str(macro(found, placement.member))


def _inputs(found: Live, around: Surroundings, findings: Findings) -> str:
    """Return the calculator with all its inputs, but only the numbers that come first."""
    first = takewhile(lambda name: found.outputs[name]["kind"] == "value", found.outputs)
    names = list(first)
    for name in names:
        _show(found, name, findings)
    findings.titles[found.name] = found.title
    return str(around.macros.calculator(found, findings.identify, names))


def _show(found: Live, name: str, findings: Findings) -> None:
    findings.calculators[found.name] = None
    kind = found.outputs[name]["kind"]
    if kind == "value":
        show_value(found, name, findings)
    elif kind == "table":
        findings.cites |= dict.fromkeys(found.sources[name])
    elif kind in (*CHARTS, "scene"):
        findings.figures[found.name, name] = None


def _fixed(placement: Placement, found: Live, around: Surroundings, findings: Findings) -> str:
    findings.calculators[found.name] = None
    view, receipt = around.at(found, placement.settings, placement.member)
    if placement.also:
        return f'<span class="also">{escape(view["also"])}</span>'
    name = findings.identify("receipt-fixed")
    findings.receipts.append(str(around.macros.fixed_receipt(view, name, receipt)))
    findings.cites |= dict.fromkeys(re.findall(r'data-cite="([^"]+)"', receipt))
    return str(around.macros.fixed_value(view, name))


class LiveBlocks(BlockProcessor):  # type: ignore[misc]
    """A paragraph that is one placement."""

    def __init__(self, md: Markdown, around: Surroundings, findings: Findings) -> None:
        super().__init__(md.parser)
        self.md, self.around, self.findings = md, around, findings

    def test(self, parent: etree.Element, block: str) -> bool:
        """Say whether the block is one placement."""
        return re.fullmatch(PATTERN, block.strip()) is not None

    def run(self, parent: etree.Element, blocks: list[str]) -> None:
        """Replace it by its HTML."""
        raw = blocks.pop(0).strip()
        try:
            html = block_html(raw[2:-2], self.around, self.findings)
        except ContentError as error:
            self.findings.problems.append((raw, str(error)))
            return
        etree.SubElement(parent, "p").text = self.md.htmlStash.store(html.strip())


class LiveInline(InlineProcessor):  # type: ignore[misc]
    """A placement inside a sentence."""

    def __init__(self, md: Markdown, around: Surroundings, findings: Findings) -> None:
        super().__init__(PATTERN, md)
        self.around, self.findings = around, findings

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:
        """Replace it by its HTML."""
        try:
            html = sentence_html(m[1], self.around, self.findings)
        except ContentError as error:
            self.findings.in_sentences.append((m[0], str(error)))
            html = ""
        return self.md.htmlStash.store(html.strip()), m.start(0), m.end(0)


class LiveExtension(Extension):  # type: ignore[misc]
    """Registers both."""

    def __init__(self, around: Surroundings, findings: Findings) -> None:
        super().__init__()
        self.around, self.findings = around, findings

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the processors: below code spans (190), above links (160)."""
        blocks = LiveBlocks(md, self.around, self.findings)
        md.parser.blockprocessors.register(blocks, "live", 75)
        inline = LiveInline(md, self.around, self.findings)
        md.inlinePatterns.register(inline, "live", 175)
