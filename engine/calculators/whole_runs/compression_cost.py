"""The cost of compression: an all-reduce, a gathered top-k and thin factors, by number of GPUs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from engine.catalog.models import MODELS
from engine.core.inputs import GBITS, PERCENT, Choice, Number, Scalar
from engine.core.outputs import Output, Presenter, Symbol, Views
from engine.core.units import BYTES, COUNT, SECONDS, Bytes, Count, Gbit, Parameters, Ratio, Seconds
from engine.core.views import Axis, Badge, Challenge, Condition, Lines, Point, Rule, Series, Table
from engine.form.fields import OwnConstants
from engine.form.run.inputs import Inputs as Form
from engine.form.run.nearest_valid import nearest_run
from engine.form.short_job import GpuName
from engine.formulas.compression import (
    PLACE,
    TOP_K_BREAK_EVEN,
    TOP_K_BYTES,
    low_rank_numbers,
    top_k_sends_more_from,
)
from engine.formulas.parameters import total_parameters
from engine.run.run import Run
from engine.simulate.data_parallel.compressed_sync import (
    SyncCost,
    SyncMethods,
    error_feedback_bytes,
    free_memory,
    sync_methods,
)

PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "100 Gb/s Ethernet": {"port": 100 * Gbit, "ports": 1},
    "One in a thousand": {"keep": 0.001},
    "Llama 3.2 1B on A100": {"model": "llama-3.2-1b", "gpu": "A100-SXM-80GB"},
}
_MODELS = ("llama-3.2-1b", "llama-3.2-3b", "llama-3-8b", "qwen2.5-1.5b")
VALUES = {"bf16": 2.0, "fp32": 4.0}
COUNTS = tuple(2**i for i in range(1, 13))
_MODELLED: Mapping[str, Any] = {
    "assumes": (
        "Every GPU holds the whole model, eight to a node; nothing else on the wire.",
        "Gradients and what is owed pass through memory at least five times for top-k, eight for "
        "factors; sorting and orthogonalizing come on top.",
    ),
    "sources": ("vogels2019", "renggli2019"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in _MODELS})
    ] = "llama-3.2-3b"
    gpu: GpuName = "H100-SXM"
    world_size: Annotated[
        int,
        Number(label="GPUs", low=2, high=4096, scale="log2", whole=True, symbol="n"),
        Symbol("n"),
    ] = 64
    keep: Annotated[
        float,
        Number(
            label="Share that top-k keeps",
            unit=PERCENT,
            low=1e-4,
            high=0.5,
            scale="log",
            symbol="κ",
        ),
        Symbol("k"),
    ] = 0.01
    rank: Annotated[
        int, Number(label="Rank of the factors", low=1, high=512, scale="log2", whole=True)
    ] = 32
    value: Annotated[
        str, Choice(label="Numbers on the wire", options={"bf16": "bf16", "fp32": "fp32"})
    ] = "bf16"
    ports: Annotated[int, Number(label="Ports per node", low=1, high=8, whole=True)] = 8
    port: Annotated[
        float,
        Number(label="Port", unit=GBITS, low=1 * Gbit, high=3200 * Gbit, scale="log"),
    ] = 400 * Gbit
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The three methods at the chosen number of GPUs, and at all others."""

    run: Run
    now: SyncMethods
    curve: tuple[SyncMethods, ...]
    dense_sent: Annotated[
        Bytes, Output("All-reduce sends", note="each GPU in a step", color="gradients", **_MODELLED)
    ]
    top_k_sent: Annotated[
        Bytes,
        Output("Top-k sends", "V", "values, places, from all GPUs", "communication"),
    ]
    low_rank_sent: Annotated[
        Bytes, Output("Factors send", note="each GPU in a step", color="parameters", **_MODELLED)
    ]
    break_even: Annotated[
        Count,
        Output("Top-k sends more from", "x", "GPUs on, whatever the wire", "communication"),
    ]
    smaller: Annotated[
        Ratio,
        Output("Factors are smaller by", note="rank {rank}", color="parameters", **_MODELLED),
    ]
    dense_time: Annotated[
        Seconds, Output("All-reduce takes", note="alone", color="gradients", **_MODELLED)
    ]
    top_k_time: Annotated[
        Seconds,
        Output(
            "Top-k takes",
            note="{top_k_work} of it without a wire",
            color="communication",
            **_MODELLED,
        ),
    ]
    low_rank_time: Annotated[
        Seconds,
        Output(
            "Factors take",
            note="{low_rank_work} of it without a wire",
            color="parameters",
            **_MODELLED,
        ),
    ]
    owed: Annotated[
        Bytes,
        Output(
            "Error feedback holds",
            note="on every GPU, in fp32",
            color="buffers",
            assumes=("One number for each parameter. It is each GPU's own and cannot be sharded.",),
            sources=("vogels2019",),
        ),
    ]
    room: Annotated[
        Bytes,
        Output(
            "Left in a GPU's memory",
            note="beside the job and what it owes",
            color="memory",
            assumes=("DDP with fp32 states, a sequence of 2,048 tokens, every layer recomputed.",),
        ),
    ]
    top_k_work: Seconds
    low_rank_work: Seconds
    size: Annotated[Parameters, Symbol("P")]
    dense_value: Annotated[Bytes, Symbol("d")]
    element: Annotated[Bytes, Symbol("e")]
    place: Annotated[Bytes, Symbol("i")] = PLACE


