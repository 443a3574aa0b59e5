"""The tiles of a matrix product on the multiprocessors of a GPU, wave by wave.

The block scheduler gives a tile to every free place of every multiprocessor, one multiprocessor
after the other, and the next tiles when those are done. Tiles are equal, so places become free
together: a wave. The tiles on one multiprocessor share its tensor cores; what they do not share is
the wait for the first operands, which one tile spends idle while others compute.
"""

from dataclasses import dataclass

from engine.core.units import Bytes, Count, FlopRate, Operations, Ratio, Seconds, Share

MULTIPLY_ADD: Operations = 2.0
HALF: Bytes = 2.0
SINGLE: Bytes = 4.0
# A slice of the inner sum that is loaded at once, and how many are on their way.
SLICE: Count = 64
STAGES: Count = 4
# Of shared memory CUDA keeps 1 KiB for every block (Hopper tuning guide).
KEPT: Bytes = 1024.0
# Warps of a block: four for each 64 rows of the tile, and four that load.
_ROWS_OF_A_GROUP, _WARPS_OF_A_GROUP, _LOADING = 64, 4, 4
MOST_WARPS: Count = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiling:
    """A product cut into tiles.

    Attributes:
        rows, columns, inner: of the product.
        tile_rows, tile_columns: of a tile of the result.
    """

    rows: Count
    columns: Count
    inner: Count
    tile_rows: Count
    tile_columns: Count

    @property
    def tiles(self) -> Count:
        """Tiles that cover the result; those at the edges may stick out."""
        return -(-self.rows // self.tile_rows) * -(-self.columns // self.tile_columns)

    @property
    def each(self) -> Operations:
        """Operations of one tile, what sticks out included."""
        return MULTIPLY_ADD * self.tile_rows * self.tile_columns * self.inner

    @property
    def useful(self) -> Operations:
        """Operations of the product."""
        return MULTIPLY_ADD * self.rows * self.columns * self.inner

    @property
    def sums(self) -> Bytes:
        """The sums of one tile, in single precision."""
        return SINGLE * self.tile_rows * self.tile_columns

    @property
    def staged(self) -> Bytes:
        """Slices of both factors of one tile that are in shared memory."""
        return HALF * SLICE * STAGES * (self.tile_rows + self.tile_columns)

    @property
    def warps(self) -> Count:
        """Warps of the block that computes one tile."""
        return _WARPS_OF_A_GROUP * max(1, self.tile_rows // _ROWS_OF_A_GROUP) + _LOADING


@dataclass(frozen=True, slots=True, kw_only=True)
class Wave:
    """Tiles that run at the same time.

    Attributes:
        start, end: since the kernel began.
        on: tiles on each multiprocessor.
    """

    start: Seconds
    end: Seconds
    on: tuple[Count, ...]

    @property
    def tiles(self) -> Count:
        """Tiles of the wave."""
        return sum(self.on)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A product as it ran.

    Attributes:
        waves: full waves that are alike are told once, with their number.
        repeats: how often each of `waves` ran.
        time: of the kernel.
    """

    waves: tuple[Wave, ...]
    repeats: tuple[Count, ...]
    time: Seconds

    @property
    def count(self) -> Count:
        """All waves."""
        return sum(self.repeats)


def run_tiles(tiling: Tiling, sms: Count, places: Count, rate: FlopRate, fill: Seconds) -> Schedule:
    """Return the waves of a product; `rate` is that of one multiprocessor.

    `places` are the tiles that a multiprocessor holds at once, `fill` the wait for the first
    operands and the last store of a wave.
    """
    each = tiling.each / rate
    full, left = divmod(tiling.tiles, sms * places)
    waves, repeats, start = [], [], 0.0
    if full:
        length = places * each + fill
        waves.append(Wave(start=0.0, end=length, on=(places,) * sms))
        repeats.append(full)
        start = full * length
    if left:
        most, some = divmod(left, sms)
        on = tuple(most + (1 if index < some else 0) for index in range(sms))
        waves.append(Wave(start=start, end=start + max(on) * each + fill, on=on))
        repeats.append(1)
        start = waves[-1].end
    return Schedule(waves=tuple(waves), repeats=tuple(repeats), time=start)


def places_by(tiling: Tiling, room: Bytes, shared: Bytes) -> dict[str, Count]:
    """Return how many tiles fit on a multiprocessor by each of its limits."""
    return {
        "registers": int(room // tiling.sums),
        "shared memory": int(shared // (tiling.staged + KEPT)),
        "warps": MOST_WARPS // tiling.warps,
    }


def wave_efficiency(tiles: Count, sms: Count) -> Share:
    """Return the share of the multiprocessors' time that tiles use, one tile at a time on each.

    Source: NVIDIA's guide to matrix multiplication (wave quantization).
    """
    return tiles / (sms * -(-tiles // sms))


def tail(tiles: Count, sms: Count) -> Ratio:
    """Return how full the last wave is."""
    return (tiles - 1) % sms / sms + 1 / sms
