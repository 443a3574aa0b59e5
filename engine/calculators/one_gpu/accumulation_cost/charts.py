"""The pictures of accumulation at scale: memory, bytes for a token, speed, pipelines."""

from engine.calculators.one_gpu.accumulation_cost.inputs import MAX_MICRO_BATCHES, SCHEMES, Inputs
from engine.calculators.one_gpu.accumulation_cost.result import Result
from engine.calculators.one_gpu.accumulation_cost.sweeps import COUNTS
from engine.core.outputs import Presenter
from engine.core.text import say
from engine.core.units import BYTES, COUNT, SHARE, TOKEN_RATE
from engine.core.views import Axis, Bar, Bars, Lines, Point, Rule, Segment, Series, Table
from engine.simulate.data_parallel.accumulation import AccumulationMemory

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
        title="The fullest GPU, in micro-batches and in one batch",
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


def volume(inputs: Inputs, result: Result) -> Lines:
    """Return the bytes that a GPU sends for each of its tokens, over the micro-batches."""
    series = [
        Series(
            key=key,
            label=SCHEMES[key],
            x=_COLUMN,
            y=result.volumes()[key],
            color=color,
            dashed=key in ("ddp_sync", "fsdp_once"),
        )
        for key, color in (_COLORS | _FSDP).items()
    ]
    ends = [value for line in series for value in line.y]
    return Lines(
        title="Bytes sent for a token, over the micro-batches",
        x=Axis(
            label="micro-batches of a step",
            quantity=COUNT,
            low=1,
            high=MAX_MICRO_BATCHES,
            scale="log",
        ),
        y=Axis(
            label="sent for each token",
            quantity=BYTES,
            low=0.6 * min(ends),
            high=1.6 * max(ends),
            scale="log",
        ),
        series=tuple(series),
        points=(
            Point(
                key="now",
                label=say("{v}", v=(result.per_token, BYTES)),
                x=inputs.num_microbatches,
                y=result.per_token,
            ),
        ),
        handle="num_microbatches",
        caption="Falling lines reduce once per step. Lines that stay level communicate with every "
        "micro-batch, so that accumulation saves them nothing. Two lines lie on others: "
        "DDP that is reduced every time on FSDP as it comes, and ZeRO-1 on FSDP that also gathers "
        "once.",
    )


def speeds(inputs: Inputs, result: Result) -> Lines:
    """Return tokens per second per GPU over the micro-batches, for schemes that the model knows."""
    looks = {"ddp": "ink", "zero1": "data", "fsdp": "communication"}
    series = tuple(
        Series(
            key=key,
            label=SCHEMES[key],
            x=_COLUMN,
            y=column,
            color=looks[key],
            dashed=key == "ddp",
        )
        for key, column in result.speeds().items()
    )
    most = max(result.token_rate, *(max(line.y) for line in series))
    return Lines(
        title="Speed over the micro-batches",
        x=Axis(
            label="micro-batches of a step",
            quantity=COUNT,
            low=1,
            high=MAX_MICRO_BATCHES,
            scale="log",
        ),
        y=Axis(label="tokens per second per GPU", quantity=COUNT, low=0.0, high=1.15 * most),
        series=series,
        points=(
            Point(
                key="now",
                label=say("yours: {v}", v=(result.token_rate, TOKEN_RATE)),
                x=inputs.num_microbatches,
                y=result.token_rate,
            ),
        ),
        handle="num_microbatches",
        caption="The chart does not ask whether a scheme fits; the memory bars do, for yours.",
    )


def pipeline(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the bubble of a pipeline over the micro-batches."""
    return Lines(
        title="Idle share of a pipeline, over the micro-batches",
        x=Axis(
            label="micro-batches of a step",
            quantity=COUNT,
            low=1,
            high=MAX_MICRO_BATCHES,
            scale="log",
        ),
        y=Axis(label="of the step", quantity=SHARE, low=0.0, high=1.0),
        series=(
            Series(
                key="bubble",
                label="bubble",
                x=_COLUMN,
                y=result.bubbles,
                color="pipeline",
            ),
        ),
        points=(
            Point(
                key="now",
                label=present.say("{bubble}"),
                x=inputs.num_microbatches,
                y=result.bubble,
            ),
        ),
        handle="num_microbatches",
        caption=present.say(
            "1F1B on {pipeline_parallel} stages. The first stage holds as many micro-batches as "
            "there are stages, and no more."
        ),
    )


def schemes(result: Result) -> Table:
    """Return the table of bytes sent and held by each scheme."""
    return Table(
        title="All schemes with your numbers",
        columns=("Scheme", "Passes: gradients, parameters", "Sent", "For a token", "Fullest GPU"),
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
