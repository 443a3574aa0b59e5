"""The ledger of wire types: bars, and what each class, axis and port makes of it."""

from engine.catalog.hardware import LINKS
from engine.core.outputs import Teller
from engine.core.units import BANDWIDTH, BYTES, LINK_SPEED, SECONDS, Bytes, Share
from engine.core.views import Axis, Badge, Bar, Bars, Cite, Segment, Table
from engine.simulate.step.wire_classes import Gain, WireClass

_PORTS = ("infiniband_hdr", "infiniband_ndr", "infiniband_xdr")
# Who can send the class in eight bits.
_OFFERED = {
    "gathered": "torchtitan up to 0.2.2, Megatron-LM, ZeRO++",
    "hidden": "Transformer Engine, with FP8 products",
    "summed": "Transformer Engine, if asked for",
    "keys": "Transformer Engine, a ring with FP8 attention",
    "dispatched": "DeepEP",
    "combined": "none in training; DeepSeek-V3: bf16",
    "stages": "no switch known",
    "reduced": "ZeRO++ in 4 bits; others bf16 at best",
}
_AXES = {
    "tensor": "tensor",
    "context": "context",
    "expert": "expert",
    "pipeline": "pipeline",
    "data": "data",
}


def verdict(tell: Teller, fits: bool, saved: Share, gained: Share) -> Badge:
    """Return what the ticks do."""
    if not fits:
        return Badge(
            text="Does not fit",
            sentence="The fullest GPU cannot hold this job. Bytes of a step that cannot run.",
            color="bad",
        )
    if not saved:
        return Badge(
            text="No byte saved",
            sentence=tell.say(
                "Whatever the products compute in, each GPU sends {sent}. Tick what is sent in FP8."
            ),
            color="ink",
        )
    return Badge(
        text="Fewer bytes",
        sentence=tell.say(
            "Of {sent} there remain {left}. The step can become shorter by {gained} at most."
        ),
        color="communication",
    )


def bars(classes: tuple[WireClass, ...]) -> Bars:
    """Return today's bytes and those that are left, class by class."""
    used = [one for one in classes if one.sent]
    most = max((one.sent for one in used), default=1.0)

    def bar(one: WireClass) -> Bar:
        parts = [Segment(key="left", label="sent", value=one.left, color=_AXES[one.axis])]
        if one.narrow:
            saved = one.sent - one.left
            parts.append(Segment(key="saved", label="saved", value=saved, color="idle"))
        return Bar(key=one.key, label=one.label, segments=tuple(parts))

    return Bars(
        title="What a GPU sends in a step",
        axis=Axis(label="bytes sent", quantity=BYTES, low=0.0, high=1.05 * most),
        bars=tuple(map(bar, used)),
        caption="Gray: saved by a tick. A class that your job does not send has no bar.",
    )


def ledger(tell: Teller, classes: tuple[WireClass, ...]) -> Table:
    """Return every class with its type today."""
    return Table(
        title="Class by class",
        columns=("What is sent", "Bytes of a number", "Sent", "In FP8", "Who can send FP8"),
        rows=tuple(
            (
                one.label,
                f"{one.element:g}",
                tell.say("{v}", v=(one.sent, BYTES)) if one.sent else "not in this job",
                tell.say("{v}", v=(one.sent / one.element, BYTES)) if one.sent else "",
                _OFFERED[one.key],
            )
            for one in classes
        ),
    )


def axes(tell: Teller, gain: Gain) -> Table:
    """Return what each axis waits for, and what of it the ticks can save."""
    return Table(
        title="What the step waits for",
        columns=("Axis", "Alone", "Waited for", "Saved at most"),
        rows=tuple(
            (
                axis,
                tell.say("{v}", v=(alone, SECONDS)),
                tell.say("{v}", v=(exposed, SECONDS)),
                tell.say("{v}", v=(saved, SECONDS)) if saved else "nothing",
            )
            for axis, alone, exposed, saved in gain.by_axis
        ),
        caption="Bytes that hide behind products are free already.",
    )


def ports(tell: Teller, sent: Bytes, left: Bytes) -> Table:
    """Return how long all of it takes on one port of each kind."""
    rows = []
    for key in _PORTS:
        link = LINKS[key]
        rows.append(
            (
                link.name,
                tell.say("{v}", v=(link.bandwidth, LINK_SPEED)),
                tell.say("{v}", v=(link.bandwidth, BANDWIDTH)),
                tell.say("{v}", v=(sent / link.bandwidth, SECONDS)),
                tell.say("{v}", v=(left / link.bandwidth, SECONDS)),
                Cite((link.source,)),
            )
        )
    return Table(
        title="If one port carried all of it",
        columns=("Port", "Line rate", "One way", "Nothing ticked", "Your ticks", "Source"),
        rows=tuple(rows),
        caption="A port that is twice as fast halves all times, whatever is ticked.",
    )
