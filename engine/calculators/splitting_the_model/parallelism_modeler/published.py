"""What a widely published pipeline calculator prints, by its own arithmetic, beside ours."""

from engine.basis.text import Text, say
from engine.basis.units import BYTES, COUNT, LINK_SPEED, SECONDS, SHARE, Bytes, MiB
from engine.basis.views import Published, Table
from engine.calculators.splitting_the_model.parallelism_modeler.inputs import Inputs
from engine.calculators.splitting_the_model.parallelism_modeler.model import Modeled
from engine.formulas.axes import least_bandwidth, stage_message
from engine.formulas.pipeline import bubble_over_ideal, bubble_share

SOURCE = "pingdo_pipeline"
# Its compute time cannot be recovered for certain; this gives its digits at its own defaults.
_PER_LAYER_AND_TOKEN = 1e-6


def message(inputs: Inputs, found: Modeled) -> Bytes:
    """Return the hidden state of a micro-batch, whole."""
    tokens = inputs.micro_batch_size * inputs.sequence_length
    return stage_message(tokens, found.run.model.hidden_size)


def printed(inputs: Inputs, found: Modeled) -> dict[str, str]:
    """Return the published calculator's outputs, digit by digit, for the reader's inputs."""
    p, m = inputs.pipeline_parallel, inputs.num_microbatches
    one = message(inputs, found) / MiB
    sent = one * m * 2 / 1024
    layers = found.run.model.num_layers // p
    compute = layers * inputs.sequence_length * inputs.micro_batch_size * _PER_LAYER_AND_TOKEN
    return {
        "operations": f"{p * m}",
        "stage": f"{layers} layers, {one:.2f} MB",
        "transfer": f"{sent:.4f} GB",
        "bubble": f"{(p - 1) / (m + p - 1) * 100:.1f} %",
        "compute": f"{compute * 1e3:.2f} ms",
        "bandwidth": f"{sent * 8 / compute:.2f} Gb/s" if compute else "none",
        "activation": f"{one * m:.1f} MB",
        "efficiency": f"{m / (m + p - 1) * 100:.1f} %",
    }


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


def note(key: str, inputs: Inputs, found: Modeled) -> Published:
    """Return what it prints for a number, for that number's receipt."""
    claim, reason = _REASONS[key]
    return Published(
        text=f"a published calculator prints {printed(inputs, found)[key]}",
        reason=reason,
        source=SOURCE,
        claim=claim,
    )


def table(inputs: Inputs, found: Modeled) -> Table:
    """Return the published digits beside the right ones; empty unless asked for."""
    if not inputs.published:
        return Table(title="", columns=(), rows=())
    theirs = printed(inputs, found)
    rows = tuple(
        (label, theirs[key], right, why) for key, label, right, why in _ours(inputs, found)
    )
    return Table(
        title="A published calculator's digits beside ours",
        columns=("Output", "It prints", "Right", "Why they differ"),
        rows=(*rows, *_suggestions(inputs, found)),
        caption="Its column follows its own arithmetic with your inputs; it asks for layers, "
        "hidden size, sequence, micro-batch, stages and micro-batches only.",
    )


def _ours(inputs: Inputs, found: Modeled) -> list[tuple[str, str, Text, Text]]:
    p, m = inputs.pipeline_parallel, inputs.num_microbatches
    one = message(inputs, found)
    both = 2 * m * one
    share, ideal = bubble_share(p, m), bubble_over_ideal(p, m)
    held = [stage.memory.activations for stage in found.stages]
    per_gpu = both / inputs.tensor_parallel / inputs.context_parallel
    needed = least_bandwidth(per_gpu, found.computation) if p > 1 else 0.0
    return [
        ("operations", "Operations", say("{n}", n=(2 * p * m, COUNT)), "forward and backward"),
        (
            "stage",
            "A stage, and what it sends",
            say("{n} layers, {b}", n=(found.stages[0].layers, COUNT), b=(one, BYTES)),
            "MiB printed as MB",
        ),
        (
            "transfer",
            "Transfer of a step",
            say(
                "{one} over one boundary, {all} over all",
                one=(both, BYTES),
                all=((p - 1) * both, BYTES),
            ),
            "GiB printed as GB; one boundary taken for all",
        ),
        (
            "bubble",
            "Bubble",
            say("{q} of the step, {o} over ideal", q=(share, SHARE), o=(ideal, SHARE)),
            "right, as a share of the step",
        ),
        (
            "compute",
            "Compute of a step",
            say("{t}", t=(found.computation, SECONDS)),
            say(
                "6 operations for each parameter and token, at {u} of the peak",
                u=(inputs.utilization, SHARE),
            ),
        ),
        (
            "bandwidth",
            "Bandwidth between stages",
            say("{b}", b=(needed, LINK_SPEED)),
            "its compute time",
        ),
        (
            "activation",
            "Activations of a GPU at the peak",
            say("{a} first stage, {z} last", a=(held[0], BYTES), z=(held[-1], BYTES)),
            say(
                "all tensors of its layers, for {h} micro-batches on the first stage",
                h=(found.stages[0].held, COUNT),
            ),
        ),
        (
            "efficiency",
            "Efficiency of the pipeline",
            say("{e}", e=(1 - share, SHARE)),
            "right, if nothing but the bubble costs time",
        ),
    ]


def _suggestions(inputs: Inputs, found: Modeled) -> list[tuple[Text, ...]]:
    """Return its two suggestions for less than 80 % with what they give."""
    p, m = inputs.pipeline_parallel, inputs.num_microbatches
    rows: list[tuple[Text, ...]] = [
        (
            f"Its advice: {2 * m} micro-batches",
            f"{2 * m / (2 * m + p - 1) * 100:.1f} %",
            say("{e}", e=(1 - bubble_share(p, 2 * m), SHARE)),
            "right; the batch doubles with them",
        )
    ]
    if p > 1:
        layers, fewer = found.run.model.num_layers, p - 1
        divides = "divide" if layers % fewer == 0 else "do not divide"
        rows.append(
            (
                f"Its advice: {fewer} stages",
                f"{m / (m + fewer - 1) * 100:.1f} %",
                say("{e}", e=(1 - bubble_share(fewer, m), SHARE)),
                f"{layers} layers {divides} by {fewer}; every GPU holds more",
            )
        )
    return rows


def claim(inputs: Inputs, found: Modeled) -> list[tuple[int, int]]:
    """Return (micro-batches, sequences of each) that share the reader's batch."""
    batch = inputs.micro_batch_size * inputs.num_microbatches
    return [(m, batch // m) for m in range(1, batch + 1) if batch % m == 0]
