"""How a published 7B run scaled: tokens per GPU and second on nodes of 8 A100, four 100 Gb/s ports.

Its ZeRO-1 gives every rank whole tensors and has each rank broadcast its own after the step
(`ParamBcastSyncHandler`), which may be why its steps over all GPUs take 2.6 to 3.6 ms more for
each of them than sharded in the node. The step model does not do that: it is 14, 23 and 38 % too
fast on "all" with 256, 512 and 1,024 GPUs, and within 5 % on "node".

Source: internevo.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.units import Count, Share, TokenRate


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingRun:
    """A row of measurements.

    Attributes:
        gpus: of each run.
        rates: tokens per second that each of them kept.
        alone: the same on one node of eight, which curves start from.
    """

    gpus: tuple[Count, ...]
    rates: tuple[TokenRate, ...]
    alone: TokenRate

    @property
    def efficiencies(self) -> tuple[Share, ...]:
        """The share of its speed in one node that a GPU keeps."""
        return tuple(rate / self.alone for rate in self.rates)


_SIZES = (8, 16, 32, 64, 128, 256, 512, 1024)
# "node": 16,384 tokens per GPU and step, states sharded in the node; "all": over all GPUs;
# "strong": 4,096 tokens per GPU and step on 1,024 GPUs, 4M in all on any number.
SCALED: Mapping[str, ScalingRun] = {
    "node": ScalingRun(
        gpus=_SIZES, rates=(4078, 3939, 3919, 3944, 3928, 3920, 3835, 3625), alone=4078
    ),
    "all": ScalingRun(
        gpus=_SIZES, rates=(4062, 3842, 3752, 3690, 3571, 3209, 2861, 2271), alone=4062
    ),
    "strong": ScalingRun(gpus=(256, 512, 1024), rates=(3920, 3084, 2346), alone=4103),
}
