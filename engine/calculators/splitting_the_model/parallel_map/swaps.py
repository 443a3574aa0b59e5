"""Cost of swapping two axes: bars, advice and table."""

from dataclasses import fields

from engine.calculators.splitting_the_model.parallel_map.inputs import Inputs, order_of
from engine.calculators.splitting_the_model.parallel_map.result import Result
from engine.core.parsing import exact_text
from engine.core.text import Text, say
from engine.core.units import SECONDS, Seconds
from engine.core.views import Advice, Bar, Bars, CalculatorLink, Cell, Remedy, Segment, Table
from engine.core.views import Axis as ChartAxis
from engine.form.axis_names import SHORT
from engine.simulate.layer.device_model import Axis
from engine.simulate.step.mapped_plan import TimedMapping


def orders(inputs: Inputs, result: Result) -> Bars:
    """Return step-time breakdowns of the set order and of each swap of two axes."""
    rows: list[tuple[str, str, TimedMapping]] = [("now", _order_label(inputs.order), result.plan)]
    rows += [
        (order_of(swap.order), _order_label(order_of(swap.order)), swap)
        for swap in result.plan.swaps
    ]
    longest = max(stepped.step.total for _, _, stepped in rows)
    return Bars(
        title="The step, and what it would be after each swap of two axes",
        axis=ChartAxis(label="step", quantity=SECONDS, low=0.0, high=longest * 1.02),
        bars=tuple(
            Bar(key=key, label=label, segments=_segments(result, stepped))
            for key, label, stepped in rows
        ),
        caption="The first bar is the order as set. Same GPUs, same groups, same bytes: only the "
        "wires differ. Computation includes the collectives of the output layer, so it is longer "
        "where tensor parallelism leaves the node.",
    )


def _order_label(order: str) -> str:
    return order.replace("-", " · ").upper()


def _segments(result: Result, stepped: TimedMapping) -> tuple[Segment, ...]:
    step = stepped.step
    parts = [Segment(key="compute", label="computation", value=step.compute, color="compute")]
    parts += [
        Segment(key=axis, label=f"{axis} parallel", value=stepped.exposed(axis), color=axis)
        for axis in result.plan.traffic
    ]
    rest = step.total - sum(part.value for part in parts)
    parts.append(Segment(key="rest", label="bubble and rest", value=max(0.0, rest), color="muted"))
    return tuple(parts)


def swaps(result: Result) -> Advice:
    """Return advice: swaps of two axes that shorten the step."""
    better = [
        swap for swap in result.plan.swaps if swap.step.total < 0.9995 * result.plan.step.total
    ]
    remedies = tuple(
        Remedy(
            key=order_of(swap.order),
            label=f"Swap {swap.first} and {swap.second}: {_order_label(order_of(swap.order))}",
            change={"order": order_of(swap.order)},
            after=swap.step.total,
            side_effect=_largest_change(result, swap),
        )
        for swap in sorted(better, key=lambda swap: swap.step.total)
    )
    verdict: Text = "No swap of two axes shortens the step."
    if not result.fit.runs:
        remedies = ()
        verdict = "This plan does not fit into memory, and no order of the ranks changes that."
    if remedies:
        saved = result.plan.step.total - remedies[0].after
        verdict = say("The best swap saves {t} per step.", t=(saved, SECONDS))
    return Advice(
        title="A better order",
        verdict=verdict,
        figure="step",
        now=result.plan.step.total,
        quantity=SECONDS,
        remedies=remedies,
    )


def _largest_change(result: Result, after: TimedMapping) -> Text:
    """Return a sentence about the axis with the largest change of exposed time."""
    change: dict[Axis, Seconds] = {
        axis: after.exposed(axis) - result.plan.exposed(axis) for axis in result.plan.traffic
    }
    most = max(change, key=lambda axis: abs(change[axis]))
    if abs(change[most]) < 0.0005 * result.plan.step.total:
        return "no axis waits longer or shorter"
    more = "more" if change[most] > 0 else "less"
    return say(f"{SHORT[most]} waits {{t}} {more}", t=(abs(change[most]), SECONDS))


def swap_table(inputs: Inputs, result: Result) -> Table:
    """Return a table of all swaps of two axes: step time, change, and a link to apply it."""
    rows: list[tuple[Cell, ...]] = [
        (
            f"{swap.first} and {swap.second}",
            _order_label(order_of(swap.order)),
            say("{t}", t=(swap.step.total, SECONDS)),
            _difference(result.plan.step.total, swap.step.total),
            _largest_change(result, swap),
            CalculatorLink("swap", "parallel_map", _swap_query(inputs, order_of(swap.order))),
        )
        for swap in result.plan.swaps
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


def _swap_query(inputs: Inputs, order: str) -> str:
    """Return the inputs that differ from the defaults, as in an address, with another order."""
    default = Inputs()
    pairs = {name: getattr(inputs, name) for name in (field.name for field in fields(Inputs))}
    changed = {k: v for k, v in pairs.items() if v != getattr(default, k)} | {"order": order}
    return "&".join(f"parallel_map.{name}={exact_text(value)}" for name, value in changed.items())
