"""A chosen published run: prediction without its source, range and measurement."""

from dataclasses import dataclass
from functools import partial
from math import exp
from typing import Annotated

from engine.calculators.whole_runs.published_runs.planned import Against, compare_plans
from engine.calculators.whole_runs.published_runs.read import Published
from engine.catalog.unseen_runs import unseen_logs
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter
from engine.core.units import COUNT, Seconds
from engine.core.views import Badge, Bar, Bars, Segment
from engine.simulate.step.step_range import PredictionSpread, step_range

_WITHOUT = (
    "The constants were fitted to all other sources, and this run was then predicted.",
    "The range is that of its class, in which four of five unseen steps lie.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """A run with its prediction; zeros if no run is left.

    Attributes:
        run: it.
        low, high: ends of the range of the prediction.
        fitted: predicted with constants that were fitted to it too, if its source stands by it.
        spread: what the range rests on.
        against: its plan beside the best one.
    """

    run: Published | None
    picked_step: Annotated[
        Seconds, Output("Predicted, its source unseen", color="compute", assumes=_WITHOUT)
    ]
    picked_measured: Annotated[
        Seconds, Output("Measured", color="accent", basis="measured", assumes=("By its source.",))
    ]
    low: Seconds
    high: Seconds
    fitted: Seconds
    spread: PredictionSpread | None
    against: Lazy[Against] | None

    @property
    def inside(self) -> bool:
        """Whether the measured step lies in the range."""
        return self.low <= self.picked_measured <= self.high


def picked_run(run: Published | None) -> Picked:
    """Return a run with its prediction that excludes its source."""
    if run is None:
        return Picked(
            run=None,
            picked_step=0.0,
            picked_measured=0.0,
            low=0.0,
            high=0.0,
            fitted=0.0,
            spread=None,
            against=None,
        )
    step = run.measured * exp(unseen_logs()[run.key])
    low, high, spread = step_range(run.case.run, step)
    return Picked(
        run=run,
        picked_step=step,
        picked_measured=run.measured,
        low=low,
        high=high,
        fitted=run.predicted,
        spread=spread,
        against=Lazy(partial(compare_plans, run)),
    )


def verdict(present: Presenter, chosen: Picked) -> Badge:
    """Return whether the measured step lies in the range."""
    run, spread = chosen.run, chosen.spread
    if run is None or spread is None:
        return Badge(text="No run", sentence="No run is left to pick.", color="muted")
    words = f"{run.name} on {{gpus}} {run.family} in {run.inputs.precision}: measured "
    words += "{picked_measured}, predicted {picked_step}, with a range from {low} to {high}. The "
    words += f"range is that of {{runs}} runs of {spread.name}."
    return Badge(
        text="Inside the range" if chosen.inside else "Outside the range",
        sentence=present.say(
            words, gpus=(float(run.world_size), COUNT), runs=(float(spread.runs), COUNT)
        ),
        color="compute" if chosen.inside else "bad",
    )


def bars(present: Presenter, chosen: Picked) -> Bars:
    """Return bars of the prediction with its range, the fitted prediction, and the measurement."""
    most = max(chosen.high, chosen.picked_measured, chosen.fitted)
    return Bars(
        title="Predicted and measured",
        axis=present.axis("picked_step", "time of a step", low=0.0, high=1.08 * most or 1.0),
        bars=(
            _bar("unseen", "predicted, source unseen", chosen.picked_step, "compute", chosen.low,
                 chosen.high),
            _bar("seen", "predicted, all sources seen", chosen.fitted, "muted"),
            _bar("measured", "measured", chosen.picked_measured, "accent"),
        ),
        caption="The thin line is the range. In four of five unseen runs the measured step lies "
        "inside it.",
    )  # fmt: skip


def _bar(
    key: str, label: str, value: Seconds, color: str, low: Seconds = 0.0, high: Seconds = 0.0
) -> Bar:
    segment = Segment(key=key, label=label, value=value, color=color)
    return Bar(key=key, label=label, segments=(segment,), low=low, high=high)
