"""The pictures of the memory ledger: parts, the step, three tools, and what is trained."""

from engine.calculators.one_gpu.memory_ledger.result import Result
from engine.core.outputs import Teller
from engine.core.units import BYTES, SECONDS
from engine.core.views import Axis, Bar, Bars, Lane, Rule, Segment, Series, Span, Timeline
from engine.form.memory_bar import parts_of
from engine.simulate.memory.step_memory import Instant

_NAMES = {"forward": "forward", "logits": "loss", "backward": "backward", "update": "Adam"}
_SHORT = {"full": "all parameters", "lora": "LoRA", "qlora": "QLoRA"}
_COLORS = {
    "forward": "compute",
    "logits": "buffers",
    "backward": "activations",
    "update": "optimizer",
}


def _capacity(tell: Teller, result: Result) -> Rule:
    label = tell.say("{capacity}")
    return Rule(key="capacity", label=label, axis="x", at=result.capacity)


def ledger(tell: Teller, result: Result) -> Bars:
    """Return a bar for each kind of tensor, and all of them."""
    parts = parts_of(result.held)
    most = max(result.capacity, result.held.total)
    return Bars(
        title="What fills the GPU",
        axis=tell.axis("total", "memory", low=0.0, high=1.04 * most),
        bars=(
            Bar(key="all", label="all together", segments=parts),
            *(Bar(key=one.key, label=one.label, segments=(one,)) for one in parts),
        ),
        rules=(_capacity(tell, result),),
        caption="At the fullest moment of a step. The line is the memory of the GPU.",
    )


def _spans(instants: tuple[Instant, ...]) -> tuple[Span, ...]:
    """Return a span for every pass; they follow each other."""
    found: list[Span] = []
    first = instants[0]
    for one in (*instants[1:], instants[-1]):
        changed = (one.phase, one.microbatch) != (first.phase, first.microbatch)
        if changed or one is instants[-1]:
            last = one is instants[-1] and not changed
            found.append(_span(first, instants[-1] if last else one))
            first = one
    return tuple(span for span in found if span.end > span.start)


def _span(first: Instant, end: Instant) -> Span:
    name = _NAMES[first.phase]
    number = "" if first.phase == "update" else f" {first.microbatch + 1}"
    return Span(
        key=f"{first.phase}{first.microbatch}",
        lane="gpu",
        start=first.time,
        end=end.time,
        label=name,
        color=_COLORS[first.phase],
        called=name + number,
    )


def _curve(key: str, label: str, instants: tuple[Instant, ...], color: str) -> Series:
    held = {"total": [one.total for one in instants]}
    held["states"] = [one.total - one.activations for one in instants]
    return Series(
        key=key,
        label=label,
        x=tuple(one.time for one in instants),
        y=tuple(held[key]),
        color=color,
        dashed=key != "total",
    )


def step(tell: Teller, result: Result) -> Timeline:
    """Return the memory over a step of two micro-batches and an update."""
    instants, end = result.instants, result.instants[-1].time
    usable = Series(
        key="usable",
        label="usable",
        x=(0.0, end),
        y=(result.usable,) * 2,
        color="ink",
        dashed=True,
    )
    top = 1.06 * max(result.usable, result.peak.total)
    return Timeline(
        title="Memory over one step",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=end * 1.01),
        lanes=(Lane(key="gpu", label="GPU"),),
        spans=_spans(instants),
        curves=(
            usable,
            _curve("total", "all", instants, "activations"),
            _curve("states", "what stays", instants, "optimizer"),
        ),
        curve_axis=Axis(label="memory", quantity=BYTES, low=0.0, high=top),
        caption="Two micro-batches, then the update. Activations come and go; gradients appear in "
        "the first backward pass and stay until Adam has used them.",
        player=True,
    )


def three(tell: Teller, result: Result) -> Bars:
    """Return the same job as three tools show it."""
    rows = (
        ("allocated", "torch.cuda.max_memory_allocated()", result.total, "ink"),
        ("reserved", "torch.cuda.max_memory_reserved()", result.reserved, "muted"),
        ("process", "nvidia-smi", result.process, "muted"),
    )
    most = 1.04 * max(result.capacity, result.process)
    return Bars(
        title="One job, three tools",
        axis=tell.axis("total", "memory", low=0.0, high=most),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=(Segment(key=key, label=key, value=value, color=color),),
            )
            for key, label, value, color in rows
        ),
        rules=(_capacity(tell, result),),
        caption="Only the first is what tensors need; the last is what must be below the line.",
    )


def trained_bars(tell: Teller, result: Result) -> Bars:
    """Return the memory by what is trained, rightly and wrongly wrapped."""
    found = result.by_trained()
    most = max(result.capacity, *(held.total for held in found.values()))
    return Bars(
        title="Memory by what is trained",
        axis=tell.axis("total", "memory", low=0.0, high=1.04 * most),
        bars=tuple(
            Bar(
                key=f"{kind}{trapped}",
                label=_SHORT[kind] + (", wrapped wrongly" if trapped else ""),
                segments=parts_of(held),
            )
            for (kind, trapped), held in found.items()
        ),
        rules=(_capacity(tell, result),),
        caption="The same model, sequences and recomputation.",
    )
