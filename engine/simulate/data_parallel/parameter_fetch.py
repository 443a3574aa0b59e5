"""Parameter fetching of DeepSpeed's ZeRO-3 by module: gathers, prefetches and releases.

The rules are those of `PartitionedParameterCoordinator` once it has seen a whole step: a module's
own parameters are fetched when its turn comes; then what the next modules need, until the bucket of
prefetches is full or too many parameters are live; behind a module its parameters are released,
unless they are used again within the reuse distance or a prefetch has counted on them.
Source: DeepSpeed 0.19, deepspeed/runtime/zero/partitioned_param_coordinator.py.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

from engine.core.units import Count, Parameters

# DeepSpeedZeroConfig, elements.
PREFETCH, LIVE, REUSE, PERSISTENT = 5e7, 1e9, 1e9, 1e5


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSettings:
    """DeepSpeed's ZeRO-3 settings, in elements.

    Attributes:
        prefetch: `stage3_prefetch_bucket_size`.
        live: `stage3_max_live_parameters`.
        reuse: `stage3_max_reuse_distance`.
        persistent: `stage3_param_persistence_threshold`; tensors up to here are never divided.
    """

    prefetch: Parameters = PREFETCH
    live: Parameters = LIVE
    reuse: Parameters = REUSE
    persistent: Parameters = PERSISTENT


class ModulePass(NamedTuple):
    """Forward or backward pass of one module.

    Attributes:
        module: from 0, in the order of the forward pass.
        backward: whether it is its backward pass.
        missing: its parameters are gathered now, and it waits for them.
        ahead: modules whose parameters one more gather fetches meanwhile.
        live: elements that are gathered while it computes.
        released: its parameters are freed behind it.
    """

    module: Count
    backward: bool
    missing: bool
    ahead: tuple[Count, ...]
    live: Parameters
    released: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSchedule:
    """Parameter fetches of a step.

    Attributes:
        visits: forward, then backward.
        persistent: elements that every rank keeps whole.
    """

    visits: tuple[ModulePass, ...]
    persistent: Parameters

    @property
    def live(self) -> Parameters:
        """The most elements that are gathered at once."""
        return max(visit.live for visit in self.visits)

    @property
    def calls(self) -> Count:
        """Number of all-gathers."""
        return sum(visit.missing + bool(visit.ahead) for visit in self.visits)


def gathered_elements(sizes: Sequence[Parameters], fetched: FetchSchedule) -> Parameters:
    """Return the elements that a step gathers."""
    return sum(
        sizes[visit.module] * visit.missing + sum(sizes[module] for module in visit.ahead)
        for visit in fetched.visits
    )


def canonical_settings(sizes: Sequence[Parameters], settings: FetchSettings) -> FetchSettings:
    """Return canonical settings with the same fetches, so that results can be cached.

    Between two sizes of tensors, and between two distances of their uses, a threshold is as good as
    any other.
    """
    used = list(accumulate(sizes, initial=0.0))
    distances = (2 * (used[-1] - before) for before in used[1:])
    return replace(
        settings,
        reuse=min(
            (distance for distance in distances if distance >= settings.reuse), default=math.inf
        ),
        persistent=max((size for size in sizes if size <= settings.persistent), default=0.0),
    )


def fetch_schedule(sizes: Sequence[Parameters], settings: FetchSettings) -> FetchSchedule:
    """Return the parameter fetches of a step over modules of one tensor each."""
    course = _Coordinator(sizes, settings)
    visits = tuple(course.visit(place) for place in range(2 * len(sizes)))
    kept = sum(size for size in sizes if size <= settings.persistent)
    return FetchSchedule(visits=visits, persistent=kept)


class _Coordinator:
    """State of DeepSpeed's parameter coordinator during a step."""

    def __init__(self, sizes: Sequence[Parameters], settings: FetchSettings) -> None:
        self._sizes, self._knobs = sizes, settings
        count = len(sizes)
        self._order = (*range(count), *reversed(range(count)))
        # Elements used before each place.
        self._used = (0.0, *accumulate(sizes[module] for module in self._order))
        self._there = [size <= settings.persistent for size in sizes]
        self._counted_on = [-1] * count
        self._front = 0
        self._live = 0.0

    def visit(self, place: Count) -> ModulePass:
        """Return the fetches and releases of the module at this place."""
        module = self._order[place]
        missing = not self._there[module]
        if missing:
            self._gather(module)
        if self._counted_on[module] < place:
            self._counted_on[module] = self._front
            self._front += 1
        ahead = self._prefetched()
        live = self._live
        return ModulePass(
            module=module,
            backward=place >= len(self._sizes),
            missing=missing,
            ahead=ahead,
            live=live,
            released=self._released(module, place + 1),
        )

    def _gather(self, module: Count) -> None:
        self._there[module] = True
        self._live += self._sizes[module]

    def _prefetched(self) -> tuple[Count, ...]:
        """Return the modules that one gather prefetches; the last may overfill the bucket."""
        room = min(self._knobs.live - self._live, self._knobs.prefetch)
        prefetched: list[Count] = []
        size = 0.0
        while self._front < len(self._order) and size < room:
            module = self._order[self._front]
            self._counted_on[module] = max(self._counted_on[module], self._front)
            self._front += 1
            if not self._there[module] and module not in prefetched:
                prefetched.append(module)
                size += self._sizes[module]
        for module in prefetched:
            self._gather(module)
        return tuple(prefetched)

    def _released(self, module: Count, place: Count) -> bool:
        if self._sizes[module] <= self._knobs.persistent or self._kept(module, place):
            return False
        self._there[module] = False
        self._live -= self._sizes[module]
        return True

    def _kept(self, module: Count, place: Count) -> bool:
        """Return whether the module stays gathered: for a near use, or for a prefetch."""
        again = len(self._order) - 1 - module
        if again < place:
            return False
        near = self._used[again] - self._used[place] < self._knobs.reuse
        return near or self._counted_on[module] > place
