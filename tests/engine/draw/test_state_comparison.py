"""States side by side: what differs, and the way from one to the other."""

import json
import re

from engine.answer import reply
from engine.calculator import load, names
from tests import lanes
from tests.each import each

ROW = re.compile(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>')


def compared(name: str, *states: tuple[str, dict[str, str]], trace: str = "") -> str:
    listed = [{"name": title, "values": values} for title, values in states]
    request = json.dumps({"states": listed, "trace": trace})
    asked = {"calculator": name, "only": [], "want": {"compare": [request]}}
    return reply(asked)["extra"]["compare"][request]


def rows(html: str, caption: str) -> dict[str, list[str]]:
    table = next(one for one in html.split("<table>") if f"<caption>{caption}" in one)
    return {
        re.sub("<[^>]*>", "", name): re.findall("<td>(.*?)</td>", cells)
        for name, cells in ROW.findall(table)
    }


def text(name: str, output: str, **values: str) -> str:
    return str(reply({"calculator": name, "values": values})["outputs"][output]["text"])


def test_inputs_and_numbers_that_differ_are_those_of_the_replies():
    html = compared("gradient_sync", ("A", {}), ("B", {"world_size": "1024", "parameters": "7e10"}))
    assert rows(html, "Inputs that differ") == {
        "Parameters": ["7B", "70B"],
        "GPUs": ["64", "1,024"],
    }
    numbers = rows(html, "Numbers that differ")
    assert numbers["Step"][:2] == [
        text("gradient_sync", "step_time"),
        text("gradient_sync", "step_time", world_size="1024", parameters="7e10"),
    ]


def test_the_way_goes_over_single_changes_to_the_second_state():
    html = compared("gradient_sync", ("A", {}), ("B", {"world_size": "1024", "parameters": "7e10"}))
    way = rows(html, "Step: from")
    assert way == {
        "Parameters: 7B → 70B": [text("gradient_sync", "step_time", parameters="7e10")],
        "GPUs: 64 → 1,024": [rows(html, "Numbers that differ")["Step"][1]],
    }


def test_any_number_is_followed():
    states = ("A", {}), ("B", {"world_size": "1024", "parameters": "7e10"})
    html = compared("gradient_sync", *states, trace="all_reduce_time")
    assert rows(html, "All-reduce: from") == {
        "Parameters: 7B → 70B": [text("gradient_sync", "all_reduce_time", parameters="7e10")],
        "GPUs: 64 → 1,024": [rows(html, "Numbers that differ")["All-reduce"][1]],
    }


def test_the_largest_change_stands_first():
    html = compared("gradient_sync", ("A", {}), ("B", {"world_size": "1024", "parameters": "7e10"}))
    changes = [cells[2] for cells in rows(html, "Numbers that differ").values()]
    factors = [float(text[1:].replace(",", "")) for text in changes if text.startswith("×")]
    sizes = [max(one, 1 / one) for one in factors]
    assert len(sizes) > 2
    assert sizes == sorted(sizes, reverse=True)


def test_three_states_stand_in_the_order_given_and_are_not_followed():
    html = compared(
        "gradient_sync", ("A", {}), ("B", {"world_size": "8"}), ("C", {"overlap": "off"})
    )
    assert rows(html, "Inputs that differ")["GPUs"] == ["64", "8", "64"]
    assert "one change after another" not in html


def test_equal_states_are_said_to_be_equal():
    assert compared("gradient_sync", ("A", {}), ("B", {})) == (
        "<p>These states have the same inputs.</p>"
    )


def test_what_cannot_be_read_is_said_and_has_its_default():
    html = compared("gradient_sync", ("old", {"ranks": "8", "world_size": "-3"}), ("B", {}))
    assert "old: there is no input &#x27;ranks&#x27; any more; " in html
    assert "These states have the same inputs." in html


def test_names_of_readers_are_text():
    html = compared("gradient_sync", ("<img src=x>", {}), ("B", {"world_size": "8"}))
    assert "<img" not in html
    assert "&lt;img src=x&gt;" in html


@each("name", lanes.sampled([*names()], 4))
def test_every_calculator_compares_its_presets(name):
    calculator = load(name)
    given = [("defaults", {})]
    for title, values in calculator.presets.items():
        plain = {
            key: ("on" if value else "off") if isinstance(value, bool) else str(value)
            for key, value in values.items()
        }
        given.append((title, plain))
    html = compared(name, *given[:3])
    assert html.count("<table>") == html.count("</table>")
    assert len(given) == 1 or "Inputs that differ" in html or "same inputs" in html
