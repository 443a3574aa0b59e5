"""What two things that a calculator tells have to do with each other, at odd inputs too."""

import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache

import pytest

from engine.calculator import load, make, names
from engine.calculators.reference.claims_checked.axes import tensor_parallel_ratio
from engine.catalog.reported_runs import REPORTED
from engine.core.equation import Equation
from engine.core.inputs import Number
from engine.core.text import Sentence, render_text
from engine.core.units import COUNT, SHARE
from engine.core.views import Badge, Bars, CalculatorLink, Code, Shape, Table, Value, WebLink
from tests.each import each
from tests.engine.calculators.tried import sample, tries, views_at

# Inputs that count GPUs and micro-batches: they are tried at both ends of their ranges.
ENDS = re.compile(r"(world_size|(num_)?(gpus|ranks|nodes|microbatches)|gpus_per_node)$")
NOUNS = (
    "GPUs|micro-batches|nodes|ranks|layers|stages|ports|steps|buckets|sequences|tokens|experts|"
    "pieces|messages|replicas|chunks|rounds|collectives|kernels|heads|failures|checkpoints|bytes|"
    "copies|racks|switches|channels|transfers|runs|passes|groups|links|SMs|hops|devices"
)
SMALL = "and|as|at|by|for|from|in|of|on|or|per|than|that|to|where|with"
# "Layer 1 runs" is a name and a verb.
PLURAL_OF_ONE = re.compile(
    rf"(?<![\w.,\-−–×/·^])(?<!Layer )1 (?:(?!(?:{SMALL})\b)[a-z-]+ )?(?:{NOUNS})\b"
)
TEN_DIGITS = re.compile(r"\d{1,3}(?:,\d{3}){3,}|(?<![\d.])\d{10,}")
NO_NUMBER = re.compile(r"\b(inf|nan|None)\b")
# A round number beyond what any run has: a bound of the code that reached the reader.
ABSURD = {10.0**power for power in range(9, 30)}
# Told in percent, but no part of a whole: over an ideal or over something else, or an error.
NO_PART = {
    ("bubble_conventions", "over_ideal"),
    ("schedule_lab", "bubble_over_ideal"),
    ("parallelism_modeler", "ratio"),
    ("mlperf_runs", "bias"),
    ("published_runs", "bias"),
    ("published_runs", "sharded_bias"),
    ("published_runs", "worst"),
    ("bus_bandwidth", "share"),
    ("log_check", "drift"),
    ("nccl_log", "share"),
    ("log_check", "spread"),
}
# What has no value at some inputs, and is told as "no finite value": means of runs when a filter
# leaves none, a wait that no run lives to see, the cost of a job that does not fit.
NO_VALUE = {
    ("trace_check", "predicted"),  # of a trace of another GPU than the job has
    ("published_runs", "memory_mean"),
    ("published_runs", "memory_p90"),
    ("product_roofline", "enough"),  # no number of tokens is enough
    ("data_parallel_scaling", "one_in"),
    ("stack_explorer", "cost_of_tokens"),
    # A log without a table has no bandwidth; not every number of GPUs was measured; and not every
    # variable changes what the model knows.
    ("nccl_log", "bus_bandwidth"),
    ("nccl_log", "share"),
    ("nccl_log", "latency"),
    ("in_network_gain", "measured"),
    ("algorithm_race", "crossover"),  # the tree may win at all sizes
    ("nccl_variables", "set_to"),
    ("nccl_variables", "left"),
    # rdma statistic counts no bytes, and only ethtool counts pauses.
    ("counter_decoder", "sent"),
    ("counter_decoder", "received"),
    ("counter_decoder", "paused"),
    # Of what a paste did not measure, nothing is told.
    ("calibrate", "collective"),
    ("calibrate", "copy"),
    ("calibrate", "product"),
    # Of a text that contradicts itself there is no job to tell.
    ("import_job", "step_time"),
    ("import_job", "mfu"),
    ("import_job", "token_rate"),
    ("import_job", "allocated"),
    ("import_job", "reserved"),
    ("import_job", "process"),
    # Where no plan fits, none has a step: the answer shows dashes, and the sentence says why.
    ("job_planner", "step"),
    ("job_planner", "rate"),
    ("job_planner", "days"),
    ("job_planner", "in_the_end"),
    ("job_planner", "cost"),
    ("job_planner", "steps_cost"),
    ("job_planner", "held"),
}
# (calculator, bars, the bar or "*" for all together, the number that they add up to).
TOTALS = (
    ("data_parallel_variants", "bars", "star", "naive"),
    ("estimate_run", "memory_parts", "held", "peak_memory"),
    ("estimate_run", "time_parts", "*", "step_time"),
    ("gradient_sync", "parts", "*", "all_reduce_time"),
    ("job_time", "waterfall", "part0", "work_time"),
    ("memory_tiers", "times", "*", "step"),
    ("message_waterfall", "stacked", "yours", "one_way"),
    ("parallel_map", "orders", "now", "step"),
    ("parallelism_modeler", "breakdown", "set", "step"),
    ("stack_explorer", "parts", "*", "step_time"),
    ("state_ladder", "ladder", "zero0", "replicated"),
    ("state_ladder", "ladder", "zero1", "zero1"),
    ("state_ladder", "ladder", "zero3", "sharded"),
)
# What a preset is called that is named after a published run.
RUN = re.compile("|".join(map(re.escape, REPORTED)))

