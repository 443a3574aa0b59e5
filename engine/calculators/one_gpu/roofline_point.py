"""The roofline of a GPU with the reader's point and published measurements."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.measured_kernels import MEASURED, STREAMED, MeasuredProduct
from engine.core.inputs import Choice, Number, Unit
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text
from engine.core.units import FLOP_RATE, INTENSITY, SHARE, Bandwidth, FlopRate, Intensity, Share
from engine.core.views import Badge, Cell, Citation, Lines, Point, Rule, Scale, Table
from engine.form.roof import roof_series
from engine.formulas.roofline import (
    ATTAINABLE,
    RIDGE,
    attainable,
    intensity,
    product_bytes,
    product_operations,
    ridge,
)

LOW, HIGH = 1 / 16, 16_384.0
_PER_BYTE = Unit(" FLOP/B", 1.0, quantity=INTENSITY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    gpu: Annotated[
        str, Choice(label="GPU", options={key: gpu.name for key, gpu in ACCELERATORS.items()})
    ] = "H100-SXM"
    precision: Annotated[
        str,
        Choice(
            label="Data type",
            options={"bf16": "16 bits", "fp8": "fp8"},
            help="A GPU without fp8 keeps its 16-bit peak.",
        ),
    ] = "bf16"
    intensity: Annotated[
        float,
        Number(
            label="Operations per byte",
            unit=_PER_BYTE,
            low=LOW,
            high=HIGH,
            scale="log",
            symbol="I",
        ),
    ] = 64.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A measured product, and the roof above it at its operations per byte."""

    product: MeasuredProduct
    per_byte: Intensity
    roof: FlopRate


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The roofline, the reader's point, and the measurements on this GPU.

    `peaks` are those of the data types, the 16-bit one where there is no other; up to `apart`
    operations per byte all roofs are one.
    """

    rate: Annotated[
        FlopRate,
        Output(
            "At most",
            "A",
            color="compute",
            assumes=("Transfers and operations overlap, and starting costs nothing.",),
        ),
    ]
    ridge: Annotated[
        Intensity,
        Output(
            "Compute-bound from",
            "R",
            assumes=("Dense peak and memory bandwidth of the datasheet.",),
        ),
    ]
    share: Annotated[Share, Output("Of the peak", assumes=("The rate above over the peak.",))]
    peak: Annotated[FlopRate, Output(symbol="F", of="gpu")]
    bandwidth: Annotated[Bandwidth, Output(symbol="B", of="gpu")]
    measured: tuple[Kernel, ...]
    peaks: Mapping[str, FlopRate]
    apart: Intensity


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    gpu = ACCELERATORS[inputs.gpu]
    peaks = {name: gpu.peak.get(name, gpu.peak["fp16"]) for name in ("fp16", "bf16", "fp8")}
    quick = inputs.precision == "fp8" and "fp8" in gpu.peak
    peak = gpu.peak["fp8"] if quick else gpu.peak["fp16"]
    rate = attainable(peak, gpu.memory_bandwidth, inputs.intensity)
    return Result(
        rate=rate,
        ridge=ridge(peak, gpu.memory_bandwidth),
        share=rate / peak,
        peak=peak,
        bandwidth=gpu.memory_bandwidth,
        measured=tuple(
            Kernel(
                product=product,
                per_byte=operations_per_byte(product),
                roof=attainable(
                    peaks[product.precision], gpu.memory_bandwidth, operations_per_byte(product)
                ),
            )
            for product in MEASURED
            if product.gpu == inputs.gpu
        ),
        peaks=peaks,
        apart=ridge(peaks["bf16"], gpu.memory_bandwidth),
    )


def operations_per_byte(product: MeasuredProduct) -> Intensity:
    """Return the operations per byte of a measured product with a 16-bit result."""
    element = 1.0 if product.precision == "fp8" else 2.0
    moved = product_bytes(product.rows, product.columns, product.inner, element, 2.0)
    return intensity(product_operations(product.rows, product.columns, product.inner), moved)


_TRIAD = 2 / 24  # operations per byte of BabelStream's triad in double precision


def limit_badge(present: Presenter, result: Result) -> Badge:
    """Return the badge on the binding limit: computation or memory bandwidth."""
    if result.rate < result.peak:
        return Badge(
            text="Memory-bound",
            sentence=present.say(
                "The memory delivers {bandwidth}, and that feeds {rate}, {share} of the peak."
            ),
            color="memory",
        )
    return Badge(
        text="Compute-bound",
        sentence=present.say("More operations per byte do not help: {peak} is the peak."),
        color="compute",
    )


def roofline(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the roof with the reader's point on it."""
    return present.curve(
        "The roofline",
        over=Scale("intensity", "operations per byte", LOW, HIGH, log=True),
        shows=Scale("rate", "rate", 1e11, 2 * result.peak, log=True),
        lines=(roof_series("roof", "the roof", (result.peak, result.bandwidth), (LOW, HIGH)),),
        at=max(result.rate, 1e11),
        now="{rate}",
        rules=(Rule(key="ridge", label=present.say("ridge: {ridge}"), axis="x", at=result.ridge),),
        caption="Drag the handle along the axis. Left of the ridge the memory is the limit, right "
        "of it the tensor cores.",
    )


