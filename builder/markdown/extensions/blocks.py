"""Markdown extension: the blocks `predict | calculator.output`, `figure | id` and `example`."""

import re
import xml.etree.ElementTree as etree
from dataclasses import replace

from markdown import Markdown  # type: ignore[import-untyped]
from pymdownx.blocks import BlocksExtension, BlocksProcessor  # type: ignore[import-untyped]
from pymdownx.blocks.block import Block, type_number, type_string_in  # type: ignore[import-untyped]

from builder.core.problem import ContentError
from builder.markdown.placements import find_calculator, parse
from builder.markdown.predictions import make_prediction
from builder.markdown.render_state import RenderContext, RenderState, record_value
from engine.core.views import Value

_FIGURE_NUMBER = re.compile(r"Figure \d+")


class FigureBlock(Block):  # type: ignore[misc]
    """An illustration: the body up to `---` is the picture, the rest its caption; numbered."""

    NAME = "figure"
    ARGUMENT = True

    def on_create(self, parent: etree.Element) -> etree.Element:
        """Number the figure as soon as it begins, so that numbers follow the text."""
        titles = self.config["state"].titles
        count = sum(bool(_FIGURE_NUMBER.fullmatch(title)) for title in titles.values())
        titles[self.argument] = f"Figure {count + 1}"
        attributes = {"class": "illustration", "id": self.argument}
        return etree.SubElement(parent, "figure", attributes)

    def on_end(self, block: etree.Element) -> None:
        """Move the content after the rule into the caption."""
        state: RenderState = self.config["state"]
        caption_elements = _split_at_rule(block)
        if caption_elements is None:
            raw = f"figure | {self.argument}"
            state.problems.append((raw, f"figure '{self.argument}' has no line '---' + caption"))
            return
        caption = etree.SubElement(block, "figcaption")
        number = etree.SubElement(caption, "span", {"class": "figure-number"})
        number.text = state.titles[self.argument] + "."
        number.tail = " "
        caption.extend(caption_elements)


class ExampleBlock(Block):  # type: ignore[misc]
    """A Markdown example below its source, which `builder.markdown.article_html` inserts."""

    NAME = "example"

    def on_create(self, parent: etree.Element) -> etree.Element:
        """Create the container of source and result."""
        return etree.SubElement(parent, "div", {"class": "example"})


class PredictBlock(Block):  # type: ignore[misc]
    """A question with a guessing slider: the question, `---`, and its answer."""

    NAME = "predict"
    ARGUMENT = True
    OPTIONS = {  # noqa: RUF012 (declared so by the base class)
        "low": [None, type_number],
        "high": [None, type_number],
        "scale": ["log", type_string_in(["log", "linear"])],
    }

    def on_create(self, parent: etree.Element) -> etree.Element:
        """Create the section; it is filled when the block ends."""
        return etree.SubElement(parent, "section", {"class": "predict"})

    def on_end(self, block: etree.Element) -> None:
        """Put the slider between the question and the answer."""
        context: RenderContext = self.config["context"]
        state: RenderState = self.config["state"]
        raw = f"predict | {self.argument}"
        answer_elements = _split_at_rule(block)
        if answer_elements is None:
            state.problems.append((raw, "a predict block has no line '---' before its answer"))
            return
        try:
            slider = self._slider(context, state)
        except (ContentError, ValueError) as error:
            state.problems.append((raw, str(error)))
            return
        question = etree.Element("div", {"class": "prompt"})
        question.extend(list(block))
        for child in list(block):
            block.remove(child)
        block.append(question)
        etree.SubElement(block, "p").text = self.md.htmlStash.store(slider)
        answer = etree.SubElement(block, "details", {"data-answer": ""})
        etree.SubElement(answer, "summary").text = "Show the answer"
        etree.SubElement(answer, "div", {"class": "answer"}).extend(answer_elements)

    def _slider(self, context: RenderContext, state: RenderState) -> str:
        placement = parse(self.argument)
        calculator = find_calculator(placement, context.load)
        view = calculator.views.get(placement.member)
        if not isinstance(view, Value):
            raise ContentError(f"'{self.argument}' is no value; only a value can be predicted")
        if placement.settings:
            fixed, _ = context.at(calculator, placement.settings, placement.member)
            view = replace(view, value=fixed["value"])
        missing = [name for name in ("low", "high") if self.options[name] is None]
        if missing:
            message = (
                f"{' and '.join(missing)} of the slider {'are' if missing[1:] else 'is'} missing"
            )
            raise ContentError(f"{message}, such as low: 1")
        low, high = float(self.options["low"]), float(self.options["high"])
        guess = make_prediction(view, low, high, self.options["scale"])
        record_value(calculator, placement.member, state)
        name = state.unique_id("predict")
        state.answers.append((f'data-predict="{name}"', guess.truth))
        state.receipts.append(str(context.blocks.stops(guess, name)).strip())
        return str(context.blocks.predict(guess, name, self.argument)).strip()


def _split_at_rule(block: etree.Element) -> list[etree.Element] | None:
    """Remove the first rule and all elements after it; return those, or None without a rule."""
    children = list(block)
    line = next((i for i, child in enumerate(children) if child.tag == "hr"), None)
    if line is None:
        return None
    for child in children[line:]:
        block.remove(child)
    return children[line + 1 :]


class SiteBlocksExtension(BlocksExtension):  # type: ignore[misc]
    """Registers the blocks."""

    def __init__(self, context: RenderContext, state: RenderState) -> None:
        super().__init__()
        self.block_config = {"context": context, "state": state}

    def extendMarkdownBlocks(self, md: Markdown, block_mgr: BlocksProcessor) -> None:
        """Register the blocks with their configuration."""
        block_mgr.register(FigureBlock, self.block_config)
        block_mgr.register(PredictBlock, self.block_config)
        block_mgr.register(ExampleBlock, {})
