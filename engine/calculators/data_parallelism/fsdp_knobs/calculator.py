"""The settings of FSDP2, each with what it costs and what it gains."""

from functools import partial

from engine.calculators.data_parallelism.fsdp_knobs.inputs import (
    PRESETS as PRESETS,
)
from engine.calculators.data_parallelism.fsdp_knobs.inputs import (
    TRIED,
    buffers_of,
    calls_of,
)
from engine.calculators.data_parallelism.fsdp_knobs.inputs import (
    Inputs as Inputs,
)
from engine.calculators.data_parallelism.fsdp_knobs.inputs import (
    Result as Result,
)
from engine.calculators.data_parallelism.fsdp_knobs.inputs import (
    solve as solve,
)
from engine.core.outputs import Teller, Views
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, SECONDS
from engine.core.views import Badge, Table
from engine.form.sharded.lab import fit, simulated_step, timeline
from engine.simulate.data_parallel.sharded_step import Sharded

TITLE = "Settings of FSDP2"
QUESTION = "What does each setting of FSDP2 cost in memory, calls and time?"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        "timeline": partial(
            timeline,
            "A step of FSDP2 on its streams",
            result.ran,
            "Hatched: communication that nothing hides. Below, the memory of states and buffers.",
        ),
        **tell.values("exposed", "buffers", "calls"),
        "regime": _regime(tell, inputs, result),
        "board": partial(_board, result),
        "fits": fit(tell, result.ran),
        "step_time": simulated_step(tell, result.ran.evidence),
    }


def _regime(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    if inputs.unit == "all":
        return Badge(
            text="Nothing overlaps",
            sentence="All parameters are one group: gathered before the first layer computes, and "
            "reduced after the last.",
            color="communication",
        )
    if result.exposed > 0.1 * result.step_time:
        return Badge(
            text="The step waits",
            sentence=tell.say("{exposed} of {step_time} is exposed."),
            color="communication",
        )
    return Badge(
        text="Hidden",
        sentence=tell.say("{exposed} of {step_time} is exposed, for {buffers} of room."),
        color="compute",
    )


def _board(result: Result) -> Table:
    """Return every setting changed alone, the job as the reader has it."""
    return Table(
        title="One setting changed at a time",
        columns=("Setting", "Value", "Room", "Collectives", "Exposed"),
        rows=tuple(
            (name, value, *_row(ran))
            for (name, value, _), ran in zip(TRIED, result.tried(), strict=True)
        ),
        caption="Room: parameters gathered and gradients on their way, at most. Your model, GPUs, "
        "tokens and ports.",
    )


def _row(ran: Sharded) -> tuple[Text, ...]:
    return (
        say("{b}", b=(buffers_of(ran), BYTES)),
        say("{n}", n=(calls_of(ran), COUNT)),
        say("{t}", t=(ran.seen.exposed, SECONDS)),
    )
