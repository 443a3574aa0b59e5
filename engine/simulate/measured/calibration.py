"""The constants of a cluster from kernels and collectives that were timed on it.

Each constant is fitted with the formula that later uses it, so that a fit to times which that
formula made returns the constants they were made with. Errors count relative to the measured time,
and rows far from all others lose weight (Huber 1964).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, hypot, inf, log, sqrt

from engine.catalog.accelerators import Gpu
from engine.catalog.constants import Achieved
from engine.catalog.reader_constants import Measurement, reached
from engine.core.units import Bytes, Count, FlopRate, GiB, MiB, Ratio, Seconds, Share
from engine.formulas.compute import flash_attention_time, matmul_time
from engine.formulas.transfer_time import all_reduce_time, scatter_or_gather_time
from engine.run.logs.calibration import TimedAttention, TimedCollective, Timings
from engine.run.parallelism import Cluster, Training
from engine.simulate.layer.device_model import OLD_INSTRUCTIONS, rank_of
from engine.simulate.layer.layer_time import ATTENTION_BACKWARD
from engine.simulate.numerics.robust_fit import LEAST_ERROR, huber, least, robust_mean, two_columns

# A kernel that runs alone reaches more than it does in a step: A100s multiply large matrices at
# 0.82 of their peak and at 0.77 in training, under the limit of power of the board.
UNDER_POWER: Share = 0.94
# How far that share varies: published products on A100 and B200, taken so, come within 1 and 2 % of
# the constants that training runs give. Products in 8 bits draw more power, and lose up to a tenth.
_POWER_ERROR: Ratio = 0.015
_POWER_ERROR_8: Ratio = 0.08
# Messages from here on show bandwidth; smaller ones show latency.
_LARGE: Bytes = 8 * MiB
_ANY = Training(micro_batch_size=1, global_batch_size=1, sequence_length=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One measured time beside that of the formula with the fitted constants."""

    kind: str
    name: str
    measured: Seconds
    fitted: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """What timings say of a cluster.

    Attributes:
        measured: constants by the names of `Achieved`.
        points: every time that was used.
    """

    measured: tuple[tuple[str, Measurement], ...]
    points: tuple[Point, ...]

    @property
    def values(self) -> dict[str, Measurement]:
        """The constants by name."""
        return dict(self.measured)


def calibrate(timings: Timings, cluster: Cluster) -> Calibration:
    """Return the constants that timings on a cluster say."""
    found: dict[str, Measurement] = {}
    points: list[Point] = []
    for part in (_products, _attention, _memory):
        _join(part(timings, cluster.gpu), found, points)
    inside = [one for one in timings.collectives if one.nodes == 1]
    across = [one for one in timings.collectives if one.nodes > 1]
    _join(_collectives("scale_up", inside, cluster, found), found, points)
    _join(_collectives("network", across, cluster, found), found, points)
    return Calibration(measured=tuple(found.items()), points=tuple(points))


_Part = tuple[dict[str, Measurement], list[Point]]


def _join(part: _Part, found: dict[str, Measurement], points: list[Point]) -> None:
    found |= part[0]
    points += part[1]


def _products(timings: Timings, gpu: Gpu) -> _Part:
    """Fit the rate of large products, and with 16 bits the fill of a tile."""
    found: dict[str, Measurement] = {}
    points: list[Point] = []
    table = reached(gpu, None)
    for bits, name in (("16", "matmul"), ("8", "matmul_fp8")):
        peak = gpu.peak.get("fp8", 0.0) if bits == "8" else gpu.peak["fp16"]
        rows = [
            (one.rows, one.columns, one.inner, one.time)
            for one in timings.products
            if one.precision in (("fp8",) if bits == "8" else ("bf16", "fp16"))
        ]
        if len(rows) < 2 or not peak:
            continue
        fill = found["fill"].value if "fill" in found else table.fill
        rate, fill, errors = fit_products(rows, gpu.sms, None if bits == "16" else fill)
        found[name] = Measurement(
            value=rate / peak * UNDER_POWER,
            error=hypot(errors[0], _POWER_ERROR_8 if bits == "8" else _POWER_ERROR),
        )
        if bits == "16" and fill > 0:
            found["fill"] = Measurement(value=fill, error=max(errors[1], LEAST_ERROR))
        points += [
            Point(
                kind=f"products, {bits} bits",
                name=f"{row[0]:,} × {row[1]:,} × {row[2]:,}",
                measured=row[3],
                fitted=matmul_time(*row[:3], 1, rate, gpu.sms, fill),
            )
            for row in rows
        ]
    return found, points


def fit_products(
    rows: Sequence[tuple[Count, Count, Count, Seconds]], sms: Count, fill: Seconds | None = None
) -> tuple[FlopRate, Seconds, tuple[Ratio, Ratio]]:
    """Return rate, fill of a tile and their relative errors, from (rows, columns, inner, time).

    The formula is linear in the inverse of the rate and in the fill. A given `fill` stays; one
    that the rows would make negative is none.
    """
    if fill is not None:
        given = fill
        rates = [_rate_of(row, sms, given) for row in rows]
        middle, error = robust_mean([log(rate) for rate in rates if rate > 0])
        return exp(middle), given, (error, 0.0)
    columns = [
        (matmul_time(*row[:3], 1, 1.0, sms, 0.0), matmul_time(*row[:3], 1, inf, sms, 1.0))
        for row in rows
    ]
    inverse, each, errors = two_columns(columns, [row[3] for row in rows])
    if each <= 0 or inverse <= 0:
        return fit_products(rows, sms, 0.0)
    return 1 / inverse, each, errors


