"""Every predicted step says what is known of it: its range, and the runs measured nearby."""

import json
from pathlib import Path

import pytest

from builder.bundle import engine_sources
from builder.imports import Imports
from engine.calculator import names
from tests.engine.calculators.tried import from_memory, recent
from tests.replies import replies

ENGINE = Path(__file__).parents[3] / "engine"
STEP = "engine/simulate/step_time.py"
# What the model of a step also serves, and why no step is predicted there.
NO_STEP = {
    "async_tensor": "plays one layer",
    "calibrate": "shows a range of its own, narrowed by what was measured",
    "bucket_napkin": "prices the buckets of one backward pass",
    "claims_checked": "checks what published texts say of collectives and schedules",
    "document_packing": "plays the attention of one layer",
    "deepspeed_linter": "prices the communication that a file asks for",
    "elasticities": "tells by how much a step changes",
    "hybrid_measured": "shows each prediction beside what was measured of that very run",
    "memory_check": "compares what a GPU holds",
    "published_runs": "shows each prediction beside what was measured of that very run",
    "recompute_measured": "shows one layer beside what was measured of it",
    "rollout_lab": "plays a step of which training is one part, beside what was measured",
    "rollout_memory": "counts what a GPU holds",
    "run_forecast": "gives the days the range of the step",
    "shard_width": "counts what a GPU keeps and a node sends",
    "tensor_measured": "shows by how much throughput falls, beside what was measured",
}
SIMULATED = (
    *("fsdp_knobs", "hybrid_lab", "overlap_schedules", "zero_2_lab", "zero_3_knobs", "zero_3_lab"),
)
RANGED = (
    *("accumulation_cost", "estimate_run", "largest_batch", "levers", "parallel_map"),
    *("parallelism_modeler", "stack_explorer", "tensor_lab", "depth_story", "stage_lab"),
    *("import_job", "log_check", "fabric_compare", "trace_check", "context_lab"),
    *("planner", "capstone", "sandbox", "checkpoint_lab", "muon_lab", "wire_types"),
)


def users():
    """The calculators that use the model of a step."""
    imports = Imports(engine_sources(ENGINE))
    files = {path.parent.name if path.stem == "calculator" else path.stem: path
             for path in (ENGINE / "calculators").rglob("*.py")}  # fmt: skip
    root = ENGINE.parent
    return {name for name in names()
            if STEP in imports.needed(files[name].relative_to(root).as_posix())}  # fmt: skip


def test_every_calculator_that_predicts_a_step_is_looked_at():
    assert users() == {*NO_STEP, *SIMULATED, *RANGED}


@recent
def receipts(name):
    """All texts that a reader can open, of the defaults and of each preset."""
    with from_memory():
        found = replies(name)
    return {case: json.dumps(one, ensure_ascii=False) for case, one in found.items()}


@pytest.mark.parametrize("name", RANGED)
def test_a_predicted_step_has_a_range_and_names_three_runs_measured_nearby(name):
    for case, text in receipts(name).items():
        ranged = "Four in five unseen runs of this kind" in text or "The range is widened" in text
        assert ranged, case
        assert text.count("Measured nearby:") >= 3, case


@pytest.mark.parametrize("name", SIMULATED)
def test_a_played_step_says_why_it_has_no_range_and_names_runs_measured_nearby(name):
    for case, text in receipts(name).items():
        assert "it has no range" in text, case
        assert text.count("Measured nearby:") >= 3, case


@pytest.mark.parametrize("name", [*RANGED, *SIMULATED])
def test_no_page_tells_the_mean_error_of_a_class_as_a_range(name):
    assert all("Fitted without their source" not in text for text in receipts(name).values())
