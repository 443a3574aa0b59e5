"""Figures of the memory tiers: the shelves, the fit, and the limit."""

from engine.calculators.reference.memory_tiers.inputs import TENSORS, TIERS
from engine.calculators.reference.memory_tiers.memory_shelves import shelves_scene
from engine.calculators.reference.memory_tiers.values import WIRES, Result
from engine.core.numbers import format_value
from engine.core.text import Text, say
from engine.core.units import BANDWIDTH, BYTES, SECONDS, SHARE
from engine.core.views import Badge, Scene
from engine.draw.shelf_shapes import Chip, ChipMemory, Shelf
from engine.formulas.compute import TILE_COLUMNS, TILE_ROWS
from engine.simulate.memory.memory_tiers import TILE_STAGES, TierPlacement

_NAMES = {"hbm": "HBM", "peer": "HBM of idle GPUs", "host": "host", "nvme": "drives"}


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
    )


def _caption(placement: TierPlacement) -> Text:
    over = placement.over()
    fit = f"Too much for {TIERS[over[0]]}. " if over else "Everything fits. "
    return say(
        fit + "If nothing overlaps, a step computes for {c}, and moves and updates for {m}. HBM "
        "also holds {w} that the passes work with.",
        c=(placement.compute, SECONDS),
        m=(placement.moving, SECONDS),
        w=(placement.job.working, BYTES),
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
