"""Accumulation at scale: memory, traffic and speed of a GPU by the number of micro-batches."""

from functools import partial

from engine.calculators.one_gpu.accumulation_cost.result import (
    COUNTS,
    MAX_MICRO_BATCHES,
    MODELLED,
    SCHEMES,
    Inputs,
    Result,
)
from engine.calculators.one_gpu.accumulation_cost.result import solve as solve
from engine.core.inputs import Scalar
from engine.core.outputs import Presenter, Views
from engine.core.text import say
from engine.core.units import BYTES, COUNT, TOKEN_RATE
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Challenge,
    Condition,
    Line,
    Lines,
    Rule,
    Scale,
    Segment,
    Table,
)
from engine.form.run.prediction_text import value_with_range
from engine.formulas.volumes import ZERO_BYTES
from engine.simulate.data_parallel.accumulation import TIMED_AS, AccumulationMemory

TITLE = "Accumulation at scale"
QUESTION = "What do more micro-batches save, and what do they not change?"
HEADLINE = "token_rate"
EQUATIONS = (ZERO_BYTES,)
PRESETS = {
    "Llama 3 8B on 64 H100, 4 million tokens a step": {"num_microbatches": 16},
    "The same with FSDP as it comes": {"num_microbatches": 16, "scheme": "fsdp"},
    "5B on 64 H200, DDP that forgets no_sync": {
        "model": "gpt-3-5b",
        "gpu": "H200-SXM",
        "scheme": "ddp_sync",
    },
    "Llama 2 13B, FSDP, slow network": {
        "model": "llama-2-13b",
        "num_microbatches": 16,
        "scheme": "fsdp",
        "port": 12.5e9,
    },
}
_WANTED = 4_194_304


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "fits": _fits(present, result),
        "sent": present.value("sent", symbols={"n": "world_size"}),
        **present.values("per_token", "collectives", "tokens", "held", "at_once"),
        "token_rate": value_with_range(
            present,
            "token_rate",
            result.evidence,
            note=f"timed as {TIMED_AS[inputs.scheme]}" if inputs.scheme in TIMED_AS else "",
            assumes=(MODELLED,),
        ),
        **present.values("gained"),
        "memory": partial(memory, inputs, result),
        "volume": partial(volume, present, inputs, result),
        "speed": partial(speeds, present, inputs, result),
        "pipeline": partial(pipeline, present, inputs, result),
        **present.values("bubble", "in_flight"),
        "schemes": partial(schemes, result),
        "challenge": _challenge(inputs, result),
    }


def _fits(present: Presenter, result: Result) -> Badge:
    words = "In micro-batches the GPU that holds most needs {held}, in one batch {at_once}; "
    words += "{usable} may be filled."
    if result.held > result.usable:
        return Badge(text="Out of memory", sentence=present.say(words), color="buffers")
    if result.at_once > result.usable:
        return Badge(
            text="Fits only in micro-batches", sentence=present.say(words), color="activations"
        )
    return Badge(text="Fits both ways", sentence=present.say(words), color="activations")


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    setting = (inputs.model, inputs.gpu, inputs.world_size, inputs.sequence_length)
    start: dict[str, Scalar] = {
        "world_size": 64,
        "micro_batch_size": 1,
        "num_microbatches": 1,
        "scheme": "zero2",
        "port": 12.5e9,
    }
    return Challenge(
        title="Challenge: 4 million tokens on a slow network",
        goal="64 H100 in 8 nodes with one port of 100 Gb/s for each GPU must take steps of "
        "4,194,304 tokens with Llama 3 8B. Find a scheme that fits and is fast.",
        conditions=(
            Condition(
                text="Llama 3 8B, 64 H100, 4,096 tokens, ports of 100 Gb/s",
                met=setting == ("llama-3-8b", "H100-SXM", 64, 4096) and inputs.port == 12.5e9,
            ),
            Condition(
                text="a step has 4,194,304 tokens", met=inputs.world_size * result.own == _WANTED
            ),
            Condition(text="it fits", met=result.held <= result.usable),
            Condition(
                text="each GPU sends at most 1 MB for each of its tokens",
                met=result.per_token <= 1e6,
            ),
        ),
        hints=(
            "The tokens of a step are the product of GPUs, micro-batch, micro-batches and length.",
            "Three schemes reduce gradients after every micro-batch; their bytes grow with it.",
            "One scheme reduces once and keeps little: its optimizer states are sharded.",
        ),
        start=start,
        solution={**start, "scheme": "zero1", "num_microbatches": 16},
    )


# The pictures of accumulation at scale: memory, bytes for a token, speed, pipelines.

_COLUMN = tuple(float(count) for count in COUNTS)
_COLORS = {"ddp_sync": "muted", "ddp": "ink", "zero1": "data", "zero2": "gradients"}
_FSDP = {"fsdp": "communication", "fsdp_once": "parameters", "fsdp_keep": "activations"}


