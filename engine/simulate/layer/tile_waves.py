"""Tiles of a matrix product on the multiprocessors of a GPU, wave by wave.

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
RESERVED_SHARED: Bytes = 1024.0
# Warps of a block: four for each 64 rows of the tile, and four that load.
_ROWS_OF_A_GROUP, _WARPS_OF_A_GROUP, _LOADING = 64, 4, 4
MOST_WARPS: Count = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiling:
    """Tiling of a matrix product.

    Attributes:
        rows, columns, inner: dimensions of the product.
        tile_rows, tile_columns: dimensions of a tile of the result.
    """

    rows: Count
    columns: Count
    inner: Count
    tile_rows: Count
    tile_columns: Count

    @property
    def tiles(self) -> Count:
        """Number of tiles that cover the result; edge tiles may stick out."""
        return -(-self.rows // self.tile_rows) * -(-self.columns // self.tile_columns)

    @property
    def each(self) -> Operations:
        """Operations of one tile, padding included."""
        return MULTIPLY_ADD * self.tile_rows * self.tile_columns * self.inner

    @property
    def useful(self) -> Operations:
        """Operations of the product."""
        return MULTIPLY_ADD * self.rows * self.columns * self.inner

    @property
    def sums(self) -> Bytes:
        """Bytes of the sums of one tile, in single precision."""
        return SINGLE * self.tile_rows * self.tile_columns

    @property
    def staged(self) -> Bytes:
        """Bytes of a tile's operand slices in shared memory."""
        return HALF * SLICE * STAGES * (self.tile_rows + self.tile_columns)

    @property
    def warps(self) -> Count:
        """Number of warps of the block that computes one tile."""
        return _WARPS_OF_A_GROUP * max(1, self.tile_rows // _ROWS_OF_A_GROUP) + _LOADING


@dataclass(frozen=True, slots=True, kw_only=True)
class TileWave:
    """A wave of concurrent tiles.

    Attributes:
        start, end: times since the kernel began.
        on: number of tiles on each multiprocessor.
    """

    start: Seconds
    end: Seconds
    on: tuple[Count, ...]

    @property
    def tiles(self) -> Count:
        """Number of tiles of the wave."""
        return sum(self.on)


@dataclass(frozen=True, slots=True, kw_only=True)
class TileSchedule:
    """Waves and time of a product.

    Attributes:
        waves: distinct waves; equal full waves are listed once.
        repeats: number of repetitions of each of `waves`.
        time: time of the kernel.
    """

    waves: tuple[TileWave, ...]
    repeats: tuple[Count, ...]
    time: Seconds

    @property
    def count(self) -> Count:
        """Number of waves."""
        return sum(self.repeats)


def run_tiles(
    tiling: Tiling, sms: Count, places: Count, rate: FlopRate, fill: Seconds
) -> TileSchedule:
    """Return the waves of a product; `rate` is the rate of one multiprocessor.

    `places` are the tiles that a multiprocessor holds at once, `fill` the wait for the first
    operands and the last store of a wave.
    """
    each = tiling.each / rate
    full, left = divmod(tiling.tiles, sms * places)
    waves, repeats, start = [], [], 0.0
    if full:
        length = places * each + fill
        waves.append(TileWave(start=0.0, end=length, on=(places,) * sms))
        repeats.append(full)
        start = full * length
    if left:
        per_sm, extra = divmod(left, sms)
        on = tuple(per_sm + (1 if index < extra else 0) for index in range(sms))
        waves.append(TileWave(start=start, end=start + max(on) * each + fill, on=on))
        repeats.append(1)
        start = waves[-1].end
    return TileSchedule(waves=tuple(waves), repeats=tuple(repeats), time=start)


def tiles_per_limit(tiling: Tiling, room: Bytes, shared: Bytes) -> dict[str, Count]:
    """Return resource -> number of tiles that fit on a multiprocessor."""
    return {
        "registers": int(room // tiling.sums),
        "shared memory": int(shared // (tiling.staged + RESERVED_SHARED)),
        "warps": MOST_WARPS // tiling.warps,
    }


def wave_efficiency(tiles: Count, sms: Count) -> Share:
    """Return the wave efficiency: busy share of the multiprocessors, with one tile on each.

    Source: NVIDIA's guide to matrix multiplication (wave quantization).
    """
    return tiles / (sms * -(-tiles // sms))


def last_wave_share(tiles: Count, sms: Count) -> Ratio:
    """Return the occupied share of the last wave."""
    return (tiles - 1) % sms / sms + 1 / sms
