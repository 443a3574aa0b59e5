"""Case file 1: a published story of a waiting cluster, rebuilt from its own numbers."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.flop_conventions import CONVENTIONS
from engine.core.inputs import PERCENT, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import (
    BANDWIDTH,
    BYTES,
    RATIO,
    SECONDS,
    SHARE,
    TOKENS,
    Bandwidth,
    Bytes,
    Ratio,
    Seconds,
    Share,
    Tokens,
)
from engine.core.units import PARAMETERS as COUNTED
from engine.core.views import Axis, Badge, Bar, Bars, Cell, Published, Rule, Segment, Table
from engine.simulate.data_parallel.story_case import (
    CLAIMED_GAIN,
    CLAIMED_RATE,
    CLAIMED_SHARE_AFTER,
    GPUS,
    IDLE,
    NODE_LINE_RATE,
    PARAMETERS,
    STEP,
    RebuiltStory,
    rebuild_story,
)

TITLE = "Case file 1: a cluster that waits"
QUESTION = "Can this published story of 16,384 GPUs have happened?"
HEADLINE = "gain"
EQUATIONS = ()
PRESETS = {
    "A node shares a copy": {"sharing": 8},
    "128 GPUs share a copy": {"sharing": 128},
}
_ASSUMES = (
    "400 billion parameters on 16,384 H100 in nodes of 8 with a 400 Gb/s port each. Gradients in "
    "bf16, summed over NVLink inside a node and then around a ring of nodes.",
    "One copy of the model is taken to lie on {sharing} GPUs: the story names no plan.",
    f"The MFU counts {CONVENTIONS['six'].name}, nothing repeated: the story names no shape.",
)
_SOURCES = ("pingdo_sync", "nccl_tests")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    sharing: Annotated[
        int,
        Number(
            label="GPUs that share one copy of the model",
            low=1,
            high=1024,
            scale="log2",
            whole=True,
            help="1: plain data parallelism. Llama 3 405B: 128.",
        ),
    ] = 1
    utilization: Annotated[
        float,
        Number(
            label="MFU while GPUs work",
            unit=PERCENT,
            low=0.1,
            high=0.7,
            step=0.01,
            help=f"By {CONVENTIONS['six'].name}. The story names none.",
        ),
    ] = 0.4


def _output(label: str, note: str = "", color: str = "ink") -> Output:
    return Output(label, "", note, color, _ASSUMES, _SOURCES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Numbers derived from the story."""

    story: RebuiltStory
    idle: Annotated[Share, _output("Idle", "1.8 s of 2.2 s; the story says 80 %")]
    gain: Annotated[Ratio, _output("Faster by", "if 12 % of the new step communicate", "compute")]
    told_share: Annotated[
        Share, _output("Of the line rate", "300 GB/s of a node's eight ports", "communication")
    ]
    at_line: Annotated[Seconds, _output("Gradients at line rate", "of one step", "communication")]
    needed: Annotated[
        Bandwidth,
        _output("A node sends", "if the gradients take all of the 1.8 s", "communication"),
    ]
    states: Annotated[Bytes, _output("States on a GPU", "16 bytes for each parameter", "optimizer")]
    capacity: Annotated[Bytes, _output("A GPU holds")]
    tokens: Annotated[Tokens, _output("Tokens of a step", "that keep the GPUs busy for 0.4 s")]


