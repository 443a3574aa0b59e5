"""One memory model: every page that says what a GPU holds says what `rank_memory` says.

Outputs are found by their declared labels: one that speaks of the memory of a GPU and is in none of
the tables below fails. What a page leaves out, or adds, is named here.
"""

import math
import re
from dataclasses import is_dataclass, replace
from functools import cache
from typing import get_args, get_type_hints

import pytest

from engine.calculator import load, make, names
from engine.calculators.one_gpu.accumulation_cost.result import step_of
from engine.calculators.one_gpu.memory_ledger import plan_and_training
from engine.catalog.models import MODELS
from engine.catalog.published_recipes import Recipe
from engine.core.outputs import Output
from engine.estimate import estimate
from engine.formulas.parameters import total_parameters
from engine.run.file import read_run
from engine.run.parallelism import Plan, Training
from engine.run.run import Run
from engine.simulate.data_parallel.accumulation import accumulation_run
from engine.simulate.memory.memory import rank_memory
from engine.simulate.memory.memory_tiers import JobPlacement, place_tensors
from engine.simulate.step.muon import scheme_plan
from tests.each import each
from tests.engine.calculators.asked import solved

SPEAKS = re.compile(
    r"fullest|holds most|nvidia-smi|a gpu holds|on (each|every) gpu|on one gpu|"
    r"while it (gen|train)|allocated|"
    r"^reserved|gpu's memory|memory of (the|a) gpu|tensor parallel only|with stages",
    re.IGNORECASE,
)
WITHIN = 0.005


def whole(run: Run) -> float:
    return rank_memory(run.model, run.plan, run.training).total


def _muon(inputs, found) -> float:
    training = replace(found.run.training, optimizer="muon")
    plan = scheme_plan(found.run.plan, inputs.scheme)
    return rank_memory(found.run.model, plan, training).total


def _ledger(inputs, _) -> float:
    if inputs.trained != "full":
        pytest.skip("adapters: tests/engine/simulate/layer/test_adapters.py")
    return rank_memory(MODELS[inputs.model], *plan_and_training(inputs)).total


def _board(inputs, found) -> float:
    if found.gone:
        pytest.skip("a set of tensors that no recomputation of a run file drops")
    return rank_memory(MODELS[inputs.model], found.job.plan, found.job.training).total


def _accumulated(inputs, _) -> float:
    if inputs.scheme.startswith("fsdp"):
        pytest.skip("gradients that are not reduced yet are whole, which no run file says")
    return whole(accumulation_run(step_of(inputs)))


# Output -> memory of the job that the page describes.
WHOLE = {
    "accumulation_cost.held": _accumulated,
    "context_lab.held": lambda _, f: whole_of(f.job) + f.buffer,
    "depth_story.wide_memory": lambda _, f: whole(f.now[0].run),
    "depth_story.deep_memory": lambda _, f: whole(f.now[1].run),
    "capstone.best.held": lambda _, f: whole(f.best.run) if f.best.run else 0.0,
    "capstone.best.own_held": lambda _, f: whole(f.best.reader_run) if f.best.why.plan else 0.0,
    "estimate_run.estimate.held.peak_memory": lambda _, f: whole(f.estimate.run),
    "job_planner.held": lambda _, f: whole(f.run) if f.run else math.nan,
    "largest_batch.total": lambda _, f: whole(f.batch_fit.run),
    "memory_check.our_process": lambda _, f: whole(f.run),
    "memory_ledger.process": _ledger,
    "muon_lab.held": _muon,
    "parallelism_modeler.peak_memory": lambda _, f: whole(f.plan.run),
    "planner.held": lambda _, f: whole(f.run) if f.run else math.nan,
    "planner.own_held": lambda _, f: whole(f.reader_run) if f.why.plan else 0.0,
    "recompute_board.total": _board,
    "sandbox.first_held": lambda _, f: whole(f.first.run),
    "sandbox.second_held": lambda _, f: whole(f.second.run),
    "stage_lab.memory": lambda _, f: whole(f.plan.run),
    "tensor_lab.memory": lambda _, f: whole(f.plan.run),
}


def _states(model, plan, framework="megatron", gradient="bf16", less=0.0) -> float:
    """States by the memory model; `less`: bytes of a sharded parameter that a page leaves out."""
    training = Training(
        micro_batch_size=1,
        global_batch_size=plan.world_size,
        sequence_length=1024,
        framework=framework,
        gradient_precision=gradient,
    )
    left_out = less * total_parameters(MODELS[model]) / plan.world_size
    return rank_memory(MODELS[model], plan, training).states - left_out


def _per_parameter(found_states: float) -> float:
    return found_states / total_parameters(MODELS["llama-3-8b"])


