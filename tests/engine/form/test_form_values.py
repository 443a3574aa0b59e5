"""The way from a run back to the form, and what the form cannot say."""

from dataclasses import replace

import pytest

from engine.core.text import render_text
from engine.form.run.form_values import fits_form, inputs_of
from engine.form.run.inputs import RECENT_NAMES, Inputs
from engine.form.run.nearest_valid import nearest_run
from engine.run.file import read_run
from engine.run.layer_keys import indivisible_layers
from engine.run.run import Run
from tests.engine.run.test_run_file import GOOD
from tests.validation.published import DATA
from tests.validation.rows import cases

RUN = read_run(GOOD)


def changed(part: str, **values: object) -> Run:
    return replace(RUN, **{part: replace(getattr(RUN, part), **values)})


def test_a_published_run_that_fits_the_form_comes_back_the_same():
    fitting = [case.run for case in cases(DATA)[0] if fits_form(case.run)]
    assert len(fitting) > 500
    for run in fitting:
        again, changes = nearest_run(inputs_of(run))
        assert not changes
        assert (again.cluster, again.plan, again.training) == (run.cluster, run.plan, run.training)


@pytest.mark.parametrize(
    "run",
    [
        changed("cluster", transport="roce"),
        changed("cluster", oversubscription=2.0),
        changed("training", optimizer="muon"),
        changed("training", recompute_modules=("mlp",)),
        changed("model", name="its own", sliding_window=128),
        changed("model", name="its own", head_size=96),
    ],
)
def test_what_the_form_has_no_field_for_does_not_fit(run):
    assert fits_form(RUN)
    assert not fits_form(run)


@pytest.mark.parametrize(
    "run",
    [
        changed("cluster", price_per_hour=2.5),
        changed("training", lora_rank=16, lora_layers="all"),
        changed("model", name="its own"),
    ],
)
def test_names_prices_and_adapters_fit(run):
    assert fits_form(run)


@pytest.mark.parametrize("key", RECENT_NAMES)
def test_a_recent_model_is_estimated_with_a_plan_that_all_of_its_layers_allow(key):
    sizes = {"tensor_parallel": 8, "context_parallel": 2, "pipeline_parallel": 1}
    inputs = Inputs(model=key, world_size=64, lora_rank=16, flash_attention=False, **sizes)
    run, changes = nearest_run(inputs)
    assert run.model.name == RECENT_NAMES[key]
    assert not indivisible_layers(run.model, run.plan, run.training)
    assert fits_form(run)
    assert inputs_of(run).model == key
    words = " ".join(map(render_text, changes))
    assert ("fused attention" in words) == ("LoRA rank" in words) == bool(run.model.mix)


def test_a_recent_model_with_fewer_heads_than_ranks_says_which_it_splits_by():
    run, changes = nearest_run(Inputs(model="deepseek-v4-flash", context_parallel=2))
    assert run.plan.context_parallel == 1
    assert any("every kind of its layers" in render_text(change) for change in changes)
