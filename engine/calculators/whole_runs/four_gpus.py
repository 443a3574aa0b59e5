"""Every plan of a few GPUs on the tiny model: the same training, other memory, other bytes."""

from dataclasses import dataclass
from typing import Annotated

from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.slices import Slices, run_to_end
from engine.core.text import say
from engine.core.units import BYTES, COUNT, Bytes, Count
from engine.core.views import Axis, Badge, Bar, Bars, Segment, Table
from engine.tiny.plan_record import PlanOutcome, start_plans

TITLE = "The plans of a few GPUs"
QUESTION = "Which plans can a few GPUs follow, and what does each keep and send?"
HEADLINE = "least_held"
EQUATIONS = ()
_COLORS = {
    "Tensor parallel": "tensor",
    "Pipeline parallel": "pipeline",
    "Context parallel": "context",
}
_COUNTED = ("Counted in the run, of the busiest GPU or the one that holds most.",)
_EXACT = (*_COUNTED, "Mixed precision with Adam: 16 bytes per parameter in all.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    ranks: Annotated[str, Choice(label="GPUs", cites=False, options={"2": "2", "4": "4"})] = "2"
    steps: Annotated[int, Number(label="Steps", low=1, high=4, whole=True)] = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The plans, and the extremes among them."""

    plans: tuple[PlanOutcome, ...]
    least_held: Annotated[Bytes, Output("Least kept", color="memory", assumes=_EXACT)]
    most_held: Annotated[Bytes, Output("Most kept", color="memory", assumes=_EXACT)]
    least_sent: Annotated[
        Count, Output("Fewest numbers sent", color="communication", assumes=_COUNTED)
    ]
    most_sent: Annotated[
        Count, Output("Most numbers sent", color="communication", assumes=_COUNTED)
    ]
    digits: Annotated[float, COUNT, Output("Digits that agree", note="of 14", assumes=_COUNTED)]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    return run_to_end(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Train under every plan."""
    plans = yield from start_plans(int(inputs.ranks), inputs.steps).rest()
    memory, sent = [plan.held for plan in plans], [plan.sent for plan in plans]
    return Result(
        plans=plans,
        least_held=min(memory),
        most_held=max(memory),
        least_sent=min(sent),
        most_sent=max(sent),
        digits=min(plan.digits for plan in plans),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "equal": _equal(result),
        "held": _bars(result),
        "plans": _table(result),
        **present.values("least_held", "most_held", "least_sent", "most_sent", "digits"),
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
        title="Memory of the GPU that keeps most",
        axis=Axis(
            label="states kept from step to step",
            quantity=BYTES,
            low=0.0,
            high=1.1 * result.most_held,
        ),
        bars=tuple(
            Bar(
                key=_key(planned),
                label=planned.name,
                segments=(
                    Segment(
                        key="held",
                        label="states",
                        value=planned.held,
                        color=_COLORS.get(planned.name, "data"),
                    ),
                ),
            )
            for planned in result.plans
        ),
        caption="Parameters, gradients and optimizer states. Activations are left out here.",
    )


def _key(planned: PlanOutcome) -> str:
    return planned.name.lower().replace(" ", "_").replace("-", "_")


def _table(result: Result) -> Table:
    return Table(
        title="Every plan, run",
        columns=(
            "Plan",
            "Kept by the GPU that keeps most",
            "Numbers sent in a step",
            "Digits that agree",
        ),
        rows=tuple(
            (
                planned.name,
                say("{held}", held=(planned.held, BYTES)),
                say("{sent}", sent=(planned.sent, COUNT)),
                say("{digits}", digits=(planned.digits, COUNT)),
            )
            for planned in result.plans
        ),
    )
