"""Results of the stack explorer: the job, its numbers, events and wires."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated

from engine.calculators.whole_runs.stack_explorer.inputs import (
    BILLION,
    PRESETS,
    Inputs,
    Job,
    job,
    play_stage,
)
from engine.catalog.publications import Publication, find_publication
from engine.catalog.reader_constants import gpu_constants
from engine.core.outputs import Output
from engine.core.slices import SlicedRun
from engine.core.units import (
    COUNT,
    HOUR,
    TOKENS,
    Bandwidth,
    Money,
    Ratio,
    Seconds,
    Share,
    TokenRate,
)
from engine.formulas.goodput import job_mtbf
from engine.formulas.send_time import send_time
from engine.simulate.job.failure_process import CheckpointPolicy
from engine.simulate.job.forecast import JobTerms, job_run, modeled_terms
from engine.simulate.job.job_events import RESTART, RunLength, decades, event_counts, event_times
from engine.simulate.network.node_message import NodeMessage, node_message
from engine.simulate.overlap.schedule_step import ScheduleOutcome

START = PRESETS["13B on eight nodes with one port of 100 Gb/s"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The numbers of the job.

    Attributes:
        job: all of it.
        times, counts: of its events, by key; how often each happens in a step on one GPU.
        step_time: one step.
        batch, length, world_size: of the run, which may differ from the inputs.
        billion: tokens that are priced.
        fastest, slowest: steps with all that can be overlapped, and with nothing.
        shortest, longest: an access to memory, and the time until something fails.
        messages: by their names, the reader's last.
        port: reached by large messages, of one GPU.
        node_rate, port_rate: bus bandwidth in the node, and of one port.
        computing: share of the step.
        mfu, run_time: of its steps; forecast_time: with checkpoints and failures.
        published: what was, of this very job.
        ruler: orders of magnitude from its low end to its high one.
        played: the job under the schedule.
        start_price: of a billion tokens, where the challenge starts.
    """

    token_rate: Annotated[
        TokenRate,
        Output("Tokens per second", "R", assumes=("While steps run: no failure, no checkpoint.",)),
    ]
    exposed_share: Annotated[
        Share,
        Output(
            "Exposed communication",
            note="of the step",
            color="communication",
            assumes=("Communication that no computation hides, over the step; all axes together.",),
        ),
    ]
    cost_of_tokens: Annotated[
        Money,
        Output(
            "Cost of a billion tokens",
            "K",
            "in your currency",
            assumes=("While steps run; in the currency of the price.",),
        ),
    ]
    event_time: Annotated[Seconds, Output("The event takes", color="accent")]
    decades: Annotated[
        float,
        COUNT,
        Output(
            "Orders of magnitude from an HBM access to a failure",
            note="from {shortest} to {longest}",
            assumes=("The power of ten of their ratio.",),
            sources=("dubey2024",),
        ),
    ]
    message_time: Annotated[
        Seconds,
        Output(
            "The message takes",
            note="{on_wire} of it on the wire",
            color="communication",
            assumes=(
                "Launch {launch}, one step from node to node {hop}, bytes at {port}.",
                "As fitted to measured all-reduces over InfiniBand; large-message protocol.",
            ),
            sources=("nccl_tuning", "nccl_tests"),
        ),
    ]
    overlap_gain: Annotated[
        Share,
        Output(
            "Shorter by overlap",
            note="of the step",
            assumes=(
                "From {slowest} with nothing overlapped to {fastest}.",
                "The cost model, with its switches for gradients and tensor parallelism.",
            ),
            sources=("async_tp2024",),
        ),
    ]
    step_time: Annotated[Seconds, Output(symbol="T")]
    billion: Annotated[float, TOKENS, Output(symbol="D")]
    batch: Annotated[int, COUNT, Output(symbol="B", of="global_batch_size")]
    length: Annotated[float, TOKENS, Output(symbol="s", of="sequence_length")]
    world_size: Annotated[int, COUNT, Output(symbol="n", of="world_size")]
    shortest: Seconds
    longest: Seconds
    on_wire: Share
    launch: Seconds
    hop: Seconds
    port: Bandwidth
    fastest: Seconds
    slowest: Seconds
    node_rate: Bandwidth
    port_rate: Bandwidth
    computing: Share
    start_price: Money
    ruler: Ratio
    played: SlicedRun[ScheduleOutcome]
    mfu: Share
    run_time: Seconds
    forecast_time: Seconds
    published: Publication | None
    messages: Mapping[str, NodeMessage]
    times: Mapping[str, Seconds]
    counts: Mapping[str, Ratio]
    job: Job


