"""ZeRO-1 and ZeRO-2 at real scale: memory saved, bytes and time paid, by micro-batches."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Scalar
from engine.core.outputs import Output, Presenter, Views
from engine.core.slices import SlicedRun, Slices, run_to_end, step_progress
from engine.core.units import BYTES, LINK_SPEED, SECONDS, Bytes, Gbit, Ratio, Seconds
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Challenge,
    Condition,
    Line,
    Lines,
    Scale,
    Segment,
)
from engine.form.fields import LabGpu, OwnConstants
from engine.form.sharded.lab import (
    LabGradients,
    LabMicro,
    LabModel,
    LabPort,
    LabRanks,
    LabTokens,
    capacity_rule,
    fit_badge,
    gradient_setting,
    simulated_output,
    simulated_step,
    step_timeline,
)
from engine.simulate.data_parallel.sharded_step import (
    ShardedSetting,
    ShardedStep,
    sharded_step_length,
    simulate_sharded_step,
)

NAMES = {0: "DDP", 1: "ZeRO-1", 2: "ZeRO-2"}
PORTS = (*(3.125 * Gbit * 2**i for i in range(9)), 1600 * Gbit)
_SOURCES = ("rajbhandari2020",)
_output = partial(simulated_output, _SOURCES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    zero_stage: Annotated[
        str, Choice(label="Stage shown", options={"2": "ZeRO-2", "1": "ZeRO-1", "0": "DDP"})
    ] = "2"
    micro_batches: LabMicro = 2
    model: LabModel = "llama-3-8b"
    ranks: LabRanks = 64
    tokens: LabTokens = 4096
    port: LabPort = 400 * Gbit
    gradients: LabGradients = "bf16"
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The steps of all stages, and the results of the selected stage.

    Attributes:
        over_ports: stage -> step, as `PORTS` are.
    """

    runs: Mapping[int, ShardedStep]
    over_ports: SlicedRun[Mapping[int, list[Seconds]]]
    step_time: Annotated[Seconds, _output("Step", "{closing} of it optimizer, host, slowest GPU")]
    closing: Seconds
    exposed: Annotated[Seconds, _output("Exposed communication", "per step", "communication")]
    sent: Annotated[Bytes, _output("Sent by each GPU", "per step", "communication")]
    peak: Annotated[
        Bytes, _output("States and buffers, at most", "of {room} that can be used", "buffers")
    ]
    room: Bytes
    saved: Annotated[
        Bytes,
        Output(
            "ZeRO-2 saves",
            "",
            "of gradients, against ZeRO-1",
            "gradients",
            assumes=("Two bytes for a gradient that is kept; the share that stays is taken off.",),
            sources=_SOURCES,
        ),
    ]
    slower: Annotated[Ratio, _output("ZeRO-2 over ZeRO-1", "step times", "communication")]
    more: Annotated[Bytes, _output("ZeRO-2 sends more by", "per GPU and step", "communication")]


