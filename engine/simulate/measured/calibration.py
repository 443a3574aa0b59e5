"""The constants of a cluster from kernels and collectives that were timed on it.

Each constant is fitted with the formula that later uses it, so that a fit to times which that
formula made returns the constants they were made with. Errors count relative to the measured time,
and rows far from all others lose weight (Huber 1964).
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from math import exp, hypot, inf, log, sqrt

from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.catalog.constants import AchievedShares, achieved_shares
from engine.catalog.reader_constants import MeasuredConstant, gpu_constants
from engine.core.units import MICRO, Bytes, Count, FlopRate, GiB, MiB, Ratio, Seconds, Share
from engine.formulas.compute import flash_attention_time, matmul_time
from engine.run.logs.calibration import FORMAT, VERSION, TimedAttention, TimedCollective, Timings
from engine.run.parallelism import Cluster, Training
from engine.simulate.collectives import collective as calibrated
from engine.simulate.layer.device_model import OLD_INSTRUCTIONS, RankGroup, rank_rates
from engine.simulate.layer.layer_time import ATTENTION_BACKWARD

# A kernel that runs alone reaches more than it does in a step: A100s multiply large matrices at
# 0.82 of their peak and at 0.77 in training, under the limit of power of the board.
UNDER_POWER: Share = 0.94
# How far that share varies: published products on A100 and B200, taken so, come within 1 and 2 % of
# the constants that training runs give. Products in 8 bits draw more power, and lose up to a tenth.
_POWER_ERROR: Ratio = 0.015
_POWER_ERROR_8: Ratio = 0.08
# Messages from here on show bandwidth; smaller ones show latency.
_LARGE: Bytes = 8 * MiB
_ANY_TRAINING = Training(micro_batch_size=1, global_batch_size=1, sequence_length=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationPoint:
    """A measured time and the fitted formula's time."""

    kind: str
    name: str
    measured: Seconds
    fitted: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Constants of a cluster fitted to timings.

    Attributes:
        measured: constants by the names of `Achieved`.
        points: every time that was used.
    """

    measured: tuple[tuple[str, MeasuredConstant], ...]
    points: tuple[CalibrationPoint, ...]

    @property
    def values(self) -> dict[str, MeasuredConstant]:
        """The constants by name."""
        return dict(self.measured)


def calibrate(timings: Timings, cluster: Cluster) -> Calibration:
    """Return the constants fitted to timings of a cluster."""
    constants: dict[str, MeasuredConstant] = {}
    points: list[CalibrationPoint] = []
    for part in (_fit_product_rates, _fit_attention, _fit_memory):
        _merge_part(part(timings, cluster.gpu), constants, points)
    inside = [collective for collective in timings.collectives if collective.nodes == 1]
    across = [collective for collective in timings.collectives if collective.nodes > 1]
    _merge_part(_fit_collectives("scale_up", inside, cluster, constants), constants, points)
    _merge_part(_fit_collectives("network", across, cluster, constants), constants, points)
    return Calibration(measured=tuple(constants.items()), points=tuple(points))


_FitPart = tuple[dict[str, MeasuredConstant], list[CalibrationPoint]]


def _merge_part(
    part: _FitPart, constants: dict[str, MeasuredConstant], points: list[CalibrationPoint]
) -> None:
    constants |= part[0]
    points += part[1]


def _fit_product_rates(timings: Timings, gpu: Gpu) -> _FitPart:
    """Fit the rate of large products, and with 16 bits the fill of a tile."""
    constants: dict[str, MeasuredConstant] = {}
    points: list[CalibrationPoint] = []
    table = gpu_constants(gpu, None)
    for bits, name in (("16", "matmul"), ("8", "matmul_fp8")):
        peak = gpu.peak.get("fp8", 0.0) if bits == "8" else gpu.peak["fp16"]
        rows = [
            (product.rows, product.columns, product.inner, product.time)
            for product in timings.products
            if product.precision in (("fp8",) if bits == "8" else ("bf16", "fp16"))
        ]
        if len(rows) < 2 or not peak:
            continue
        fill = constants["fill"].value if "fill" in constants else table.fill
        rate, fill, errors = fit_products(rows, gpu.sms, None if bits == "16" else fill)
        constants[name] = MeasuredConstant(
            value=rate / peak * UNDER_POWER,
            error=hypot(errors[0], _POWER_ERROR_8 if bits == "8" else _POWER_ERROR),
        )
        if bits == "16" and fill > 0:
            constants["fill"] = MeasuredConstant(value=fill, error=max(errors[1], LEAST_ERROR))
        points += [
            CalibrationPoint(
                kind=f"products, {bits} bits",
                name=f"{row[0]:,} × {row[1]:,} × {row[2]:,}",
                measured=row[3],
                fitted=matmul_time(*row[:3], 1, rate, gpu.sms, fill),
            )
            for row in rows
        ]
    return constants, points


def fit_products(
    rows: Sequence[tuple[Count, Count, Count, Seconds]], sms: Count, fill: Seconds | None = None
) -> tuple[FlopRate, Seconds, tuple[Ratio, Ratio]]:
    """Return rate, fill of a tile and their relative errors, from (rows, columns, inner, time).

    The formula is linear in the inverse of the rate and in the fill. A given `fill` stays; one
    that the rows would make negative is none.
    """
    if fill is not None:
        known_fill = fill
        rates = [_rate_of(row, sms, known_fill) for row in rows]
        log_rate, error = robust_mean([log(rate) for rate in rates if rate > 0])
        return exp(log_rate), known_fill, (error, 0.0)
    columns = [
        (matmul_time(*row[:3], 1, 1.0, sms, 0.0), matmul_time(*row[:3], 1, inf, sms, 1.0))
        for row in rows
    ]
    inverse, each, errors = fit_two_columns(columns, [row[3] for row in rows])
    if each <= 0 or inverse <= 0:
        return fit_products(rows, sms, 0.0)
    return 1 / inverse, each, errors


def _rate_of(row: tuple[Count, Count, Count, Seconds], sms: Count, fill: Seconds) -> FlopRate:
    left = row[3] - matmul_time(*row[:3], 1, inf, sms, fill)
    return matmul_time(*row[:3], 1, 1.0, sms, 0.0) / left if left > 0 else 0.0


def _fit_attention(timings: Timings, gpu: Gpu) -> _FitPart:
    """Fit the rates of fused attention, of the newest kernels that ran."""
    newer = "fp8" in gpu.peak
    kernels = {row.kernel for row in timings.attention}
    kernel = "cudnn" if newer and "cudnn" in kernels else "flash"
    rows = [row for row in timings.attention if row.kernel == kernel]
    if not rows:
        return {}, []
    # FlashAttention-2 has the instructions of Ampere; the constants are of the newest.
    share = OLD_INSTRUCTIONS if newer and kernel == "flash" else 1.0
    constants: dict[str, MeasuredConstant] = {}
    points: list[CalibrationPoint] = []
    for name, times in (
        ("attention_forward", [row.forward for row in rows]),
        ("attention_backward", [row.backward / ATTENTION_BACKWARD for row in rows]),
    ):
        works = [_attention_work(row, gpu) for row in rows]
        logs = [log(work / time) for work, time in zip(works, times, strict=True)]
        log_rate, error = robust_mean(logs)
        constants[name] = MeasuredConstant(
            value=exp(log_rate) / gpu.peak["fp16"] / share * UNDER_POWER,
            error=hypot(error, _POWER_ERROR),
        )
        points += [
            CalibrationPoint(
                kind=name.replace("_", " "),
                name=f"{row.batch} × {row.heads} heads, {row.length:,} tokens",
                measured=time,
                fitted=work / exp(log_rate),
            )
            for row, work, time in zip(rows, works, times, strict=True)
        ]
    return constants, points


def _attention_work(row: TimedAttention, gpu: Gpu) -> FlopRate:
    """Return the forward attention time at one operation per second."""
    heads = row.batch * row.heads
    return flash_attention_time(heads, row.length, row.length, row.head_size, 1.0, gpu.sms)


def _fit_memory(timings: Timings, gpu: Gpu) -> _FitPart:
    """Fit start and bandwidth of a copy: the start is the launch of a kernel, and not kept."""
    rows = timings.copies
    if len(rows) < 2:
        return {}, []
    columns = [(row.size, 1.0) for row in rows]
    inverse, start, errors = fit_two_columns(columns, [row.time for row in rows])
    if inverse <= 0 or start < 0:
        log_rate, error = robust_mean([log(row.size / row.time) for row in rows])
        inverse, start, errors = exp(-log_rate), 0.0, (error, 0.0)
    share = 1 / inverse / gpu.memory_bandwidth
    points = [
        CalibrationPoint(
            kind="copies",
            name=f"{row.size / MiB:,.0f} MiB",
            measured=row.time,
            fitted=row.size * inverse + start,
        )
        for row in rows
    ]
    return {"memory": MeasuredConstant(value=share, error=max(errors[0], LEAST_ERROR))}, points


def _fit_collectives(
    name: str,
    rows: Sequence[TimedCollective],
    cluster: Cluster,
    constants: dict[str, MeasuredConstant],
) -> _FitPart:
    """Fit the achieved share of a link's bandwidth to measured collectives."""
    large = [row for row in rows if row.size >= _LARGE and row.ranks > 1]
    if not large:
        return {}, []
    table = gpu_constants(cluster.gpu, None)
    values = {key: row.value for key, row in constants.items()}
    start = replace(table, **values)

    def time_of(row: TimedCollective, share: Share) -> Seconds:
        return collective_time(row, cluster, replace(start, **{name: share}))

    def misfit(log_share: float) -> float:
        errors = (log(row.time / time_of(row, exp(log_share))) for row in large)
        return sum(huber_loss(error) for error in errors)

    # A minimum is flat: beyond half of a number's digits its place is noise.
    share = float(f"{exp(golden_section_minimum(misfit, log(0.005), log(2.0))):.6g}")
    errors = [log(row.time / time_of(row, share)) for row in large]
    error = hypot(sqrt(sum(e * e for e in errors) / len(errors)) / sqrt(len(errors)), LEAST_ERROR)
    points = [
        CalibrationPoint(
            kind="in a node" if name == "scale_up" else "between nodes",
            name=f"{row.operation.replace('_', '-')}, {_format_size(row.size)}",
            measured=row.time,
            fitted=time_of(row, share),
        )
        for row in rows
    ]
    return {name: MeasuredConstant(value=share, error=error)}, points


