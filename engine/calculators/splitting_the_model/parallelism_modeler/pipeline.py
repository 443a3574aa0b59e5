"""The modeler's numbers of the pipeline: its bubble, its passes and what crosses its boundaries."""

from engine.basis.text import say
from engine.basis.units import (
    BYTES,
    COUNT,
    SHARE,
    TOKENS,
    Bytes,
)
from engine.basis.views import Formula, Receipt, Value
from engine.calculators.splitting_the_model.parallelism_modeler.inputs import Inputs
from engine.calculators.splitting_the_model.parallelism_modeler.model import Modeled
from engine.calculators.splitting_the_model.parallelism_modeler.published import message, note
from engine.formulas.axes import (
    HALF,
    STAGE_MESSAGE,
)
from engine.formulas.pipeline import (
    BUBBLE_OVER_IDEAL,
    BUBBLE_SHARE,
    PIPELINE_BYTES,
    bubble_over_ideal,
    bubble_share,
    pipeline_bytes,
)

_ALIKE = "All stages alike, messages free."


def utilization(inputs: Inputs, found: Modeled) -> Value:
    """Return what the bubble leaves of the step."""
    plan = found.run.plan
    value = 1 - bubble_share(plan.pipeline_parallel, found.microbatches, plan.virtual_pipeline)
    return Value(
        label="Utilization after the bubble",
        value=value,
        quantity=SHARE,
        receipt=Receipt(
            assumptions=(_ALIKE, "One less the bubble's share; nothing else costs time."),
            sources=("huang2019", "narayanan2021"),
            published=note("efficiency", inputs, found),
        ),
        color="compute",
    )


def bubble(inputs: Inputs, found: Modeled) -> Value:
    """Return the bubble in the reader's convention, and the other one beside it."""
    plan = found.run.plan
    sizes = plan.pipeline_parallel, found.microbatches, plan.virtual_pipeline
    share, ideal = bubble_share(*sizes), bubble_over_ideal(*sizes)
    of_step = inputs.convention == "share"
    equation = BUBBLE_SHARE if of_step else BUBBLE_OVER_IDEAL
    value = share if of_step else ideal
    known = dict(zip("pmv", ((float(size), COUNT) for size in sizes), strict=True))
    assumption = _ALIKE
    if found.run.training.schedule == "zb-1p":
        assumption = "That of 1F1B; ZB-1p fills part of it with weight gradients."
    return Value(
        label="Bubble, of the step" if of_step else "Bubble, over the ideal time",
        value=value,
        quantity=SHARE,
        receipt=Receipt(
            equation=equation,
            symbols=known | {"q" if of_step else "o": (value, SHARE)},
            inputs={"p": "pipeline_parallel", "m": "num_microbatches"},
            assumptions=(assumption,),
            published=note("bubble", inputs, found),
        ),
        note=say("{o} over the ideal time", o=(ideal, SHARE))
        if of_step
        else say("{q} of the step", q=(share, SHARE)),
    )


def bubble_formula(inputs: Inputs, found: Modeled) -> Formula:
    """Return the bubble's share of the step with the reader's numbers."""
    plan = found.run.plan
    sizes = plan.pipeline_parallel, found.microbatches, plan.virtual_pipeline
    known = dict(zip("pmv", ((float(size), COUNT) for size in sizes), strict=True))
    return Formula(
        title="The bubble, as a share of the step",
        equation=BUBBLE_SHARE,
        symbols={"q": (bubble_share(*sizes), SHARE)} | known,
        inputs={"p": "pipeline_parallel", "m": "num_microbatches"},
    )


def operations(inputs: Inputs, found: Modeled) -> Value:
    """Return the passes of a step, forward and backward, over all stages."""
    return Value(
        label="Passes in a step",
        value=2.0 * inputs.pipeline_parallel * found.microbatches,
        quantity=COUNT,
        receipt=Receipt(
            basis="definition",
            assumptions=("A forward and a backward pass of each micro-batch on each stage.",),
            published=note("operations", inputs, found),
        ),
    )


def boundary(inputs: Inputs, found: Modeled) -> Value:
    """Return what crosses a boundary of stages for one micro-batch, one way."""
    one = message(inputs, found)
    return Value(
        label="Over a boundary, one micro-batch",
        value=one,
        quantity=BYTES,
        receipt=Receipt(
            equation=STAGE_MESSAGE,
            symbols={
                "S": (one, BYTES),
                "t": (float(inputs.micro_batch_size * inputs.sequence_length), TOKENS),
                "h": (float(found.run.model.hidden_size), COUNT),
                "e": (HALF, BYTES),
            },
            assumptions=("All GPUs of a replica's stage together; each way.",),
        ),
        color="pipeline",
    )


def transfer(inputs: Inputs, found: Modeled) -> Value:
    """Return what crosses one boundary in a step, both ways."""
    both = _sent(inputs, found, 2)
    return _transfer("Over one boundary in a step", inputs, found, both, 2)


def transfer_total(inputs: Inputs, found: Modeled) -> Value:
    """Return what crosses all boundaries in a step."""
    pieces = inputs.pipeline_parallel * found.run.plan.virtual_pipeline
    return _transfer(
        "Over all boundaries in a step", inputs, found, _sent(inputs, found, pieces), pieces
    )


def _sent(inputs: Inputs, found: Modeled, pieces: int) -> Bytes:
    return pipeline_bytes(found.microbatches, pieces, message(inputs, found))


def _transfer(label: str, inputs: Inputs, found: Modeled, sent: Bytes, pieces: int) -> Value:
    return Value(
        label=label,
        value=sent,
        quantity=BYTES,
        receipt=Receipt(
            equation=PIPELINE_BYTES,
            symbols={
                "V": (sent, BYTES),
                "m": (float(found.microbatches), COUNT),
                "v": (1.0, COUNT),
                "p": (float(pieces), COUNT),
                "S": (message(inputs, found), BYTES),
            },
            inputs={"m": "num_microbatches"},
            assumptions=("Both ways, one replica; two stages have one boundary.",),
            published=note("transfer", inputs, found),
        ),
        color="pipeline",
    )
