"""The pictures of a ring with buffers: its timeline, and bars by the number of buffers."""

from engine.calculators.splitting_the_model.ring_buffers.inputs import Inputs, Result
from engine.core.outputs import Teller
from engine.core.text import say
from engine.core.units import COUNT, SECONDS, Share
from engine.core.views import Axis, Badge, Bar, Bars, Lane, Segment, Span, Timeline
from engine.simulate.layer.ring_attention import Turn

# Half a percent is drawn as nothing.
_NOTHING: Share = 0.005


def regime(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    """Return what the ring waits for."""
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
            sentence=tell.say(
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
        sentence=tell.say("The mean block arrives in time; GPUs wait {waits} for the slowest one."),
        color="compute",
    )


def timeline(inputs: Inputs, result: Result) -> Timeline:
    """Return the ring, two lanes for each GPU."""
    run = result.runs[inputs.num_buffers - 1]
    longest = max(one.end for one in result.runs[: max(2, inputs.num_buffers)])
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


def _spans(turn: Turn) -> tuple[Span, ...]:
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
    """Return computing and waiting with one to four buffers."""
    bars = []
    for many, run in enumerate(result.runs, start=1):
        waits = max(0.0, run.end - result.computing)
        parts = (("computing", result.computing, "compute"), ("waiting", waits, "communication"))
        bars.append(
            Bar(
                key=f"b{many}",
                label=f"{many} buffer{'s' if many > 1 else ''}"
                + (", now" if many == inputs.num_buffers else ""),
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