def job(inputs: Inputs) -> Run:
    """Return the job: plain data parallelism, nothing sharded."""
    run, _ = nearest_run(
        Form(
            model=inputs.model,
            gpu=inputs.gpu,
            own_constants=inputs.own_constants,
            world_size=inputs.world_size,
            tensor_parallel=1,
            pipeline_parallel=1,
            virtual_pipeline=1,
            context_parallel=1,
            micro_batch_size=1,
            global_batch_size=inputs.world_size,
            sequence_length=2048,
            recompute="full",
            zero_stage="0",
            framework="fsdp",
            schedule="1f1b",
            sequence_parallel=False,
            nics_per_node=inputs.ports,
            nic_bandwidth=inputs.port,
        )
    )
    return run


# Compressing takes at least so much, so what is hardly faster is no winner.
_TIE = 0.9


def verdict(present: Presenter, result: Result) -> Badge:
    """Return the badge of the fastest way to send gradients, if the job fits."""
    if result.room < 0:
        return Badge(
            text="Does not fit",
            sentence=present.say(
                "The job and what it owes need {over} more than a GPU has.",
                over=(-result.room, BYTES),
            ),
            color="bad",
        )
    rows = (
        ("An all-reduce", "The plain all-reduce is the fastest: {dense_time}.", result.dense_time),
        ("Top-k", "Top-k takes {top_k_time}, the all-reduce {dense_time}.", result.top_k_time),
        (
            "Factors",
            "Factors take {low_rank_time}, the all-reduce {dense_time}.",
            result.low_rank_time,
        ),
    )
    name, words, least = min(rows, key=lambda row: row[2])
    if name != "An all-reduce" and least > _TIE * result.dense_time:
        sentence = present.say(f"{words} Compressing takes about what the wire saves.")
        return Badge(text="A tie", sentence=sentence, color="gradients")
    color = {"Top-k": "communication", "Factors": "parameters"}.get(name, "gradients")
    return Badge(text=name, sentence=present.say(words), color=color)


def curve(inputs: Inputs, result: Result) -> Lines:
    """Return the time of the three ways by the number of GPUs."""
    rows = (
        ("dense", "all-reduce", "gradients"),
        ("top_k", "top-k", "communication"),
        ("low_rank", "thin factors", "parameters"),
    )
    x = tuple(map(float, COUNTS))

    def time(ways: SyncMethods, key: str) -> Seconds:
        cost: SyncCost = getattr(ways, key)
        return cost.total

    every = [time(ways, key) for ways in result.curve for key, _, _ in rows]
    inside = COUNTS[0] <= result.break_even <= COUNTS[-1]
    rule = Rule(key="even", label="top-k sends more from here", axis="x", at=result.break_even)
    return Lines(
        title="Time to sum the gradients of a step",
        x=Axis(label="GPUs", quantity=COUNT, low=2.0, high=4096.0, scale="log"),
        y=Axis(
            label="time", quantity=SECONDS, low=min(every) / 1.5, high=max(every) * 1.5, scale="log"
        ),
        series=tuple(
            Series(
                key=key,
                label=label,
                x=x,
                y=tuple(time(ways, key) for ways in result.curve),
                color=color,
                dashed=key == "dense",
            )
            for key, label, color in rows
        ),
        points=tuple(
            Point(
                key=key, label="", x=float(inputs.world_size), y=time(result.now, key), color=color
            )
            for key, _, color in rows
        ),
        rules=(rule,) if inside else (),
        handle="world_size",
        caption="Compressing and rebuilding included. Up to eight GPUs are one node.",
    )


