"""Memory tiers: placement of a step's tensors in memories, and the cost of moving them."""

from collections.abc import Sequence
from functools import partial

from engine.calculators.reference.memory_tiers import result as values
from engine.calculators.reference.memory_tiers.result import EQUATIONS as EQUATIONS
from engine.calculators.reference.memory_tiers.result import TENSORS, TIERS, WIRES, Result
from engine.calculators.reference.memory_tiers.result import Inputs as Inputs
from engine.calculators.reference.memory_tiers.result import solve as solve
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.measured_timings import OWN_COPIES, OWN_DATE
from engine.core.numbers import format_value
from engine.core.outputs import Presenter, Views
from engine.core.text import Text, say
from engine.core.units import BANDWIDTH, BYTES, COUNT, SECONDS, SHARE
from engine.core.views import Axis, Badge, Bar, Bars, Cell, Citation, Frame, Scene, Segment, Table
from engine.draw.shelf_shapes import (
    FIXED,
    GAP,
    HEAD,
    SHELF,
    WIDTH,
    Chip,
    ChipMemory,
    Shelf,
    chip_memory_shapes,
    chip_shapes,
    shelf_shapes,
    slot,
)
from engine.formulas.compute import TILE_COLUMNS, TILE_ROWS
from engine.simulate.memory.memory_tiers import TILE_STAGES, TieredJob, TierPlacement