@cache
def start() -> Inputs:
    """Return the job at the challenge's start."""
    return replace(Inputs(), **START)  # type: ignore[arg-type]


_SIZES: Mapping[str, float] = {
    "8 B": 8.0,
    "4 kB": 4e3,
    "64 kB": 64e3,
    "256 kB": 256e3,
    "1 MB": 1e6,
}


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    own_job, length = job(inputs), _length(inputs)
    run, cluster, rank = own_job.run, own_job.run.cluster, own_job.rank
    times = event_times(run, own_job.step, length)
    sizes = {**_SIZES, "yours": inputs.message}
    messages = {name: node_message(cluster, rank, size) for name, size in sizes.items()}
    message_time = send_time(inputs.message, rank.port, 2)
    slowest, fastest = own_job.variants[0][2].total, own_job.variants[-1][2].total
    constants = gpu_constants(cluster.gpu, cluster.own_constants)
    return Result(
        token_rate=own_job.rate if own_job.runs else 0.0,
        exposed_share=own_job.levers.exposed_share,
        cost_of_tokens=own_job.cost(inputs.price),
        event_time=times[inputs.event],
        decades=decades(times["memory"], times["mtbf"]),
        message_time=message_time,
        overlap_gain=1 - fastest / slowest,
        step_time=own_job.step.total,
        billion=BILLION,
        batch=run.training.global_batch_size,
        length=run.training.sequence_length,
        world_size=run.plan.world_size,
        shortest=times["memory"],
        longest=times["mtbf"],
        on_wire=messages["yours"].wire / message_time,
        launch=messages["yours"].launch,
        hop=messages["yours"].hop,
        port=rank.port,
        fastest=fastest,
        slowest=slowest,
        node_rate=constants.scale_up * cluster.gpu.scale_up,
        port_rate=constants.network * cluster.nic_bandwidth,
        computing=own_job.step.compute / own_job.step.total,
        ruler=decades(inputs.ruler_from, inputs.ruler_to),
        played=SlicedRun(play_stage(inputs, run)),
        start_price=job(start()).cost(start().price),
        mfu=own_job.estimate.mfu,
        run_time=times["run"],
        forecast_time=job_run(terms(inputs)).wall,
        published=find_publication(
            inputs.model, inputs.gpu, run.plan.world_size, run.training.sequence_length
        ),
        messages=messages,
        times=times,
        counts=event_counts(run),
        job=own_job,
    )


def terms(inputs: Inputs) -> JobTerms:
    """Return the run with a checkpoint every hour, and the restart of the ruler."""
    own_job = job(inputs)
    policy = CheckpointPolicy(
        interval=HOUR,
        checkpoint=inputs.checkpoint,
        restart=RESTART,
        mtbf=job_mtbf(inputs.gpu_mtbf, own_job.run.plan.world_size),
    )
    return modeled_terms(own_job.run, inputs.tokens, own_job.step.total, policy=policy)


def steps_alone(inputs: Inputs) -> JobTerms:
    """Return the run without its losses."""
    return replace(terms(inputs), policy=None)


def _length(inputs: Inputs) -> RunLength:
    return RunLength(tokens=inputs.tokens, checkpoint=inputs.checkpoint, gpu_mtbf=inputs.gpu_mtbf)