def table(present: Presenter, result: Result) -> Table:
    """Return the three methods at the chosen number of GPUs."""
    rows = (("all-reduce", result.now.dense), ("top-k", result.now.top_k))
    return Table(
        title="The three ways, at your number of GPUs",
        columns=("Way", "Sent", "On the wire", "Compressing", "Reducible in transit"),
        rows=tuple(
            (
                name,
                present.say("{v}", v=(cost.sent, BYTES)),
                present.say("{v}", v=(cost.wire, SECONDS)),
                present.say("{v}", v=(cost.work, SECONDS)),
                "no" if name == "top-k" else "yes",
            )
            for name, cost in (*rows, ("thin factors", result.now.low_rank))
        ),
    )


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge."""
    return Challenge(
        title="Worth the trouble",
        goal="A gradient sum on at least 256 GPUs with 8 ports a node, three times as fast as the "
        "plain all-reduce, with a rank of at least 32 or a hundredth of the numbers.",
        conditions=(
            Condition(text="256 GPUs or more", met=inputs.world_size >= 256),
            Condition(text="8 ports a node", met=inputs.ports == 8),
            Condition(
                text="rank 32 or more, 1 % or more",
                met=inputs.rank >= 32 and inputs.keep >= 0.01,
            ),
            Condition(
                text="three times as fast",
                met=3 * min(result.top_k_time, result.low_rank_time) <= result.dense_time,
            ),
            Condition(text="it fits", met=result.room >= 0),
        ),
        hints=(
            "Which of the two still sums on the way at this number of GPUs?",
            "What does compressing take, whatever the wire?",
            "On what kind of network does an all-reduce of this size take long?",
        ),
        start={"world_size": 256, "ports": 8, "port": 400 * Gbit, "rank": 32, "keep": 0.01},
        solution={
            "world_size": 256,
            "ports": 8,
            "port": 25 * Gbit,
            "rank": 32,
            "keep": 0.01,
        },
    )


TITLE = "What compression costs"
QUESTION = "On how many GPUs does sending less take less time?"
HEADLINE = "break_even"
EQUATIONS = (TOP_K_BYTES, TOP_K_BREAK_EVEN)


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    run, value = job(inputs), VALUES[inputs.value]
    size = total_parameters(run.model)

    def at(ranks: Count) -> SyncMethods:
        return sync_methods(run, ranks, value, inputs.keep, inputs.rank)

    now = at(inputs.world_size)
    return Result(
        run=run,
        now=now,
        curve=tuple(at(ranks) for ranks in COUNTS),
        dense_sent=now.dense.sent,
        top_k_sent=now.top_k.sent,
        low_rank_sent=now.low_rank.sent,
        break_even=top_k_sends_more_from(inputs.keep, value, value),
        smaller=size / low_rank_numbers(run.model, inputs.rank),
        dense_time=now.dense.total,
        top_k_time=now.top_k.total,
        low_rank_time=now.low_rank.total,
        owed=error_feedback_bytes(run),
        room=free_memory(run, feedback=True),
        top_k_work=now.top_k.work,
        low_rank_work=now.low_rank.work,
        size=size,
        dense_value=value,
        element=value,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        **present.values("break_even"),
        "verdict": verdict(present, result),
        "curve": partial(curve, inputs, result),
        **present.values("dense_sent", "top_k_sent", "low_rank_sent", "smaller"),
        **present.values("dense_time", "top_k_time", "low_rank_time", "owed", "room"),
        "table": partial(table, present, result),
        "challenge": challenge(inputs, result),
    }
