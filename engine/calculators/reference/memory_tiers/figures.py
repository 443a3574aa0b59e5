"""The shelves of the memory tiers, whether everything fits, and what takes longest."""

from engine.calculators.reference.memory_tiers.inputs import TENSORS, TIERS
from engine.calculators.reference.memory_tiers.memory_shelves import shelves_scene
from engine.calculators.reference.memory_tiers.values import WIRES, Result
from engine.core.numbers import show
from engine.core.text import Text, say
from engine.core.units import BANDWIDTH, BYTES, SECONDS, SHARE
from engine.core.views import Badge, Scene
from engine.draw.shelf_shapes import Chip, Fixed, Shelf
from engine.formulas.compute import TILE_COLUMNS, TILE_ROWS
from engine.simulate.memory.memory_tiers import TILE_STAGES, Placement

_NAMES = {"hbm": "HBM", "peer": "HBM of idle GPUs", "host": "host", "nvme": "drives"}


def shelves(result: Result) -> Scene:
    """Return the memories with what lives in them."""
    order, found = list(TIERS), result.placed
    return shelves_scene(
        _fixed(result),
        [_shelf(found, key) for key in order],
        [
            Chip(
                input=f"{key}_in",
                key=key,
                name=name,
                size=show(found.job.sizes[key], BYTES),
                color=color,
                shelf=order.index(result.homes[key]),
                caption=_of_tensor(result, key),
            )
            for key, (name, color) in TENSORS.items()
        ],
        _caption(found),
    )


def _caption(found: Placement) -> Text:
    over = found.over()
    fit = f"Too much for {TIERS[over[0]]}. " if over else "Everything fits. "
    return say(
        fit + "If nothing overlaps, a step computes for {c}, and moves and updates for {m}. HBM "
        "also holds {w} that the passes work with.",
        c=(found.compute, SECONDS),
        m=(found.moving, SECONDS),
        w=(found.job.working, BYTES),
    )


def _of_tensor(result: Result, key: str) -> Text:
    found = result.placed
    moves = [move for move in found.moves if move.tensor == key]
    words = f"{TENSORS[key][0].capitalize()} ({TIERS[result.homes[key]]}): {{s}}. "
    if not moves:
        return say(words + "They cross no wire.", s=(found.job.sizes[key], BYTES))
    over = " and ".join(dict.fromkeys(WIRES[move.wire] for move in moves))
    time = sum(move.time for move in moves)
    return say(
        f"{words}In a step {{m}} move over {over}: {{t}}, {{r}} of the computation.",
        s=(found.job.sizes[key], BYTES),
        m=(sum(move.size for move in moves), BYTES),
        t=(time, SECONDS),
        r=(time / found.compute, SHARE),
    )


def _shelf(found: Placement, key: str) -> Shelf:
    tier, held = found.tiers[key], found.held[key]
    full = held / tier.capacity if tier.capacity else float(held > 0) * 2
    rate = show(tier.read, BANDWIDTH)
    if tier.write != tier.read:
        rate = f"{rate} read, {show(tier.write, BANDWIDTH)} written"
    room = f"{show(held, BYTES)} of {show(tier.capacity, BYTES)}"
    return Shelf(
        key=key,
        name=_NAMES[key],
        size=f"too full: {room}" if full > 1 else f"{room}, {rate}",
        share=full,
    )


def _fixed(result: Result) -> list[Fixed]:
    job = result.placed.job
    chip, (sums, slices) = job.chip, result.tile
    shared = show(result.shared_bandwidth, BANDWIDTH)
    tile = f"{TILE_ROWS} × {TILE_COLUMNS}"
    return [
        Fixed(
            key="registers",
            name=chip.sums,
            size=f"{show(chip.room, BYTES)} in each of {job.gpu.sms} SMs",
            inside=f"sums of a {tile} tile in fp32: {show(sums, BYTES)}",
            share=sums / chip.room,
        ),
        Fixed(
            key="shared",
            name="shared memory",
            size=f"{show(chip.shared, BYTES)} per SM, {shared}",
            inside=f"{TILE_STAGES} slices of both its factors in bf16: {show(slices, BYTES)}",
            share=slices / chip.shared,
        ),
    ]


def fits(found: Placement) -> Badge:
    """Return whether every memory holds what was put there."""
    over = found.over()
    if not over:
        return Badge(
            text="everything fits",
            sentence=say(
                "HBM holds {h} of {c}, the working memory of the passes included.",
                h=(found.held["hbm"], BYTES),
                c=(found.tiers["hbm"].capacity, BYTES),
            ),
            color="activations",
        )
    tier = found.tiers[over[0]]
    words = "{h} of tensors, {c} of room. Move some of them to another memory."
    if over[0] == "peer" and not found.job.idle:
        words = "{h} of tensors, and no GPU of the node is idle: each holds its own share already."
    return Badge(
        text=f"{TIERS[over[0]]}: too full",
        sentence=say(words, h=(found.held[over[0]], BYTES), c=(tier.capacity, BYTES)),
        color="buffers",
    )


def bound(found: Placement) -> Badge:
    """Return what takes longest, and whether it can hide."""
    parts = {
        "computation": found.compute,
        "the update on the host": found.host_update,
    } | {
        f"{name} in the {'update' if update else 'passes'}": found.on(wire, update=update)
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
        sentence=say(words, l=(parts[longest], SECONDS), c=(found.compute, SECONDS)),
        color="compute" if longest == "computation" else "memory",
    )
