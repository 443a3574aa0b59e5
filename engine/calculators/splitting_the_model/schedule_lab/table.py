"""All schedules side by side, computed."""

from engine.calculators.splitting_the_model.schedule_lab.result import Result
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, SECONDS, SHARE
from engine.core.views import Table
from engine.simulate.pipeline.schedule_bench import ScheduleResult

_COLUMNS = (
    "Schedule",
    "Step",
    "Bubble, of the step",
    "Over ideal",
    "Held at most",
    "Activations",
    "Weights",
    "Messages",
)


def comparison(result: Result) -> Table:
    """Return a row for every schedule, with the reason if it cannot run."""
    schedules, own = result.others, result.own
    return Table(
        title="All schedules with these numbers",
        columns=_COLUMNS,
        rows=tuple(
            _row(result.titles[name], schedule, own) for name, schedule in schedules.items()
        ),
        caption="All run the same micro-batches with the same times: their steps can be compared."
        + (
            " Long runs of the others are drawn out from two shorter ones."
            if any(
                isinstance(schedule, ScheduleResult) and schedule.extrapolated
                for schedule in schedules.values()
            )
            else ""
        ),
    )


_ENDS = {
    (True, True): "embedding, output layer",
    (True, False): "embedding",
    (False, True): "output layer",
    (False, False): "",
}


def pieces(result: Result) -> Table:
    """Return layers and times of every stage; empty if all stages are alike."""
    if not result.cut:
        return Table(title="", columns=(), rows=())
    case, places = result.case, result.run.program.places
    busy, last = case.forward / result.run.program.num_parts, len(result.cut) - 1
    return Table(
        title="The stages as they are cut",
        columns=("Stage", "Layers", "Besides", "Forward, a micro-batch", "Busy in a step"),
        rows=tuple(
            (
                f"{rank}",
                ", ".join(str(result.cut[place]) for place in own),
                _ENDS[0 in own, last in own],
                say("{t}", t=(busy * sum(result.shares[place] for place in own), SECONDS)),
                say("{t}", t=(result.run.busy[rank], SECONDS)),
            )
            for rank, own in enumerate(places)
        ),
        caption="A stage of several chunks names the layers of each. Idle time comes on top.",
    )


def _row(title: str, schedule: ScheduleResult | str, own: ScheduleResult) -> tuple[Text, ...]:
    if isinstance(schedule, str):
        return (title, schedule, *("–",) * (len(_COLUMNS) - 2))
    return (
        f"{title} (shown)" if schedule.name == own.name else title,
        say("{t}", t=(schedule.step, SECONDS)),
        say("{q}", q=(schedule.idle_share, SHARE)),
        say("{o}", o=(schedule.idle_over_compute, SHARE)),
        say("{a}", a=(schedule.peak, COUNT)),
        say("{b}", b=(schedule.activations, BYTES)),
        say("{b}", b=(schedule.weights, BYTES)),
        say("{n}", n=(schedule.messages, COUNT)),
    )
