"""What a swap of two axes costs: bars, and swaps to apply."""

from dataclasses import fields

from engine.calculators.splitting_the_model.parallel_map.inputs import Inputs, order_of
from engine.calculators.splitting_the_model.parallel_map.result import Result
from engine.core.parsing import plain
from engine.core.text import Text, say
from engine.core.units import SECONDS, Seconds
from engine.core.views import Advice, Bar, Bars, Cell, Open, Remedy, Segment, Table
from engine.core.views import Axis as ChartAxis
from engine.form.axis_names import SHORT
from engine.simulate.layer.device_model import Axis
from engine.simulate.step.mapped_plan import Stepped


def orders(inputs: Inputs, found: Result) -> Bars:
    """Return the step as set and after each swap of two axes, by what it is spent on."""
    rows: list[tuple[str, str, Stepped]] = [("now", _written(inputs.order), found.plan)]
    rows += [
        (order_of(swap.order), _written(order_of(swap.order)), swap) for swap in found.plan.swaps
    ]
    longest = max(one.step.total for _, _, one in rows)
    return Bars(
        title="The step, and what it would be after each swap of two axes",
        axis=ChartAxis(label="step", quantity=SECONDS, low=0.0, high=longest * 1.02),
        bars=tuple(
            Bar(key=key, label=label, segments=_segments(found, one)) for key, label, one in rows
        ),
        caption="The first bar is the order as set. Same GPUs, same groups, same bytes: only the "
        "wires differ. Computation includes the collectives of the output layer, so it is longer "
        "where tensor parallelism leaves the node.",
    )


def _written(order: str) -> str:
    return order.replace("-", " · ").upper()


def _segments(found: Result, one: Stepped) -> tuple[Segment, ...]:
    step = one.step
    parts = [Segment(key="compute", label="computation", value=step.compute, color="compute")]
    parts += [
        Segment(key=axis, label=f"{axis} parallel", value=one.exposed(axis), color=axis)
        for axis in found.plan.traffic
    ]
    rest = step.total - sum(part.value for part in parts)
    parts.append(Segment(key="rest", label="bubble and rest", value=max(0.0, rest), color="muted"))
    return tuple(parts)


def swaps(found: Result) -> Advice:
    """Return the swaps of two axes that shorten the step; applying one changes the order."""
    better = [swap for swap in found.plan.swaps if swap.step.total < 0.9995 * found.plan.step.total]
    remedies = tuple(
        Remedy(
            key=order_of(swap.order),
            label=f"Swap {swap.first} and {swap.second}: {_written(order_of(swap.order))}",
            change={"order": order_of(swap.order)},
            after=swap.step.total,
            side_effect=_because(found, swap),
        )
        for swap in sorted(better, key=lambda swap: swap.step.total)
    )
    verdict: Text = "No swap of two axes shortens the step."
    if not found.fits:
        remedies = ()
        verdict = "This plan does not fit into memory, and no order of the ranks changes that."
    if remedies:
        saved = found.plan.step.total - remedies[0].after
        verdict = say("The best swap saves {t} per step.", t=(saved, SECONDS))
    return Advice(
        title="A better order",
        verdict=verdict,
        figure="step",
        now=found.plan.step.total,
        quantity=SECONDS,
        remedies=remedies,
    )


def _because(found: Result, after: Stepped) -> Text:
    """Return the axis whose wait changes most."""
    change: dict[Axis, Seconds] = {
        axis: after.exposed(axis) - found.plan.exposed(axis) for axis in found.plan.traffic
    }
    most = max(change, key=lambda axis: abs(change[axis]))
    if abs(change[most]) < 0.0005 * found.plan.step.total:
        return "no axis waits longer or shorter"
    more = "more" if change[most] > 0 else "less"
    return say(f"{SHORT[most]} waits {{t}} {more}", t=(abs(change[most]), SECONDS))


def swap_table(inputs: Inputs, found: Result) -> Table:
    """Return every swap of two axes: its step, what changes, and a link that makes it."""
    rows: list[tuple[Cell, ...]] = [
        (
            f"{swap.first} and {swap.second}",
            _written(order_of(swap.order)),
            say("{t}", t=(swap.step.total, SECONDS)),
            _difference(found.plan.step.total, swap.step.total),
            _because(found, swap),
            Open("swap", "parallel_map", _query(inputs, order_of(swap.order))),
        )
        for swap in found.plan.swaps
    ]
    return Table(
        title="What a swap of two axes costs",
        columns=("Swap", "Order, innermost first", "Step", "Change", "Because", ""),
        rows=tuple(rows) or (("only one axis has more than one rank", *["-"] * 5),),
        caption="The GPUs, the groups' sizes and the bytes stay as they are.",
    )


def _difference(before: Seconds, after: Seconds) -> Text:
    if abs(after - before) < 0.0005 * before:
        return "none"
    sign = "+" if after > before else "-"
    return say(f"{sign}{{t}}", t=(abs(after - before), SECONDS))


def _query(inputs: Inputs, order: str) -> str:
    """Return the inputs that differ from the defaults, as in an address, with another order."""
    default = Inputs()
    pairs = {name: getattr(inputs, name) for name in (field.name for field in fields(Inputs))}
    changed = {k: v for k, v in pairs.items() if v != getattr(default, k)} | {"order": order}
    return "&".join(f"parallel_map.{name}={plain(value)}" for name, value in changed.items())
