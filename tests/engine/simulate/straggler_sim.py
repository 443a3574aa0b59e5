"""Steps of many GPUs that wait for one another, and the failures of each: by a seeded sequence."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from engine.core.units import Count, Ratio, Seconds, Share
from engine.simulate.numerics.rng import normals, uniforms


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """One step of all GPUs, in units of the mean step of one.

    Attributes:
        slowest: the GPU that all wait for.
        time: that it takes.
        mean: of all GPUs.
    """

    slowest: Count
    time: Ratio
    mean: Ratio

    @property
    def waited(self) -> Share:
        """The share of all GPU time that is spent waiting."""
        return 1 - self.mean / self.time


def steps(
    num_gpus: Count, deviation: Share, num_steps: Count, seed: int, slower: Share = 0.0
) -> Iterator[Together]:
    """Yield steps whose GPUs each take a normal time around 1; GPU 0 is slower by `slower`."""
    noise = normals(uniforms(seed))
    for _ in range(num_steps):
        times = [1 + deviation * x for x in islice(noise, num_gpus)]
        times[0] += 1 / (1 - slower) - 1
        last = max(times)
        yield Together(slowest=times.index(last), time=last, mean=sum(times) / num_gpus)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A GPU stops the job.

    Attributes:
        time: since the start.
        gpu: that failed.
    """

    time: Seconds
    gpu: Count


def failures(num_gpus: Count, gpu_mtbf: Seconds, until: Seconds, seed: int) -> tuple[Failure, ...]:
    """Return the failures of all GPUs in order; each GPU has its own clock, of mean `gpu_mtbf`.

    A GPU that failed is replaced by one that is as likely to fail.
    """
    chance = uniforms(seed)
    found = []
    for gpu in range(num_gpus):
        clock = -gpu_mtbf * math.log(next(chance))
        while clock < until:
            found.append(Failure(time=clock, gpu=gpu))
            clock -= gpu_mtbf * math.log(next(chance))
    return tuple(sorted(found, key=lambda failure: failure.time))
