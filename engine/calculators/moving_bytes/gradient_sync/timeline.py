"""Timeline of a step of the gradient sync lab on two streams."""

from engine.calculators.moving_bytes.gradient_sync.inputs import Inputs
from engine.calculators.moving_bytes.gradient_sync.result import Result
from engine.core.outputs import Presenter
from engine.core.units import SECONDS
from engine.core.views import Axis, Lane, Rule, Span, Timeline
from engine.simulate.data_parallel.sync_streams import SyncSpan

LANES = (Lane(key="compute", label="compute"), Lane(key="communication", label="network"))
_WORDS = {"update": "optimizer", "other": "host, and waiting for the slowest GPU"}


def timeline(present: Presenter, inputs: Inputs, result: Result) -> Timeline:
    """Return the timeline of a step on two streams; with accumulation, of its last micro-batch."""
    ran = result.streams()
    reduces = {True: "reduce-scatter", False: "all-reduce"}[inputs.sharding == "zero1"]
    computed = max(span.end for span in ran if span.kind == "backward")
    end = max(span.end for span in ran)
    return Timeline(
        title="One step" if inputs.accumulation == 1 else "The last micro-batch of a step",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.02),
        lanes=LANES,
        spans=tuple(_span(span, reduces) for span in ran),
        rules=(Rule(key="computed", label="backward ends", axis="x", at=computed),),
        caption=present.say(
            "{num_buckets} buckets, drawn in groups, and the embedding's. Hatched: exposed."
        ),
        player=True,
    )


def _span(span: SyncSpan, reduces: str) -> Span:
    kind = {"gather": "all-gather", "reduce": reduces}.get(span.kind, span.kind)
    label = _WORDS.get(kind, f"{kind}, {name}" if (name := _buckets(span)) else kind)
    return Span(
        key=f"{label}{' exposed' if span.exposed else ''}",
        lane=span.stream,
        start=span.start,
        end=span.end,
        label=label,
        color="optimizer" if span.kind == "update" else span.stream,
        exposed=span.exposed,
        links=(f"bucket:{span.last}",) if span.last else (),
    )


def _buckets(span: SyncSpan) -> str:
    """Return the name of a group of buckets; of a pass without groups, none."""
    if not span.last:
        return "embedding" if span.kind in ("gather", "reduce") else ""
    if span.first == span.last:
        return f"bucket {span.last}"
    return f"buckets {span.first}\N{EN DASH}{span.last}"
