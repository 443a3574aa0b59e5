"""What a reader pastes is text on the page: every piece of markup that a reply holds is parsed.

The page takes markup from a reply under "html" and "svg" and from receipts, and from nowhere else;
all other strings are texts to it, which its own scripts escape (`theme/runtime/charts/svg.js`).
"""

import random
from html.parser import HTMLParser

import pytest

from engine.answer import reply
from engine.calculator import load, names
from engine.core.inputs import Text
from tests.engine.run.importers import fuzz as configurations
from tests.engine.run.traces import fuzz as traces

MARK = "<zz-mark onload=x()>"
BREAKS = ('"', "'", ":", "=", " ", "\n", ",", "|")
MARKUP = ("html", "svg")


class Tags(HTMLParser):
    """The tags of a markup, and whether its texts hold the mark."""

    def __init__(self, markup):
        super().__init__()
        self.tags, self.said = set(), False
        self.feed(markup)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.said |= any("zz-mark" in (value or "") for _, value in attrs)

    def handle_data(self, data):
        self.said |= "zz-mark" in data


def markup(value):
    """Every piece of markup in a reply."""
    if isinstance(value, list):
        for one in value:
            yield from markup(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            if key in MARKUP and isinstance(one, str):
                yield one
            else:
                yield from markup(one)


def told(name, field, text):
    """Whether the page would say the mark as text; it may never become an element."""
    values = {"model": "llama-3-8b"} if name == "import_job" else {}
    shown = list(load(name).fields)
    want = {"receipts": ["step_time", "predicted", "kernels", "unnamed", *shown]}
    request = {"calculator": name, "typed": {field: text}, "values": values, "want": want}
    found = reply(request)
    pieces = [Tags(one) for one in markup(found["outputs"] or {})]
    pieces += [Tags(one) for one in found["extra"].get("receipts", {}).values()]
    assert not [one for one in pieces if "zz-mark" in one.tags], text
    return any(one.said for one in pieces)


def pasted():
    """The calculators that take a text, with the name of its field."""
    for name in names():
        for field, mark in load(name).fields.items():
            if isinstance(mark, Text) and mark.samples:
                yield name, field


def marked(chance, text):
    """Return a text with the mark behind a few of its words."""
    text = text[:200_000]
    for _ in range(chance.choice((1, 2, 5))):
        places = [at for at, one in enumerate(text) if one in BREAKS]
        at = chance.choice(places or [0])
        text = f"{text[: at + 1]}{MARK}{text[at + 1 :]}"
    return text


@pytest.mark.parametrize(("name", "field"), list(pasted()))
def test_marks_in_what_is_pasted_are_text(name, field):
    chance = random.Random(f"{name} {field}")
    for sample in load(name).fields[field].samples.values():
        for _ in range(6):
            told(name, field, marked(chance, sample.text))


def test_damaged_configurations_with_marks_are_text():
    chance, said = random.Random("marked configurations"), 0
    for _ in range(200):
        said += told("import_job", "text", marked(chance, configurations.mutated(chance)))
    assert said > 10


def test_damaged_traces_with_marks_are_text():
    chance, said = random.Random("marked traces"), 0
    for _ in range(150):
        text = traces.mutated(chance).replace("gemm", f"gemm {MARK}")
        said += told("trace_check", "trace", text.replace("elementwise", f"{MARK} of a kernel"))
    assert said > 10
