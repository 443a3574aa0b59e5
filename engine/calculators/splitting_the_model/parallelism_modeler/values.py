"""The modeler's numbers, each with what it rests on."""

from typing import Any

from engine.calculators.splitting_the_model.parallelism_modeler.inputs import Inputs
from engine.calculators.splitting_the_model.parallelism_modeler.published import SOURCE, note
from engine.calculators.splitting_the_model.parallelism_modeler.result import Result
from engine.core.equation import Equation
from engine.core.outputs import Figure, Teller
from engine.core.text import Text
from engine.core.units import COUNT
from engine.core.views import Formula, Published, Value
from engine.form.plural import noun
from engine.form.run.equations import PEAK, STEP
from engine.form.run.prediction_text import memory_error, near, ranged
from engine.form.step_parts import peak_symbols, step_symbols
from engine.formulas.axes import EXPOSED_RATIO, LEAST_BANDWIDTH, STAGE_MESSAGE
from engine.formulas.overlap import COMPUTE_TIME
from engine.formulas.pipeline import (
    BUBBLE_OVER_IDEAL,
    BUBBLE_SHARE,
    FEW_OVER_IDEAL,
    FEW_SHARE,
    PIPELINE_BYTES,
)

EQUATIONS: tuple[Equation, ...] = (
    EXPOSED_RATIO,
    LEAST_BANDWIDTH,
    STAGE_MESSAGE,
    COMPUTE_TIME,
    BUBBLE_SHARE,
    BUBBLE_OVER_IDEAL,
    FEW_SHARE,
    FEW_OVER_IDEAL,
    PIPELINE_BYTES,
    PEAK,
    STEP,
)


def of_step(tell: Teller, result: Result) -> dict[str, Value]:
    """Return the step, what it costs, and the computation of a GPU."""
    evidence = result.plan.evidence
    return {
        "step": ranged(
            tell,
            "step",
            evidence,
            symbols=step_symbols(result.plan.step),
            note=f"{{tokens}} tokens on {{gpus}} {noun(result.gpus, 'GPU')}",
            assumes=("The slowest stage sets the pace.",),
        ),
        "token_time": tell.value(
            "token_time",
            assumes=("The step times the GPUs, over the tokens of the step.", near(evidence)),
        ),
        "token_rate": _beside(tell, result, "token_rate"),
        "mfu": _beside(tell, result, "mfu"),
        "computation": tell.value(
            "computation",
            symbols={"u": "utilization", "t": "tokens_at_work"},
            sources=(result.plan.run.cluster.gpu.source,),
            published=note("compute", result),
        ),
    }


def _beside(tell: Teller, result: Result, name: str) -> Value:
    """Return a figure of the plan; where one was published of just this plan, beside it."""
    report, assumes = result.report, _more(name, result)
    if report is None or report.figure != name:
        return tell.value(name, note="a prediction", assumes=assumes)
    published = (report.value, tell.number(name)[1])
    return tell.value(
        name,
        note=tell.say("predicted; published: {v}", v=published),
        assumes=(*assumes, f"Published: {report.said}."),
        sources=(report.source,),
        published=Published(
            text=tell.say("the run itself reached {v}", v=published),
            reason="Restarts are not in the prediction; its error is given above.",
            source=report.source,
        ),
    )


def _more(name: str, result: Result) -> tuple[Text, ...]:
    counted = ("Attention is counted in full, as if nothing were masked.",) if name == "mfu" else ()
    return (near(result.plan.evidence), *counted)


def ratio(tell: Teller, result: Result) -> Value:
    """Return exposed communication over computation."""
    assumes = (near(result.plan.evidence), "The bubble is waiting, not communication.")
    return tell.value("ratio", symbols={"Tc": "compute"}, assumes=assumes)


