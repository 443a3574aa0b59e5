"""What is said of published plans that do not fit by the memory model is what the model says."""

import statistics
from dataclasses import replace

import pytest

from engine.catalog.constants import TIGHT_RUNS
from engine.catalog.over_memory_runs import CAUSES, over_memory_runs
from engine.simulate.planner.evaluate import run_candidate
from engine.simulate.planner.ranked import with_layer_cut
from engine.simulate.step.what_if import run_fit, run_step_time
from tests.validation.beyond import TABLE, rows
from tests.validation.published import DATA
from tests.validation.rows import cases

# Layers of 80 whose activations the recipe moves to the host (cpu_offloading_num_layers).
OFFLOADED = {"GB300 NVL72": 20, "GB200 NVL72": 40}


def test_the_table_is_that_of_the_model():
    assert TABLE.read_text(encoding="utf-8").splitlines() == ["\t".join(row) for row in rows()]
    assert {one.cause for one in over_memory_runs().values()} == {*CAUSES}


@pytest.fixture(scope="module")
def held():
    """Row -> run and its memory."""
    runs = {case.row["row_id"]: with_layer_cut(case.run) for case in cases(DATA)[0]}
    return {row: (runs[row], run_candidate(runs[row], 0.0)) for row in over_memory_runs()}


def of(held, cause):
    found = [held[row] for row, one in over_memory_runs().items() if one.cause == cause]
    assert found
    return found


def test_what_the_recipes_set_makes_all_other_plans_in_8_bits_fit():
    """Weights in 8 bits alone, modules recomputed, gradients in 16 bits: without them 35 do not."""
    runs = [case.run for case in cases(DATA)[0] if case.row["row_id"] not in over_memory_runs()]
    quantized = [with_layer_cut(run) for run in runs if run.training.quantized_weights]
    assert len(quantized) > 100
    assert all(run_candidate(run, 0.0).fit.runs for run in quantized)
    both = {"quantized_weights": False, "quantized_once": False}
    plain = [replace(run, training=replace(run.training, **both)) for run in quantized]
    assert sum(not run_candidate(run, 0.0).fit.runs for run in plain) >= 15


def test_with_the_recipes_layers_on_the_host_every_plan_of_that_class_fits(held):
    for run, one in of(held, "offload"):
        gone = OFFLOADED[run.cluster.gpu.name] / run.model.num_layers
        assert one.memory.least - gone * one.memory.activations < one.device


def test_of_the_other_plans_the_smaller_micro_batch_fits(held):
    for run, _ in of(held, "plan"):
        plan = run.plan
        training = replace(run.training, micro_batch_size=1)
        if run.model.num_layers == 80:  # Llama 3.1 70B
            plan = replace(plan, pipeline_parallel=4, virtual_pipeline=5)
            training = replace(training, schedule="interleaved")
        less = replace(run, plan=plan, training=training)
        assert run_candidate(with_layer_cut(less), 0.0).fit.runs


def test_what_is_said_of_tight_runs_is_counted_here():
    over = {}
    for case in cases(DATA)[0]:
        run = case.run
        if run.training.framework == "fsdp" and run_fit(run).verdict == "tight":
            over[case.row["row_id"]] = case.time / run_step_time(run).total
    assert len(over) == TIGHT_RUNS.runs
    assert statistics.median(over.values()) == pytest.approx(TIGHT_RUNS.middle, abs=0.005)
    assert max(over.values()) == pytest.approx(TIGHT_RUNS.slowest, abs=0.005)
    # LLM Foundry: 30B with one sequence of 8,192 on 8 GPUs, an A100 and an H100; 7B on 40 GB.
    slowest = sorted(over, key=over.__getitem__)[-3:]
    assert slowest == ["llmfoundry-179", "llmfoundry-021", "llmfoundry-080"]
