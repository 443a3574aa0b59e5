"""The verdict on three readings, and the readings beside the model's lines."""

from engine.calculators.whole_runs.memory_check.inputs import Result
from engine.catalog.constants import ALLOWANCES
from engine.core.text import say
from engine.core.units import BYTES, SHARE
from engine.core.views import Axis, Badge, Bar, Bars, Cell, Rule, Segment, Table
from engine.form.run.prediction_text import memory_error


def pieces_note(result: Result) -> str:
    """Return what is counted as blocks in pieces, or which readings are missing."""
    both = result.read.allocated and result.read.reserved
    return "reserved, not allocated" if both else "needs allocated and reserved"


def beside_note(result: Result) -> str:
    """Return what is counted as outside of PyTorch, or which readings are missing."""
    both = result.read.reserved and result.read.process
    return "in nvidia-smi, not reserved" if both else "needs reserved and nvidia-smi"


def verdict(result: Result) -> Badge:
    """Return which reading differs first, and what that means."""
    numbers = {
        "p": (result.in_pieces, BYTES),
        "o": (result.beside, BYTES),
        "allowed": (ALLOWANCES.context + ALLOWANCES.channels, BYTES),
    }
    text, words = {
        "none": ("Nothing read yet", "Type what your tools show of the fullest GPU."),
        "order": (
            "Not of one moment",
            "Tensors lie inside what is reserved, and that inside what nvidia-smi shows. Read the "
            "peaks of one process after the same steps.",
        ),
        "tensors": (
            "Other tensors",
            "What is allocated differs from the model by more than nine in ten published peaks do. "
            "Compare batch, length, recomputation and sharding with the job that ran.",
        ),
        "pieces": (
            "Blocks in pieces",
            "{p} are reserved and hold no tensor, more than twice what the model expects. "
            "PYTORCH_ALLOC_CONF=expandable_segments:True lets blocks grow instead.",
        ),
        "outside": (
            "Outside PyTorch",
            "{o} lie outside PyTorch; a CUDA context and NCCL take about {allowed}. Look for "
            "another process, more communicators, or a library with a pool of its own.",
        ),
        "alike": (
            "As modeled",
            "The readings are as close to the model as nine in ten published peaks are.",
        ),
    }[result.cause]
    color = {"alike": "compute", "none": "muted"}.get(result.cause, "communication")
    return Badge(text=text, sentence=say(words, **numbers), color=color)


def bars(result: Result) -> Bars:
    """Return both stacks against the memory of the GPU."""
    capacity = result.run.cluster.gpu.memory
    shown = (("ours", "model", result.ours), ("read", "yours", result.read))
    most = max(result.ours.process, result.read.process, result.read.reserved, capacity)
    return Bars(
        title="Three lines, one inside the other",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=1.05 * most),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=(
                    Segment(
                        key="allocated",
                        label="allocated",
                        value=lines.allocated,
                        color="activations",
                    ),
                    Segment(key="pieces", label="reserved", value=lines.pieces, color="buffers"),
                    Segment(key="outside", label="outside", value=lines.outside, color="muted"),
                ),
            )
            for key, label, lines in shown
            if lines.allocated or lines.pieces or lines.outside
        ),
        rules=(Rule(key="gpu", label="the GPU as sold", axis="x", at=capacity),),
        caption="A part is drawn where the two readings around it were taken.",
    )


def compared(result: Result) -> Table:
    """Return each tool's line beside the model's."""
    names = (("Allocated", "allocated"), ("Reserved", "reserved"), ("nvidia-smi", "process"))
    rows: list[tuple[Cell, ...]] = []
    for label, name in names:
        ours, read = getattr(result.ours, name), getattr(result.read, name)
        sign = "+" if read >= ours else "−"
        rows.append(
            (
                label,
                say("{m}", m=(ours, BYTES)),
                say("{m}", m=(read, BYTES)) if read else "not read",
                say(f"{sign}{{d}}", d=(abs(result.off[name]), SHARE)) if read else "",
            )
        )
    return Table(
        title="Line by line",
        columns=("Tool", "Model", "Yours", "Yours is off by"),
        rows=tuple(rows),
        caption=memory_error(),
    )
