"""Trace hunt: simulated traces with a planted fault; the reader says which, and sees the cost."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Switch
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import SECONDS, SHARE, Seconds, Share, with_digits
from engine.core.views import (
    Axis,
    Badge,
    Cell,
    Challenge,
    Citation,
    Condition,
    Lane,
    Span,
    Table,
    Timeline,
)
from engine.form.missing_range import SYNTHETIC_JOB
from engine.simulate.data_parallel.trace_hunt import (
    CASES,
    FAULTS,
    SIMULATED_RANKS,
    HuntStep,
    simulate_case,
)
from engine.simulate.streams.multi_rank import RankKernel
from engine.simulate.streams.streams import COMPUTE, COPY, LAUNCH, NETWORK


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """Symptoms, confirmation and repair of a fault.

    Attributes:
        looks: in the trace.
        confirms: the measurement that would settle it.
        repairs: what to change, with the real names of settings.
        sources: keys of the bibliography.
    """

    looks: str
    confirms: str
    repairs: str
    sources: tuple[str, ...]


SIGNS = {
    "straggler": Sign(
        looks="One rank computes longer and waits least; the others' collectives are long.",
        confirms="The clocks and temperature of that GPU; the same kernels on two ranks.",
        repairs="Take the node out; check cooling and power limits.",
        sources=("hta", "nvidia_smi"),
    ),
    "blocking": Sign(
        looks="One long collective after the last backward kernel; none beside computation.",
        confirms="Overlap percentage near zero.",
        repairs="DDP instead of a loop of all_reduce; Megatron-LM: --overlap-grad-reduce.",
        sources=("li2020", "hta"),
    ),
    "tiny": Sign(
        looks="Very many collectives of the same, short length, back to back.",
        confirms="all_reduce_perf at that message size: far below the bandwidth of large ones.",
        repairs="DDP: bucket_cap_mb; DeepSpeed: reduce_bucket_size.",
        sources=("pytorch_ddp", "nccl_tests"),
    ),
    "loader": Sign(
        looks="All ranks are idle at the start of the step, with no kernel and no collective.",
        confirms="The time in next(loader); it vanishes with a synthetic batch.",
        repairs="DataLoader(num_workers=..., pin_memory=True, prefetch_factor=...).",
        sources=("pytorch_data",),
    ),
    "launches": Sign(
        looks="Gaps between kernels on all ranks, and a CPU lane without a gap.",
        confirms="HTA: idle time attributed to the host; queue length near zero.",
        repairs="CUDA graphs, torch.compile, larger micro-batches, no .item() in the loop.",
        sources=("hta",),
    ),
    "link": Sign(
        looks="All ranks' collectives are equally long, and longer than their size explains.",
        confirms="all_reduce_perf between halves of the nodes; then port counters.",
        repairs="Change the cable or take the node out.",
        sources=("nccl_tests", "perfquery"),
    ),
    "prefetch": Sign(
        looks="A gather before every layer, never beside one: computing and gathering take turns.",
        confirms="Each gather starts when the layer before it ends.",
        repairs="FSDP2: set_modules_to_forward_prefetch, set_modules_to_backward_prefetch.",
        sources=("pytorch_fsdp2",),
    ),
}


def signs() -> Table:
    """Return the table of all faults."""
    rows: list[tuple[Cell, ...]] = [
        (FAULTS[key], sign.looks, sign.confirms, sign.repairs, Citation(sign.sources))
        for key, sign in SIGNS.items()
    ]
    return Table(
        title="Seven faults and their traces",
        columns=("Fault", "In the trace", "What confirms it", "What repairs it", "Source"),
        rows=tuple(rows),
    )


_COLORS = {COMPUTE: "compute", NETWORK: "communication", COPY: "memory", LAUNCH: "muted"}
_NAMES = {COMPUTE: "compute", NETWORK: "network", COPY: "copies", LAUNCH: "launches"}


def timeline(played: HuntStep, *, everyone: bool, high: float) -> Timeline:
    """Return the trace of all simulated ranks, or of rank 0 alone, up to `high`."""
    shown = range(SIMULATED_RANKS) if everyone else range(1)
    lanes = [(0, LAUNCH), (0, COPY), *((r, kind) for r in shown for kind in (COMPUTE, NETWORK))]
    return Timeline(
        title="One step, as the profiler of each rank records it",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=high * 1.02),
        lanes=tuple(
            Lane(key=f"{rank}:{kind}", label=f"{_NAMES[kind]} {rank}", links=(f"rank:{rank}",))
            for rank, kind in lanes
        ),
        spans=tuple(_spans(played, set(lanes))),
        caption="Numbers are ranks. Hatched: a collective runs here, or waits for other ranks, "
        "beside no computing. Launches are those of the CPU.",
        player=True,
    )


def _spans(played: HuntStep, lanes: set[tuple[int, str]]) -> Iterable[Span]:
    every = zip(played.kernels, played.pieces(), strict=True)
    seen = [
        (kernel, pieces) for kernel, pieces in every if (kernel.rank, kernel.op.stream) in lanes
    ]
    drawn = {_key(kernel) for kernel, _ in seen}
    for kernel, pieces in seen:
        kept = [piece for piece in pieces if piece[1] - piece[0] > 1e-9]
        waits = tuple(
            key
            for name in kernel.op.after
            for key in (name, f"{name}@{kernel.rank}")
            if key in drawn
        )
        for number, (start, end, exposed) in enumerate(kept, start=1):
            last = number == len(kept)
            yield Span(
                key=_key(kernel) if last else f"{_key(kernel)} ({number})",
                lane=f"{kernel.rank}:{kernel.op.stream}",
                start=start,
                end=end,
                label=kernel.op.label,
                color=_COLORS[kernel.op.stream],
                exposed=exposed,
                links=(f"rank:{kernel.rank}",),
                after=waits if number == 1 else (),
            )


def _key(kernel: RankKernel) -> str:
    return kernel.op.key if "@" in kernel.op.key else f"{kernel.op.key}@{kernel.rank}"


def rank_table(played: HuntStep, *, everyone: bool) -> Table:
    """Return the trace totals of each rank."""
    shown = played.ranks if everyone else played.ranks[:1]
    rows: list[tuple[Cell, ...]] = []
    for rank, use in enumerate(shown):
        times = (use.computing, use.communicating, use.spun, use.exposed)
        share = say("{s}", s=(use.utilization, SHARE))
        rows.append((f"rank {rank}", *(say("{t}", t=(t, SECONDS)) for t in times), share))
    return Table(
        title="What each trace adds up to",
        columns=("Rank", "Computing", "Collectives", "Spinning", "Exposed", "Any kernel"),
        rows=tuple(rows),
        caption="Spinning: inside a collective, until the last rank has come. No profiler shows it "
        "separately; the ranks have to be compared.",
        links=tuple((f"rank:{rank}",) for rank in range(len(shown))),
    )


TITLE = "Trace hunt"
QUESTION = "Which fault is in this trace, and what does it cost?"
HEADLINE = "step"
_TARGET: Share = 0.5
_JOB = (
    "1.5 billion parameters, 16,384 tokens per GPU, 128 H100; four ranks are played, each "
    "collective is timed as a ring of 128 over one 400 Gb/s port each.",
    "Matrix kernels reach 60 % of the peak (assumed); recomputing nothing.",
    SYNTHETIC_JOB,
)
_OPEN = {"none": "I do not know yet", **FAULTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    case: Annotated[
        str,
        Choice(label="Trace", cites=False, options={key: f"trace {key}" for key in CASES}),
    ] = "1"
    diagnosis: Annotated[str, Choice(label="My diagnosis", options=_OPEN)] = "none"
    second: Annotated[
        str,
        Choice(label="A second fault", options={**_OPEN, "none": "none"}, advanced=True),
    ] = "none"
    repair: Annotated[
        bool, Switch(label="Repair what I named", help="Show the step without these faults.")
    ] = False
    everyone: Annotated[
        bool, Switch(label="Traces of all ranks", help="Off: rank 0 alone, as most people record.")
    ] = True


def _output(label: str, meaning: str, *, note: str = "", color: str = "ink") -> Output:
    return Output(
        label,
        note=note,
        color=color,
        assumes=(meaning, *_JOB),
        sources=("hta", "li2020"),
        basis="simulated",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The step with its faults, without the named faults, and without any."""

    named: frozenset[str]
    guilty: frozenset[str]
    seen: HuntStep
    sick: Annotated[Seconds, Output()]
    without: Annotated[Seconds, Output()]
    healthy: Annotated[Seconds, Output()]
    step: Annotated[Seconds, _output("Step", "Until the last rank has ended.")]
    mfu: Annotated[
        Share,
        _output(
            "MFU",
            "Six operations per parameter and token, over peak and step.",
            color="compute",
        ),
    ]
    cost: Annotated[
        Seconds,
        _output(
            "Cost of what you named",
            "The step with all faults minus the step without the named ones.",
        ),
    ]
    exposed: Annotated[
        Seconds,
        _output(
            "Exposed on rank 0",
            "A collective runs or spins on rank 0 and nothing is computed there.",
            color="communication",
        ),
    ]
    utilization: Annotated[
        Share,
        _output(
            "Any kernel on rank 0", "What nvidia-smi would call GPU utilization, over this step."
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the case with its faults, and after the chosen repair."""
    named = frozenset({inputs.diagnosis, inputs.second} - {"none"})
    guilty = frozenset(CASES[inputs.case])
    sick, without = simulate_case(inputs.case), simulate_case(inputs.case, named)
    seen = without if inputs.repair else sick
    return Result(
        named=named,
        guilty=guilty,
        seen=seen,
        sick=sick.step,
        without=without.step,
        healthy=simulate_case(inputs.case, guilty).step,
        step=seen.step,
        mfu=seen.mfu,
        cost=sick.step - without.step,
        exposed=seen.ranks[0].exposed,
        utilization=seen.ranks[0].utilization,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result)
    seen, everyone = result.seen, inputs.everyone
    note = "of every step" if result.named else "nothing named yet"
    return {
        "timeline": partial(timeline, seen, everyone=everyone, high=result.sick),
        "verdict": _verdict(present, result),
        **present.values("step", "mfu"),
        "cost": present.value("cost", note=note),
        **present.values("exposed", "utilization"),
        "ranks": partial(rank_table, seen, everyone=everyone),
        "signs": signs,
        "challenge": _challenge(inputs, seen),
    }


def _verdict(present: Presenter, result: Result) -> Badge:
    named, guilty = result.named, result.guilty
    if not named:
        words = "This step takes {sick}. The same job without a fault takes {healthy}."
        return Badge(text="Unsolved", sentence=present.say(words))
    names = " and ".join(FAULTS[key].lower() for key in FAULTS if key in named)
    if not named & guilty:
        looks = " ".join(SIGNS[key].looks for key in FAULTS if key in named)
        words = f"Without {names} the step still takes {{without}}. That would look different: "
        return Badge(text="Not guilty", sentence=present.say(words + looks))
    change = f"Without {names} the step takes {{without}} instead of {{sick}}."
    if guilty - named:
        words = f"{change} A healthy one takes {{healthy}}: another fault is left."
        return Badge(text="Half of it", sentence=present.say(words), color="communication")
    extra = " One of them was not there." if named - guilty else ""
    return Badge(text="Right", sentence=present.say(change + extra), color="compute")


def _challenge(inputs: Inputs, seen: HuntStep) -> Challenge:
    return Challenge(
        title="Challenge: two faults in one trace",
        goal="Trace 8 has two faults. Name both, repair them, and bring the MFU above 50 percent.",
        conditions=(
            Condition(text="trace 8", met=inputs.case == "8"),
            Condition(text="two faults named, and repaired", met=_solved(inputs)),
            Condition(
                text=say("MFU above {q}", q=(_TARGET, with_digits(SHARE))), met=seen.mfu > _TARGET
            ),
        ),
        hints=(
            "Is there a time at which no rank has anything to do?",
            "Compare the ranks: who spins least?",
            "The field for a second fault is among the folded inputs.",
        ),
        start={"case": "8"},
        solution={"case": "8", "diagnosis": "loader", "second": "straggler", "repair": True},
    )


def _solved(inputs: Inputs) -> bool:
    return "none" not in (inputs.diagnosis, inputs.second) and inputs.repair
