"""Markdown blocks of our own: `predict | calculator.output`, `figure | id`, `example`."""

import re
import xml.etree.ElementTree as etree
from dataclasses import replace

from markdown import Markdown  # type: ignore[import-untyped]
from pymdownx.blocks import BlocksExtension, BlocksProcessor  # type: ignore[import-untyped]
from pymdownx.blocks.block import Block, type_number, type_string_in  # type: ignore[import-untyped]

from builder.core.problem import ContentError
from builder.markdown.placements import calculator_of, parse
from builder.markdown.predictions import prediction
from builder.markdown.render_state import Findings, Surroundings, show_value
from engine.core.views import Value

_NUMBERED = re.compile(r"Figure \d+")


class FigureBlock(Block):  # type: ignore[misc]
    """An illustration: the body up to `---` is the picture, the rest its caption; numbered."""

    NAME = "figure"
    ARGUMENT = True

    def on_create(self, parent: etree.Element) -> etree.Element:
        """Number the figure as soon as it begins, so that numbers follow the text."""
        titles = self.config["findings"].titles
        count = sum(bool(_NUMBERED.fullmatch(title)) for title in titles.values())
        titles[self.argument] = f"Figure {count + 1}"
        attributes = {"class": "illustration", "id": self.argument}
        return etree.SubElement(parent, "figure", attributes)

    def on_end(self, block: etree.Element) -> None:
        """Move what follows the line into the caption."""
        findings: Findings = self.config["findings"]
        after = _after_line(block)
        if after is None:
            raw = f"figure | {self.argument}"
            findings.problems.append((raw, f"figure '{self.argument}' has no line '---' + caption"))
            return
        caption = etree.SubElement(block, "figcaption")
        number = etree.SubElement(caption, "span", {"class": "figure-number"})
        number.text = findings.titles[self.argument] + "."
        number.tail = " "
        caption.extend(after)


class ExampleBlock(Block):  # type: ignore[misc]
    """A construct below its source, which `builder.markdown.article_html` has put there."""

    NAME = "example"

    def on_create(self, parent: etree.Element) -> etree.Element:
        """Make what holds both together."""
        return etree.SubElement(parent, "div", {"class": "example"})


class PredictBlock(Block):  # type: ignore[misc]
    """A question to answer before reading on: body, `---`, and what the guess reveals."""

    NAME = "predict"
    ARGUMENT = True
    OPTIONS = {  # noqa: RUF012 (declared so by the base class)
        "low": [None, type_number],
        "high": [None, type_number],
        "scale": ["log", type_string_in(["log", "linear"])],
    }

    def on_create(self, parent: etree.Element) -> etree.Element:
        """Make the section; its parts are filled when it ends."""
        return etree.SubElement(parent, "section", {"class": "predict"})

    def on_end(self, block: etree.Element) -> None:
        """Put the slider between the question and the answer."""
        around: Surroundings = self.config["around"]
        findings: Findings = self.config["findings"]
        raw = f"predict | {self.argument}"
        after = _after_line(block)
        if after is None:
            findings.problems.append((raw, "a predict block has no line '---' before its answer"))
            return
        try:
            slider = self._slider(around, findings)
        except (ContentError, ValueError) as error:
            findings.problems.append((raw, str(error)))
            return
        question = etree.Element("div", {"class": "prompt"})
        question.extend(list(block))
        for child in list(block):
            block.remove(child)
        block.append(question)
        etree.SubElement(block, "p").text = self.md.htmlStash.store(slider)
        answer = etree.SubElement(block, "details", {"data-answer": ""})
        etree.SubElement(answer, "summary").text = "Show the answer"
        etree.SubElement(answer, "div", {"class": "answer"}).extend(after)

    def _slider(self, around: Surroundings, findings: Findings) -> str:
        placement = parse(self.argument)
        found = calculator_of(placement, around.load)
        view = found.views.get(placement.member)
        if not isinstance(view, Value):
            raise ContentError(f"'{self.argument}' is no value; only a value can be predicted")
        if placement.settings:
            shown, _ = around.at(found, placement.settings, placement.member)
            view = replace(view, value=shown["value"])
        missing = [name for name in ("low", "high") if self.options[name] is None]
        if missing:
            lacks = (
                f"{' and '.join(missing)} of the slider {'are' if missing[1:] else 'is'} missing"
            )
            raise ContentError(f"{lacks}, such as low: 1")
        low, high = float(self.options["low"]), float(self.options["high"])
        made = prediction(view, low, high, self.options["scale"])
        show_value(found, placement.member, findings)
        name = findings.identify("predict")
        findings.answers.append((f'data-predict="{name}"', made.truth))
        findings.receipts.append(str(around.blocks.stops(made, name)).strip())
        return str(around.blocks.predict(made, name, self.argument)).strip()


def _after_line(block: etree.Element) -> list[etree.Element] | None:
    """Remove the first rule and what follows it; return what followed, None without a rule."""
    children = list(block)
    line = next((i for i, child in enumerate(children) if child.tag == "hr"), None)
    if line is None:
        return None
    for child in children[line:]:
        block.remove(child)
    return children[line + 1 :]


class OwnBlocksExtension(BlocksExtension):  # type: ignore[misc]
    """Registers the blocks."""

    def __init__(self, around: Surroundings, findings: Findings) -> None:
        super().__init__()
        self.given = {"around": around, "findings": findings}

    def extendMarkdownBlocks(self, md: Markdown, block_mgr: BlocksProcessor) -> None:
        """Register them with what they need."""
        block_mgr.register(FigureBlock, self.given)
        block_mgr.register(PredictBlock, self.given)
        block_mgr.register(ExampleBlock, {})