ALONE = Plan(world_size=1, zero_stage=0)
# DeepSpeed copies its part of the gradients in single precision for the update; its pages say that
# they leave it out.
COPY = 4.0
# Output -> states of its job: activations, buffers and reserve are left out ("States ...").
STATES = {
    "bucket_lab.states": lambda i: _states(i.model, ALONE),
    "data_parallel_scaling.states": lambda i: _states(i.model, ALONE),
    "deepspeed_linter.states": lambda i: _states(
        i.model, Plan(world_size=int(i.ranks), zero_stage=3), "deepspeed", "", COPY
    ),
    "dtype_ledger.states": lambda i: _states(
        i.model,
        Plan(
            world_size=i.ranks * i.tensor_parallel, tensor_parallel=i.tensor_parallel, zero_stage=1
        ),
        gradient="",
    ),
    "gradient_sync.states": lambda i: i.parameters * _per_parameter(_states("llama-3-8b", ALONE)),
    "hybrid_lab.kept": lambda i: _states(
        i.model, Plan(world_size=int(i.ranks), zero_stage=3, shard_group=i.shard), "fsdp", ""
    ),
    "shard_width.memory": lambda i: _states(
        i.model, Plan(world_size=int(i.ranks), zero_stage=3, shard_group=i.shard), "fsdp", ""
    ),
    "zero_3_knobs.states": lambda i: _states(
        i.model, Plan(world_size=int(i.ranks), zero_stage=3), "deepspeed", "", COPY
    ),
    "zero_3_lab.kept": lambda i: _states(
        i.model, Plan(world_size=int(i.ranks), zero_stage=3), "fsdp", ""
    ),
    "zero_saving.held": lambda i: _states(
        i.model, Plan(world_size=i.ranks, zero_stage=int(i.zero_stage))
    ),
}
OTHER = {
    "accumulation_cost.at_once": "the same model with one micro-batch, compared by its page's test",
    "adapter_trap.left": "blocks of the allocator",
    "batch_measured.reserved": "measured",
    "bucket_napkin.buffers": "buckets alone",
    "case_story.capacity": "of a GPU",
    "compression_cost.room": "what is left of it",
    "compression_cost.owed": "what error feedback keeps",
    "data_parallel_steps.off": "a difference of a toy",
    "deepspeed_linter.buffers": "buffers alone",
    "depth_steps.held": "numbers of a toy",
    "depth_story.alone": "of a GPU by itself, compared by its page's test",
    "depth_story.deep_time": "a time",
    "depth_story.wide_time": "a time",
    "dtype_ledger.per_parameter": "of one parameter",
    "expert_steps.held": "numbers of a toy",
    "hybrid_steps.held": "counted on a toy",
    "kernel_trace.busy": "a share of time",
    "memory_check.our_allocated": "tensors alone: test_memory_moments.py",
    "memory_check.our_reserved": "without the context",
    "memory_ledger.capacity": "of a GPU",
    "memory_ledger.reserved": "without the context",
    "memory_ledger.total": "tensors alone",
    "muon_ranks.operations": "operations",
    "reshard_pieces.off": "a difference of a toy",
    "rollout_memory.generating": "an inference engine's",
    "rollout_memory.training": "the memory model's (rl_memory), and frozen models beside it",
    "schedule_lab.peak": "micro-batches",
    "sweep_result.held": "a file's, as its framework reports it",
    "tensor_lab.kept": "one layer's activations",
    "tensor_steps.inside": "numbers of a toy",
    "tensor_steps.outside": "numbers of a toy",
    "tensor_training.held": "numbers of a toy",
    "three_meters.utilization": "a share of time",
    "token_exchange.hottest": "a load",
    "token_race.tensor_held": "weights and caches of inference",
    "token_race.zero_held": "weights and caches of inference",
    "zero_2_steps.held": "counted on a toy",
    "zero_3_steps.held": "counted on a toy",
}
SLOW = {"job_planner", "planner"}


def whole_of(job) -> float:
    return rank_memory(job.model, job.plan, job.training).total


def declared(record: type, path: str, depth: int = 2):
    """Yield path and declaration of every output of a result, those of its parts included."""
    only_checked = {"Recipe": Recipe}  # which the planner imports for its type alone
    for name, hint in get_type_hints(record, None, only_checked, include_extras=True).items():
        outputs = [one for one in get_args(hint) if isinstance(one, Output)]
        if outputs:
            yield f"{path}.{name}", outputs[0]
        elif depth and is_dataclass(hint) and isinstance(hint, type):
            yield from declared(hint, f"{path}.{name}", depth - 1)