def memory(inputs: Inputs, result: Result) -> Bars:
    """Return the memory in micro-batches, and with all sequences at once."""
    count, batch = inputs.num_microbatches, inputs.micro_batch_size
    pieces = "micro-batch" if count == 1 else "micro-batches"
    parts, at_once = result.parts
    bars = (
        ("micro", f"{count} {pieces} of {batch}", parts),
        ("once", f"one batch of {count * batch}", at_once),
    )
    most = max(result.usable, *(usage.total for _, _, usage in bars))
    return Bars(
        title="The GPU that holds most, in micro-batches and in one batch",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=1.05 * most),
        bars=tuple(
            Bar(key=key, label=label, segments=_segments(usage)) for key, label, usage in bars
        ),
        rules=(
            Rule(
                key="usable",
                label=say("usable: {m}", m=(result.usable, BYTES)),
                axis="x",
                at=result.usable,
            ),
        ),
        caption="Only activations shrink. Parameters, gradients and optimizer states stay.",
    )


def _segments(usage: AccumulationMemory) -> tuple[Segment, ...]:
    return (
        Segment(key="states", label="states", value=usage.states, color="optimizer"),
        Segment(
            key="activations", label="activations", value=usage.activations, color="activations"
        ),
        Segment(key="buffers", label="buffers, reserve", value=usage.buffers, color="buffers"),
    )


def volume(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the bytes that a GPU sends for each of its tokens, over the micro-batches."""
    volumes = {key: result.volumes()[key] for key in _COLORS | _FSDP}
    ends = [value for column in volumes.values() for value in column]
    return present.curve(
        "Bytes sent for a token, over the micro-batches",
        over=Scale(COUNT, "micro-batches of a step", 1, MAX_MICRO_BATCHES, log=True),
        shows=Scale("per_token", "sent for each token", 0.6 * min(ends), 1.6 * max(ends), log=True),
        x=_COLUMN,
        lines=(
            Line(key, SCHEMES[key], volumes[key], color, dashed=key in ("ddp_sync", "fsdp_once"))
            for key, color in (_COLORS | _FSDP).items()
        ),
        handle="num_microbatches",
        caption="Falling lines reduce once per step. Lines that stay level communicate with every "
        "micro-batch, so that accumulation saves them nothing. Two lines lie on others: "
        "DDP that is reduced every time on FSDP as it comes, and ZeRO-1 on FSDP that also gathers "
        "once.",
    )


def speeds(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return tokens per second per GPU over the micro-batches, for schemes that the model knows."""
    looks = {"ddp": "ink", "zero1": "data", "fsdp": "communication"}
    rates = result.speeds()
    most = max(result.token_rate, *map(max, rates.values()))
    return present.curve(
        "Speed over the micro-batches",
        over=Scale(COUNT, "micro-batches of a step", 1, MAX_MICRO_BATCHES, log=True),
        shows=Scale(COUNT, "tokens per second per GPU", 0.0, 1.15 * most),
        x=_COLUMN,
        lines=(
            Line(key, SCHEMES[key], column, looks[key], dashed=key == "ddp")
            for key, column in rates.items()
        ),
        handle="num_microbatches",
        at=result.token_rate,
        now=say("yours: {v}", v=(result.token_rate, TOKEN_RATE)),
        caption="The chart does not ask whether a scheme fits; the memory bars do, for yours.",
    )


def pipeline(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the bubble of a pipeline over the micro-batches."""
    return present.curve(
        "Idle share of a pipeline, over the micro-batches",
        over=Scale(COUNT, "micro-batches of a step", 1, MAX_MICRO_BATCHES, log=True),
        shows=Scale("bubble", "of the step", 0.0, 1.0),
        x=_COLUMN,
        lines=(Line("bubble", "bubble", result.bubbles, "pipeline"),),
        handle="num_microbatches",
        caption=present.say(
            "1F1B on {pipeline_parallel} stages. The first stage holds as many micro-batches as "
            "there are stages, and no more."
        ),
    )


def schemes(result: Result) -> Table:
    """Return the table of bytes sent and held by each scheme."""
    return Table(
        title="All schemes with these numbers",
        columns=(
            "Scheme",
            "Passes: gradients, parameters",
            "Sent",
            "For a token",
            "GPU that holds most",
        ),
        rows=tuple(
            (
                SCHEMES[key],
                say("{r} and {a}", r=(scheme.reductions, COUNT), a=(scheme.gathers, COUNT)),
                say("{v}", v=(scheme.sent, BYTES)),
                say("{v}", v=(scheme.per_token, BYTES)),
                say("{m}", m=(scheme.memory, BYTES)),
            )
            for key, scheme in result.schemes().items()
        ),
        caption="The memory of ZeRO-2 is that of DeepSpeed, with its buckets and its own buffers.",
    )