def _rate_of(row: tuple[Count, Count, Count, Seconds], sms: Count, fill: Seconds) -> FlopRate:
    left = row[3] - matmul_time(*row[:3], 1, inf, sms, fill)
    return matmul_time(*row[:3], 1, 1.0, sms, 0.0) / left if left > 0 else 0.0


def _attention(timings: Timings, gpu: Gpu) -> _Part:
    """Fit the rates of fused attention, of the newest kernels that ran."""
    newer = "fp8" in gpu.peak
    kernels = {one.kernel for one in timings.attention}
    kernel = "cudnn" if newer and "cudnn" in kernels else "flash"
    rows = [one for one in timings.attention if one.kernel == kernel]
    if not rows:
        return {}, []
    # FlashAttention-2 has the instructions of Ampere; the constants are of the newest.
    share = OLD_INSTRUCTIONS if newer and kernel == "flash" else 1.0
    found: dict[str, Measurement] = {}
    points: list[Point] = []
    for name, times in (
        ("attention_forward", [one.forward for one in rows]),
        ("attention_backward", [one.backward / ATTENTION_BACKWARD for one in rows]),
    ):
        works = [_attention_work(one, gpu) for one in rows]
        logs = [log(work / time) for work, time in zip(works, times, strict=True)]
        middle, error = robust_mean(logs)
        found[name] = Measurement(
            value=exp(middle) / gpu.peak["fp16"] / share * UNDER_POWER,
            error=hypot(error, _POWER_ERROR),
        )
        points += [
            Point(
                kind=name.replace("_", " "),
                name=f"{one.batch} × {one.heads} heads, {one.length:,} tokens",
                measured=time,
                fitted=work / exp(middle),
            )
            for one, work, time in zip(rows, works, times, strict=True)
        ]
    return found, points


def _attention_work(one: TimedAttention, gpu: Gpu) -> FlopRate:
    """Return the forward time at a rate of one operation per second."""
    heads = one.batch * one.heads
    return flash_attention_time(heads, one.length, one.length, one.head_size, 1.0, gpu.sms)


def _memory(timings: Timings, gpu: Gpu) -> _Part:
    """Fit start and bandwidth of a copy: the start is the launch of a kernel, and not kept."""
    rows = timings.copies
    if len(rows) < 2:
        return {}, []
    columns = [(one.size, 1.0) for one in rows]
    inverse, start, errors = two_columns(columns, [one.time for one in rows])
    if inverse <= 0 or start < 0:
        middle, error = robust_mean([log(one.size / one.time) for one in rows])
        inverse, start, errors = exp(-middle), 0.0, (error, 0.0)
    share = 1 / inverse / gpu.memory_bandwidth
    points = [
        Point(
            kind="copies",
            name=f"{one.size / MiB:,.0f} MiB",
            measured=one.time,
            fitted=one.size * inverse + start,
        )
        for one in rows
    ]
    return {"memory": Measurement(value=share, error=max(errors[0], LEAST_ERROR))}, points


def _collectives(
    name: str,
    rows: Sequence[TimedCollective],
    cluster: Cluster,
    found: dict[str, Measurement],
) -> _Part:
    """Fit the share of a link that makes the engine's own collectives take the measured times."""
    large = [one for one in rows if one.size >= _LARGE and one.ranks > 1]
    if not large:
        return {}, []
    table = reached(cluster.gpu, None)
    values = {key: one.value for key, one in found.items()}
    start = replace(table, **values)

    def time_of(one: TimedCollective, share: Share) -> Seconds:
        return collective_time(one, cluster, replace(start, **{name: share}))

    def misfit(place: float) -> float:
        errors = (log(one.time / time_of(one, exp(place))) for one in large)
        return sum(huber(error) for error in errors)

    # A minimum is flat: beyond half of a number's digits its place is noise.
    share = float(f"{exp(least(misfit, log(0.005), log(2.0))):.6g}")
    errors = [log(one.time / time_of(one, share)) for one in large]
    error = hypot(sqrt(sum(e * e for e in errors) / len(errors)) / sqrt(len(errors)), LEAST_ERROR)
    points = [
        Point(
            kind="in a node" if name == "scale_up" else "between nodes",
            name=f"{one.operation.replace('_', '-')}, {_size(one.size)}",
            measured=one.time,
            fitted=time_of(one, share),
        )
        for one in rows
    ]
    return {name: Measurement(value=share, error=error)}, points


def collective_time(one: TimedCollective, cluster: Cluster, constants: Achieved) -> Seconds:
    """Return what a step is charged for a collective, with these constants."""
    rank = rank_of(cluster, _ANY, constants)
    width = rank.scale_up
    if one.nodes > 1:
        width = min(width, -(-one.ranks // one.nodes) * rank.port)
    group = (one.size, one.ranks, one.nodes, width)
    if one.operation == "all_reduce":
        return all_reduce_time(*group, rank.switch_adds, rank.network, rank.scale_up)
    scatters = one.operation == "reduce_scatter"
    return scatter_or_gather_time(
        *group, rank.network, "reduce_scatter" if scatters else "all_gather"
    )


def _size(size: Bytes) -> str:
    return f"{size / GiB:.3g} GiB" if size >= GiB else f"{size / MiB:.3g} MiB"
