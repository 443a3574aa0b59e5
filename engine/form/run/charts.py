"""The parts of an estimate as bars: where its time and its memory go."""

from engine.core.text import say
from engine.core.units import BYTES, SECONDS
from engine.core.views import Axis, Bar, Bars, Rule, Segment
from engine.form.run.result import RunEstimate

_TIMES = (
    ("compute", "computation", "compute"),
    ("tensor_parallel", "tensor parallel, exposed", "communication"),
    ("context_parallel", "context parallel, exposed", "communication"),
    ("expert_parallel", "expert parallel, exposed", "communication"),
    ("pipeline", "between stages, exposed", "communication"),
    ("data_parallel", "data parallel, exposed", "communication"),
    ("bubble", "pipeline bubble", "muted"),
    ("optimizer", "optimizer", "memory"),
    ("other", "host and stragglers", "muted"),
)


_SIZES = (
    ("parameters", "parameters"),
    ("gradients", "gradients"),
    ("optimizer", "optimizer"),
    ("activations", "activations"),
    ("buffers", "buffers"),
    ("reserve", "reserve"),
)


def time_bars(estimate: RunEstimate) -> Bars:
    """Return the parts of the step, which add up to it."""
    parts = estimate.estimate["time"]
    return Bars(
        title="Where the step goes",
        axis=Axis(
            label="exposed time",
            quantity=SECONDS,
            low=0.0,
            high=max(parts.values()) * 1.02,
        ),
        bars=tuple(
            Bar(
                key=name,
                label=label,
                segments=(Segment(key=name, label=label, value=parts[name], color=color),),
            )
            for name, label, color in _TIMES
        ),
        caption=say(
            "Together {t}. Communication that runs beside computation is not in any bar.",
            t=(estimate.step_time, SECONDS),
        ),
    )


def memory_bars(estimate: RunEstimate) -> Bars:
    """Return the memory of the rank that holds most against its capacity."""
    gpu, memory, room = estimate.run.cluster.gpu, estimate.held, estimate.fit.usable
    rule = Rule(key="usable", label=say("usable: {m}", m=(room, BYTES)), axis="x", at=room)
    return Bars(
        title="What the rank with the most memory holds",
        axis=Axis(
            label="memory",
            quantity=BYTES,
            low=0.0,
            high=1.08 * max(memory.peak_memory, room),
        ),
        bars=(
            Bar(
                key="held",
                label=gpu.name,
                segments=tuple(
                    Segment(
                        key=name,
                        label=label,
                        value=getattr(memory, name),
                        color="muted" if name == "reserve" else name,
                    )
                    for name, label in _SIZES
                ),
            ),
        ),
        rules=(rule,),
        caption="The line is the part of the GPU's memory that may be filled.",
    )
