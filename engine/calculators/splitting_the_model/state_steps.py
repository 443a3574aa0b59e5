"""A state beside keys and values: six tokens."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, cast

from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import Count
from engine.core.views import Cell, Frame, Scene, Shape, Table
from engine.draw.shapes import rect, text
from engine.tiny.written_state import KEYS, TOKENS, Rule, Written, seen_values, written_states

TITLE = "A state beside keys and values"
QUESTION = "What does a layer remember that keeps no keys?"
HEADLINE = "kept_state"
RULES = {
    "delta": "delta rule: what stood there is replaced",
    "sum": "sum: everything is added",
    "fading": "fading sum: half of the rest is forgotten",
}
_PAIR: Count = 3  # numbers of a key and its value
_STATE: Count = 2
_WIDTH, _CELL, _LEFT = 480.0, 56.0, 132.0
_ROWS = {"tokens": 30.0, "full": 92.0, "window": 154.0, "state": 216.0}
_FONT = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    rule: Annotated[str, Choice(label="The state is written by", options=RULES)] = "delta"
    window: Annotated[int, Number(label="Window, tokens", low=1, high=6, whole=True)] = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The states, and how many numbers each kind of layer keeps after all tokens."""

    states: tuple[Written, ...]
    kept_full: Annotated[
        Count,
        Output(
            "Numbers that full attention keeps",
            note="after six tokens",
            color="tensor",
            basis="definition",
            assumes=("Two numbers of a key and one of a value for each token.",),
        ),
    ]
    kept_window: Annotated[
        Count,
        Output(
            "Numbers in the window",
            color="pipeline",
            basis="definition",
            assumes=("Two numbers of a key and one of a value for each token.",),
        ),
    ]
    kept_state: Annotated[
        Count,
        Output(
            "Numbers of the state",
            note="after any number of tokens",
            color="context",
            basis="definition",
            assumes=("As many as a key has, for each number of a value.",),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the state after each token, and what is kept at the end."""
    return Result(
        states=written_states(cast(Rule, inputs.rule)),
        kept_full=_PAIR * len(TOKENS),
        kept_window=_PAIR * min(inputs.window, len(TOKENS)),
        kept_state=_STATE,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "scene": partial(_scene, inputs, result),
        **present.values("kept_full", "kept_window", "kept_state"),
        "answers": partial(_recall_table, inputs, result),
    }


def _number(value: float) -> str:
    """Return a number with as many decimals as it has, three at most."""
    return f"{value:.3f}".rstrip("0").rstrip(".").replace("-", "−")


def _scene(inputs: Inputs, result: Result) -> Scene:
    return Scene(
        title="Six tokens, and what three layers keep of them",
        width=_WIDTH,
        height=262,
        frames=tuple(_frame(inputs, result, last) for last in range(len(TOKENS))),
        opening=1,
        caption="A token writes a value under a name. Ann is the key (1, 0), Bob (0, 1) and Cid "
        "(3/5, 4/5), which points between the two.",
    )


def _frame(inputs: Inputs, result: Result, last: int) -> Frame:
    shapes: list[Shape] = [
        text(f"name{key}", 0, top + 20, _FONT, words, "start")
        for (key, top), words in zip(
            _ROWS.items(), ("tokens", "full attention", "window", "state"), strict=True
        )
    ]
    for column, (name, value) in enumerate(TOKENS):
        shown = {
            "tokens": column <= last,
            "full": column <= last,
            "window": last - inputs.window < column <= last,
        }
        for key, color in (("tokens", "ink"), ("full", "tensor"), ("window", "pipeline")):
            words = f"{name} {value}"
            shapes += _cell(f"{key}{column}", column, _ROWS[key], (words, color), shown[key])
    for column, number in enumerate(result.states[last].state):
        shapes += _cell(
            f"state{column}", column, _ROWS["state"], (_number(number), "context"), True
        )
    answers = ", ".join(
        f"{name} {_number(value)}" for name, value in result.states[last].answers.items()
    )
    name, value = TOKENS[last]
    caption = f"{name} {value} is read. The state answers: {answers}."
    return Frame(caption=caption, shapes=tuple(shapes))


def _cell(
    key: str, column: int, top: float, look: tuple[str, str], shown: bool
) -> tuple[Shape, Shape]:
    words, color = look
    opacity = "0.35" if shown else "0.04"
    left = _LEFT + column * (_CELL + 2)
    box = (left, top), (_CELL, 32.0)
    return (
        rect(f"box{key}", *box, f"cell c-{color}", (("fill-opacity", opacity),)),
        text(f"in{key}", left + _CELL / 2, top + 21, _FONT, words if shown else ""),
    )


def _recall_table(inputs: Inputs, result: Result) -> Table:
    """Return what each layer can still say of each name after the last token."""
    last = len(TOKENS) - 1
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            _values(seen_values(name, last, 0)),
            _values(seen_values(name, last, inputs.window)),
            _number(result.states[last].answers[name]),
        )
        for name in KEYS
    ]
    return Table(
        title="Asked for a name after the sixth token",
        columns=("Name", "Full attention sees", "The window sees", "The state answers"),
        rows=tuple(rows),
    )


def _values(values: tuple[int, ...]) -> str:
    return ", ".join(map(str, values)) or "nothing"
