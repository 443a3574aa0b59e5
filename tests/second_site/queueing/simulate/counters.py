"""One line before several counters, customer by customer; the same customers every time."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from engine.core.units import Count, Seconds, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A customer: when they came, when a counter began with them, when they left."""

    counter: Count
    came: Seconds
    began: Seconds
    left: Seconds

    @property
    def wait(self) -> Seconds:
        """How long they stood in line."""
        return self.began - self.came


def visits(counters: Count, load: Share, service: Seconds, customers: Count) -> tuple[Visit, ...]:
    """Return the visits in the order of arrival; the first customer comes at 0."""
    free = [0.0] * counters
    came, found = 0.0, []
    draws = _exponential()
    for _ in range(customers):
        counter = free.index(min(free))
        began = max(came, free[counter])
        free[counter] = began + service * next(draws)
        found.append(Visit(counter=counter, came=came, began=began, left=free[counter]))
        came += service / (counters * load) * next(draws)
    return tuple(found)


def _exponential() -> Iterator[float]:
    """Yield numbers of mean 1 from a linear congruential generator (Numerical Recipes)."""
    state = 2_026
    while True:
        state = (1_664_525 * state + 1_013_904_223) % 2**32
        yield -math.log(1 - state / 2**32)
