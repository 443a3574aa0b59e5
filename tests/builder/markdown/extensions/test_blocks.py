"""Blocks of our own: illustrations, examples, and questions to answer before reading on."""

from types import SimpleNamespace

import pytest
from markdown import Markdown

from builder.calculators import calculator_context
from builder.calculators.calculator_context import CalculatorContext
from builder.content.library import Library
from builder.markdown.extensions.blocks import SiteBlocksExtension
from builder.markdown.render_state import RenderContext, RenderState
from engine.core.units import SECONDS
from engine.core.views import Badge, Receipt, Value

TIME = Value(label="Time", value=2.0, quantity=SECONDS, receipt=Receipt())
RING = CalculatorContext(
    name="ring",
    title="The ring",
    question="How long?",
    headline="time",
    groups={},
    fields=(SimpleNamespace(name="size", kind="number"),),
    outputs={"time": {"kind": "value", "also": ""}, "verdict": {"kind": "badge"}},
    presets=(),
    reply={},
    views={"time": TIME, "verdict": Badge(text="slow", sentence="It is slow.")},
    equations=(),
    sources={"time": ("hockney1994",)},
    job=(),
    searches=False,
)
ENDS = "\n    low: 1\n    high: 4"


def around(asked):
    def at(found, settings, output):
        asked.append((found.name, settings, output))
        return {"value": 3.0}, "receipt"

    return RenderContext(
        library=Library(references={}, terms={}),
        load=lambda name: RING,
        macros=None,
        blocks=SimpleNamespace(
            predict=lambda made, name, of: f"\nslider {made.truth} {made.at:g} {name} {of}\n",
            stops=lambda made, name: f"\nstops {made.stops[0][0]} {made.stops[-1][0]} {name}\n",
        ),
        at=at,
    )


@pytest.fixture(autouse=True)
def one(monkeypatch):
    monkeypatch.setattr(calculator_context, "calculator_names", lambda: ("ring",))


def converted(text, findings=None, asked=None):
    found = RenderState() if findings is None else findings
    extension = SiteBlocksExtension(around([] if asked is None else asked), found)
    return Markdown(extensions=[extension]).convert(text), found


def predicted(head, after="\n\n---\n\nAnswer."):
    return converted(f"/// predict | {head}\n\nHow long?\n\nReally?{after}\n///")


def refused(head):
    html, found = predicted(head)
    assert "slider" not in html
    assert (found.answers, found.receipts, found.values) == ([], [], {})
    ((raw, message),) = found.problems
    assert raw == f"predict | {head.partition(chr(10))[0]}"
    return message


def figure(name, body="A picture.\n\n---\n\nIts caption.\n\nMore of it."):
    return f"/// figure | {name}\n{body}\n///\n"


def test_a_figure_is_numbered_and_what_follows_the_line_is_its_caption():
    html, found = converted(figure("ring"))
    assert html == (
        '<figure class="illustration" id="ring">\n<p>A picture.</p>\n'
        '<figcaption><span class="figure-number">Figure 1.</span> <p>Its caption.</p>\n'
        "<p>More of it.</p>\n</figcaption>\n</figure>"
    )
    assert found.titles == {"ring": "Figure 1"}
    assert found.problems == []


def test_figures_are_numbered_in_the_order_of_the_text_and_calculators_have_no_number():
    found = RenderState(titles={"ring": "The ring"})
    html, _ = converted(figure("a") + "\n" + figure("b") + "\n" + figure("c"), found)
    assert found.titles == {
        "ring": "The ring",
        "a": "Figure 1",
        "b": "Figure 2",
        "c": "Figure 3",
    }
    assert html.count('<span class="figure-number">Figure 2.</span>') == 1


def test_a_figure_without_a_caption_is_named_and_keeps_its_picture():
    html, found = converted(figure("ring", "A picture."))
    assert html == '<figure class="illustration" id="ring">\n<p>A picture.</p>\n</figure>'
    assert found.problems == [("figure | ring", "figure 'ring' has no line '---' + caption")]


def test_the_first_line_ends_the_picture_and_a_second_stays_in_the_caption():
    html, _ = converted(figure("ring", "A.\n\n---\n\nB.\n\n---\n\nC."))
    before, _, caption = html.partition("<figcaption>")
    assert before == '<figure class="illustration" id="ring">\n<p>A.</p>\n'
    assert caption.count("<hr />") == 1
    assert caption.index("B.") < caption.index("<hr />") < caption.index("C.")


def test_a_picture_may_come_after_its_line_only():
    html, found = converted(figure("ring", "---\n\nB."))
    assert html == (
        '<figure class="illustration" id="ring">\n<figcaption>'
        '<span class="figure-number">Figure 1.</span> <p>B.</p>\n</figcaption>\n</figure>'
    )
    assert found.problems == []


def test_an_example_is_a_box():
    html, found = converted("/// example\nText.\n///")
    assert html == '<div class="example">\n<p>Text.</p>\n</div>'
    assert found == RenderState()


