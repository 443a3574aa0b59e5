"""A calculator that reads a text: what its reply holds, what a link holds, how a terminal asks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated
from unittest.mock import patch

import pytest

from engine.__main__ import main
from engine.answer import reply, solving
from engine.calculator import Calculator
from engine.core.inputs import InputError, Sample, Text
from engine.core.numbers import DEFAULT
from engine.core.units import COUNT
from engine.core.views import Receipt, Table, Value
from engine.draw.view_json import view_json

SAMPLES = {"two": Sample(title="Two steps", text="1\n2\n"), "one": Sample(title="One", text="7\n")}


def numbers(text: str) -> tuple[int, ...]:
    for line, word in enumerate(text.splitlines(), 1):
        if not word.strip().isdigit():
            raise InputError(f"line {line}, column 1: '{word}' is no number")
    return tuple(int(word) for word in text.split())


LOG = Text(label="Log", longest=40, samples=SAMPLES, check=numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    log: Annotated[str, LOG] = SAMPLES["two"].text


def views(inputs, result):
    receipt = Receipt(assumptions=("Lines are counted.",))
    rows = ((inputs.log,),)
    return {
        "total": Value(label="Total", value=float(result), quantity=COUNT, receipt=receipt),
        "lines": Table(title="Lines", columns=("Line",), rows=rows),
    }


SUM = Calculator(
    name="sum_of_lines",
    title="A sum",
    question="How much?",
    headline="total",
    inputs=Inputs,
    fields={"log": LOG},
    defaults={"log": SAMPLES["two"].text},
    solve=lambda inputs: sum(numbers(inputs.log)),
    views=views,
    presets={},
    equations=(),
)


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    solving.cache_clear()
    with (
        patch("engine.answer.load", lambda _: SUM),
        patch("engine.terminal.load", lambda _: SUM),
        patch("engine.terminal.names", lambda: ("sum_of_lines",)),
    ):
        yield
    solving.cache_clear()


def asked(**request):
    return reply({"calculator": "sum_of_lines", **request})


def test_a_text_of_the_reader_is_computed_and_stays_out_of_the_link():
    found = asked(typed={"log": "3\r\n4"})
    assert found["outputs"]["total"]["value"] == 7
    assert found["inputs"]["log"] == {
        "value": "3\n4",
        "text": "3\n4",
        "position": None,
        "changed": True,
        "error": None,
    }
    assert found["query"] == []


def test_a_link_names_the_sample_that_is_shown():
    found = asked(values={"log": "sample:one"})
    assert found["query"] == [["sum_of_lines.log", "sample:one"]]
    assert found["inputs"]["log"]["text"] == "7\n"
    assert found["inputs"]["log"]["value"] == "sample:one"


def test_a_reply_gives_back_what_the_next_request_can_say():
    first = asked(typed={"log": "3\n4"})
    again = asked(values={"log": first["inputs"]["log"]["value"]})
    assert again["outputs"] == first["outputs"]


def test_a_text_that_cannot_be_read_has_its_line_under_it():
    found = asked(typed={"log": "3\nx"})
    assert found["outputs"] is None
    assert found["inputs"]["log"]["error"] == "line 2, column 1: 'x' is no number"


def test_a_text_has_no_slider():
    assert asked(slide={"log": 0.5})["inputs"]["log"]["error"] == "log has no slider"


def test_markup_of_a_text_reaches_the_page_as_text():
    shown = view_json(views(Inputs(log="<img src=x onerror=alert(1)>"), 1)["lines"], DEFAULT)
    assert "<img" not in shown["html"]
    assert "&lt;img" in shown["html"]


def test_a_terminal_reads_a_text_from_a_file(tmp_path, capsys):
    file = tmp_path / "steps.log"
    file.write_text("3\n4\n", encoding="utf-8")
    assert main(["sum_of_lines", f"log=@{file}"]) == 0
    printed = capsys.readouterr().out
    assert "log  2 lines, 4 characters" in printed
    assert "total  7" in printed


def test_a_terminal_names_a_file_that_is_not_there(capsys):
    assert main(["sum_of_lines", "log=@/nowhere/steps.log"]) == 2
    assert "/nowhere/steps.log" in capsys.readouterr().err


def test_help_names_samples_and_not_their_text(capsys):
    assert main(["sum_of_lines", "--help"]) == 0
    assert "log    sample:two   sample:two, 2 lines" in capsys.readouterr().out
