"""Scaling a tensor into a narrow format: one scale for all, or one for every block of values.

OCP Microscaling Formats 2023, section 6.3 (MXFP8, MXFP4: blocks of 32, scales are powers of two);
NVIDIA's NVFP4 (blocks of 16, scales in E4M3, and one in fp32 for the tensor); DeepSeek-V3, section
3.3 (rows of 128, scales in fp32).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from engine.core.units import Count, Ratio, Share
from engine.simulate.numerics.number_format import FORMATS, Format, rounded
from engine.simulate.numerics.rng import chances, normals

SIZE: Count = 1024
# Values of a row; outliers sit in the same column of every row, as in the activations of a model.
_ROW: Count = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a tensor is scaled and rounded.

    Attributes:
        name: as it is written.
        form: of every value.
        block: values that share a scale; 0: all of them; -1: nothing is scaled.
        scale_bits: of one scale.
    """

    name: str
    form: Format
    block: int
    scale_bits: Count = 0

    @property
    def bits(self) -> Ratio:
        """Of a value, its part of the scale included."""
        return self.form.bits + (self.scale_bits / self.block if self.block > 0 else 0.0)


RECIPES = {
    "bf16": Recipe(name="bf16, not scaled", form=FORMATS["bf16"], block=-1),
    "e4m3": Recipe(name="FP8 E4M3, not scaled", form=FORMATS["e4m3"], block=-1),
    "tensor": Recipe(name="FP8 E4M3, one scale", form=FORMATS["e4m3"], block=0, scale_bits=32),
    "row": Recipe(name="FP8 E4M3, scale per 128", form=FORMATS["e4m3"], block=128, scale_bits=32),
    "mxfp8": Recipe(name="MXFP8 E4M3", form=FORMATS["e4m3"], block=32, scale_bits=8),
    "fp4": Recipe(name="FP4 E2M1, one scale", form=FORMATS["e2m1"], block=0, scale_bits=32),
    "mxfp4": Recipe(name="MXFP4", form=FORMATS["e2m1"], block=32, scale_bits=8),
    "nvfp4": Recipe(name="NVFP4", form=FORMATS["e2m1"], block=16, scale_bits=8),
}
# The exponent of the largest power of two in each element format.
_TOP_EXPONENT = {"e4m3": 8, "e2m1": 2}


@lru_cache(maxsize=64)
def tensor(size: Ratio, outlier: Ratio, seed: Count = 1) -> tuple[float, ...]:
    """Return normally distributed values of a typical size, with one column of large ones."""
    found = list(islice(normals(chances(seed)), SIZE))
    found = [size * value * (outlier if at % _ROW == 37 else 1.0) for at, value in enumerate(found)]
    return tuple(found)


def scales(values: Sequence[float], key: str) -> list[float]:
    """Return the scale of every block of a recipe, in order: a value is divided by it."""
    recipe = RECIPES[key]
    if recipe.block < 0:
        return [1.0]
    width = recipe.block or len(values)
    peaks = [max(map(abs, values[at : at + width])) for at in range(0, len(values), width)]
    if key in ("mxfp8", "mxfp4"):
        top = _TOP_EXPONENT["e4m3" if key == "mxfp8" else "e2m1"]
        return [2.0 ** (math.frexp(peak)[1] - 1 - top) if peak else 1.0 for peak in peaks]
    if key == "nvfp4":
        e4m3 = FORMATS["e4m3"]
        whole = max(peaks) / (recipe.form.largest * e4m3.largest) or 1.0
        return [rounded(e4m3, peak / recipe.form.largest / whole) * whole for peak in peaks]
    return [peak / recipe.form.largest or 1.0 for peak in peaks]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaled:
    """A tensor after it was rounded.

    Attributes:
        values: as a matrix product reads them.
        error: the mean over all values of the difference, relative to the value.
        lost: share of the values that became zero.
    """

    values: tuple[float, ...]
    error: Share
    lost: Share


def scaled(values: Sequence[float], key: str, *, stochastic: bool = False) -> Scaled:
    """Return a tensor scaled and rounded by a recipe, and scaled back."""
    recipe, found = RECIPES[key], scales(values, key)
    width = recipe.block if recipe.block > 0 else len(values)
    chance = chances(7)
    draw: Callable[[], float | None] = (lambda: next(chance)) if stochastic else (lambda: None)
    back = []
    for at, value in enumerate(values):
        scale = found[at // width]
        back.append(rounded(recipe.form, value / scale, draw()) * scale if scale else 0.0)
    apart = [abs(two / one - 1) for one, two in zip(values, back, strict=True) if one]
    zeros = sum(not two and one != 0 for one, two in zip(values, back, strict=True))
    return Scaled(
        values=tuple(back),
        error=sum(apart) / len(apart),
        lost=zeros / len(values),
    )
