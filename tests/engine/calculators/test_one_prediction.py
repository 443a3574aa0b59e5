"""Every step that a page shows with its range is the estimate's step of the job it names.

Nothing lists the pages' jobs: a number that has a range rests on the evidence of a run, and is held
to the step model's answer for that run. Pages are those of `RANGED` in `test_known.py`, which finds
all that predict a step by their imports; one that shows no such number fails.
"""

import math
import sys
from itertools import product

import pytest

from engine.calculator import load, make
from engine.core.inputs import Choice, InputError, Number
from engine.form.run import prediction_text
from engine.simulate.step.step_time import step_time
from tests.engine.calculators.test_known import RANGED
from tests.engine.calculators.tried import sample

WITHIN = 0.005
# Pages whose ranged number is put together elsewhere -> their step and its run, from the result.
FROM_RESULT = {
    "estimate_run": lambda result: (result.estimate.step_time, result.estimate.evidence),
    "stack_explorer": lambda result: (result.step_time, result.job.estimate.evidence),
    "calibrate": lambda result: (result.step_time, result.evidence),
    "import_job": lambda result: (result.estimate.step_time, result.estimate.evidence),
}
# Outputs that are no single step: the tokens that their time or rate is of.
SPANS = {
    ("depth_story", "wide_time"): "a number of tokens",
    ("depth_story", "deep_time"): "a number of tokens",
    ("run_forecast", "work_time"): "a whole run",
    ("capstone", "time"): "a whole run",
    ("capstone", "best_time"): "a whole run",
    ("context_lab", "rate"): "operations, not tokens",
    ("largest_batch", "token_rate"): "a step of more sequences than the run that it names",
}
# Inputs that change the step by what no software does unasked, or that the estimate has no word
# for: pages print the estimate beside it, or say so.
OWN = {
    "data_parallel_scaling": {"slower", "deviation"},
    "fabric_compare": {"first_wait", "second_wait"},
    "parallel_map": {"order"},
}
# Searches and simulations that take seconds: their defaults, and one preset.
LONG = ("planner", "job_planner", "capstone")
# Tried where a page has inputs for them.
MODELS = ("llama-3-8b", "llama-3-70b", "deepseek-v3", "qwen3-235b-a22b")
SIZES = ({"tensor_parallel": 8}, {"pipeline_parallel": 4}, {"context_parallel": 2},
         {"expert_parallel": 8}, {"zero_stage": "3"}, {"zero_stage": "0"}, {})  # fmt: skip
GPUS = (64, 512, 4096)
COUNTS = ("world_size", "ranks", "num_gpus", "gpus")


def plans(fields):
    """Changes that a page can take: models, numbers of GPUs and axes that it has inputs for."""
    count = next((name for name in COUNTS if name in fields), None)
    models = MODELS if "model" in fields else ("",)
    for axis, model, gpus in product(SIZES, models, GPUS if count else (0,)):
        changes = {"model": model} if model else {}
        changes |= {count: gpus} if count else {}
        if set(axis) <= set(fields):
            yield changes | axis


def accepted(page, changes):
    """The inputs with these changes; None where a field refuses one, or the job."""
    asked = {key: type(page.defaults[key])(value) for key, value in changes.items()}
    for key, value in asked.items():
        field = page.fields[key]
        known = field.options if isinstance(field, Choice) else ()
        fits = field.low <= value <= field.high if isinstance(field, Number) else value in known
        if not fits:
            return None
    try:
        inputs = make(page, asked)
        return inputs, page.solve(inputs)
    except (InputError, ValueError):
        return None


def cases(name):
    page = load(name)
    presets = [one for one in page.presets.values() if not OWN.get(name, set()) & set(one)]
    found = [({}, *accepted(page, {}))]
    if name in LONG:
        presets, grid = presets[:1], ()
    else:
        grid = sample(plans(page.fields), 40)
    for changes in presets:
        inputs = make(page, changes)
        found.append((changes, inputs, page.solve(inputs)))
    tried = ((one, accepted(page, one)) for one in grid)
    found += [(one, *both) for one, both in tried if both]
    return found


def ranged(name, inputs, result, only=()):
    """(output, its number, seconds or a rate of tokens, its run) of all that show a range.

    `only` of these views, if given.
    """
    seen, note = [], prediction_text.range_note

    def noted(present, key, evidence, before=""):
        number, quantity = present.number(key)
        seen.append((key, number, quantity.second, evidence().run))
        return note(present, key, evidence, before)

    users = [one for one in sys.modules.values() if getattr(one, "range_note", None) is note]
    with pytest.MonkeyPatch.context() as patch:
        for module in users:
            patch.setattr(module, "range_note", noted)
        views = load(name).views(inputs, result)
        for key, view in views.items():
            if callable(view) and key in (only or views):
                view()
    return seen


def total(run):
    return step_time(run.model, run.cluster, run.plan, run.training).total


@pytest.mark.parametrize("name", RANGED)
def test_a_ranged_step_is_the_estimates(name):
    compared, known = 0, set()
    for changes, inputs, result in cases(name):
        if name in FROM_RESULT:
            shown, evidence = FROM_RESULT[name](result)
            assert shown == pytest.approx(total(evidence().run), rel=WITHIN), changes
            compared += 1
            continue
        for key, number, dimension, run in ranged(name, inputs, result, known):
            compared += 1
            known.add(key)
            # What fits on no GPU takes no time: nothing is shown.
            if (name, key) in SPANS or not math.isfinite(number):
                continue
            step, training = total(run), run.training
            if dimension == 1:
                assert number == pytest.approx(step, rel=WITHIN), (key, changes)
                continue
            rate = training.global_batch_size * training.sequence_length / step
            close = pytest.approx(rate, rel=WITHIN), pytest.approx(rate / run.plan.world_size)
            assert number in close, (key, changes)
    assert compared


def test_what_is_no_single_step_is_still_shown_with_a_range():
    for name in {page for page, _ in SPANS} - {*LONG}:
        page = load(name)
        inputs = make(page, {})
        shown = {key for key, *_ in ranged(name, inputs, page.solve(inputs))}
        assert {key for one, key in SPANS if one == name} <= shown
