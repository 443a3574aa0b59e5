"""Every predicted step says what is known of it: its range, and the runs measured nearby."""

import json
import re
from pathlib import Path

import pytest

from builder.core.module_imports import ImportGraph
from builder.runtime.bundle import engine_sources
from engine.calculator import load, make, names
from engine.core.views import Value
from tests.engine.calculators.tried import from_memory, recent
from tests.replies import replies, reply

ENGINE = Path(__file__).parents[3] / "engine"
STEP = "engine/simulate/step/step_time.py"
RANGES = ("Four in five unseen runs of this kind", "The range is widened")
# What the model of a step also serves, and why no step is predicted there.
NO_STEP = {
    "bucket_napkin": "prices the buckets of one backward pass",
    "claims_checked": "checks what published texts say of collectives and schedules",
    "critical_tokens": "counts the tokens that hide a gather",
    "document_packing": "plays the attention of one layer",
    "forecast_ledger": "shows steps that were written down, each with its range of that day",
    "deepspeed_linter": "prices the communication that a file asks for",
    "failure_lives": "tells the days of a run; its steps are the forecast's",
    "job_time": "tells the days of a run, beside how published runs came out",
    "run_cost": "tells the cost of a run, beside how published runs came out",
    "elasticities": "tells by how much a step changes",
    "gradient_sync": "has the estimate's step of a made-up model, and says that it has no range",
    "layer_stages": "compares the stages of a pipeline with each other",
    "hybrid_measured": "shows each prediction beside what was measured of that very run",
    "memory_check": "compares what a GPU holds",
    "published_runs": "shows each prediction beside what was measured of that very run",
    "recompute_measured": "shows one layer beside what was measured of it",
    "rollout_lab": "plays a step of which training is one part, and says that it has no range",
    "one_gpu_tuning": "has the estimate's passes with other updates, and says that it has no range",
    "rollout_memory": "counts what a GPU holds",
    "shard_width": "counts what a GPU keeps and a node sends",
    "tensor_measured": "shows by how much throughput falls, beside what was measured",
}
SIMULATED = (
    "async_tensor",
    *("fsdp_knobs", "hybrid_lab", "overlap_schedules", "zero_2_lab", "zero_3_knobs", "zero_3_lab"),
)
RANGED = (
    *("accumulation_cost", "bucket_lab", "data_parallel_scaling", "estimate_run", "largest_batch"),
    *("levers", "parallel_map", "parallelism_modeler", "stack_explorer", "tensor_lab"),
    *("depth_story", "stage_lab", "import_job", "log_check", "fabric_compare", "trace_check"),
    *(
        "context_lab",
        "run_forecast",
        "planner",
        "job_planner",
        "capstone",
        "sandbox",
        "checkpoint_lab",
        "lost_node",
        "rack_domain",
        "layer_mix",
    ),
    *("muon_lab", "wire_types", "calibrate"),
)
# Times of a step that are typed, measured, or of no training: (calculator, output).
NOT_PREDICTED = {
    ("log_check", "step_time"): "measured, in the reader's log",
    ("trace_check", "step_time"): "measured, in the reader's trace",
    ("mlperf_runs", "step"): "measured, in a published log",
    ("mlperf_runs", "to_train"): "steps and evaluations of a published log, added up",
    ("sweep_result", "step"): "measured, or computed elsewhere, in the reader's table",
    ("checkpoint_lab", "stall"): "how long steps wait for a checkpoint",
    ("message_waterfall", "exposed"): "of one message",
    ("context_lab", "computes"): "a step of the ring, within one layer",
    ("tensor_lab", "exposed"): "a part of the step whose range stands beside it",
    ("parallelism_modeler", "computation"): "a part of the step whose range stands beside it",
    ("muon_lab", "muon"): "the optimizer's part of the step whose range stands beside it",
}


def users():
    """The calculators that use the model of a step."""
    imports = ImportGraph(engine_sources(ENGINE))
    files = {path.parent.name if path.stem == "calculator" else path.stem: path
             for path in (ENGINE / "calculators").rglob("*.py")}  # fmt: skip
    root = ENGINE.parent
    return {name for name in names()
            if STEP in imports.dependencies(files[name].relative_to(root).as_posix())}  # fmt: skip


def test_every_calculator_that_predicts_a_step_is_looked_at():
    assert users() == {*NO_STEP, *SIMULATED, *RANGED}


@recent
def receipts(name):
    """All texts that a reader can open, of the defaults and of each preset."""
    with from_memory():
        found = replies(name)
    return {case: json.dumps(one, ensure_ascii=False) for case, one in found.items()}


def timed_steps(name):
    """What a calculator shows in seconds and calls a step, by the name of the output."""
    found = reply(name, {})
    calculator = load(name)
    views = calculator.compute(make(calculator, dict(calculator.defaults)))
    seconds = {key for key, one in views.items()
               if isinstance(one, Value) and one.quantity.second == 1}  # fmt: skip
    return {key: found["extra"]["receipts"][key] for key in seconds
            if re.search(r"\bsteps?\b", views[key].label, re.IGNORECASE)}  # fmt: skip


@pytest.mark.parametrize("name", names())
def test_every_time_of_a_step_has_a_range_or_says_why_not(name):
    with from_memory():
        found = timed_steps(name)
    for key, receipt in found.items():
        if (name, key) not in NOT_PREDICTED:
            ways = *RANGES, "it has no range", "The range is what one report"
            assert any(words in receipt for words in ways), (key, receipt)


def test_every_exception_is_still_one():
    for name, key in NOT_PREDICTED:
        with from_memory():
            receipt = timed_steps(name)[key]
        assert not any(words in receipt for words in (*RANGES, "it has no range")), (name, key)


@pytest.mark.parametrize("name", RANGED)
def test_the_range_of_a_predicted_step_is_in_sight(name):
    with from_memory():
        found = reply(name, {})["outputs"]
    notes = [one["note"] for one in found.values() if one["kind"] == "value"]
    labels = [one["label"] for one in found.values() if one["kind"] == "value"]
    ranged = any("a range from" in note or RANGES[0] in note or RANGES[1] in note for note in notes)
    assert ranged or "Range, from" in labels, notes


@pytest.mark.parametrize("name", RANGED)
def test_a_predicted_step_has_a_range_and_names_three_runs_measured_nearby(name):
    for case, text in receipts(name).items():
        assert any(words in text for words in RANGES), case
        assert text.count("Measured nearby:") >= 3, case


@pytest.mark.parametrize("name", SIMULATED)
def test_a_played_step_says_why_it_has_no_range_and_names_runs_measured_nearby(name):
    for case, text in receipts(name).items():
        assert "it has no range" in text, case
        assert text.count("Measured nearby:") >= 3, case


@pytest.mark.parametrize("name", [*RANGED, *SIMULATED])
def test_no_page_tells_the_mean_error_of_a_class_as_a_range(name):
    assert all("Fitted without their source" not in text for text in receipts(name).values())
