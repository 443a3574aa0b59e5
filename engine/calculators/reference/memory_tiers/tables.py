"""Tables of the memory tiers: moves by tensor, busy time by link, and memories with sources."""

from engine.calculators.reference.memory_tiers.inputs import TENSORS, TIERS
from engine.calculators.reference.memory_tiers.values import WIRES, Result
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.measured_timings import OWN_COPIES, OWN_DATE
from engine.core.text import say
from engine.core.units import BANDWIDTH, BYTES, SECONDS, SHARE
from engine.core.views import Axis, Bar, Bars, Cell, Citation, Segment, Table
from engine.simulate.memory.memory_tiers import TierPlacement


def tensor_table(result: Result) -> Table:
    """Return the table of tensors with their tier and its cost per step."""
    placement = result.placed
    rows: list[tuple[Cell, ...]] = []
    for key, (name, _) in TENSORS.items():
        moves = [move for move in placement.moves if move.tensor == key]
        time = sum(move.time for move in moves)
        rows.append(
            (
                name,
                TIERS[result.homes[key]],
                say("{s}", s=(placement.job.sizes[key], BYTES)),
                say("{s}", s=(sum(move.size for move in moves), BYTES)),
                ", ".join(dict.fromkeys(WIRES[move.wire] for move in moves)) or "the host itself",
                say("{t}", t=(time, SECONDS)),
                say("{r}", r=(time / placement.compute, SHARE)),
            )
        )
    return Table(
        title="What every tensor moves in a step",
        columns=("Tensor", "Lives in", "Size", "Moved", "Over", "Time", "Of the computation"),
        rows=tuple(rows),
        caption="One GPU, one step, nothing hidden. What the update on the host reads and writes "
        "in the host's own memory is in the time of that update.",
        links=tuple((f"tensor:{key}",) for key in TENSORS),
    )


def time_bars(placement: TierPlacement) -> Bars:
    """Return the bars of busy time by link, beside the computation."""
    kinds: dict[str, list[str]] = {}
    for key, (_, color) in TENSORS.items():
        kinds.setdefault(color, []).append(key)
    bars = [
        _bar("compute", "computation", [("compute", placement.compute, ())]),
        *(
            _bar(
                wire,
                name,
                [
                    (kind, sum(placement.of(key, wire) for key in keys), tuple(keys))
                    for kind, keys in kinds.items()
                ],
            )
            for wire, name in WIRES.items()
        ),
        _bar("update", "update on host", [("memory", placement.host_update, ())]),
    ]
    totals = [sum(segment.value for segment in bar.segments) for bar in bars]
    return Bars(
        title="A step, part by part",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=1.04 * max(totals)),
        bars=tuple(bars),
        caption="Each bar alone. At best, what moves during the passes hides behind the "
        "computation; what the update moves does not.",
    )


_WORDS = {"compute": "computation", "memory": "update on host"}


def _bar(key: str, label: str, parts: list[tuple[str, float, tuple[str, ...]]]) -> Bar:
    return Bar(
        key=key,
        label=label,
        segments=tuple(
            Segment(
                key=color,
                label=_WORDS.get(color, color),
                value=value,
                color=color,
                links=tuple(f"tensor:{tensor}" for tensor in tensors),
            )
            for color, value, tensors in parts
        ),
    )


def memory_table(result: Result) -> Table:
    """Return every memory from the fastest to the slowest, with its sources."""
    placement, shared = result.placed, result.shared_bandwidth
    chip = placement.job.chip
    rows: list[tuple[Cell, ...]] = [
        (
            chip.sums,
            say("{s} per SM", s=(chip.room, BYTES)),
            "–",
            "–",
            "–",
            Citation((chip.clock_source if chip.sums != "registers" else chip.source,)),
        ),
        (
            "shared memory",
            say("{s} per SM", s=(chip.shared, BYTES)),
            say("{b}", b=(shared, BANDWIDTH)),
            say("{b}", b=(shared, BANDWIDTH)),
            "–",
            Citation((chip.source, "cuda_guide", chip.clock_source)),
        ),
    ]
    rows += [
        (
            TIERS[key],
            say("{s}", s=(tier.capacity, BYTES)),
            say("{b}", b=(tier.read, BANDWIDTH)),
            say("{b}", b=(tier.write, BANDWIDTH)),
            say("{h}", h=(placement.bytes_by_tier[key], BYTES)),
            Citation(tier.sources),
        )
        for key, tier in placement.tiers.items()
    ]
    return Table(
        title="The memories of one GPU of the job",
        columns=("Memory", "Room", "Read", "Written", "Holds", "Sources"),
        rows=tuple(rows),
        caption="One way. What a node has once is divided by the GPUs of the job on it. Shared "
        "memory: 128 bytes per clock and SM, at the clock that the peak stands for; nobody states "
        "a rate for what holds the sums. The drives' rates were measured with eight PCIe 5 drives "
        "of another machine, and are assumed here.",
    )


def copy_table() -> Table:
    """Return the table of measured copy rates between GPU and host, beside the line rate."""
    rows: list[tuple[Cell, ...]] = []
    for copy in OWN_COPIES:
        gpu = ACCELERATORS[copy.gpu]
        rates = (copy.size / time for time in (*copy.pinned, *copy.pageable))
        rows.append(
            (
                gpu.name,
                say("{s}", s=(copy.size, BYTES)),
                *(say("{b}", b=(rate, BANDWIDTH)) for rate in rates),
                say("{b}", b=(gpu.pcie, BANDWIDTH)),
            )
        )
    return Table(
        title="Copies between a GPU and its host, measured",
        columns=(
            "GPU",
            "Copy",
            "Pinned, to the GPU",
            "Pinned, to the host",
            "Pageable, to the GPU",
            "Pageable, to the host",
            "Modeled",
        ),
        rows=tuple(rows),
        caption=f"Measured by us on one GPU each, {OWN_DATE}, PyTorch 2.11, one copy after the "
        "other. Modeled is the line rate of PCIe, which this page uses for every size.",
    )
