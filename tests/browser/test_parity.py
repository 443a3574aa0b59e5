"""Every calculator gives the same bytes in the browser as natively: numbers, words, pictures."""

import json
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Page, Playwright

from engine import calculator as calculators
from engine.core.inputs import Choice, Compact, Field, Number, Order, Text
from engine.core.parsing import exact_text
from tests.bench.host import serve
from tests.browser.conftest import FLAGS, chromium
from tests.browser.runtime_fixtures import ROOT, write_page
from tests.engine.calculators.tried import OWN_CONSTANTS, answer, combinations, reply, tries

pytestmark = pytest.mark.browser

DIGITS = re.compile(r"\d+\.?\d{7,}")  # only long numbers: names and short ones stay text
PATIENCE = 60_000  # milliseconds, of a machine that does much else
# A training at a rate at which the loss jumps multiplies what a last bit of an exponential makes:
# after 48 steps the fifth digit is the last that is the same everywhere. Four are printed.
UNSTEADY = {"compressed_training": 1e-5}
ASK = f"""([name, text]) => Promise.race([
  engine.ask(name, text),
  new Promise((_, no) => setTimeout(no, {4 * PATIENCE}, new Error("no answer"))),
])"""
CHARTS = ("lines", "bars", "timeline", "heatmap")
# Seconds after which a slow calculator is asked no more than what every one of them is asked.
# Here alone V8 compiles for speed, as for readers: its arithmetic is what is compared.
OWN_FLAGS = tuple(flag for flag in FLAGS if not flag.startswith("--js-flags"))


@pytest.fixture(scope="session")
def live(playwright: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder: Path = tmp_path_factory.mktemp("parity")
    write_page(folder, ROOT / "engine", ROOT / ".cache", PATIENCE)
    browser = playwright.chromium.launch(executable_path=chromium(), args=list(OWN_FLAGS))
    context = browser.new_context()
    with serve({"/guides/": folder}) as port:
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/guides/index.html")
        page.wait_for_function("() => window.engine")
        yield page
        browser.close()


def extremes(field: Field) -> list[object]:
    """Return the ends of an input: both bounds, some options, both ways round, on and off."""
    if isinstance(field, Number):
        return [field.low, field.high]
    if isinstance(field, Order):
        return ["-".join(field.items), "-".join(reversed(field.items))]
    if isinstance(field, Text):
        return [sample.text for sample in field.samples.values()] or [""]
    if isinstance(field, Compact):
        return ["", field.example or OWN_CONSTANTS]
    return some(list(field.options)) if isinstance(field, Choice) else [True, False]


def some(options: list[object], count: int = 6) -> list[object]:
    """Return options from first to last, evenly; tests without a browser try every one."""
    last = len(options) - 1
    return [
        options[place] for place in sorted({round(last * i / (count - 1)) for i in range(count)})
    ]


def turns(fields: Mapping[str, Field], chance: random.Random) -> Iterator[dict[str, object]]:
    """Yield cases in which every input takes each of its ends, beside different ends of others.

    Ends one at a time are tried natively; here it is two interpreters that are compared.
    """
    ends = {key: extremes(field) for key, field in fields.items()}
    order = {key: chance.sample(own, len(own)) for key, own in ends.items()}
    for turn in range(max(map(len, ends.values()), default=0)):
        yield {key: own[turn % len(own)] for key, own in order.items()}


def requests(name: str) -> tuple[list[str], list[str]]:
    """Return what a calculator has to be asked, and what else it is asked unless it is slow.

    First the defaults with all that can be opened, every end of every input, seeded inputs with all
    that can be opened in other units, and what cannot be read; then presets, more seeded inputs,
    and the ends beside others. Of a search all of that is short. Seeded inputs are those of the
    native tests: their views are there.
    """
    declared, chance = calculators.load(name), random.Random(name)
    small = {key: exact_text(value) for key, value in declared.small.items()}
    outputs = reply({"calculator": name, "values": small})["outputs"]
    charts = [key for key, view in outputs.items() if view["kind"] in CHARTS]
    values = [key for key, view in outputs.items() if view["kind"] == "value"]
    everything = {"want": {"receipts": values, "spoken": charts, "table": charts, "csv": charts}}
    display = {"display": {"binary": True, "both_ways": True}}

    def asked(case: Mapping[str, object], **more: object) -> str:
        given = {key: exact_text(value) for key, value in {**case, **declared.small}.items()}
        return json.dumps({"calculator": name, "values": given, **more})

    seeded = combinations(name)[:8]
    always = [
        asked({}, **everything),
        *map(asked, turns(declared.fields, chance)),
        *(asked(case, **everything, **display) for case in seeded[:1]),
        json.dumps({"calculator": name, "typed": {next(iter(declared.fields)): "twelve"}}),
    ]
    more = [*declared.presets.values(), *seeded[1:], *turns(declared.fields, chance)]
    return always, [*map(asked, more)]


def alike(one: str, other: str, within: float = 2e-9) -> bool:
    """Whether two replies are the same, but for a number's tenth digit.

    Logarithms and powers come from two mathematical libraries and may differ in their last bit; a
    number just between two printed ones is then rounded up by one and down by the other.
    """
    if one == other:
        return True
    texts = [DIGITS.sub("#", text) for text in (one, other)]
    numbers = [[float(digits) for digits in DIGITS.findall(text)] for text in (one, other)]
    return texts[0] == texts[1] and numbers[0] == pytest.approx(numbers[1], rel=within)


def test_only_the_tenth_digit_may_differ():
    assert alike('{"x":[208.3820067]}', '{"x":[208.3820068]}')
    assert not alike('{"x":[208.3820067]}', '{"x":[208.3821]}')
    assert not alike('{"x":[1.0]}', '{"y":[1.0]}')


@pytest.mark.parametrize("name", calculators.names())
def test_the_browser_and_the_terminal_give_the_same_bytes(live: Page, name: str):
    always, more = requests(name)
    chosen = (*always, *[*more][: tries(name)])
    found = [(text, live.evaluate(ASK, [name, text])) for text in chosen]
    within = UNSTEADY.get(name, 2e-9)
    assert [text for text, reply in found if not alike(reply, answer(text), within)] == []
