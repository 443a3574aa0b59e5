"""The charts of a router in training: loads over steps, three ways to balance, published ones."""

from engine.calculators.splitting_the_model.router_lab.inputs import Inputs, Result
from engine.catalog.router_balance import BALANCED, SOURCE
from engine.core.outputs import Teller
from engine.core.slices import Slices
from engine.core.text import say
from engine.core.units import COUNT, RATIO, SHARE
from engine.core.views import Axis, Cite, Heatmap, Lines, Point, Series, Table

_WAYS = {
    "none": ("nothing", "muted"),
    "loss": ("auxiliary loss", "gradients"),
    "bias": ("biases", "accent"),
}
_COLUMNS = 20


def loads(inputs: Inputs, result: Result) -> Heatmap:
    """Return what each expert is asked over the mean, steps taken together in columns."""
    asked = result.life.asked
    each = max(1, len(asked) // _COLUMNS)
    parts = [asked[at : at + each] for at in range(0, len(asked), each)]
    columns = []
    for some in parts:
        counts = [sum(one) for one in zip(*some, strict=True)]
        columns.append([count * len(counts) / sum(counts) for count in counts])
    return Heatmap(
        title="Load of every expert over the steps",
        x_label="steps up to",
        y_label="expert",
        x=tuple(str(min(len(asked), (i + 1) * each)) for i in range(len(parts))),
        y=tuple(f"E{expert + 1}" for expert in range(inputs.num_experts)),
        values=tuple(zip(*columns, strict=True)),
        quantity=RATIO,
        caption="Choices over the mean of all experts: 1 is an even share.",
    )


def ways(tell: Teller, inputs: Inputs, result: Result) -> Slices[Lines]:
    """Show the imbalance over the steps with no balance, with a loss and with biases."""
    steps = tuple(range(inputs.num_steps))
    lives = yield from result.lives.rest()
    curves = {key: tuple(one.imbalance(step) for step in steps) for key, one in lives.items()}
    most = max(max(curve) for curve in curves.values())
    numbers = tuple(float(step + 1) for step in steps)
    return Lines(
        title="The busiest expert, three ways",
        x=Axis(label="step", quantity=COUNT, low=1.0, high=float(inputs.num_steps)),
        y=Axis(label="over the mean", quantity=RATIO, low=1.0, high=1.05 * most),
        series=tuple(
            Series(key=key, label=_WAYS[key][0], x=numbers, y=curve, color=_WAYS[key][1])
            for key, curve in curves.items()
        ),
        points=(
            Point(
                key="now",
                label=tell.say("{imbalance}"),
                x=numbers[-1],
                y=curves[inputs.balance][-1],
            ),
        ),
        caption=say(
            "A mean over the ten steps before. At the end the loss has taken away {l} of the "
            "spread of the preferences, the biases {b}.",
            l=(lives["loss"].given_up, SHARE),
            b=(lives["bias"].given_up, SHARE),
        ),
    )


def published(tell: Teller, result: Result) -> Table:
    """Return published imbalances and perplexities, and this toy's imbalance."""
    rows = tuple(
        (
            f"{one.model}, {_WAYS[one.how][0]}",
            say("{v}", v=(1 + one.violation, RATIO)),
            f"{one.perplexity:.2f}",
            Cite((SOURCE,)),
        )
        for one in BALANCED
    )
    return Table(
        title="Measured: two models, each balanced both ways",
        columns=("Parameters, balanced by", "Busiest over mean", "Perplexity", "Source"),
        rows=(*rows, ("this toy, as set", tell.say("{imbalance}"), "-", "-")),
        caption="Real models of 64 experts, 6 per token. The paper prints MaxVio, the busiest over "
        "the mean less 1. The toy has no text, so it has no perplexity.",
    )
