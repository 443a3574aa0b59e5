"""Defaults of what a reader types where no plan is stated, one for each quantity."""

from engine.catalog.constants import COMMON
from engine.core.units import Share

# Of a large run in order, its steps alone: Llama 3 405B's published 41 %, rounded.
USUAL_MFU: Share = 0.4
# Standard deviation of step times from GPU to GPU: the step model's.
GPU_SPREAD: Share = COMMON.deviation
