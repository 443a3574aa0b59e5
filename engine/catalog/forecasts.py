"""Ledger of forecasts: steps predicted before anybody published a measurement, and their scores.

A row is never changed. `sha256` is the hash of the row's other columns, as they stand in the file,
with the tabs between them and a line feed; `after` is the hash of the row before, so that a row
cannot be changed without all rows behind it. Rows are added by `python -m
tests.validation.forecasts`.
"""

from dataclasses import dataclass
from functools import cache

from engine.catalog import forecast_scores_table, forecasts_table
from engine.core.units import Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """One row of the ledger.

    Attributes:
        name: of the row, for the scores and for links.
        date: on which it was made.
        version, commit: of the engine that made it.
        what: is predicted, in words.
        counts: which measurement will score it.
        low, high: ends of the range in which four of five such steps lie.
        step: as predicted.
        run: the run file, as JSON.
        after: hash of the row before; empty for the first.
        sha256: hash of the columns before it.
    """

    name: str
    date: str
    version: str
    commit: str
    what: str
    counts: str
    low: Seconds
    step: Seconds
    high: Seconds
    run: str
    after: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The measured outcome of a forecast.

    Attributes:
        name: of the forecast.
        date: of the measurement's publication.
        measured: the step.
        source: address of the measurement.
        note: where the measured run differs from the run file; may be empty.
    """

    name: str
    date: str
    measured: Seconds
    source: str
    note: str


@cache
def forecasts() -> tuple[Forecast, ...]:
    """Return the rows, the oldest first."""
    return tuple(
        Forecast(
            name=name,
            date=date,
            version=version,
            commit=commit,
            what=what,
            counts=counts,
            low=float(low),
            step=float(step),
            high=float(high),
            run=run,
            after=after,
            sha256=sha256,
        )
        for name, date, version, commit, what, counts, low, step, high, run, after, sha256 in _rows(
            forecasts_table.TEXT
        )
    )


@cache
def scores() -> dict[str, Score]:
    """Return name -> score of the forecasts whose measurement is out."""
    return {
        name: Score(name=name, date=date, measured=float(measured), source=source, note=note)
        for name, date, measured, source, note in _rows(forecast_scores_table.TEXT)
    }


def _rows(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()[1:]]