def collective_time(
    collective: TimedCollective, cluster: Cluster, constants: AchievedShares
) -> Seconds:
    """Return the modeled time of a collective with these constants."""
    rank = rank_rates(cluster, _ANY_TRAINING, constants)
    width = rank.scale_up
    if collective.nodes > 1:
        width = min(width, -(-collective.ranks // collective.nodes) * rank.port)
    group = RankGroup(
        ranks=collective.ranks, nodes=collective.nodes, bandwidth=width, network=rank.network
    )
    return calibrated.collective_time(rank, group, collective.size, collective.operation)


def _format_size(size: Bytes) -> str:
    return f"{size / GiB:.3g} GiB" if size >= GiB else f"{size / MiB:.3g} MiB"


# Robust fits of few rows with outliers, which lose weight (Huber 1964).
#
# Errors are relative to the measured value, and never below one percent: that far single rows are
# from any formula.

LEAST_ERROR: Ratio = 0.01
_OUTLIER: Ratio = 0.05
_ROUNDS = 8


def huber_loss(error: float) -> float:
    """Return the Huber loss: quadratic for small errors, linear for large ones."""
    size = abs(error)
    return error * error if size <= _OUTLIER else _OUTLIER * (2 * size - _OUTLIER)


def golden_section_minimum(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the minimizer of a unimodal function, by golden-section search."""
    golden = (sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(60):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = function(right)
    return (low + high) / 2


def robust_mean(values: Iterable[float]) -> tuple[float, Ratio]:
    """Return the Huber-weighted mean and its standard error."""
    rows = sorted(values)
    if not rows:
        return 0.0, 1.0
    middle = rows[len(rows) // 2]
    for _ in range(_ROUNDS):
        weights = [_weight(value - middle) for value in rows]
        middle = sum(w * v for w, v in zip(weights, rows, strict=True)) / sum(weights)
    weights = [_weight(value - middle) for value in rows]
    spread = sum(w * (v - middle) ** 2 for w, v in zip(weights, rows, strict=True)) / sum(weights)
    return middle, max(LEAST_ERROR, sqrt(spread / sum(weights)))


def _weight(error: float) -> Share:
    return min(1.0, _OUTLIER / abs(error)) if error else 1.0


def fit_two_columns(
    columns: Sequence[tuple[float, float]], times: Sequence[float]
) -> tuple[float, float, tuple[Ratio, Ratio]]:
    """Return the robust least-squares x, y of a x + b y = time, and their relative errors."""
    scaled = [(a / t, b / t) for (a, b), t in zip(columns, times, strict=True)]
    weights = [1.0] * len(scaled)
    x = y = 0.0
    normal_matrix = (1.0, 0.0, 1.0)
    for _ in range(_ROUNDS):
        normal_matrix = (
            sum(w * a * a for w, (a, _) in zip(weights, scaled, strict=True)),
            sum(w * a * b for w, (a, b) in zip(weights, scaled, strict=True)),
            sum(w * b * b for w, (_, b) in zip(weights, scaled, strict=True)),
        )
        target_x = sum(w * a for w, (a, _) in zip(weights, scaled, strict=True))
        target_y = sum(w * b for w, (_, b) in zip(weights, scaled, strict=True))
        determinant = normal_matrix[0] * normal_matrix[2] - normal_matrix[1] ** 2
        if determinant <= 1e-12 * normal_matrix[0] * normal_matrix[2]:
            return 0.0, 0.0, (1.0, 1.0)
        x = (target_x * normal_matrix[2] - target_y * normal_matrix[1]) / determinant
        y = (target_y * normal_matrix[0] - target_x * normal_matrix[1]) / determinant
        weights = [_weight(1 - a * x - b * y) for a, b in scaled]
    determinant = normal_matrix[0] * normal_matrix[2] - normal_matrix[1] ** 2
    residual = sum(
        w * (1 - a * x - b * y) ** 2 for w, (a, b) in zip(weights, scaled, strict=True)
    ) / max(1, len(scaled) - 2)
    spreads = (
        sqrt(residual * normal_matrix[2] / determinant),
        sqrt(residual * normal_matrix[0] / determinant),
    )
    return x, y, (_relative(spreads[0], x), _relative(spreads[1], y))


def _relative(spread: float, value: float) -> Ratio:
    return max(LEAST_ERROR, spread / abs(value)) if value else 1.0


# Timings that the engine's own formulas give for known constants: to try a fit on, marked as such.
#
# Chance is a fixed row of factors, so that the text is the same every time.

# A cluster that is slower than the catalog's in its network and products, and faster in nothing.
KNOWN_CONSTANTS = replace(
    achieved_shares(ACCELERATORS["H100-SXM"]),
    matmul=0.64,
    matmul_fp8=0.58,
    attention_forward=0.55,
    attention_backward=0.42,
    fill=4.2 * MICRO,
    memory=0.86,
    scale_up=0.80,
    network=0.71,
)
SYNTHETIC_CLUSTER = Cluster(
    gpu=ACCELERATORS["H100-SXM"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=5e10
)
_SHAPES = (
    *((8192, 8192, 8192), (4096, 4096, 4096), (2048, 2048, 2048), (1024, 1024, 1024)),
    *((8192, 28_672, 4096), (4096, 14_336, 4096), (4096, 4096, 14_336), (8192, 1024, 8192)),
    *((2048, 10_240, 8192), (16_384, 4096, 1024), (4096, 4096, 512), (16_384, 8192, 2048)),
)
_SCATTER: tuple[Ratio, ...] = (1.012, 0.985, 1.003, 1.021, 0.991, 0.978, 1.008, 1.002, 0.996)
_NONE: tuple[Ratio, ...] = (1.0,)
_LAUNCH: Seconds = 4 * MICRO
_Row = tuple[str | float, ...]


def script_output(
    constants: AchievedShares = KNOWN_CONSTANTS,
    cluster: Cluster = SYNTHETIC_CLUSTER,
    scatter: tuple[Ratio, ...] = _NONE,
) -> Mapping[str, object]:
    """Return the measuring script's output object for given constants."""
    factors = cycle(scatter)

    def scattered(time: Seconds) -> Seconds:
        return time * next(factors)

    gpu = cluster.gpu
    return {
        "format": FORMAT,
        "version": VERSION,
        "device": "NVIDIA H100 80GB HBM3",
        "ranks": 16,
        "nodes": 2,
        "products": [(*row[:4], scattered(float(row[4]))) for row in _products(constants, gpu)],
        "attention": [
            (*row[:5], scattered(float(row[5])), scattered(float(row[6])))
            for row in _attention(constants, gpu)
        ],
        "copies": [
            (size, scattered(_LAUNCH + size / (constants.memory * gpu.memory_bandwidth)))
            for size in (2 << power for power in range(20, 31))
        ],
        "collectives": [
            (*row[:4], scattered(float(row[4]))) for row in _collectives(constants, cluster)
        ],
    }


def synthetic_text() -> str:
    """Return a script output with a few percent of scatter, as one line of JSON."""
    output = script_output(scatter=_SCATTER)
    rounded = json.loads(json.dumps(output), parse_float=lambda text: float(f"{float(text):.4g}"))
    return json.dumps(rounded) + "\n"


def _products(constants: AchievedShares, gpu: Gpu) -> Iterator[_Row]:
    for precision, share in (("bf16", constants.matmul), ("fp8", constants.matmul_fp8)):
        rate = gpu.peak[precision] * share / UNDER_POWER
        for shape in _SHAPES:
            yield precision, *shape, matmul_time(*shape, 1, rate, gpu.sms, constants.fill)


def _attention(constants: AchievedShares, gpu: Gpu) -> Iterator[_Row]:
    for batch, length in ((4, 2048), (2, 4096), (1, 8192)):
        unit_time = flash_attention_time(batch * 32, length, length, 128, 1.0, gpu.sms)
        peak = gpu.peak["bf16"] / UNDER_POWER
        forward = unit_time / (peak * constants.attention_forward)
        backward = ATTENTION_BACKWARD * unit_time / (peak * constants.attention_backward)
        yield "cudnn", batch, 32, length, 128, forward, backward


def _collectives(constants: AchievedShares, cluster: Cluster) -> Iterator[_Row]:
    for ranks, nodes in ((8, 1), (16, 2)):
        for power in range(12, 31, 2):
            for operation in ("all_reduce", "all_gather", "reduce_scatter"):
                collective = TimedCollective(
                    operation=operation, size=1 << power, ranks=ranks, nodes=nodes, time=1.0
                )
                time = collective_time(collective, cluster, constants)
                yield operation, 1 << power, ranks, nodes, time