def setting_of(inputs: Inputs, stage: int) -> ShardedSetting:
    """Return the job under DeepSpeed, at a stage."""
    return ShardedSetting(
        model=inputs.model,
        gpu=inputs.gpu,
        ranks=inputs.ranks,
        zero_stage=stage,
        framework="deepspeed",
        num_microbatches=inputs.micro_batches,
        tokens=inputs.tokens,
        port=inputs.port,
        gradient=gradient_setting("deepspeed", inputs.gradients),
        own_constants=inputs.own_constants,
    )


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    return run_to_end(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Simulate a step of every stage in turn."""
    runs = {}
    for done, stage in enumerate(NAMES, start=1):
        yield step_progress(done, len(NAMES), "Stage")
        runs[stage] = simulate_sharded_step(setting_of(inputs, stage))
    chosen = runs[int(inputs.zero_stage)]
    return Result(
        runs=runs,
        over_ports=SlicedRun(_over_ports(inputs)),
        step_time=chosen.step,
        closing=chosen.closing,
        exposed=chosen.account.exposed,
        sent=chosen.sent,
        peak=chosen.peak,
        room=chosen.capacity,
        saved=runs[1].states.gradients - runs[2].states.gradients,
        slower=runs[2].step / runs[1].step,
        more=runs[2].sent - runs[1].sent,
    )


def _over_ports(inputs: Inputs) -> Slices[Mapping[int, list[Seconds]]]:
    times: dict[int, list[Seconds]] = {1: [], 2: []}
    for done, port in enumerate(PORTS, start=1):
        for stage, lengths in times.items():
            yield step_progress(done, len(PORTS), "Port")
            lengths.append(sharded_step_length(replace(setting_of(inputs, stage), port=port)))
    return times


TITLE = "ZeRO-2 at real scale"
QUESTION = "What does a step pay for keeping only a share of the gradients?"
HEADLINE = "step_time"
PRESETS = {
    "13B on 16 GPUs": {"model": "llama-2-13b", "ranks": 16},
    "Slow ports: 100 Gb/s per node": {"port": 12.5 * Gbit},
    "Eight micro-batches": {"micro_batches": 8},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present, stage = Presenter(result, inputs), int(inputs.zero_stage)
    chosen = result.runs[stage]
    return {
        "step_time": simulated_step(present, chosen.evidence),
        **present.values("exposed"),
        "regime": _regime(present, result),
        "timeline": partial(
            step_timeline,
            f"A step of {NAMES[stage]} on its streams",
            chosen,
            "Hatched: communication that nothing hides. Below, the memory of states and buffers.",
        ),
        "curve": partial(_curve, present, inputs, result),
        **present.values("saved", "more", "slower"),
        "bars": partial(_bars, result),
        **present.values("peak", "sent"),
        "fits": fit_badge(present, chosen),
        "challenge": partial(_challenge, inputs, result),
    }


def _regime(present: Presenter, result: Result) -> Badge:
    if result.slower <= 1.005:
        return Badge(
            text="ZeRO-2 costs nothing here",
            sentence=present.say(
                "It sends {more} more, all of it hidden, and saves {saved}."
                if result.more
                else "It sends no more bytes, and saves {saved}."
            ),
            color="compute",
        )
    return Badge(
        text="ZeRO-2 costs time here",
        sentence=present.say("It sends {more} more and takes {slower} the time; it saves {saved}."),
        color="communication",
    )


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Slices[Lines]:
    times = yield from result.over_ports.rest()
    now = result.runs[int(inputs.zero_stage)].step
    return present.curve(
        "The step against the speed of the network",
        over=Scale(LINK_SPEED, "port per GPU", PORTS[0], PORTS[-1], log=True),
        shows=Scale(
            SECONDS, "step", min(*times[1], now) / 1.5, max(*times[2], now) * 1.5, log=True
        ),
        x=PORTS,
        lines=(
            Line(f"stage{stage}", NAMES[stage], tuple(times[stage]), color, dashed=stage == 1)
            for stage, color in ((2, "gradients"), (1, "optimizer"))
        ),
        handle="port",
        at=now,
        caption="Both axes are logarithmic. Where the two curves part, one reduce-scatter of all "
        "gradients takes longer than the passes of a micro-batch.",
    )


def _bars(result: Result) -> Bars:
    parts = ("parameters", "gradients", "optimizer")
    high = max(result.room, *(run.peak for run in result.runs.values())) * 1.1
    return Bars(
        title="States and buffers on each GPU",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=high),
        bars=tuple(
            Bar(
                key=f"stage{stage}",
                label=NAMES[stage],
                segments=(
                    *(
                        Segment(key=part, label=part, value=getattr(run.states, part), color=part)
                        for part in parts
                    ),
                    Segment(
                        key="buffers",
                        label="on their way",
                        value=run.peak - run.states.total,
                        color="buffers",
                    ),
                ),
            )
            for stage, run in result.runs.items()
        ),
        rules=(capacity_rule(result.runs[2]),),
        caption="Activations come on top; the line is what the GPU can use.",
    )


START: Mapping[str, Scalar] = {
    "model": "llama-2-13b",
    "ranks": 16,
    "zero_stage": "2",
    "micro_batches": 8,
    "tokens": 2048,
    "port": 50 * Gbit,
}
SOLUTION: Mapping[str, Scalar] = {**START, "micro_batches": 2, "tokens": 8192}


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    chosen = result.runs[int(inputs.zero_stage)]
    share = chosen.account.exposed / chosen.step
    same = inputs.model == "llama-2-13b" and inputs.ranks == 16 and inputs.gpu == "h100"
    return Challenge(
        title="Challenge: the same batch, less waiting",
        goal="Keep 16,384 tokens per GPU and step, and wait for less than a fifth of the step.",
        conditions=(
            Condition(
                text="Llama 2 13B on 16 H100, ports of at most 50 Gb/s per GPU",
                met=same and inputs.port <= 50 * Gbit,
            ),
            Condition(text="ZeRO-2", met=inputs.zero_stage == "2"),
            Condition(
                text="16,384 tokens per GPU and step",
                met=inputs.tokens * inputs.micro_batches == 16_384,
            ),
            Condition(text="less than 20 % of the step exposed", met=share < 0.2),
        ),
        hints=(
            "Every micro-batch reduces all gradients.",
            "Fewer, larger micro-batches need more memory for activations.",
        ),
        start=START,
        solution=SOLUTION,
    )