def of_pipeline(tell: Teller, inputs: Inputs, result: Result) -> dict[str, Value]:
    """Return the bubble, the passes, and what crosses the boundaries of stages."""
    return {
        "utilization_after": tell.value(
            "utilization_after", note=_of_1f1b(result), published=note("efficiency", result)
        ),
        "bubble": _bubble(tell, inputs, result),
        "operations": tell.value("operations", published=note("operations", result)),
        "boundary": tell.value("boundary", symbols={"t": "microbatch_tokens", "h": "hidden"}),
        "transfer": _transfer(tell, result, "transfer", "two"),
        "transfer_total": _transfer(tell, result, "transfer_total", "all_pieces"),
        "needed_pipeline": tell.value(
            "needed_pipeline", symbols={"V": "sent_on"}, published=note("bandwidth", result)
        ),
    }


def _of_1f1b(result: Result) -> str:
    """Return the words that the bubble shown is not this schedule's own, where it is not."""
    schedule = result.plan.run.training.schedule
    return f"of 1F1B; {schedule} waits for less" if schedule in ("zb-1p", "dualpipe") else ""


def _bubble(tell: Teller, inputs: Inputs, result: Result) -> Value:
    """Return the bubble in the reader's convention, and the other one beside it."""
    assumption = "All stages alike, messages free."
    if result.plan.run.training.schedule == "zb-1p":
        assumption = "That of 1F1B; ZB-1p fills part of it with weight gradients."
    elif result.plan.run.training.schedule == "dualpipe":
        assumption = "That of 1F1B; DualPipe feeds both ends and waits for about half of it."
    name = "bubble_share" if inputs.convention == "share" else "bubble_over_ideal"
    words = _of_1f1b(result)
    other: dict[str, Any] = {"note": words} if words else {}
    return tell.value(
        name,
        **other,
        equation=_bubble_equation(name, result),
        assumes=(assumption,),
        published=note("bubble", result),
    )


def _bubble_equation(name: str, result: Result) -> Equation:
    """Return the closed form; of chunks with fewer micro-batches than stages it is another."""
    few = result.pieces > 1 and result.microbatches < result.stages
    if name == "bubble_share":
        return FEW_SHARE if few else BUBBLE_SHARE
    return FEW_OVER_IDEAL if few else BUBBLE_OVER_IDEAL


def _transfer(tell: Teller, result: Result, name: str, pieces: Figure | str) -> Value:
    return tell.value(
        name,
        equation=PIPELINE_BYTES,
        symbols={"V": name, "v": (1.0, COUNT), "p": pieces, "S": "boundary"},
        assumes=("Both ways, one replica; two stages have one boundary.",),
        published=note("transfer", result),
    )


def bubble_formula(tell: Teller, result: Result) -> Formula:
    """Return the bubble's share of the step with the reader's numbers."""
    equation = _bubble_equation("bubble_share", result)
    return tell.formula("The bubble, as a share of the step", equation)


def tensor_alone(tell: Teller) -> Value:
    """Return what tensor parallelism takes with nothing beside it, over the computation."""
    return tell.value(
        "tensor_alone",
        equation=EXPOSED_RATIO,
        symbols={"r": "tensor_alone", "Te": "tensor_time"},
        published=Published(
            text="a published text says 10 to 20 times the computation, across nodes",
            reason="That takes one network port for all GPUs of a node.",
            source=SOURCE,
            claim="E4.14",
        ),
    )


def of_memory(tell: Teller, result: Result) -> dict[str, Value]:
    """Return the activations of the first stage, and the memory of the fullest GPU."""
    layers, batches = noun(result.first_layers, "layer"), noun(result.first_held, "micro-batch")
    kept = f"All tensors of {{first_layers}} {layers}, for {{first_held}} {batches} in flight, on "
    fullest = result.plan.stages[result.plan.fullest]
    return {
        "activation": tell.value(
            "activation",
            assumes=(
                memory_error(),
                tell.say(
                    kept + "each GPU.",
                    first_held=(result.first_held, COUNT),
                ),
            ),
            published=note("activation", result),
        ),
        "peak_memory": tell.value(
            "peak_memory",
            symbols=peak_symbols(fullest.memory),
            assumes=(memory_error(),),
            note=f"stage {result.plan.fullest}; of {{sold}} as sold {{usable}} may be filled",
        ),
    }
