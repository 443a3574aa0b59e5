"""Views within a time: what is quick comes with this reply, what takes longer with a later one."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from engine.calculator import Lazy
from engine.core.slices import Progress
from engine.core.units import Count, Seconds, Share
from engine.core.views import View

Clock = Callable[[], Seconds]
# (calculator, view) -> what it took, as far as it is known
_costs: dict[tuple[str, str], Seconds] = {}


# What is ready and takes so little to write is never left for later.
_TRIFLE: Seconds = 0.002
# So many times the budget a reply may take if one view alone is the reason.
_ONE_VIEW: Count = 4
# How long a search goes on before the reader is heard again, if its steps are as long as before.
SLICE: Seconds = 0.1
# Of what is known of a calculator's longest step, what is forgotten with every reply: it may have
# been long because the machine was busy elsewhere.
_FORGOTTEN: Share = 0.1
# calculator -> about how long the longest step of its search took lately
_steps: dict[str, Seconds] = {}


def until_heard(clock: Clock, calculator: str = "") -> Callable[[], bool]:
    """Return what says, asked after every step of a search, whether its slice is over.

    It is, if one more step like the longest of the slice, or lately of this calculator, would not
    fit.
    """
    began = last = clock()
    longest = (1 - _FORGOTTEN) * _steps.get(calculator, 0.0)

    def over() -> bool:
        nonlocal last, longest
        now = clock()
        longest, last = max(longest, now - last), now
        if calculator:
            _steps[calculator] = longest
        return now - began + longest > SLICE

    return over


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How long the views of a reply may take.

    Attributes:
        clock: seconds since some moment; the engine has none of its own.
        within: the time.
        calculator: whose views they are; what each costs is remembered.
        rest: the reader rests: one view is made in any case.
        over: whether the slice of this reply is over; the search before the views is a part of it.
    """

    clock: Clock
    within: Seconds
    calculator: str
    rest: bool = False
    over: Callable[[], bool] | None = None

    def cost(self, view: str) -> Seconds:
        """Return what a view took when it was made, 0 if it never was."""
        return _costs.get((self.calculator, view), 0.0)

    def paid(self, view: str, taken: Seconds) -> None:
        """Remember what a view took; a view that was kept must not pass for a quick one."""
        _costs[self.calculator, view] = max(taken, self.cost(view) / 2)

    def allows(self, view: str, spent: Seconds, *, first: bool) -> bool:
        """Return whether a view can be made now; `first`, if only trifles came before it."""
        if first:
            return self.rest or self.cost(view) <= _ONE_VIEW * self.within
        return spent + self.cost(view) <= self.within


@dataclass(slots=True, kw_only=True)
class Told:
    """The views that were made, as they are and as they are sent, and the names of the others.

    Before there are any, how far the search for them is.
    """

    views: dict[str, View] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    later: list[str] = field(default_factory=list)
    progress: Progress | None = None


def told(
    lazy: Lazy,
    only: Iterable[str] | None,
    write: Callable[[View], Any],
    budget: Budget | None = None,
    *,
    needed: Iterable[str] = (),
) -> Told:
    """Return the views, the quick ones made first, and the names of those that would take too long.

    Args:
        lazy: views, made or not.
        only: names of the wanted ones; all, if not given.
        write: makes of a view what is sent.
        budget: how long it may take; without it everything is made.
        needed: names of views that are made whatever they cost.
    """
    chosen = set(lazy.names if only is None else only)
    wanted = [name for name in lazy.names if name in chosen]
    if budget is None:
        views = lazy.made(wanted)
        return Told(views=views, outputs={name: write(view) for name, view in views.items()})
    quick = (name for name in lazy.ready if budget.cost(name) <= _TRIFLE)
    # A number takes microseconds to write; if it ever took longer, the machine was busy elsewhere.
    trifles = {*quick, *lazy.numbers, *needed}
    found, began, first = Told(), budget.clock(), True
    over = budget.over or until_heard(budget.clock, budget.calculator)
    for name in sorted(wanted, key=lambda name: (name not in trifles, budget.cost(name))):
        spent = budget.clock() - began
        if name not in trifles:
            if not budget.allows(name, spent, first=first):
                found.later.append(name)
                continue
            first = False
            if not lazy.reach(name, over):
                found.later.append(name)
                continue
        found.views |= lazy.made({name})
        found.outputs[name] = write(found.views[name])
        budget.paid(name, budget.clock() - began - spent)
    made = [name for name in wanted if name in found.views]  # in the order of the page again
    return Told(
        views={name: found.views[name] for name in made},
        outputs={name: found.outputs[name] for name in made},
        later=found.later,
    )
