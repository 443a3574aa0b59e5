"""Ring buffers: blocks of keys and values travel while others are computed on, or they do not."""

from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Annotated, cast

from engine.core.inputs import MILLISECONDS, PERCENT, Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import COUNT, MILLI, SECONDS, Count, Ratio, Seconds, Share
from engine.core.views import Axis, Badge, Bar, Bars, Lane, Segment, Span, Timeline
from engine.simulate.layer.attention_masks import Layout
from engine.simulate.layer.ring_layouts import RingRun, RingStep, simulate_ring, step_shares
from engine.simulate.numerics.rng import normals, uniforms

_STEP: Seconds = MILLI
_SIMULATED = (
    "A step of the ring computes for 1 ms on average; a block leaves when it is there, the link is "
    "free, and the receiver has a free buffer.",
)
_MOST_BUFFERS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    num_buffers: Annotated[
        int, Number(label="Buffers", low=1, high=_MOST_BUFFERS, whole=True, symbol="b")
    ] = 2
    hop: Annotated[
        float,
        Number(
            label="A block travels for",
            unit=MILLISECONDS,
            low=0.1 * MILLI,
            high=3 * MILLI,
            step=0.1 * MILLI,
            help="A step computes for 1 ms.",
        ),
    ] = 0.8 * MILLI
    ranks: Annotated[
        str, Choice(label="GPUs in the ring", options={n: n for n in ("2", "4", "6", "8")})
    ] = "4"
    layout: Annotated[
        str,
        Choice(
            label="Cut",
            options={"zigzag": "zig-zag", "contiguous": "contiguous", "striped": "striped"},
        ),
    ] = "zigzag"
    jitter: Annotated[
        float,
        Number(
            label="Steps vary by",
            unit=PERCENT,
            low=0.0,
            high=0.5,
            step=0.05,
            help="Standard deviation of the computation of a step.",
        ),
    ] = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The ring with every number of buffers."""

    runs: tuple[RingRun, ...]
    world: Count
    end: Annotated[
        Seconds,
        Output(
            "One layer's attention",
            note="{computing} of it computing, on average",
            color="compute",
            basis="simulated",
            assumes=_SIMULATED,
        ),
    ]
    computing: Seconds
    waits: Annotated[
        Seconds,
        Output(
            "Waited, on average",
            note="{waits_one} with one buffer",
            color="communication",
            basis="simulated",
            assumes=_SIMULATED,
        ),
    ]
    waits_one: Seconds
    idle: Annotated[
        Share,
        Output(
            "Of the time",
            note="waiting for a block or for the slowest GPU",
            color="idle",
            basis="simulated",
            assumes=_SIMULATED,
        ),
    ]
    ratio: Annotated[
        Ratio,
        Output(
            "A step computes, over a block's way",
            note="above 1 the ring can hide",
            color="compute",
            basis="simulated",
            assumes=_SIMULATED,
        ),
    ]


def _work(inputs: Inputs) -> list[list[Seconds]]:
    """Return the seconds [step][rank] of computation."""
    ranks = int(inputs.ranks)
    shares = step_shares(cast(Layout, inputs.layout), ranks)
    noise = islice(normals(uniforms(7)), ranks * ranks)
    factors = [max(0.1, 1 + inputs.jitter * deviation) for deviation in noise]
    return [
        [_STEP * ranks * share * factors[step * ranks + rank] for rank, share in enumerate(row)]
        for step, row in enumerate(shares)
    ]


def solve(inputs: Inputs) -> Result:
    """Simulate the ring with 1 to 4 buffers."""
    work = _work(inputs)
    ranks = len(work)
    runs = tuple(
        simulate_ring(work, inputs.hop, buffers) for buffers in range(1, _MOST_BUFFERS + 1)
    )
    computing = sum(map(sum, work)) / ranks
    now = runs[inputs.num_buffers - 1]
    return Result(
        runs=runs,
        world=ranks,
        end=now.end,
        computing=computing,
        waits=max(0.0, now.end - computing),
        waits_one=max(0.0, runs[0].end - computing),
        idle=max(0.0, 1 - computing / now.end),
        ratio=_STEP / inputs.hop,
    )


# Half a percent is drawn as nothing.
_NOTHING: Share = 0.005


def regime(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    """Return a badge with the ring's bottleneck."""
    if inputs.num_buffers == 1:
        return Badge(
            text="Nothing overlaps",
            sentence="With one buffer a block can only arrive after the one before it has been "
            "computed on.",
            color="communication",
        )
    if result.ratio < 1:
        return Badge(
            text="Bound by the links",
            sentence=present.say(
                "A block travels longer than a step computes. More buffers do not make links "
                "faster; {waits} are waited, uneven work included."
            ),
            color="communication",
        )
    if result.idle < _NOTHING:
        return Badge(
            text="Hidden",
            sentence="Every block arrives before it is needed.",
            color="compute",
        )
    return Badge(
        text="Bound by uneven work",
        sentence=present.say(
            "The mean block arrives in time; GPUs wait {waits} for the slowest one."
        ),
        color="compute",
    )


