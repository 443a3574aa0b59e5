"""What a swap of two axes costs: bars, and swaps to apply."""

from engine.calculators._map_inputs import SHORT, Inputs
from engine.calculators._map_model import Map, exposed
from engine.simulate.rank import Axis
from engine.simulate.step_time import StepTime
from engine.text import Text, say
from engine.units import SECONDS, Seconds
from engine.views import Advice, Bar, Bars, Remedy, Segment
from engine.views import Axis as ChartAxis


def orders(inputs: Inputs, found: Map) -> Bars:
    """Return the step as set and after each swap of two axes, by what it is spent on."""
    rows: list[tuple[str, str, StepTime]] = [("now", _written(inputs.order), found.step)]
    rows += [(swap.order, _written(swap.order), swap.step) for swap in found.swaps]
    longest = max(step.total for _, _, step in rows)
    return Bars(
        title="The step, and what it would be after each swap of two axes",
        axis=ChartAxis(label="step", quantity=SECONDS, low=0.0, high=longest * 1.02),
        bars=tuple(
            Bar(key=key, label=label, segments=_segments(found, step)) for key, label, step in rows
        ),
        caption="The first bar is the order as set. Same GPUs, same groups, same bytes: only the "
        "wires differ.",
    )


def _written(order: str) -> str:
    return order.replace("-", " · ").upper()


def _segments(found: Map, step: StepTime) -> tuple[Segment, ...]:
    parts = [Segment(key="compute", label="computation", value=step.compute, color="compute")]
    parts += [
        Segment(key=axis, label=f"{axis} parallel", value=exposed(step, axis), color=axis)
        for axis in found.traffic
    ]
    rest = step.total - sum(part.value for part in parts)
    parts.append(Segment(key="rest", label="bubble and rest", value=max(0.0, rest), color="muted"))
    return tuple(parts)


def swaps(found: Map) -> Advice:
    """Return every swap of two axes with the step that it gives; applying one changes the order."""
    remedies = tuple(
        Remedy(
            key=swap.order,
            label=f"Swap {swap.first} and {swap.second}: {_written(swap.order)}",
            change={"order": swap.order},
            after=swap.step.total,
            side_effect=_because(found, swap.step),
        )
        for swap in sorted(found.swaps, key=lambda swap: swap.step.total)
    )
    verdict: Text = "Only one axis has more than one rank: there is nothing to swap."
    if remedies:
        saved = found.step.total - remedies[0].after
        lost = remedies[-1].after - found.step.total
        verdict = (
            say("The best swap saves {t} per step.", t=(saved, SECONDS))
            if saved > 0.005 * found.step.total
            else say("No swap gains; the worst costs {t} per step.", t=(max(0.0, lost), SECONDS))
        )
    return Advice(
        title="Swap two axes",
        verdict=verdict,
        figure="step",
        now=found.step.total,
        quantity=SECONDS,
        remedies=remedies,
    )


def _because(found: Map, after: StepTime) -> Text:
    """Return the axis whose wait changes most."""
    change: dict[Axis, Seconds] = {
        axis: exposed(after, axis) - exposed(found.step, axis) for axis in found.traffic
    }
    most = max(change, key=lambda axis: abs(change[axis]))
    if abs(change[most]) < 0.002 * found.step.total:
        return "nothing moves to another link"
    more = "more" if change[most] > 0 else "less"
    return say(f"{SHORT[most]} waits {{t}} {more}", t=(abs(change[most]), SECONDS))
