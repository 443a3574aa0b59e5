"""Size of the job whose trace is the sample."""

from engine.core.units import Count

WORLD_SIZE: Count = 8
TOKENS: Count = 8192
