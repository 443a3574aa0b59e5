"""A plan's step as a bar."""

from engine.core.views import Bar, Segment
from engine.simulate.planner.evaluate import Candidate

_PARTS = (
    ("compute", "computation", "compute"),
    ("tensor_parallel", "tensor parallel", "tensor"),
    ("context_parallel", "context parallel", "context"),
    ("expert_parallel", "experts", "expert"),
    ("pipeline", "stages", "pipeline"),
    ("data_parallel", "data parallel", "data"),
    ("bubble", "bubble", "idle"),
    ("optimizer", "optimizer", "optimizer"),
    ("other", "host, slowest GPU", "muted"),
)


def step_bar(key: str, label: str, candidate: Candidate) -> Bar:
    """Return a plan's step as one bar, split by cause."""
    segments = tuple(
        Segment(key=part, label=words, value=getattr(candidate.time, part), color=color)
        for part, words, color in _PARTS
    )
    return Bar(key=key, label=label, segments=segments)