@cache
def found_outputs() -> tuple[str, ...]:
    """Return every output that speaks of what a GPU holds."""
    paths = []
    for name in names():
        solve = load(name).solve
        record = get_type_hints(solve).get("return")
        if isinstance(record, type) and is_dataclass(record):
            for path, output in declared(record, name):
                note = output.note if isinstance(output.note, str) else ""
                if SPEAKS.search(output.label) or SPEAKS.search(note):
                    paths.append(path)
    return tuple(paths)


def test_every_output_that_speaks_of_the_memory_of_a_gpu_is_accounted_for():
    known = WHOLE.keys() | STATES.keys() | OTHER.keys()
    assert [path for path in found_outputs() if path not in known] == []
    assert {"memory_ledger.process", "largest_batch.total"} <= set(found_outputs())


def value(found, path: str) -> float:
    for name in path.split(".")[1:]:
        found = getattr(found, name)
    return float(found)


@each("path", WHOLE)
def test_a_page_shows_the_memory_of_its_job(path):
    calculator = load(path.partition(".")[0])
    presets = {} if calculator.name in SLOW else calculator.presets
    compared = 0
    for values in ({}, *presets.values()):
        inputs = make(calculator, {**calculator.small, **values})
        found = calculator.solve(inputs)
        try:
            expected = WHOLE[path](inputs, found)
        except pytest.skip.Exception:
            continue
        compared += 1
        assert value(found, path) == pytest.approx(expected, rel=WITHIN, nan_ok=True), values
    assert compared


@each("path", STATES)
def test_a_page_of_states_shows_those_of_the_memory_model(path):
    calculator = load(path.partition(".")[0])
    inputs = make(calculator, {})
    shown = value(calculator.solve(inputs), path)
    assert shown == pytest.approx(STATES[path](inputs), rel=WITHIN)


GRID = [
    (model, ranks, length, batch, recompute)
    for model in ("llama-3-8b", "llama-2-13b", "llama-3-70b")
    for ranks in (8, 64, 512)
    for length in (2048, 8192)
    for batch in (1, 2)
    for recompute in ("none", "full")
]


@each("job", GRID)
def test_a_job_under_fsdp_needs_the_same_on_every_page(job):
    model, ranks, length, batch, recompute = job
    document = {
        "model": model,
        "sequence_length": length,
        "cluster": {
            "gpu": "H100-SXM",
            "gpus_per_node": 8,
            "nics_per_node": 8,
            "nic_bandwidth": 50e9,
        },
        "parallelism": {"world_size": ranks, "zero_stage": 3},
        "training": {
            "micro_batch_size": batch,
            "global_batch_size": 2 * batch * ranks,
            "precision": "bf16",
            "recompute": recompute,
            "framework": "fsdp",
        },
    }
    told = estimate(read_run(document))["memory_process"]
    shared = {"model": model, "sequence_length": length, "micro_batch_size": batch}
    ledger = solved("memory_ledger", **shared, ranks=ranks, recompute=recompute)
    largest = solved("largest_batch", **shared, world_size=ranks, recompute=recompute)
    assert (ledger.process, ledger.peak.total) == pytest.approx((told, told), rel=WITHIN)
    assert largest.total == pytest.approx(told, rel=WITHIN)
    if recompute == "none":
        board = solved("recompute_board", **shared, world_size=ranks)
        assert board.total == pytest.approx(told, rel=WITHIN)


@each("ranks", [1, 8, 64])
def test_with_everything_on_the_gpu_the_tiers_hold_what_deepspeed_needs(ranks):
    tensors = ("parameters", "gradients", "master", "moments", "checkpoints", "logits")
    placed = place_tensors(
        JobPlacement(
            model="llama-3-8b",
            node="dgx-h100",
            ranks=ranks,
            sequence_length=8192,
            micro_batch_size=1,
            num_microbatches=1,
            homes=dict.fromkeys(tensors, "hbm"),
        )
    )
    training = Training(
        micro_batch_size=1,
        global_batch_size=ranks,
        sequence_length=8192,
        recompute="full",
        framework="deepspeed",
    )
    memory = rank_memory(MODELS["llama-3-8b"], Plan(world_size=ranks, zero_stage=3), training)
    assert placed.bytes_by_tier["hbm"] == pytest.approx(memory.total)


def test_8b_on_8_gpus_under_fsdp_is_one_number():
    """It was 112, 121, 130 and 133 GB."""
    job = {"model": "llama-3-8b", "sequence_length": 8192, "micro_batch_size": 2}
    found = {
        solved("memory_ledger", **job, ranks=8).process,
        solved("largest_batch", **job, world_size=8, recompute="none").total,
        solved("recompute_board", **job, world_size=8).total,
    }
    assert max(found) - min(found) < 1.0
    assert max(found) == pytest.approx(113.84e9, rel=1e-3)
