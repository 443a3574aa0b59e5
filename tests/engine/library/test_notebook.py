"""Results in a notebook: their HTML, any calculator by name, grids as arrays and frames."""

import math
import re
import sys
from html.parser import HTMLParser

import numpy
import pytest

from builder.project.package_hook import confined
from engine.calculator import names
from engine.library import package
from engine.library.display import bars_svg, views_html
from tests.each import each
from tests.engine.test_estimate import RUN
from tests.layers import ROOT

AXES = {"parallelism.tensor_parallel": [4, 8], "training.micro_batch_size": [1, 2, 5]}
VOID = {"br", "path", "rect", "line", "circle", "wbr", "meta", "img", "input", "polygon"}


class Tags(HTMLParser):
    """Collects the open tags of an HTML fragment; there has to be none at its end."""

    def __init__(self, html):
        super().__init__()
        self.open, self.seen = [], set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


@each("make", [package.estimate, package.plan], ids=["estimate", "plan"])
def test_a_result_shows_itself_as_html_without_scripts(make):
    job = {
        "model": "llama-3-8b",
        "cluster": RUN["cluster"],
        "world_size": 64,
        "sequence_length": 8192,
        "global_batch_size": 512,
    }
    html = make(RUN if make is package.estimate else job)._repr_html_()
    tags = Tags(html)
    assert tags.open == []
    assert {"table", "style"} <= tags.seen
    assert "script" not in tags.seen
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")


def test_an_estimate_shows_its_numbers_and_its_parts():
    result = package.estimate(RUN)
    html = result._repr_html_()
    assert html.count("<svg") == 2
    for name in ("compute", "data parallel", "activations", "reserve"):
        assert f">{name}</text>" in html
    assert f"Estimate: {result.fit}" in html


@each("name", [*names()][::8])
def test_a_calculator_shows_what_its_page_shows(name):
    answer = package.calculate(name)
    html = views_html(answer.title, answer.views)
    assert Tags(html).open == []
    assert len(html) > 300
    assert all(isinstance(value, int | float) for value in answer.numbers.values())


def test_a_calculator_takes_si_values_units_choices_and_switches():
    typed = package.calculate("gradient_sync", port="400 Gb/s", dtype="bf16", overlap=False)
    plain = package.calculate("gradient_sync", port=5e10, dtype="bf16", overlap=False)
    assert typed.inputs == plain.inputs
    assert typed.numbers == plain.numbers
    assert typed.inputs["overlap"] is False


@each(
    ("call", "said"),
    [
        (lambda: package.calculate("gradient_sinc"), "did you mean 'gradient_sync'"),
        (lambda: package.calculate("gradient_sync", port=9e99), "port: .* outside the range"),
        (lambda: package.calculate("gradient_sync", gpus=2), "has no input 'gpus'"),
        (lambda: package.sweep(RUN, {}), "axes: {}; allowed: "),
        (lambda: package.sweep(RUN, {"sequence_length": []}), "axes: "),
    ],
)
def test_what_cannot_be_used_is_refused(call, said):
    with pytest.raises(package.InputError, match=said):
        call()


def test_a_grid_has_named_axes_and_knows_what_is_impossible():
    grid = package.sweep(RUN, AXES)
    assert list(grid.axes) == list(AXES)
    assert {array.shape for array in grid.values.values()} == {(2, 3)}
    assert set(grid.problems) == {(0, 2), (1, 2)}  # micro-batches of 5 do not divide the batch
    assert numpy.isnan(grid.values["step_time"][:, 2]).all()
    changed = {**RUN, "parallelism": {**RUN["parallelism"], "tensor_parallel": 4}}
    assert grid.values["step_time"][0, 0] == package.estimate(changed).step_time
    assert RUN["parallelism"]["tensor_parallel"] == 8


def test_a_grid_is_a_frame_with_a_row_for_each_run():
    frame = package.sweep(RUN, AXES).frame()
    assert list(frame.columns[:2]) == ["tensor_parallel", "micro_batch_size"]
    assert len(frame) == 6
    assert math.isnan(frame.loc[frame.micro_batch_size == 5, "mfu"].iloc[0])
    assert "<table" in package.sweep(RUN, AXES)._repr_html_()


def test_a_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ImportError, match=r"pip install 'wallclock-training\[notebook\]'"):
        package.sweep(RUN, AXES)


def test_the_style_holds_inside_the_result_only():
    sheets = [ROOT / "theme/styles" / name for name in ("10-colors.css", "45-scene.css")]
    css = confined("\n".join(sheet.read_text() for sheet in sheets))
    selectors = re.findall(r"^\s*([^\s@{}][^{}]*?)\s*\{", css, re.MULTILINE)
    assert len(selectors) > 8
    assert [one for one in selectors if ".wallclock" not in one] == []
    assert css.count("{") == css.count("}")
    html = package.estimate(RUN)._repr_html_()
    used = set(re.findall(r"var\(--(\w+)\)", html))
    assert used <= set(re.findall(r"--([\w-]+):", css))


def test_a_bar_chart_escapes_what_it_is_named():
    from engine.core.units import SECONDS
    from engine.core.views import Axis, Bar, Bars, Segment

    segment = Segment(key="a", label="<b>", value=1.0, color="compute")
    bars = Bars(
        title="<i>",
        axis=Axis(label="", quantity=SECONDS, low=0, high=1),
        bars=(Bar(key="a", label="<script>", segments=(segment,)),),
        caption="",
    )
    assert not re.search(r"<(script|b|i)>", bars_svg(bars))
