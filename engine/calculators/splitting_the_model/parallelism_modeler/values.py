"""Values of the parallelism modeler, each with its assumptions."""

from typing import Any

from engine.calculators.splitting_the_model.parallelism_modeler.inputs import Inputs
from engine.calculators.splitting_the_model.parallelism_modeler.result import Result
from engine.core.equation import Equation
from engine.core.outputs import Figure, Presenter
from engine.core.text import Text, say
from engine.core.units import COUNT, SHARE
from engine.core.views import Formula, Published, Table, Value
from engine.form.conventions import STEP_MODEL_COUNT
from engine.form.plural import pluralize
from engine.form.run.equations import PEAK, STEP
from engine.form.run.prediction_text import memory_error_text, range_text, value_with_range
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


def step_values(present: Presenter, result: Result) -> dict[str, Value]:
    """Return the step time, its cost, and a GPU's computation."""
    evidence = result.plan.evidence
    return {
        "step": value_with_range(
            present,
            "step",
            evidence,
            symbols=step_symbols(result.plan.step),
            note=f"{{tokens}} tokens on {{gpus}} {pluralize(result.gpus, 'GPU')}",
            assumes=("The slowest stage sets the pace.",),
        ),
        "token_time": present.value(
            "token_time",
            assumes=("The step times the GPUs, over the tokens of the step.", range_text(evidence)),
        ),
        "token_rate": _with_published(present, result, "token_rate"),
        "mfu": _with_published(present, result, "mfu"),
        "computation": present.value(
            "computation",
            symbols={"u": "utilization", "t": "tokens_at_work"},
            sources=(result.plan.run.cluster.gpu.source,),
            published=published_note("compute", result),
        ),
    }


def _with_published(present: Presenter, result: Result, name: str) -> Value:
    """Return a figure of the plan, with the published figure of the same plan if any."""
    report, assumes = result.report, _assumptions(name, result)
    if report is None or report.figure != name:
        return present.value(name, note="a prediction", assumes=assumes)
    published = (report.value, present.number(name)[1])
    return present.value(
        name,
        note=present.say("predicted; published: {v}", v=published),
        assumes=(*assumes, f"Published: {report.said}."),
        sources=(report.source,),
        published=Published(
            text=present.say("the run itself reached {v}", v=published),
            reason="Restarts are not in the prediction; its error is given above.",
            source=report.source,
        ),
    )


def _assumptions(name: str, result: Result) -> tuple[Text, ...]:
    counted = (STEP_MODEL_COUNT,) if name == "mfu" else ()
    return (range_text(result.plan.evidence), *counted)


def ratio_value(present: Presenter, result: Result) -> Value:
    """Return exposed communication over computation."""
    assumes = (range_text(result.plan.evidence), "The bubble is waiting, not communication.")
    return present.value("ratio", symbols={"Tc": "compute"}, assumes=assumes)


def pipeline_values(present: Presenter, inputs: Inputs, result: Result) -> dict[str, Value]:
    """Return the bubble, the passes, and the transfers between stages."""
    return {
        "utilization_after": present.value(
            "utilization_after",
            note=_schedule_note(result),
            published=published_note("efficiency", result),
        ),
        "bubble": _bubble(present, inputs, result),
        "operations": present.value("operations", published=published_note("operations", result)),
        "boundary": present.value("boundary", symbols={"t": "microbatch_tokens", "h": "hidden"}),
        "transfer": _transfer(present, result, "transfer", "two"),
        "transfer_total": _transfer(present, result, "transfer_total", "all_pieces"),
        "needed_pipeline": present.value(
            "needed_pipeline",
            symbols={"V": "sent_on"},
            published=published_note("bandwidth", result),
        ),
    }


def _schedule_note(result: Result) -> str:
    """Return a note if the shown bubble is not this schedule's own."""
    schedule = result.plan.run.training.schedule
    return f"of 1F1B; {schedule} waits for less" if schedule in ("zb-1p", "dualpipe") else ""


def _bubble(present: Presenter, inputs: Inputs, result: Result) -> Value:
    """Return the bubble in the chosen convention, with the other convention as note."""
    assumption = "All stages alike, messages free."
    if result.plan.run.training.schedule == "zb-1p":
        assumption = "That of 1F1B; ZB-1p fills part of it with weight gradients."
    elif result.plan.run.training.schedule == "dualpipe":
        assumption = "That of 1F1B; DualPipe feeds both ends and waits for about half of it."
    name = "bubble_share" if inputs.convention == "share" else "bubble_over_ideal"
    words = _schedule_note(result)
    other: dict[str, Any] = {"note": words} if words else {}
    return present.value(
        name,
        **other,
        equation=_bubble_equation(name, result),
        assumes=(assumption,),
        published=published_note("bubble", result),
    )


def _bubble_equation(name: str, result: Result) -> Equation:
    """Return the closed form; of chunks with fewer micro-batches than stages it is another."""
    few = result.pieces > 1 and result.microbatches < result.stages
    if name == "bubble_share":
        return FEW_SHARE if few else BUBBLE_SHARE
    return FEW_OVER_IDEAL if few else BUBBLE_OVER_IDEAL


def _transfer(present: Presenter, result: Result, name: str, pieces: Figure | str) -> Value:
    return present.value(
        name,
        equation=PIPELINE_BYTES,
        symbols={"V": name, "v": (1.0, COUNT), "p": pieces, "S": "boundary"},
        assumes=("Both ways, one replica; two stages have one boundary.",),
        published=published_note("transfer", result),
    )


