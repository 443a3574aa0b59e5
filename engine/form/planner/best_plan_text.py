"""The best plan as text: what limits it, what ties with it, what a change of the job gains.

Apart from `plan_text`, because this needs the planner's search, and names of plans do not.
"""

from collections.abc import Mapping

from engine.core.text import Text, say
from engine.core.units import COUNT, RATIO, SECONDS, SHARE
from engine.form.planner.plan_text import PARTS
from engine.simulate.planner.moves import StepLimit
from engine.simulate.planner.ties import Tie


def limit_text(limit: StepLimit) -> Text:
    """Return the largest part of the best step that is no computation."""
    return say(
        "{computing} of its step computes. The largest other part is "
        f"{PARTS[limit.part]}: {{seconds}}, {{share}}.",
        computing=(limit.computing, SHARE),
        seconds=(limit.seconds, SECONDS),
        share=(limit.share, SHARE),
    )


def ties_text(tie: Tie) -> Text:
    """Return how many plans tie with the best."""
    if tie.tied == 1:
        return "No other plan's range overlaps that of the best."
    return say(
        "{n} plans tie: their ranges overlap that of the best, which goes from {low} to {high}. "
        "They are {splits} splits into tensor and pipeline parallelism.",
        n=(tie.tied, COUNT),
        splits=(tie.splits, COUNT),
        low=(tie.low, SECONDS),
        high=(tie.high, SECONDS),
    )


MOVES: Mapping[str, str] = {
    "batch": "Twice the global batch",
    "fp8": "Linear layers in FP8",
    "ports": "Ports of twice the speed",
    "memory": "H200 instead of H100",
    "gpus": "Twice the GPUs, the batch as it is",
}


def gain_text(gain: float, per_gpu: float) -> Text:
    """Return the gain of a job change as text."""
    return say("{gain} as fast, {each} per GPU", gain=(gain, RATIO), each=(per_gpu, RATIO))
