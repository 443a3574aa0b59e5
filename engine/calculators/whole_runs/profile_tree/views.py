"""Views of the profiling tree: waterfall, next question, and verdict."""

from engine.calculators.whole_runs.profile_tree.branches import top_node
from engine.calculators.whole_runs.profile_tree.rules import RULES
from engine.core.outputs import Presenter
from engine.core.units import SHARE
from engine.core.views import Axis, Badge, Bar, Bars, Segment
from engine.form.commands.all import COMMANDS
from engine.form.commands.command import LAYERS
from engine.simulate.data_parallel.peak_account import HealthyJob, JobReadings

_PARTS = (
    ("mfu", "achieved", "compute"),
    ("kernels", "kernels", "accent"),
    ("slowed", "clock", "muted"),
    ("repeated", "computed twice", "activations"),
    ("exposed", "exposed communication", "communication"),
    ("bubble", "bubble", "pipeline"),
    ("gaps", "waiting for the CPU", "ink"),
    ("loading", "waiting for data", "memory"),
)


def next_measurement(present: Presenter, first: str, *, clash: bool) -> Badge:
    """Return the guilty layer and the next measurement; `first` is the first cause, if any."""
    if clash:
        words = "Readings clash: {computing} of the step is left to compute at {clock} of the "
        words += "clock, which is less than an MFU of {mfu} needs. Measure again over the same "
        return Badge(text="Measure again", sentence=present.say(words + "steps."))
    if not first:
        words = "No part exceeds its limit. What is lost, {lost} of the peak, is spread over all."
        return Badge(text="Healthy", sentence=present.say(words), color="compute")
    rule = RULES[first]
    return Badge(
        text=LAYERS[rule.layer],
        sentence=present.say(
            f"It takes {{loss}} of the peak. {rule.cause} Next: {COMMANDS[rule.tool].name}."
        ),
        color="communication" if top_node(first) == "exposed" else "ink",
    )


def waterfall(m: JobReadings, well: HealthyJob) -> Bars:
    """Return waterfalls from the peak: the configured job, and a simulated healthy job."""
    total = sum(float(getattr(m, name)) for name, _, _ in _PARTS)
    return Bars(
        title="From peak to achieved",
        axis=Axis(label="share of the peak", quantity=SHARE, low=0.0, high=max(1.0, total) * 1.02),
        bars=(
            Bar(
                key="yours",
                label="your job",
                segments=tuple(
                    Segment(key=name, label=label, value=float(getattr(m, name)), color=color)
                    for name, label, color in _PARTS
                ),
            ),
            Bar(
                key="healthy",
                label="a healthy job, simulated",
                segments=tuple(
                    Segment(
                        key=name, label=label, value=float(getattr(well, name, 0.0)), color=color
                    )
                    for name, label, color in _PARTS
                ),
            ),
        ),
        caption="A loss of time counts as the work that could have been done in it.",
    )