TITLE = "Memory tiers"
QUESTION = "Which tensor can live in a slower memory, and what does a step pay for it?"
HEADLINE = "step"
_OFFLOAD = {"gradients_in": "host", "master_in": "host", "moments_in": "host"}
PRESETS = {
    "Everything in HBM, 8 GPUs": {"ranks": 8},
    "ZeRO-Offload, 13B on one GPU": {"model": "llama-2-13b", "sequence_length": 4096, **_OFFLOAD},
    "The same, 64 micro-batches": {
        "model": "llama-2-13b",
        "sequence_length": 4096,
        "num_microbatches": 64,
        **_OFFLOAD,
    },
    "ZeRO-Infinity, 405B on one node": {
        "model": "llama-3-405b",
        "ranks": 8,
        "micro_batch_size": 4,
        "parameters_in": "nvme",
        "gradients_in": "nvme",
        "master_in": "nvme",
        "moments_in": "nvme",
        "checkpoints_in": "host",
    },
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present, placed = Presenter(inputs, result, equations=EQUATIONS), result.placed
    return {
        "step": present.value("step"),
        "fits": fits_badge(placed),
        "shelves": partial(shelves, result),
        **values.compute_values(present, result),
        "host_update": values.host_update_value(present, result),
        "bound": limit_badge(placed),
        "times": time_bars(placed),
        "tensors": tensor_table(result),
        "memories": memory_table(result),
        "copies": copy_table(),
    }


# Tables of the memory tiers: moves by tensor, busy time by link, and memories with sources.


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


# The memories of a machine as shelves, the fastest on top; a tensor is dragged between them.


def shelves_scene(
    fixed: Sequence[ChipMemory],
    shelves: Sequence[Shelf],
    chips: Sequence[Chip],
    caption: Text,
    about: Text,
) -> Scene:
    """Return the shelves from the fastest to the slowest, with the tensors on them.

    The first frame is about all of them, with `caption`, each other one about one tensor. `about`
    stands under the scene.
    """
    ground = [
        shape for at, item in enumerate(fixed) for shape in chip_memory_shapes(at * FIXED, item)
    ]
    top = len(fixed) * FIXED
    columns = tuple(zip(*_columns(chips), strict=True))
    for at, shelf in enumerate(shelves):
        y = top + at * SHELF
        ground += shelf_shapes(y, shelf)
        ground += [
            slot(f"{shelf.key}-{chip.key}", left, y + HEAD, width)
            for chip, (left, width) in zip(chips, columns, strict=True)
        ]

    def frame(now: Chip | None) -> Frame:
        shapes = [
            shape
            for chip, (left, width) in zip(chips, columns, strict=True)
            for shape in chip_shapes(top, chip, (left, width), shelves, strong=chip is now)
        ]
        return Frame(caption=now.caption if now else caption, shapes=(*ground, *shapes))

    return Scene(
        title="Which tensor lives where",
        width=WIDTH,
        height=top + len(shelves) * SHELF,
        frames=tuple(frame(item) for item in (None, *chips)),
        caption=about,
    )


def _columns(chips: Sequence[Chip]) -> tuple[list[float], list[float]]:
    """Return left ends and widths: every column as wide as its longest word."""
    letters = [max(len(chip.name), len(chip.size), 7) + 1 for chip in chips]
    room = (WIDTH - (len(chips) - 1) * GAP) / sum(letters)
    widths = [room * count for count in letters]
    lefts = [sum(widths[:at]) + at * GAP for at in range(len(chips))]
    return lefts, widths


# Figures of the memory tiers: the shelves, the fit, and the limit.

_NAMES = {"hbm": "HBM", "peer": "HBM of idle GPUs", "host": "host", "nvme": "drives"}


def _about_shelves(job: TieredJob) -> Text:
    """Return the job, and how to use the figure."""
    return say(
        f"{job.model.name} on {job.gpu.name}, {{t}} tokens at a time. Drag a tensor up or down. "
        "The line under a memory shows how full it is. On the chip lies the tile of one matrix "
        "product; its program put it there, so it cannot be dragged.",
        t=(job.tokens, COUNT),
    )


def shelves(result: Result) -> Scene:
    """Return the drawing of the memories with their tensors."""
    order, placement = list(TIERS), result.placed
    return shelves_scene(
        _fixed_memories(result),
        [_shelf(placement, key) for key in order],
        [
            Chip(
                input=f"{key}_in",
                key=key,
                name=name,
                size=format_value(placement.job.sizes[key], BYTES),
                color=color,
                shelf=order.index(result.homes[key]),
                caption=_tensor_caption(result, key),
            )
            for key, (name, color) in TENSORS.items()
        ],
        _caption(placement),
        _about_shelves(placement.job),
    )


def _caption(placement: TierPlacement) -> Text:
    over = placement.over()
    fit = f"Too much for {TIERS[over[0]]}. " if over else "Everything fits. "
    return say(
        fit + "If nothing overlaps, a step computes for {c}, and moves and updates for {m}. HBM "
        "also holds {w} that the passes work with, and beside the moments lie {g} of gradients in "
        "fp32, as DeepSpeed keeps them.",
        c=(placement.compute, SECONDS),
        m=(placement.moving, SECONDS),
        w=(placement.job.working, BYTES),
        g=(placement.job.gradient_copies, BYTES),
    )


def _tensor_caption(result: Result, key: str) -> Text:
    placement = result.placed
    moves = [move for move in placement.moves if move.tensor == key]
    words = f"{TENSORS[key][0].capitalize()} ({TIERS[result.homes[key]]}): {{s}}. "
    if not moves:
        return say(words + "They cross no wire.", s=(placement.job.sizes[key], BYTES))
    over = " and ".join(dict.fromkeys(WIRES[move.wire] for move in moves))
    time = sum(move.time for move in moves)
    return say(
        f"{words}In a step {{m}} move over {over}: {{t}}, {{r}} of the computation.",
        s=(placement.job.sizes[key], BYTES),
        m=(sum(move.size for move in moves), BYTES),
        t=(time, SECONDS),
        r=(time / placement.compute, SHARE),
    )


def _shelf(placement: TierPlacement, key: str) -> Shelf:
    tier, occupied = placement.tiers[key], placement.bytes_by_tier[key]
    full = occupied / tier.capacity if tier.capacity else float(occupied > 0) * 2
    rate = format_value(tier.read, BANDWIDTH)
    if tier.write != tier.read:
        rate = f"{rate} read, {format_value(tier.write, BANDWIDTH)} written"
    room = f"{format_value(occupied, BYTES)} of {format_value(tier.capacity, BYTES)}"
    return Shelf(
        key=key,
        name=_NAMES[key],
        size=f"too full: {room}" if full > 1 else f"{room}, {rate}",
        share=full,
    )


def _fixed_memories(result: Result) -> list[ChipMemory]:
    job = result.placed.job
    chip, (sums, slices) = job.chip, result.tile
    shared = format_value(result.shared_bandwidth, BANDWIDTH)
    tile = f"{TILE_ROWS} × {TILE_COLUMNS}"
    return [
        ChipMemory(
            key="registers",
            name=chip.sums,
            size=f"{format_value(chip.room, BYTES)} in each of {job.gpu.sms} SMs",
            inside=f"sums of a {tile} tile in fp32: {format_value(sums, BYTES)}",
            share=sums / chip.room,
        ),
        ChipMemory(
            key="shared",
            name="shared memory",
            size=f"{format_value(chip.shared, BYTES)} per SM, {shared}",
            inside=f"{TILE_STAGES} slices of both its factors in bf16: "
            f"{format_value(slices, BYTES)}",
            share=slices / chip.shared,
        ),
    ]


def fits_badge(placement: TierPlacement) -> Badge:
    """Return the badge on whether every memory has room for its tensors."""
    over = placement.over()
    if not over:
        return Badge(
            text="everything fits",
            sentence=say(
                "HBM holds {h} of {c}, the working memory of the passes included.",
                h=(placement.bytes_by_tier["hbm"], BYTES),
                c=(placement.tiers["hbm"].capacity, BYTES),
            ),
            color="activations",
        )
    tier = placement.tiers[over[0]]
    words = "{h} of tensors, {c} of room. Move some of them to another memory."
    if over[0] == "peer" and not placement.job.idle:
        words = "{h} of tensors, and no GPU of the node is idle: each holds its own share already."
    return Badge(
        text=f"{TIERS[over[0]]}: too full",
        sentence=say(words, h=(placement.bytes_by_tier[over[0]], BYTES), c=(tier.capacity, BYTES)),
        color="buffers",
    )


def limit_badge(placement: TierPlacement) -> Badge:
    """Return the badge on the longest part, and whether it can be hidden."""
    parts = {
        "computation": placement.compute,
        "the update on the host": placement.host_update,
    } | {
        f"{name} in the {'update' if update else 'passes'}": placement.on(wire, update=update)
        for wire, name in WIRES.items()
        for update in (False, True)
    }
    longest = max(parts, key=lambda part: parts[part])
    if longest == "computation":
        words = "Computation takes {c}; no wire and no update takes as long. What moves during "
        words += "the passes can hide behind it, the update cannot."
    elif "passes" in longest:
        words = f"{{l}} for {longest}, {{c}} for the computation that could hide it."
    else:
        words = f"{{l}} for {longest}, which nothing hides, beside {{c}} of computation. More "
        words += "tokens per step spread it over more work."
    return Badge(
        text=f"Longest: {longest}",
        sentence=say(words, l=(parts[longest], SECONDS), c=(placement.compute, SECONDS)),
        color="compute" if longest == "computation" else "memory",
    )
