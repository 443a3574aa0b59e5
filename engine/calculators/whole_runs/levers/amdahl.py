"""Amdahl's law beside the levers: what a part's share allows."""

from engine.basis.equation import Equation
from engine.basis.units import RATIO, SHARE, Ratio, Share
from engine.basis.views import (
    Axis,
    Lines,
    Point,
    Receipt,
    Series,
    Value,
)
from engine.form.levers.inputs import Inputs
from engine.form.levers.model import Job

AMDAHL = Equation(
    name="amdahl",
    tex=r"\v{g} = \frac{1}{1 - \v{e}\left(1 - \frac{1}{\v{k}}\right)} - 1",
    symbols={
        "g": ("g", "by how much the step gets faster"),
        "e": ("e", "share of the step that gets faster"),
        "k": ("k", "how many times as fast"),
    },
    sources=("amdahl1967",),
)


def amdahl(share: Share, factor: Ratio) -> Ratio:
    """Return the speed-up of a step of which `share` gets `factor` times as fast.

    Source: Amdahl 1967.
    """
    return 1 / (1 - share * (1 - 1 / factor))


def amdahl_curve(inputs: Inputs, found: Job) -> Lines:
    """Return what faster communication gives, by the share of the step that waits for it."""
    shares = tuple(i / 50 for i in range(46))
    here = found.exposed_share
    return Lines(
        title="A faster part, a hardly faster step",
        x=Axis(label="share that gets faster", quantity=SHARE, low=0.0, high=0.9),
        y=Axis(label="speed of the step", quantity=RATIO, low=1.0, high=4.0),
        series=tuple(
            Series(
                key=f"k{factor:g}",
                label=f"{factor:g} times as fast",
                x=shares,
                y=tuple(amdahl(share, factor) for share in shares),
                color=color,
            )
            for factor, color in ((1.5, "muted"), (inputs.kernel_gain, "communication"))
        ),
        points=(
            Point(
                key="you",
                label="your job",
                x=min(here, 0.9),
                y=min(4.0, amdahl(here, inputs.kernel_gain)),
            ),
        ),
        caption="What does not get faster stays, however fast the rest becomes.",
    )


def amdahl_value(label: str, share: Share, factor: Ratio) -> Value:
    """Return the speed-up of a step of which `share` gets `factor` times as fast."""
    speed = amdahl(share, factor)
    return Value(
        label=label,
        value=speed - 1,
        quantity=SHARE,
        receipt=Receipt(
            equation=AMDAHL,
            symbols={"g": (speed - 1, SHARE), "e": (share, SHARE), "k": (factor, RATIO)},
        ),
    )