def bubble_formula(present: Presenter, result: Result) -> Formula:
    """Return the formula of the bubble's share with the input values."""
    equation = _bubble_equation("bubble_share", result)
    return present.formula("The bubble, as a share of the step", equation)


def tensor_alone(present: Presenter) -> Value:
    """Return unoverlapped tensor-parallel communication over computation."""
    return present.value(
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


def memory_values(present: Presenter, result: Result) -> dict[str, Value]:
    """Return the activations of the first stage, and the memory of the GPU that holds most."""
    layers, batches = (
        pluralize(result.first_layers, "layer"),
        pluralize(result.first_held, "micro-batch"),
    )
    kept = f"All tensors of {{first_layers}} {layers}, for {{first_held}} {batches} in flight, on "
    fullest = result.plan.stages[result.plan.fullest]
    return {
        "activation": present.value(
            "activation",
            assumes=(
                memory_error_text(),
                present.say(
                    kept + "each GPU.",
                    first_held=(result.first_held, COUNT),
                ),
            ),
            published=published_note("activation", result),
        ),
        "peak_memory": present.value(
            "peak_memory",
            symbols=peak_symbols(fullest.memory),
            assumes=(memory_error_text(),),
            note=f"stage {result.plan.fullest}; {{usable}} may be filled",
        ),
    }


# A published pipeline calculator's digits, compared with ours.

SOURCE = "pingdo_pipeline"
_REASONS = {
    "operations": (
        "E4.1",
        "It counts a micro-batch on a stage once; there is a forward and a backward pass.",
    ),
    "transfer": ("E4.2", "GiB printed as GB, and one boundary taken for all."),
    "compute": (
        "E4.4",
        "Its digits come out at a microsecond for a token and a layer, among "
        "other ways; no GPU, no backward pass and no micro-batches are in it.",
    ),
    "bandwidth": ("E4.5", "Gibibytes over that compute time."),
    "activation": (
        "E4.6",
        "The tensor that is sent, once for every micro-batch; a stage keeps "
        "all tensors of its layers, for as many micro-batches as are in flight.",
    ),
    "bubble": ("E4.3", "The same, as a share of the step; over the ideal time it is more."),
    "efficiency": ("E4.7", "The same, if nothing but the bubble costs time."),
}


def published_note(key: str, result: Result) -> Published:
    """Return the published calculator's number, for the receipt."""
    claim, reason = _REASONS[key]
    return Published(
        text=f"a published calculator prints {result.printed[key]}",
        reason=reason,
        source=SOURCE,
        claim=claim,
    )


def table(present: Presenter, inputs: Inputs, result: Result) -> Table:
    """Return a table of published and corrected digits; empty unless requested."""
    if not inputs.published:
        return Table(title="", columns=(), rows=())
    theirs = result.printed
    rows = tuple(
        (label, theirs[key], right, why) for key, label, right, why in _our_rows(present, result)
    )
    return Table(
        title="A published calculator's digits beside ours",
        columns=("Output", "It prints", "Right", "Why they differ"),
        rows=(*rows, *_suggestions(present, inputs, result)),
        caption="Its column follows its own arithmetic with your inputs; it asks for layers, "
        "hidden size, sequence, micro-batch, stages and micro-batches only.",
    )


def _our_rows(present: Presenter, result: Result) -> list[tuple[str, str, Text, Text]]:
    return [
        ("operations", "Operations", present.say("{asked_operations}"), "forward and backward"),
        (
            "stage",
            "A stage, and what it sends",
            present.say("{first_layers} layers, {boundary}"),
            "MiB printed as MB",
        ),
        (
            "transfer",
            "Transfer of a step",
            present.say("{asked_transfer} over one boundary, {asked_transfers} over all"),
            "GiB printed as GB; one boundary taken for all",
        ),
        (
            "bubble",
            "Bubble",
            present.say("{asked_share} of the step, {asked_ideal} over ideal"),
            "right, as a share of the step",
        ),
        (
            "compute",
            "Compute of a step",
            present.say("{computation}"),
            present.say("6 operations for each parameter and token, at {utilization} of the peak"),
        ),
        (
            "bandwidth",
            "Bandwidth between stages",
            present.say("{asked_bandwidth}"),
            "its compute time",
        ),
        (
            "activation",
            "Activations of a GPU at the peak",
            present.say("{activation} first stage, {last_activation} last"),
            present.say(
                "all tensors of its layers, for {first_held} micro-batches on the first stage",
                first_held=(result.first_held, COUNT),
            ),
        ),
        (
            "efficiency",
            "Efficiency of the pipeline",
            say("{e}", e=(1 - result.asked.asked_share, SHARE)),
            "right, if nothing but the bubble costs time",
        ),
    ]


def _suggestions(present: Presenter, inputs: Inputs, result: Result) -> list[tuple[Text, ...]]:
    """Return the calculator's two suggestions below 80 %, with their effects."""
    p, m = inputs.pipeline_parallel, inputs.num_microbatches
    more, fewer = result.asked.advised
    rows: list[tuple[Text, ...]] = [
        (
            f"Its advice: {2 * m} micro-batches",
            more[0],
            say("{e}", e=(more[1], SHARE)),
            "right; the batch doubles with them",
        )
    ]
    if p > 1:
        layers = result.plan.run.model.num_layers
        divides = "divide" if layers % (p - 1) == 0 else "do not divide"
        rows.append(
            (
                f"Its advice: {p - 1} stages",
                fewer[0],
                say("{e}", e=(fewer[1], SHARE)),
                f"{layers} layers {divides} by {p - 1}; every GPU holds more",
            )
        )
    return rows
