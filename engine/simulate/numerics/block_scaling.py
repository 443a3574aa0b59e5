"""Quantization of a tensor to a narrow format with one scale per tensor or per block.

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
from engine.simulate.numerics.number_format import FORMATS, NumberFormat, round_to_format
from engine.simulate.numerics.rng import normals, uniforms

SIZE: Count = 1024
# Values of a row; outliers sit in the same column of every row, as in the activations of a model.
_ROW_LENGTH: Count = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingRecipe:
    """Number format and block size of a quantization.

    Attributes:
        name: display name.
        number_format: of every value.
        block: values that share a scale; 0: all of them; -1: nothing is scaled.
        scale_bits: of one scale.
    """

    name: str
    number_format: NumberFormat
    block: int
    scale_bits: Count = 0

    @property
    def bits(self) -> Ratio:
        """Bits per value, its part of the scale included."""
        return self.number_format.bits + (self.scale_bits / self.block if self.block > 0 else 0.0)


RECIPES = {
    "bf16": ScalingRecipe(name="bf16, not scaled", number_format=FORMATS["bf16"], block=-1),
    "e4m3": ScalingRecipe(name="FP8 E4M3, not scaled", number_format=FORMATS["e4m3"], block=-1),
    "tensor": ScalingRecipe(
        name="FP8 E4M3, one scale", number_format=FORMATS["e4m3"], block=0, scale_bits=32
    ),
    "row": ScalingRecipe(
        name="FP8 E4M3, scale per 128", number_format=FORMATS["e4m3"], block=128, scale_bits=32
    ),
    "mxfp8": ScalingRecipe(
        name="MXFP8 E4M3", number_format=FORMATS["e4m3"], block=32, scale_bits=8
    ),
    "fp4": ScalingRecipe(
        name="FP4 E2M1, one scale", number_format=FORMATS["e2m1"], block=0, scale_bits=32
    ),
    "mxfp4": ScalingRecipe(name="MXFP4", number_format=FORMATS["e2m1"], block=32, scale_bits=8),
    "nvfp4": ScalingRecipe(name="NVFP4", number_format=FORMATS["e2m1"], block=16, scale_bits=8),
}
# The exponent of the largest power of two in each element format.
_TOP_EXPONENT = {"e4m3": 8, "e2m1": 2}


@lru_cache(maxsize=64)
def sample_tensor(size: Ratio, outlier: Ratio, seed: Count = 1) -> tuple[float, ...]:
    """Return a sample tensor of normally distributed values, with one column of outliers."""
    values = list(islice(normals(uniforms(seed)), SIZE))
    values = [
        size * value * (outlier if at % _ROW_LENGTH == 37 else 1.0)
        for at, value in enumerate(values)
    ]
    return tuple(values)


def block_scales(values: Sequence[float], key: str) -> list[float]:
    """Return the scale of every block, in order, by which its values are divided."""
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
        tensor_scale = max(peaks) / (recipe.number_format.largest * e4m3.largest) or 1.0
        return [
            round_to_format(e4m3, peak / recipe.number_format.largest / tensor_scale) * tensor_scale
            for peak in peaks
        ]
    return [peak / recipe.number_format.largest or 1.0 for peak in peaks]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantizedTensor:
    """A tensor after quantization and dequantization.

    Attributes:
        values: values as a matrix product reads them.
        error: mean relative error of the values.
        lost: share of the values that became zero.
    """

    values: tuple[float, ...]
    error: Share
    lost: Share


def quantize(values: Sequence[float], key: str, *, stochastic: bool = False) -> QuantizedTensor:
    """Return a tensor quantized by a recipe and scaled back."""
    recipe, scales = RECIPES[key], block_scales(values, key)
    width = recipe.block if recipe.block > 0 else len(values)
    chance = uniforms(7)
    next_chance: Callable[[], float | None] = (
        (lambda: next(chance)) if stochastic else (lambda: None)
    )
    quantized_values = []
    for index, value in enumerate(values):
        scale = scales[index // width]
        quantized_values.append(
            round_to_format(recipe.number_format, value / scale, next_chance()) * scale
            if scale
            else 0.0
        )
    errors = [
        abs(quantized / value - 1)
        for value, quantized in zip(values, quantized_values, strict=True)
        if value
    ]
    zeros = sum(
        not quantized and value != 0
        for value, quantized in zip(values, quantized_values, strict=True)
    )
    return QuantizedTensor(
        values=tuple(quantized_values),
        error=sum(errors) / len(errors),
        lost=zeros / len(values),
    )