def measured_roofline(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the roofs with the products and the stream that were measured on this GPU."""
    points = tuple(
        Point(
            key=f"{at}",
            label=_shape_label(kernel.product),
            x=kernel.per_byte,
            y=kernel.product.rate,
            color="compute" if kernel.product.precision == "fp8" else "ink",
        )
        for at, kernel in enumerate(result.measured)
    )
    if inputs.gpu in STREAMED:
        streamed = STREAMED[inputs.gpu] * _TRIAD
        triad = Point(key="triad", label="triad", x=_TRIAD, y=streamed, color="memory")
        points = (triad, *points)
    rates = result.peaks
    roofs = [roof_series("roof", "16 bits", (rates["bf16"], result.bandwidth), (LOW, HIGH))]
    if rates["fp8"] > rates["bf16"]:
        ends = (result.apart, HIGH)
        roofs.append(roof_series("fp8", "fp8", (rates["fp8"], result.bandwidth), ends))
    return Lines(
        title="Measured kernels under the roof",
        x=present.axis("intensity", "operations per byte", low=LOW, high=HIGH, scale="log"),
        y=present.axis("rate", "rate", low=1e11, high=8 * rates["fp8"], scale="log"),
        series=tuple(roofs),
        points=points,
        caption="Each ring is a kernel that somebody timed. The blue ones are products in fp8; "
        "the triad only streams memory. The table has the shapes."
        if points
        else "Nothing measured is in the tables for this GPU; try an H100, an H200 or an A100.",
    )


def _shape_label(product: MeasuredProduct) -> str:
    """Return the name of the smallest product, which is farthest from its roof; see the table."""
    return "1,024³" if product.rows == product.columns == product.inner == 1024 else ""


def kernel_table(present: Presenter, inputs: Inputs, result: Result) -> Table:
    """Return the measured products beside the roof."""
    return Table(
        title="Measured products",
        columns=(
            "m × n × k",
            "In",
            "Operations per byte",
            "Measured",
            "Roof",
            "Of the roof",
            "Source",
        ),
        rows=tuple(_kernel_row(present, kernel) for kernel in result.measured),
        caption="The result always has 16 bits. The roof is that of the data type of the factors.",
    )


def _kernel_row(present: Presenter, kernel: Kernel) -> tuple[Cell, ...]:
    product = kernel.product
    numbers: tuple[Text, ...] = (
        present.say("{i}", i=(kernel.per_byte, INTENSITY)),
        present.say("{r}", r=(product.rate, FLOP_RATE)),
        present.say("{t}", t=(kernel.roof, FLOP_RATE)),
        present.say("{s}", s=(product.rate / kernel.roof, SHARE)),
    )
    shape = f"{product.rows:,} × {product.columns:,} × {product.inner:,}"
    return (shape, product.precision, *numbers, Citation((product.source,)))


TITLE = "The roofline of a GPU"
QUESTION = "How fast can an operation run that does so many operations for every byte?"
HEADLINE = "rate"
EQUATIONS = (ATTAINABLE, RIDGE)
PRESETS = {
    "B200": {"gpu": "B200"},
    "H100, fp8": {"precision": "fp8"},
    "A100": {"gpu": "A100-SXM-80GB"},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result, equations=EQUATIONS)
    return {
        **present.values("rate", "ridge", "share"),
        "limit": limit_badge(present, result),
        "roofline": partial(roofline, present, inputs, result),
        "formula": present.formula("The lower of two limits", ATTAINABLE),
        "measured": partial(measured_roofline, present, inputs, result),
        "kernels": partial(kernel_table, present, inputs, result),
    }
