"""The roofline with the reader's point, and the same roof with measured kernels."""

from engine.calculators.one_gpu.roofline_point.inputs import HIGH, LOW, Inputs, Kernel, Result
from engine.catalog.measured_kernels import STREAMED, MeasuredProduct
from engine.core.outputs import Teller
from engine.core.text import Text
from engine.core.units import FLOP_RATE, INTENSITY, SHARE
from engine.core.views import Badge, Cell, Cite, Lines, Point, Rule, Table
from engine.form.roof import roof

_TRIAD = 2 / 24  # operations per byte of BabelStream's triad in double precision


def limit(tell: Teller, result: Result) -> Badge:
    """Return which of the two limits binds."""
    if result.rate < result.peak:
        return Badge(
            text="Memory-bound",
            sentence=tell.say(
                "The memory delivers {bandwidth}, and that feeds {rate}, {share} of the peak."
            ),
            color="memory",
        )
    return Badge(
        text="Compute-bound",
        sentence=tell.say("More operations per byte do not help: {peak} is the peak."),
        color="compute",
    )


def roofline(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    """Return the roof with the reader's point on it."""
    return Lines(
        title="The roofline",
        x=tell.axis("intensity", "operations per byte", low=LOW, high=HIGH, scale="log"),
        y=tell.axis("rate", "rate", low=1e11, high=2 * result.peak, scale="log"),
        series=(roof("roof", "the roof", (result.peak, result.bandwidth), (LOW, HIGH)),),
        points=(
            Point(
                key="now",
                label=tell.say("{rate}"),
                x=inputs.intensity,
                y=max(result.rate, 1e11),
            ),
        ),
        rules=(Rule(key="ridge", label=tell.say("ridge: {ridge}"), axis="x", at=result.ridge),),
        handle="intensity",
        caption="Drag the handle along the axis. Left of the ridge the memory is the limit, right "
        "of it the tensor cores.",
    )


def measured(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    """Return the roofs with the products and the stream that were measured on this GPU."""
    points = tuple(
        Point(
            key=f"{at}",
            label=_shape(one.product),
            x=one.per_byte,
            y=one.product.rate,
            color="compute" if one.product.precision == "fp8" else "ink",
        )
        for at, one in enumerate(result.measured)
    )
    if inputs.gpu in STREAMED:
        streamed = STREAMED[inputs.gpu] * _TRIAD
        triad = Point(key="triad", label="triad", x=_TRIAD, y=streamed, color="memory")
        points = (triad, *points)
    rates = result.peaks
    roofs = [roof("roof", "16 bits", (rates["bf16"], result.bandwidth), (LOW, HIGH))]
    if rates["fp8"] > rates["bf16"]:
        ends = (result.apart, HIGH)
        roofs.append(roof("fp8", "fp8", (rates["fp8"], result.bandwidth), ends))
    return Lines(
        title="Measured kernels under the roof",
        x=tell.axis("intensity", "operations per byte", low=LOW, high=HIGH, scale="log"),
        y=tell.axis("rate", "rate", low=1e11, high=8 * rates["fp8"], scale="log"),
        series=tuple(roofs),
        points=points,
        caption="Each ring is a kernel that somebody timed. The blue ones are products in fp8; "
        "the triad only streams memory. The table has the shapes."
        if points
        else "Nothing measured is in the tables for this GPU; try an H100, an H200 or an A100.",
    )


def _shape(one: MeasuredProduct) -> str:
    """Return the name of the smallest product, which is farthest from its roof; see the table."""
    return "1,024³" if one.rows == one.columns == one.inner == 1024 else ""


def kernels(tell: Teller, inputs: Inputs, result: Result) -> Table:
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
        rows=tuple(_row(tell, one) for one in result.measured),
        caption="The result always has 16 bits. The roof is that of the data type of the factors.",
    )


def _row(tell: Teller, kernel: Kernel) -> tuple[Cell, ...]:
    one = kernel.product
    numbers: tuple[Text, ...] = (
        tell.say("{i}", i=(kernel.per_byte, INTENSITY)),
        tell.say("{r}", r=(one.rate, FLOP_RATE)),
        tell.say("{t}", t=(kernel.roof, FLOP_RATE)),
        tell.say("{s}", s=(one.rate / kernel.roof, SHARE)),
    )
    shape = f"{one.rows:,} × {one.columns:,} × {one.inner:,}"
    return (shape, one.precision, *numbers, Cite((one.source,)))
