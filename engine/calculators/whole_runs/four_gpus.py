"""Every plan of a few GPUs on the tiny model: the same training, other memory, other bytes."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.inputs import Choice, Number
from engine.core.outputs import Teller, Told, Views
from engine.core.slices import Slices, whole
from engine.core.text import say
from engine.core.units import BYTES, COUNT, Bytes, Count
from engine.core.views import Axis, Badge, Bar, Bars, Segment, Table
from engine.tiny.plan_record import Planned, planning

TITLE = "The plans of a few GPUs"
QUESTION = "Which plans can a few GPUs follow, and what does each keep and send?"
EQUATIONS = ()
_COLORS = {
    "Tensor parallel": "tensor",
    "Pipeline parallel": "pipeline",
    "Context parallel": "context",
}
_COUNTED = ("Counted in the run, of the busiest or the fullest GPU.",)
_EXACT = (*_COUNTED, "Mixed precision with Adam: 16 bytes per parameter in all.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    ranks: Annotated[str, Choice(label="GPUs", cites=False, options={"2": "2", "4": "4"})] = "2"
    steps: Annotated[int, Number(label="Steps", low=1, high=4, whole=True)] = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The plans, and the extremes among them."""

    plans: tuple[Planned, ...]
    least_held: Annotated[Bytes, Told("Least kept", color="memory", assumes=_EXACT)]
    most_held: Annotated[Bytes, Told("Most kept", color="memory", assumes=_EXACT)]
    least_sent: Annotated[
        Count, Told("Fewest numbers sent", color="communication", assumes=_COUNTED)
    ]
    most_sent: Annotated[Count, Told("Most numbers sent", color="communication", assumes=_COUNTED)]
    digits: Annotated[float, COUNT, Told("Digits that agree", note="of 14", assumes=_COUNTED)]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    return whole(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Train under every plan."""
    plans = yield from planning(int(inputs.ranks), inputs.steps).rest()
    held, sent = [one.held for one in plans], [one.sent for one in plans]
    return Result(
        plans=plans,
        least_held=min(held),
        most_held=max(held),
        least_sent=min(sent),
        most_sent=max(sent),
        digits=min(one.digits for one in plans),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        "equal": _equal(result),
        "held": _bars(result),
        "plans": _table(result),
        **tell.values("least_held", "most_held", "least_sent", "most_sent", "digits"),
    }


def _equal(result: Result) -> Badge:
    return Badge(
        text="The same training",
        sentence=say(
            "{n} plans, and after the last step all parameters agree with those of a single GPU "
            "to {digits} digits or more.",
            n=(len(result.plans), COUNT),
            digits=(result.digits, COUNT),
        ),
        color="compute",
    )


def _bars(result: Result) -> Bars:
    return Bars(
        title="What the fullest GPU keeps",
        axis=Axis(
            label="states kept from step to step",
            quantity=BYTES,
            low=0.0,
            high=1.1 * result.most_held,
        ),
        bars=tuple(
            Bar(
                key=_key(one),
                label=one.name,
                segments=(
                    Segment(
                        key="held",
                        label="states",
                        value=one.held,
                        color=_COLORS.get(one.name, "data"),
                    ),
                ),
            )
            for one in result.plans
        ),
        caption="Parameters, gradients and optimizer states. Activations are left out here.",
    )


def _key(one: Planned) -> str:
    return one.name.lower().replace(" ", "_").replace("-", "_")


def _table(result: Result) -> Table:
    return Table(
        title="Every plan, run",
        columns=("Plan", "Kept by the fullest GPU", "Numbers sent in a step", "Digits that agree"),
        rows=tuple(
            (
                one.name,
                say("{held}", held=(one.held, BYTES)),
                say("{sent}", sent=(one.sent, COUNT)),
                say("{digits}", digits=(one.digits, COUNT)),
            )
            for one in result.plans
        ),
    )
