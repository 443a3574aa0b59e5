"""Markdown extension: the blocks `predict | calculator.output`, `figure | id` and `example`."""

import math
import re
import xml.etree.ElementTree as etree
from dataclasses import dataclass, replace
from typing import Any

from markdown import Markdown  # type: ignore[import-untyped]
from pymdownx.blocks import BlocksExtension, BlocksProcessor  # type: ignore[import-untyped]
from pymdownx.blocks.block import Block, type_number, type_string_in  # type: ignore[import-untyped]

from builder.core.problem import ContentError
from builder.markdown.placements import find_calculator, parse
from builder.markdown.render_state import RenderContext, RenderState, record_value
from engine.core.numbers import DEFAULT, format_value
from engine.core.ticks import tick_text, ticks
from engine.core.units import Quantity
from engine.core.views import Axis, Value

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
        state.answers.append((name, guess.truth))
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


# Predictions: the positions of a guessing slider, each with its text and verdict.

STOPS = 61
_NUMBER = re.compile(r"[\d.,]*\d(?= times)")
# A slider's length on a phone and on a wide window, and its labels, in pixels.
_PHONE, _WIDE, _CHARACTER, _GAP = 240.0, 520.0, 8.0, 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A guessing slider as its template shows it; positions are percent of the slider's length.

    Attributes:
        label: of the guessed value.
        truth: the text of the true value.
        at: position of the true value.
        marks: {"at", "text", "back", "wide"} of the labels under the slider: "back" is the share of
            a label left of its position, "wide" whether only wide windows have room for it.
        stops: (guess, comparison with the true value) of every slider position, in even steps.
        verdict_words: words of a verdict before the guess, and between it and the comparison.
    """

    label: str
    truth: str
    at: float
    marks: tuple[dict[str, Any], ...]
    stops: tuple[tuple[str, str], ...]
    verdict_words: tuple[str, str]

    @property
    def page_data(self) -> dict[str, Any]:
        """Return `verdict_words` and `stops` as page JSON, with repeated wording stored once."""
        forms: dict[tuple[str, str], int] = {}
        stops: list[tuple[Any, ...]] = []
        for text, comparison in self.stops:
            match = _NUMBER.search(comparison)
            if match is None:
                stops.append((text, comparison))
                continue
            form = (comparison[: match.start()], comparison[match.end() :])
            stops.append((text, forms.setdefault(form, len(forms)), match[0]))
        return {"said": self.verdict_words, "forms": [*forms], "stops": stops}


def make_prediction(view: Value, low: float, high: float, scale: str = "log") -> Prediction:
    """Return the prediction of `view` on a slider from `low` to `high` (SI).

    Raises:
        ValueError: the range is empty or does not hold the true value.
    """
    if not (low < high and (scale == "linear" or low > 0)):
        raise ValueError(f"the range {low:g} to {high:g} is empty or cannot be logarithmic")
    if not low <= view.value <= high:
        raise ValueError(f"the true value {view.value:g} is outside the range {low:g} to {high:g}")
    axis = Axis(label=view.label, quantity=view.quantity, low=low, high=high, scale=scale)
    truth = format_value(view.value, view.quantity, DEFAULT)
    return Prediction(
        label=view.label,
        truth=truth,
        at=_position(view.value, axis),
        marks=_labels([(_position(at, axis), text) for at, text in ticks(axis, DEFAULT)]),
        stops=tuple(_stop(index, axis, view) for index in range(STOPS)),
        verdict_words=_verdict_words(view.value, view.quantity),
    )


def _labels(labels: list[tuple[float, str]]) -> tuple[dict[str, Any], ...]:
    """Return the labels that do not overlap; a phone shows every second, third ... of them."""
    wide = _label_step(labels, _WIDE, 1)
    phone = _label_step(labels, _PHONE, wide)
    return tuple(
        {
            "at": at,
            "text": text,
            "back": round(_label_offset(at, text), 1),
            "wide": index % phone != 0,
        }
        for index, (at, text) in enumerate(labels)
        if index % wide == 0
    )


def _label_step(labels: list[tuple[float, str]], width: float, least: int) -> int:
    """Return the smallest stride, a multiple of `least`, at which no labels overlap."""
    stride = least
    while not _labels_fit(labels[::stride], width):
        stride += least
    return stride


def _labels_fit(labels: list[tuple[float, str]], available: float) -> bool:
    end = -math.inf
    for at, text in labels:
        label_width = _CHARACTER * len(text)
        left = at / 100 * available - _label_offset(at, text) / 100 * label_width
        if left < end:
            return False
        end = left + label_width + _GAP
    return True


def _label_offset(at: float, text: str) -> float:
    """Return the percentage of a label left of its position; labels at an end stay inside."""
    width = _CHARACTER * len(text)
    offset = min(50.0, max(at / 100 * _PHONE / width * 100, 0.0))
    return max(offset, 100 - (100 - at) / 100 * _PHONE / width * 100)


def _stop(index: int, axis: Axis, view: Value) -> tuple[str, str]:
    share = index / (STOPS - 1)
    if axis.scale == "linear":
        guess = axis.low + share * (axis.high - axis.low)
    else:
        guess = axis.low * (axis.high / axis.low) ** share
    guess = float(f"{guess:.2g}")
    text = tick_text(guess, view.quantity, DEFAULT)
    return text, _comparison(guess, view.value, view.quantity)


def _position(value: float, axis: Axis) -> float:
    if axis.scale == "linear":
        return round(100 * (value - axis.low) / (axis.high - axis.low), 3)
    return round(100 * math.log(value / axis.low) / math.log(axis.high / axis.low), 3)


def verdict(guess: float, truth: float, quantity: Quantity) -> str:
    """Return a sentence that compares a guess with the true value."""
    before, between = _verdict_words(truth, quantity)
    comparison = _comparison(guess, truth, quantity)
    return f"{before}{tick_text(guess, quantity, DEFAULT)}{between}{comparison}"


def _verdict_words(truth: float, quantity: Quantity) -> tuple[str, str]:
    return "You said ", f"; it is {format_value(truth, quantity, DEFAULT)}"


def _comparison(guess: float, truth: float, quantity: Quantity) -> str:
    if guess <= 0 or truth <= 0:
        return "."
    ratio = truth / guess
    # A count may number something, as a layer: there is no "as much" of it.
    unit = {"seconds": "times as long", "count": "times that"}.get(quantity.name, "times as much")
    if 0.95 <= ratio <= 1.05:
        return ", so you were right within 5 %."
    if ratio > 1:
        return f", {_ratio_text(ratio)} {unit}."
    return f": your guess was {_ratio_text(1 / ratio)} {unit}."


def _ratio_text(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 100 else (f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}")