ALL = pytest.mark.parametrize("name", names())


@cache
def cases(name):
    """Case -> inputs: the defaults, the presets, and the ends of what counts GPUs."""
    calculator = load(name)
    found = {"defaults": {}, **calculator.presets}
    for key, field in calculator.fields.items():
        if isinstance(field, Number) and ENDS.match(key):
            found |= {f"{key}={round(end)}": {key: round(end)} for end in (field.low, field.high)}
    return found


@cache
def shown(name):
    """(case, key, view) of the cases; of slow calculators a few."""
    chosen = sample(cases(name).items(), tries(name))
    found = [(case, views_at(name, values)) for case, values in chosen]
    return tuple((case, key, view) for case, views in found for key, view in views.items())


def parts(thing):
    """What a view is made of; code and drawings show no sentences."""
    if isinstance(thing, str | Sentence | Code | Equation | Shape):
        return ()
    if isinstance(thing, Mapping):
        return thing.values()
    if isinstance(thing, tuple | list):
        return thing
    return [getattr(thing, f.name) for f in fields(thing)] if is_dataclass(thing) else ()


def texts(thing):
    """Every text that a view shows."""
    if isinstance(thing, str | Sentence):
        yield render_text(thing)
    # Of a link its text is shown, and not its address.
    for part in (thing.text,) if isinstance(thing, CalculatorLink | WebLink) else parts(thing):
        yield from texts(part)


def matching(name, pattern):
    """(case, view, beginning of the text) wherever a text matches."""
    return {
        (case, key, text[:120])
        for case, key, view in shown(name)
        for text in texts(view)
        if pattern.search(text)
    }


def values(name):
    """(case, key, view) of the numbers."""
    return [one for one in shown(name) if isinstance(one[2], Value)]


@ALL
def test_one_of_a_thing_is_not_called_many(name):
    assert not matching(name, PLURAL_OF_ONE)


@ALL
def test_no_sentence_holds_a_number_of_ten_digits(name):
    assert not matching(name, TEN_DIGITS)


@ALL
def test_no_text_holds_what_is_no_number(name):
    assert not matching(name, NO_NUMBER)


@ALL
def test_every_number_is_finite(name):
    wrong = {key for _, key, view in values(name) if not math.isfinite(view.value)}
    assert wrong <= {key for of, key in NO_VALUE if of == name}


@ALL
def test_no_bound_of_the_code_is_shown_as_a_count(name):
    counts = [one for one in values(name) if one[2].quantity == COUNT]
    assert not [(case, key) for case, key, view in counts if view.value in ABSURD]


@ALL
def test_a_share_of_a_whole_lies_between_none_and_all(name):
    assert not [
        (case, key, view.value)
        for case, key, view in values(name)
        if view.quantity == SHARE
        and (name, key) not in NO_PART
        and not -1e-9 <= view.value <= 1 + 1e-9
        and math.isfinite(view.value)
    ]


@each(("name", "bars", "bar", "total"), TOTALS)
def test_the_parts_of_a_bar_add_up_to_the_number_that_is_told(name, bars, bar, total):
    for inputs in cases(name).values():
        views = views_at(name, inputs)
        assert isinstance(views[bars], Bars)
        lengths = [
            segment.value
            for one in views[bars].bars
            for segment in one.segments
            if bar in ("*", one.key)
        ]
        assert math.fsum(lengths) == pytest.approx(views[total].value, rel=1e-9)


@each(("ranks", "ports"), [(8, 8), (16, 8), (16, 1)])
def test_tensor_parallelism_over_computation_is_one_number_on_both_pages(ranks, ports):
    calculator = load("parallelism_modeler")
    inputs = make(calculator, {"tensor_parallel": ranks, "nics_per_node": ports})
    modeled = calculator.solve(inputs).plan.tensor_over_computation
    assert tensor_parallel_ratio(ranks, ports) == pytest.approx(modeled, rel=1e-12)


def published_presets():
    """(calculator, preset) of the presets that are named after a published run."""
    return [(n, case) for n in names() for case in load(n).presets if RUN.search(case)]


@each(("name", "preset"), published_presets())
def test_a_preset_named_after_a_published_run_does_not_fail_to_fit(name, preset):
    views = views_at(name, load(name).presets[preset])
    badges = [view.text for view in views.values() if isinstance(view, Badge)]
    assert "Does not fit" not in badges


@each(("name", "preset"), [one for one in published_presets() if one[0] == "estimate_run"])
def test_a_preset_named_after_a_published_run_shows_what_was_published(name, preset):
    views = views_at(name, load(name).presets[preset])
    tables = [view for view in views.values() if isinstance(view, Table)]
    assert any("Published" in view.columns for view in tables)
