"""A published pipeline calculator's digits, compared with ours."""

from engine.calculators.splitting_the_model.parallelism_modeler.inputs import Inputs
from engine.calculators.splitting_the_model.parallelism_modeler.result import Result
from engine.core.outputs import Presenter
from engine.core.text import Text, say
from engine.core.units import COUNT, SHARE
from engine.core.views import Published, Table

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