def solve(inputs: Inputs) -> Result:
    """Return the numbers derived from the story."""
    story = rebuild_story(inputs.sharing, inputs.utilization)
    return Result(
        story=story,
        idle=story.idle,
        gain=story.gain,
        told_share=story.claimed_share,
        at_line=story.at_line,
        needed=story.rate_before,
        states=story.states,
        capacity=story.capacity,
        tokens=story.tokens,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the times, the verdict and every sentence of the story beside its arithmetic."""
    present = Presenter(result, inputs)
    claim = Published(
        text="300 GB of gradients per second per node",
        reason="TCP that moves as much as that leaves RDMA at most a third more.",
        source="pingdo_sync",
        claim="E3.23",
    )
    return {
        "times": partial(_times, result.story),
        "verdict": _verdict(present, result),
        **present.values("idle", "gain"),
        "told_share": present.value("told_share", published=claim),
        **present.values("at_line", "needed", "states", "tokens"),
        "sentences": partial(_sentences, result.story),
    }


def _verdict(present: Presenter, result: Result) -> Badge:
    story = result.story
    if story.states > story.capacity:
        return Badge(
            text="It does not fit",
            sentence=present.say(
                "{states} of states on a GPU that holds {capacity}: this job never made a step. "
                "Let more GPUs share a copy."
            ),
            color="communication",
        )
    if story.rate_before > NODE_LINE_RATE:
        return Badge(
            text="Faster than the wire",
            sentence=present.say("The gradients would need {needed} from every node."),
            color="communication",
        )
    return Badge(
        text="Possible, without the 300 GB/s",
        sentence=present.say(
            "The gradients take 1.8 s if a node sends {needed}. A slow transport explains that; "
            "one that moves 300 GB/s does not."
        ),
        color="data",
    )


def _times(story: RebuiltStory) -> Bars:
    rows = {
        "told": ("told: idle before", IDLE, "idle"),
        "rate": ("these gradients at 300 GB/s", story.node_bytes / CLAIMED_RATE, "communication"),
        "line": ("at line rate", story.at_line, "communication"),
        "after": ("told: communication after", CLAIMED_SHARE_AFTER * story.step_after, "idle"),
    }
    most = max(time for _, time, _ in rows.values())
    return Bars(
        title="Time for the gradients of one step",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=1.1 * most),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=(Segment(key=key, label=label, value=time, color=color),),
            )
            for key, (label, time, color) in rows.items()
        ),
        rules=(Rule(key="idle", label="1.8 s", axis="x", at=IDLE),),
        caption="Gray bars are what the story says; the others are what the bytes of its own "
        "model take.",
    )


def _sentences(story: RebuiltStory) -> Table:
    rows: list[tuple[Cell, ...]] = [
        ('"80 % communication", 1.8 s of 2.2 s', say("{s}", s=(story.idle, SHARE)), "agrees"),
        (
            '"12 %" afterward, and "5×" the throughput',
            say(
                "{g} with a step of {t}",
                g=(story.gain, RATIO),
                t=(story.step_after, SECONDS),
            ),
            "agrees" if abs(story.gain / CLAIMED_GAIN - 1) < 0.05 else "differs",
        ),
        (
            '"300 GB of gradients per second per node" over TCP',
            say(
                "{s} of eight ports' {l}",
                s=(story.claimed_share, SHARE),
                l=(NODE_LINE_RATE, BANDWIDTH),
            ),
            "then TCP is not slow",
        ),
        (
            "300 GB/s for 1.8 s",
            say(
                "{a} moved, {b} to move",
                a=(story.claimed_bytes, BYTES),
                b=(story.node_bytes, BYTES),
            ),
            _match_word(story.claimed_bytes, story.node_bytes),
        ),
        (
            "400B parameters, on GPUs of 80 GB (assumed)",
            say("{s} of {c}", s=(story.states, BYTES), c=(story.capacity, BYTES)),
            "fits" if story.states <= story.capacity else "does not fit",
        ),
        (
            "Communication falls to 12 %",
            say("{r} per node if nothing hides it", r=(story.rate_after, BANDWIDTH)),
            "possible" if story.rate_after <= NODE_LINE_RATE else "most of it must be hidden",
        ),
        (
            "0.4 s of work per step",
            say("{t} tokens a step", t=(story.tokens, TOKENS)),
            say("{t} for each GPU", t=(story.tokens / GPUS, TOKENS)),
        ),
    ]
    return Table(
        title="Each sentence beside its arithmetic",
        columns=("The story", "Computed", "So"),
        rows=tuple(rows),
        caption=say(
            "{p} parameters, steps of {s}. The story cites no source and names no lab.",
            p=(PARAMETERS, COUNTED),
            s=(STEP, SECONDS),
        ),
    )


def _match_word(moved: Bytes, needed: Bytes) -> str:
    if moved < needed / 1.1:
        return "too little"
    return "too much" if moved > needed * 1.1 else "agrees"
