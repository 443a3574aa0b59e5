"""The pictures of the token's cost: over the length, and by matrix."""

from engine.calculators.one_gpu.token_cost.inputs import COLUMN, HIGH, LOW, Inputs, Result
from engine.core.outputs import Teller
from engine.core.units import Operations
from engine.core.views import Bar, Bars, Lines, Point, Rule, Segment, Series
from engine.form.token_parts import NAMES


def curve(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    """Return the cost of a token over the sequence length, with the break-even marked."""
    low = min(result.matrices, min(_attention(result))) / 2
    inside = LOW <= result.break_even <= HIGH
    label = tell.say("equal at {break_even} tokens")
    return Lines(
        title="Operations per token over the sequence length",
        x=tell.axis("sequence_length", "sequence length, tokens", low=LOW, high=HIGH, scale="log"),
        y=tell.axis("operations", "per token", low=low, high=2 * result.column[-1], scale="log"),
        series=(
            _series("all", "together", result.column, "compute", dashed=False),
            _series("matrices", "matrices", (result.matrices,) * len(COLUMN), "parameters"),
            _series("attention", "attention", _attention(result), "context"),
        ),
        points=(
            Point(
                key="now",
                label=tell.say("{operations}"),
                x=inputs.sequence_length,
                y=result.operations,
            ),
        ),
        rules=(Rule(key="even", label=label, axis="x", at=result.break_even),) if inside else (),
        handle="sequence_length",
        caption="Drag the handle: the matrices cost the same at any length, attention does not.",
    )


def _attention(result: Result) -> tuple[Operations, ...]:
    return tuple(each - result.matrices for each in result.column)


def _series(
    key: str, label: str, y: tuple[Operations, ...], color: str, *, dashed: bool = True
) -> Series:
    return Series(key=key, label=label, x=COLUMN, y=y, color=color, dashed=dashed)


def by_matrix(tell: Teller, result: Result) -> Bars:
    """Return a bar for every matrix, of all layers: forward, and twice as much backward."""
    most = max(part.all for part in result.parts)
    return Bars(
        title="Operations of one token, by matrix, all layers together",
        axis=tell.axis("operations", "operations", low=0.0, high=most),
        bars=tuple(
            Bar(
                key=part.key,
                label=NAMES[part.key],
                segments=tuple(
                    Segment(key=key, label=label, value=part.forward, color=color)
                    for key, label, color in (
                        ("forward", "forward", "compute"),
                        ("inputs", "gradient of its input", "activations"),
                        ("weights", "gradient of its weight", "gradients"),
                    )
                ),
                links=(f"matrix:{part.key}",),
            )
            for part in result.parts
        ),
        caption="Each bar has three equal parts: the forward pass and the two products of the "
        "backward pass. Attention has no weight; its last part is the gradient of its second "
        "factor.",
    )
