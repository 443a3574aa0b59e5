"""Time budget of a reply: cheap views first, expensive ones in a later reply."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from engine.calculator import LazyViews
from engine.core.slices import Progress
from engine.core.units import Count, Seconds, Share
from engine.core.views import View

Clock = Callable[[], Seconds]
# (calculator, view) -> what it took, as far as it is known
_costs: dict[tuple[str, str], Seconds] = {}


# What is ready and takes so little to write is never left for later.
_NEGLIGIBLE: Seconds = 0.002
# So many times the budget a reply may take if one view alone is the reason.
_ONE_VIEW: Count = 4
# How long a search goes on before the reader is heard again, if its steps are as long as before.
SLICE: Seconds = 0.1
# Of what is known of a calculator's longest step, what is forgotten with every reply: it may have
# been long because the machine was busy elsewhere.
_DECAY: Share = 0.1
# calculator -> about how long the longest step of its search took lately
_longest_steps: dict[str, Seconds] = {}


def slice_limit(clock: Clock, calculator: str = "") -> Callable[[], bool]:
    """Return a function that tells, after each step, whether the time slice is used up.

    It is, if one more step like the longest of the slice, or lately of this calculator, would not
    fit.
    """
    began = last = clock()
    longest = (1 - _DECAY) * _longest_steps.get(calculator, 0.0)

    def over() -> bool:
        nonlocal last, longest
        now = clock()
        longest, last = max(longest, now - last), now
        if calculator:
            _longest_steps[calculator] = longest
        return now - began + longest > SLICE

    return over


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The time budget for the views of one reply.

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
        """Return the last known time of a view, 0 if it was never made."""
        return _costs.get((self.calculator, view), 0.0)

    def record_cost(self, view: str, taken: Seconds) -> None:
        """Record the time of a view; a cached view must not count as cheap."""
        _costs[self.calculator, view] = max(taken, self.cost(view) / 2)

    def allows(self, view: str, spent: Seconds, *, first: bool) -> bool:
        """Return whether a view fits the budget; `first` if only cheap views came before it."""
        if first:
            return self.rest or self.cost(view) <= _ONE_VIEW * self.within
        return spent + self.cost(view) <= self.within


@dataclass(slots=True, kw_only=True)
class ReplyViews:
    """Views of a reply with their JSON data, and the names of views left for later.

    Before there are any, how far the search for them is.
    """

    views: dict[str, View] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    later: list[str] = field(default_factory=list)
    progress: Progress | None = None


def reply_views(
    lazy: LazyViews,
    only: Iterable[str] | None,
    to_json: Callable[[View], Any],
    budget: Budget | None = None,
    *,
    required: Iterable[str] = (),
) -> ReplyViews:
    """Return the views that fit the budget, cheapest first, and the names of the others.

    Args:
        lazy: views, made or not.
        only: names of the wanted ones; all, if not given.
        to_json: makes of a view what is sent.
        budget: how long it may take; without it everything is made.
        required: names of views that are made whatever they cost.
    """
    selected = set(lazy.names if only is None else only)
    wanted = [name for name in lazy.names if name in selected]
    if budget is None:
        views = lazy.compute(wanted)
        return ReplyViews(
            views=views, outputs={name: to_json(view) for name, view in views.items()}
        )
    quick = (name for name in lazy.ready if budget.cost(name) <= _NEGLIGIBLE)
    # A number takes microseconds to write; if it ever took longer, the machine was busy elsewhere.
    cheap = {*quick, *lazy.numbers, *required}
    reply, began, first = ReplyViews(), budget.clock(), True
    over = budget.over or slice_limit(budget.clock, budget.calculator)
    for name in sorted(wanted, key=lambda name: (name not in cheap, budget.cost(name))):
        spent = budget.clock() - began
        if name not in cheap:
            if not budget.allows(name, spent, first=first):
                reply.later.append(name)
                continue
            first = False
            if not lazy.advance(name, over):
                reply.later.append(name)
                continue
        reply.views |= lazy.compute({name})
        reply.outputs[name] = to_json(reply.views[name])
        budget.record_cost(name, budget.clock() - began - spent)
    names = [name for name in wanted if name in reply.views]  # in the order of the page again
    return ReplyViews(
        views={name: reply.views[name] for name in names},
        outputs={name: reply.outputs[name] for name in names},
        later=reply.later,
    )
