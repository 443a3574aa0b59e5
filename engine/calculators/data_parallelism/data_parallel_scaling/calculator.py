"""Data-parallel scaling: how many times faster n GPUs are, weak and strong, beside measurements."""

from collections.abc import Mapping

from engine.basis.text import say
from engine.basis.units import COUNT, SHARE
from engine.basis.views import Axis, Lines, Receipt, Rule, Series, Value, View
from engine.basis.views import Point as Marked
from engine.calculators.data_parallelism.data_parallel_scaling.inputs import LARGEST
from engine.calculators.data_parallelism.data_parallel_scaling.inputs import Inputs as Inputs
from engine.calculators.data_parallelism.data_parallel_scaling.model import Point, bandwidth, point
from engine.calculators.data_parallelism.data_parallel_scaling.views import EQUATIONS as EQUATIONS
from engine.calculators.data_parallelism.data_parallel_scaling.views import (
    challenge,
    formulas,
    regime,
    values,
)
from engine.catalog.hardware import GPUS
from engine.formulas.scaling import hiding_tokens
from engine.formulas.stragglers import slowest_with_one_slow

TITLE = "Scaling curves"
QUESTION = "How many times faster are n GPUs, and where does it end?"
PRESETS = {
    "4M tokens for ever": {"mode": "strong", "num_gpus": 1024},
    "No overlap": {"overlap": False},
    "H100, eight ports of 400 Gb/s": {
        "gpu": "h100",
        "port": 5e10,
        "ports_per_node": 8,
        "scale_up": 366e9,
    },
    "One slow GPU": {"slower": 0.2},
}
_SIZES = tuple(2**i for i in range(15))
# Tokens per GPU and second of a 7B model on nodes of 8 A100 with four ports of 100 Gb/s.
MEASURED: Mapping[str, tuple[str, tuple[int, ...], tuple[int, ...], str]] = {
    "node": (
        "weak, measured",
        (8, 16, 32, 64, 128, 256, 512, 1024),
        (4078, 3939, 3919, 3944, 3928, 3920, 3835, 3625),
        "data",
    ),
    "all": (
        "weak, sharded",
        (8, 16, 32, 64, 128, 256, 512, 1024),
        (4062, 3842, 3752, 3690, 3571, 3209, 2861, 2271),
        "tensor",
    ),
    "strong": ("strong, measured", (256, 512, 1024), (3920, 3084, 2346), "expert"),
}
# The same on one node of eight, which the curves start from.
_ALONE = {"node": 4078, "all": 4062, "strong": 4103}
_SAID = {
    "measured_weak": ("node", 7, "16,384 tokens per GPU and step"),
    "measured_sharded": ("all", 7, "the same, optimizer states sharded over all GPUs"),
    "measured_strong": ("strong", 2, "4,096 tokens per GPU and step, 4M in all"),
}


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    slowest = [slowest_with_one_slow(n, inputs.deviation, inputs.slower) for n in _SIZES]
    curves = {
        mode: [point(inputs, n, mode, late) for n, late in zip(_SIZES, slowest, strict=True)]
        for mode in ("weak", "strong")
    }
    now = point(inputs, inputs.num_gpus, inputs.mode)
    rate = inputs.utilization * GPUS[inputs.gpu].peak["bf16"]
    enough = hiding_tokens(rate, bandwidth(inputs, LARGEST))
    return {
        **values(inputs, now, rate, enough),
        "regime": regime(inputs, now, enough),
        "curve": _curve(inputs, now, curves, enough),
        **{name: _measured(*row) for name, row in _SAID.items()},
        **formulas(now),
        "challenge": challenge(inputs, now),
    }


def _measured(key: str, place: int, what: str) -> Value:
    _, counts, rates, _ = MEASURED[key]
    return Value(
        label=f"Measured at {counts[place]:,} GPUs",
        value=rates[place] / _ALONE[key],
        quantity=SHARE,
        receipt=Receipt(
            basis="measured",
            assumptions=(
                "InternEvo, 7B, A100 80 GB, four ports of 100 Gb/s per node of 8: tokens per GPU "
                "and second over those on one node.",
                f"Setting: {what}.",
            ),
            sources=("internevo",),
        ),
        note=what,
    )


def _curve(inputs: Inputs, now: Point, curves: Mapping[str, list[Point]], enough: float) -> Lines:
    sizes = tuple(float(n) for n in _SIZES)
    names = {"weak": ("model, weak", "compute"), "strong": ("model, strong", "ink")}
    model = tuple(
        Series(
            key=mode,
            label=names[mode][0],
            x=sizes,
            y=tuple(one.efficiency for one in curve),
            color=names[mode][1],
        )
        for mode, curve in curves.items()
    )
    measured = tuple(
        Series(
            key=f"measured {key}",
            label=label,
            x=tuple(float(n) for n in counts),
            y=tuple(one / _ALONE[key] for one in rates),
            color=color,
            dashed=True,
        )
        for key, (label, counts, rates, color) in MEASURED.items()
    )
    limit = inputs.batch / enough
    rule = Rule(
        key="limit",
        label=say("strong, F/W: {n} GPUs", n=(round(limit), COUNT)),
        axis="x",
        at=limit,
    )
    return Lines(
        title="Share of its speed alone that each GPU keeps",
        x=Axis(label="GPUs", quantity=COUNT, low=1.0, high=float(LARGEST), scale="log"),
        y=Axis(label="efficiency", quantity=SHARE, low=0.0, high=1.05),
        series=(*model, *measured),
        points=(
            Marked(
                key="now",
                label=say("{e}", e=(now.efficiency, SHARE)),
                x=float(inputs.num_gpus),
                y=now.efficiency,
            ),
        ),
        rules=(rule,) if 1 <= limit <= LARGEST else (),
        handle="num_gpus",
        caption="Solid: the model at your inputs. Dashed: measured by the authors of InternEvo on "
        "A100, against one node. Right of the upright line, strong scaling has fewer than F/W "
        "tokens per GPU.",
    )
