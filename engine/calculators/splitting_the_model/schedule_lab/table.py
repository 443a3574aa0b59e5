"""All schedules side by side, computed."""

from collections.abc import Mapping

from engine.basis.text import Text, say
from engine.basis.units import BYTES, COUNT, SECONDS, SHARE
from engine.basis.views import Table
from engine.simulate.schedule_bench import Played
from engine.simulate.schedule_case import schedules

_COLUMNS = (
    "Schedule",
    "Step",
    "Bubble, of the step",
    "over ideal",
    "Held at most",
    "Activations",
    "Weights",
    "Messages",
)


def comparison(found: Mapping[str, Played | str], own: Played) -> Table:
    """Return a row for every schedule; who cannot run says why."""
    titles = schedules()
    return Table(
        title="All schedules with these numbers",
        columns=_COLUMNS,
        rows=tuple(_row(titles[name], one, own) for name, one in found.items()),
        caption="All with the same micro-batches and times: the shortest step is the fastest."
        + (
            " Long runs of the others are drawn out from two shorter ones."
            if any(isinstance(one, Played) and one.continued for one in found.values())
            else ""
        ),
    )


def _row(title: str, one: Played | str, own: Played) -> tuple[Text, ...]:
    if isinstance(one, str):
        return (title, one, *("–",) * (len(_COLUMNS) - 2))
    return (
        f"{title} (shown)" if one.name == own.name else title,
        say("{t}", t=(one.step, SECONDS)),
        say("{q}", q=(one.share, SHARE)),
        say("{o}", o=(one.over, SHARE)),
        say("{a}", a=(one.peak, COUNT)),
        say("{b}", b=(one.activations, BYTES)),
        say("{b}", b=(one.weights, BYTES)),
        say("{n}", n=(one.messages, COUNT)),
    )
