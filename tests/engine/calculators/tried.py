"""Every calculator tried with seeded inputs, once: what its views and its replies were.

All tests of a calculator look at the same results, so that none is computed twice.
"""

import json
import random
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache, lru_cache
from unittest.mock import patch

import engine.answer
from engine.calculator import load, make
from engine.core.inputs import Choice, Compact, Number, Order, Text
from engine.core.parsing import exact_text
from engine.core.views import Value
from tests import lanes

# What "Calibrate to your cluster" may write.
OWN_CONSTANTS = "H100-SXM,matmul:0.6:0.02,network:0.7:0.05,pace.16.megatron:1.05"
# The tests of a calculator run one after another (tests/units.py), so that a few need be kept.
recent = lru_cache(maxsize=3)
# Those whose reply takes more than about 50 ms natively.
SLOW = frozenset(
    [
        "bucket_lab",
        "calibrate",
        "capstone",
        "collectives_by_hand",
        "compressed_training",
        "hybrid_lab",
        "import_job",
        "job_planner",
        "largest_batch",
        "layer_mix",
        "levers",
        "local_steps",
        "parallel_map",
        "parallelism_modeler",
        "planner",
        "published_runs",
        "rollout_lab",
        "router_lab",
        "sandbox",
        "schedule_lab",
        "slot_run",
        "stack_explorer",
        "sweep_result",
        "trace_check",
        "wire_types",
        "zero_2_lab",
        "zero_3_knobs",
        "zero_3_lab",
    ]
)


def spread(field):
    """The values of a field that matter alone: its bounds, all options or samples, odd orders."""
    if isinstance(field, Number):
        return [field.low, field.high]
    if isinstance(field, Order):
        return ["-".join(field.items), "-".join(reversed(field.items))]
    if isinstance(field, Text):
        left_out = [] if field.empty else [""]
        return left_out + [sample.text for sample in field.samples.values()]
    if isinstance(field, Compact):
        return ["", field.example or OWN_CONSTANTS]
    return list(field.options) if isinstance(field, Choice) else [True, False]


def chosen(field, chance):
    if isinstance(field, Order):
        return "-".join(chance.sample(field.items, len(field.items)))
    if not isinstance(field, Number):
        return chance.choice(spread(field))
    if chance.random() < 0.2:
        return chance.choice(spread(field))
    if field.low <= 0 or chance.random() < 0.3:
        return field.at(chance.random())
    value = min(field.low * (field.high / field.low) ** chance.random(), field.high)
    return round(value) if field.whole else max(value, field.low)


def tries(name):
    """Return how many combinations of a calculator are tried: a fixed number of each lane.

    Calculators that search, simulate or train take seconds for a dozen.
    """
    if lanes.in_short_lane():
        return 3 if name in SLOW else 8
    return 12 if name in SLOW else 60


@cache
def combinations(name, count=200):
    """`count` seeded combinations of inputs, less those that are alike."""
    chance = random.Random(f"combinations of {name}")
    fields = load(name).fields
    found = [{key: chosen(field, chance) for key, field in fields.items()} for _ in range(count)]
    return tuple(values for index, values in enumerate(found) if values not in found[:index])


def sample(things, most):
    """Return at most so many of a sequence, spread evenly over it: the same on every machine."""
    things = list(things)
    count = min(len(things), most)
    return [things[at * len(things) // count] for at in range(count)]


@recent
def remembering(name):
    """The calculator `name`, which computes the views of equal inputs once."""
    calculator = load(name)
    compute = cache(calculator.compute)
    return replace(
        calculator,
        solve=lambda inputs: inputs,
        views=lambda _, inputs: compute(inputs),
        search=None,  # in one go, as the views are
    )


def from_memory() -> AbstractContextManager:
    """Within it, the engine answers from remembered views."""
    return patch.object(engine.answer, "load", remembering)


def reply(request):
    """The reply to a request, from remembered views."""
    with from_memory():
        return engine.answer.reply(request)


def answer(request):
    """The same, both as texts."""
    return engine.answer.dump(reply(json.loads(request)))


def views_at(name, values):
    """The views for `values` in place of the defaults."""
    calculator = remembering(name)
    return calculator.compute(make(calculator, values))


@recent
def default_views(name):
    return views_at(name, {})


@recent
def replies(name):
    """The reply to the combinations, with all receipts, in every unit system in turn."""
    receipts = [key for key, view in default_views(name).items() if isinstance(view, Value)]
    answered = (
        reply(
            {
                "calculator": name,
                "values": {key: exact_text(value) for key, value in values.items()},
                "display": {"binary": bool(index & 1), "both_ways": bool(index & 2)},
                "want": {"receipts": receipts},
            }
        )
        for index, values in enumerate(combinations(name)[: tries(name)])
    )
    return tuple(answered)


@recent
def computed(name):
    """The views of the defaults and of the first combinations: those that were replied to."""
    count = min(len(replies(name)), 40)
    return (default_views(name), *(views_at(name, v) for v in combinations(name)[:count]))
