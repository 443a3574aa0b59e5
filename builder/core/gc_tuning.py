"""Garbage is looked for seldom: what a build makes hardly ever hangs together in circles."""

import gc

# Objects made before the youngest are looked through, and how often that happens before the older
# ones are. With Python's own numbers a build spends a tenth of its time on it, and finds little.
_THRESHOLDS = (100_000, 50, 1000)


def reduce_gc_frequency() -> None:
    """Look for garbage seldom in this process."""
    gc.set_threshold(*_THRESHOLDS)
