"""A step as a training log prints it, and how numbers are taken out of a line."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from engine.core.units import Bytes, Count, FlopRate, Seconds, Share, TokenRate

_NUMBER = r"([0-9][0-9,]*\.?[0-9]*(?:[eE][+-]?[0-9]{1,3})?)"
_SIZES = {"K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12}
# A batch that follows from two printed numbers is whole to this share.
_WHOLE: Share = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedStep:
    """One printed step; 0 for values that its line does not contain.

    Attributes:
        line: of the text, from 1.
        number: of the step.
        time: of one step, the mean since the last line where lines are rarer than steps.
        token_rate: tokens per second; of one GPU.
        sample_rate: sequences per second of the whole job.
        batch: sequences of the step.
        allocated, reserved: peaks of memory.
        flops: per GPU, as printed.
        mfu: as printed.
        loop: length of the loop whose progress bar this is; 0: no bar.
    """

    line: Count
    number: Count
    time: Seconds = 0.0
    token_rate: TokenRate = 0.0
    sample_rate: float = 0.0
    batch: Count = 0
    allocated: Bytes = 0.0
    reserved: Bytes = 0.0
    flops: FlopRate = 0.0
    mfu: Share = 0.0
    loop: Count = 0


# Takes a line with its number, and the steps so far; a number that no log prints is a `ValueError`.
Reader = Callable[[int, str, list[LoggedStep]], None]


def number_after(mark: str, line: str, end: str = "") -> float:
    """Return the number after a marker, or 0; suffixes such as K multiply."""
    match = re.search(re.escape(mark) + r"\s*" + _NUMBER + r"\s?([KMGTB])?" + end, line)
    if not match:
        return 0.0
    return finite(float(match[1].replace(",", "")) * _SIZES.get(match[2] or "", 1.0))


def plain_number_after(mark: str, line: str) -> float:
    """Return the number after a marker, or 0; a letter behind it means nothing."""
    match = re.search(re.escape(mark) + r"\s*'?" + _NUMBER, line)
    return finite(float(match[1].replace(",", ""))) if match else 0.0


def finite(value: float) -> float:
    """Return a number that a log can print."""
    if not 0 <= value < 1e30:
        raise ValueError("no number that a log prints")
    return value


def whole(value: float) -> int:
    """Return a number without its fraction."""
    return int(finite(value))


def whole_batch(rate: float, time: Seconds) -> Count:
    """Return the sequences of a step from their rate and its time; 0 if that is not whole."""
    batch = finite(rate * time)
    nearest = round(batch)
    return nearest if nearest and abs(batch / nearest - 1) <= _WHOLE else 0