@pytest.mark.parametrize("head", ["figure", "predict", "example | a"])
def test_figures_and_questions_have_an_argument_and_examples_none(head):
    html, found = converted(f"/// {head}\nText.\n\n---\n\nMore.\n///")
    assert f"/// {head}" in html
    assert found == RenderState()


def test_a_question_has_its_slider_between_itself_and_its_answer():
    html, found = predicted(f"ring.time{ENDS}")
    assert html == (
        '<section class="predict">\n'
        '<div class="prompt">\n<p>How long?</p>\n<p>Really?</p>\n</div>\n'
        "<p>slider 2.00 s 50 predict ring.time</p>\n"
        '<details data-answer="">\n<summary>Show the answer</summary>\n'
        '<div class="answer">\n<p>Answer.</p>\n</div>\n</details>\n</section>'
    )
    assert found.problems == []


def test_a_question_notes_its_answer_its_stops_and_its_value():
    _, found = predicted(f"ring.time{ENDS}")
    assert found.answers == [("predict", "2.00 s")]
    assert found.receipts == ["stops 1 s 4 s predict"]
    assert list(found.values) == [("ring", "time")]
    assert list(found.calculators) == ["ring"]
    assert list(found.cites) == ["hockney1994"]


def test_a_second_question_has_another_name():
    text = f"/// predict | ring.time{ENDS}\n\nA?\n\n---\n\nB.\n///\n\n"
    _, found = converted(text + text)
    assert [marker for marker, _ in found.answers] == [
        "predict",
        "predict-2",
    ]


def test_a_slider_is_logarithmic_unless_it_is_said_to_be_linear():
    logarithmic, _ = predicted(f"ring.time{ENDS}")
    said, _ = predicted(f"ring.time{ENDS}\n    scale: log")
    linear, _ = predicted(f"ring.time{ENDS}\n    scale: linear")
    assert "slider 2.00 s 50 " in logarithmic
    assert said == logarithmic
    assert "slider 2.00 s 33.333 " in linear


def test_a_linear_slider_may_begin_at_zero():
    html, found = predicted("ring.time\n    low: 0\n    high: 4\n    scale: linear")
    assert "slider 2.00 s 50 " in html
    assert found.problems == []


@pytest.mark.parametrize("line", ["low: a", "high: a", "scale: square", "width: 3"])
def test_an_option_that_is_none_leaves_the_block_unread(line):
    html, found = predicted(f"ring.time{ENDS}\n    {line}")
    assert "/// predict" in html
    assert found.answers == []


def test_a_question_of_other_inputs_asks_for_those():
    asked = []
    html, found = converted(
        f"/// predict | ring.time size=5{ENDS}\n\nA?\n\n---\n\nB.\n///", asked=asked
    )
    assert asked == [("ring", {"size": "5"}, "time")]
    assert "slider 3.00 s 79.248 predict ring.time size=5" in html  # log 3 / log 4
    assert found.answers == [("predict", "3.00 s")]


def test_a_question_of_the_defaults_computes_nothing():
    asked = []
    converted(f"/// predict | ring.time{ENDS}\n\nA?\n\n---\n\nB.\n///", asked=asked)
    assert asked == []


def test_a_question_without_an_answer_is_named_and_keeps_its_text():
    html, found = predicted(f"ring.time{ENDS}", after="")
    assert html == ('<section class="predict">\n<p>How long?</p>\n<p>Really?</p>\n</section>')
    message = "a predict block has no line '---' before its answer"
    assert found.problems == [("predict | ring.time", message)]
    assert found.answers == []


@pytest.mark.parametrize("member", [".verdict", ".size", ""])
def test_only_a_value_can_be_predicted(member):
    wanted = f"'ring{member}' is no value; only a value can be predicted"
    assert refused(f"ring{member}{ENDS}") == wanted


@pytest.mark.parametrize(
    ("ends", "lacks"),
    [
        ("", "low and high of the slider are missing"),
        ("\n    high: 4", "low of the slider is missing"),
        ("\n    low: 1", "high of the slider is missing"),
    ],
)
def test_a_slider_without_an_end_is_told_which(ends, lacks):
    assert refused(f"ring.time{ends}") == f"{lacks}, such as low: 1"


def test_an_end_of_zero_is_an_end():
    wanted = "the range 0 to 4 is empty or cannot be logarithmic"
    assert refused("ring.time\n    low: 0\n    high: 4") == wanted


def test_a_range_without_the_truth_is_named():
    wanted = "the true value 2 is outside the range 3 to 4"
    assert refused("ring.time\n    low: 3\n    high: 4") == wanted


@pytest.mark.parametrize(
    ("argument", "wanted"),
    [
        ("tree.time", "no calculator 'tree'; there are ring"),
        (
            "ring.tiem",
            "ring has no input or output 'tiem'; its inputs are size; its outputs are "
            "time, verdict",
        ),
        (
            "ring.",
            "'[[ring.]]' is no placement; write [[calculator]], [[calculator.output]], "
            "[[calculator.input]], [[calculator.output input=value]] or "
            "[[calculator.output|also]]",
        ),
    ],
)
def test_a_calculator_or_an_output_that_is_not_there_is_named(argument, wanted):
    assert refused(f"{argument}{ENDS}") == wanted
