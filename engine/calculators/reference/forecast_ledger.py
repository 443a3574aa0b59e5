"""Forecast ledger: steps predicted before they were measured, and how they came out."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from textwrap import wrap
from typing import Annotated

from engine.catalog.forecasts import Forecast, Score, forecasts, scores
from engine.core.inputs import Choice
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import COUNT, RATIO, SECONDS, TOKEN_RATE, Count, Seconds
from engine.core.views import Cell, Code, Table
from engine.run.document import InputError, read_document
from engine.simulate.step.step_time import step_time

_ROWS: Mapping[str, Forecast] = {row.name: row for row in forecasts()}
_FROZEN = (
    "Predicted by the engine of the commit in the row, on its date; never changed since.",
    "Four in five unseen runs of this kind lie in such a range, as the engine knew on that date.",
)
_SCORED = ("A forecast holds if the measured step lies in the range that stands in its row.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    row: Annotated[
        str,
        Choice(
            label="Show the row of",
            options={name: row.what for name, row in _ROWS.items()},
        ),
    ] = next(iter(_ROWS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The ledger in numbers, and the steps of the chosen row."""

    made: Annotated[Count, Output("Forecasts", assumes=_FROZEN)]
    scored: Annotated[Count, Output("Of them scored", assumes=_SCORED)]
    held: Annotated[Count, Output("In their range", assumes=_SCORED)]
    step: Annotated[
        Seconds,
        Output("Predicted step", note="a range from {low} to {high}", assumes=_FROZEN),
    ]
    today: Annotated[
        Seconds,
        Output("By today's engine", note="the forecast stays as it is", assumes=_FROZEN[1:]),
    ]
    low: Seconds
    high: Seconds


def today_step(row: Forecast) -> Seconds:
    """Return the step by today's engine; 0 where it no longer reads the run file."""
    try:
        run = read_document(json.loads(row.run))
    except InputError:
        return 0.0
    return step_time(run.model, run.cluster, run.plan, run.training).total


def is_held(row: Forecast, score: Score) -> bool:
    """Return whether the measured step lies in the range of the forecast."""
    return row.low <= score.measured <= row.high


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    row = _ROWS[inputs.row]
    return Result(
        made=len(_ROWS),
        scored=len(scores()),
        held=sum(is_held(_ROWS[name], score) for name, score in scores().items()),
        step=row.step,
        today=today_step(row),
        low=row.low,
        high=row.high,
    )


def _time(seconds: Seconds) -> Text:
    return say("{t}", t=(seconds, SECONDS)) if seconds else "–"


def _work(row: Forecast) -> tuple[Text, Text]:
    """Return the batch of a row's step, and the tokens per second per GPU that its step means."""
    run = json.loads(row.run)
    batch, length = run["training"]["global_batch_size"], run["sequence_length"]
    rate = batch * length / row.step / run["parallelism"]["world_size"]
    return (
        say("{batch} × {length}", batch=(batch, COUNT), length=(length, COUNT)),
        say("{rate}", rate=(rate, TOKEN_RATE)),
    )


def open_table() -> Table:
    """Return the forecasts that wait for a measurement, the newest last."""
    rows: list[tuple[Cell, ...]] = [
        (
            row.what,
            row.date,
            _time(row.step),
            say("{low} to {high}", low=(row.low, SECONDS), high=(row.high, SECONDS)),
            *_work(row),
            _time(today_step(row)),
            row.commit[:8],
            row.sha256[:12],
        )
        for row in _ROWS.values()
        if row.name not in scores()
    ]
    return Table(
        title="Not yet measured",
        columns=(
            "Run",
            "Made",
            "Step",
            "Range",
            "Sequences × tokens",
            "Per GPU",
            "Today's engine",
            "Commit",
            "SHA-256",
        ),
        rows=tuple(rows),
        caption="Range: in four of five cases the measured step should lie in it. Steps of "
        "different batches are compared by their tokens per second per GPU. Commit and hash are "
        "shortened; the row below has them whole.",
    )


def scored_table() -> Table:
    """Return the forecasts with what was measured."""
    rows: list[tuple[Cell, ...]] = []
    for name, score in scores().items():
        row = _ROWS[name]
        rows.append(
            (
                row.what,
                row.date,
                _time(row.step),
                say("{low} to {high}", low=(row.low, SECONDS), high=(row.high, SECONDS)),
                _time(score.measured),
                say("{r}", r=(row.step / score.measured, RATIO)),
                "yes" if is_held(row, score) else "no",
                score.date,
                f"{score.source} {score.note}".strip(),
            )
        )
    nothing: tuple[Cell, ...] = ("Nothing yet", *["–"] * 8)
    return Table(
        title="Scored",
        columns=(
            "Run",
            "Made",
            "Step",
            "Range",
            "Measured",
            "Predicted over measured",
            "In the range",
            "Published",
            "Where",
        ),
        rows=tuple(rows) or (nothing,),
    )


_WIDTH = 40  # characters of a line, as many as a phone shows


def row_code(name: str) -> Code:
    """Return a row of the ledger, its run file last."""
    row = _ROWS[name]
    lines = (
        row.name,
        f"made {row.date} by engine {row.version}, commit",
        row.commit,
        *wrap(f"scored by: {row.counts}", _WIDTH),
        "hash of the row before",
        row.after or "none: the first row",
        "SHA-256",
        row.sha256,
        "",
        json.dumps(json.loads(row.run), indent=1),
    )
    return Code(title=row.what, language="text", text="\n".join(lines))


TITLE = "Ledger of forecasts"
QUESTION = "What did we predict before anybody had measured it?"
HEADLINE = "step"
EQUATIONS = ()
PRESETS = {_ROWS[name].what: {"row": name} for name in list(_ROWS)[1:3]}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the numbers, the tables and the row."""
    present = Presenter(inputs, result)
    return {
        **present.values("step", "today", "made", "scored", "held"),
        "open": open_table,
        "done": scored_table,
        "ledger_row": partial(row_code, inputs.row),
    }