def timeline(inputs: Inputs, result: Result) -> Timeline:
    """Return the ring, two lanes for each GPU."""
    run = result.runs[inputs.num_buffers - 1]
    longest = max(run.end for run in result.runs[: max(2, inputs.num_buffers)])
    lanes = [
        Lane(key=f"{kind}{rank}", label=label.format(rank), links=(f"rank:{rank}",))
        for rank in range(result.world)
        for kind, label in (("c", "GPU {}"), ("l", "into {}"))
    ]
    return Timeline(
        title="Blocks on their way, and the attention on them",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=1.02 * longest),
        lanes=tuple(lanes),
        spans=tuple(span for turn in run.turns for span in _spans(turn)),
        caption="A number is the GPU whose keys and values a block holds. Each block is computed "
        "on and passed on to the next GPU.",
        keys=(("attention", "compute"), ("a block travels", "communication")),
        player=True,
    )


def _spans(turn: RingStep) -> tuple[Span, ...]:
    links = (f"rank:{turn.source}",)
    key, name = f"{turn.rank}.{turn.step}", f"{turn.source}"
    sent = Span(
        key=f"l{key}",
        lane=f"l{turn.rank}",
        start=turn.sent,
        end=turn.arrived,
        label=name,
        color="communication",
        links=links,
        called=f"block {name} to GPU {turn.rank}",
    )
    computed = Span(
        key=f"c{key}",
        lane=f"c{turn.rank}",
        start=turn.start,
        end=turn.end,
        label=name,
        color="compute",
        links=links,
        after=(sent.key,) if turn.step else (),
        called=f"GPU {turn.rank} on block {name}",
    )
    return (*((sent,) if turn.step else ()), *((computed,) if turn.end > turn.start else ()))


def by_buffers(inputs: Inputs, result: Result) -> Bars:
    """Return computing and waiting time with 1 to 4 buffers."""
    bars = []
    for buffers, run in enumerate(result.runs, start=1):
        waits = max(0.0, run.end - result.computing)
        parts = (("computing", result.computing, "compute"), ("waiting", waits, "communication"))
        bars.append(
            Bar(
                key=f"b{buffers}",
                label=f"{buffers} buffer{'s' if buffers > 1 else ''}"
                + (", now" if buffers == inputs.num_buffers else ""),
                segments=tuple(
                    Segment(key=key, label=key, value=value, color=color)
                    for key, value, color in parts
                ),
            )
        )
    return Bars(
        title="The attention of one layer, by the number of buffers",
        axis=Axis(
            label="time", quantity=SECONDS, low=0.0, high=1.05 * max(r.end for r in result.runs)
        ),
        bars=tuple(bars),
        caption=say(
            "Mean of {n} GPUs. Two buffers: one is computed on while the other fills.",
            n=(result.world, COUNT),
        ),
    )


TITLE = "One, two or three buffers"
QUESTION = "How many blocks of keys and values must a GPU hold so that nothing waits?"
HEADLINE = "end"
EQUATIONS = ()
PRESETS = {
    "One buffer": {"num_buffers": 1},
    "Slow links": {"hop": 1.5e-3},
    "Uneven steps": {"jitter": 0.3, "hop": 0.9e-3, "ranks": "8"},
    "Contiguous pieces": {"layout": "contiguous"},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the timeline, the sums, and the same ring with other numbers of buffers."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "timeline": partial(timeline, inputs, result),
        **present.values("end", "waits", "idle", "ratio"),
        "regime": regime(present, inputs, result),
        "by_buffers": partial(by_buffers, inputs, result),
    }
