"""Constants measured on a reader's own cluster, and their short text format.

The text names the type of GPU, then what was measured: "H100-SXM,matmul:0.652:0.01,fill:4e-06:0.2,
pace.16.megatron:1.04" says that large products reach 0.652 of the datasheet's peak, with a standard
error of 0.01 of that, and that steps of one such job took 1.04 times as long as these constants
predict.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache

from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.catalog.constants import AchievedShares, achieved_shares
from engine.core.units import Ratio, Share

NAMES = tuple(field.name for field in fields(AchievedShares))
# What a measurement can be: shares of a datasheet, seconds of a tile, errors, how much slower.
_SHARES, _FILLS, _ERRORS, _PACES = (0.001, 3.0), (1e-8, 1e-3), (0.0, 2.0), (0.2, 5.0)
_BITS = ("16", "8", "4")
_FRAMEWORKS = ("megatron", "fsdp", "deepspeed", "xla")
_LONGEST = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredConstant:
    """One measured constant.

    Attributes:
        value: as in `AchievedShares`.
        error: its standard error, relative.
    """

    value: float
    error: Ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnConstants:
    """Constants measured on one cluster.

    Attributes:
        gpu: key of `ACCELERATORS`, whose datasheet the shares are of.
        measured: by the names of `AchievedShares`, in their order.
        pace: how many times as long a logged job's steps took as predicted, less what is chance.
        paced: bits of the products and family of software of that job, as "16.megatron"; empty
            without a log.
    """

    gpu: str
    measured: tuple[tuple[str, MeasuredConstant], ...] = ()
    pace: Ratio = 1.0
    paced: str = ""

    def of(self, gpu: Gpu) -> bool:
        """Return whether the constants belong to a GPU type, at any power limit."""
        return ACCELERATORS[self.gpu].name == gpu.name

    def of_job(self, precision: str, framework: str) -> Ratio:
        """Return the pace of a job: 1 for one of another precision or software than the log's."""
        return self.pace if self.paced == pace_key(precision, framework) else 1.0


def pace_key(precision: str, framework: str) -> str:
    """Return the key of jobs with a common pace: bits of their products, and software."""
    bits = {"fp8": "8", "fp4": "4"}.get(precision, "16")
    return f"{bits}.{framework}"


def gpu_constants(gpu: Gpu, own_constants: OwnConstants | None) -> AchievedShares:
    """Return the catalog's constants of a GPU, overridden by measured ones."""
    table = achieved_shares(gpu)
    if own_constants is None or not own_constants.of(gpu):
        return table
    values: Mapping[str, Share] = {
        name: constant.value for name, constant in own_constants.measured
    }
    return replace(table, **values)


def format_constants(own_constants: OwnConstants) -> str:
    """Return the text format of measured constants."""
    parts = [
        f"{name}:{constant.value:.4g}:{constant.error:.2g}"
        for name, constant in own_constants.measured
    ]
    if own_constants.paced:
        parts.append(f"pace.{own_constants.paced}:{own_constants.pace:.4g}")
    return ",".join((own_constants.gpu, *parts))


@lru_cache(maxsize=32)
def parse_constants(text: str) -> OwnConstants | None:
    """Parse a text of constants; None if empty. Raise `ValueError` with the reason."""
    if not text.strip():
        return None
    if len(text) > _LONGEST:
        raise ValueError(f"{len(text):,} characters; allowed: at most {_LONGEST}")
    gpu, *items = (item.strip() for item in text.strip().split(","))
    if gpu not in ACCELERATORS:
        raise ValueError(
            f"no GPU of the catalog is named '{gpu[:40]}'; allowed: a text that begins with one, "
            "as H100-SXM,matmul:0.65:0.01"
        )
    measured: dict[str, MeasuredConstant] = {}
    pace, paced = 1.0, ""
    for item in items:
        name, *numbers = item.split(":")
        if name.startswith("pace."):
            pace, paced = _pace(name, numbers)
        elif name in NAMES and name not in measured:
            measured[name] = _measurement(name, numbers)
        else:
            raise ValueError(f"'{name[:40]}'; allowed once each: {', '.join(NAMES)}, pace")
    ordered = tuple((name, measured[name]) for name in NAMES if name in measured)
    return OwnConstants(gpu=gpu, measured=ordered, pace=pace, paced=paced)


def _pace(name: str, numbers: list[str]) -> tuple[Ratio, str]:
    paced = name.removeprefix("pace.")
    bits, _, framework = paced.partition(".")
    if bits not in _BITS or framework not in _FRAMEWORKS or len(numbers) != 1:
        raise ValueError(f"'{name[:40]}'; allowed: pace.BITS.SOFTWARE:NUMBER")
    return _number(name, numbers[0], _PACES), paced


def _measurement(name: str, numbers: list[str]) -> MeasuredConstant:
    if len(numbers) != 2:
        raise ValueError(f"'{name}' has {len(numbers)} numbers; allowed: value and error")
    return MeasuredConstant(
        value=_number(name, numbers[0], _FILLS if name == "fill" else _SHARES),
        error=_number(name, numbers[1], _ERRORS),
    )


def _number(name: str, text: str, allowed: tuple[float, float]) -> float:
    low, high = allowed
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{name}: '{text[:40]}' is no number") from None
    if not low <= value <= high:
        raise ValueError(f"{name}: {text[:40]}; allowed: from {low:g} to {high:g}")
    return value
