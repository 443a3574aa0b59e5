"""No constant of the cost model is without a row that says where it is from."""

import ast
from dataclasses import fields
from pathlib import Path

import pytest

from builder.core.module_imports import ImportGraph
from builder.runtime.bundle import engine_sources
from engine.catalog.constants import ACHIEVED, ALLOWANCES, COMMON, AchievedShares
from engine.form.run import fitted_constants
from engine.form.run.unfitted_constants import ROWS, value_of

ROOT = Path(__file__).parents[3]
KEYS = {row[0] for row in ROWS}
FITTED = {name for _, name, *_ in fitted_constants.CONSTANTS}
TYPES = {owner for owner, *_ in fitted_constants.CONSTANTS if owner != "common"}
# A type of GPU whose constants are those of another, which has a row.
LIKE = {
    "V100 SXM3 32 GB": "V100 SXM2 32 GB",
    "A800 SXM 80 GB": "A100 SXM 80 GB",
    "A100 PCIe 40 GB": "A100 PCIe 80 GB",
    "H100 NVL": "H100 PCIe",
    "H20": "H100 SXM",
    "GH200 96 GB": "H100 SXM",
    "GH200 144 GB": "H100 SXM",
    "H200 SXM": "H100 SXM",
    "H800 SXM": "H100 SXM",
    "VR200 NVL72": "GB300 NVL72",
    "Instinct MI250X": "Instinct MI300X",
    "L4": "L40S",
    "RTX PRO 6000 Blackwell": "L40S",
    "RTX 5090": "RTX 4090",
    "A10": "A100 PCIe 80 GB",
    "Gaudi 3": "H100 SXM",
    "TPU v5p": "A100 SXM 80 GB",
    "TPU v6e": "A100 SXM 80 GB",
    "TPU7x": "A100 SXM 80 GB",
    "Trainium2": "H100 SXM",
    "Trainium3": "H100 SXM",
}
# Numbers of a module that are no constants of the model, and why.
EXEMPT = {
    "formulas.activations": "bytes of a number of each type",
    "formulas.states": "bytes of a parameter's states, counted",
    "formulas.operations": "counts of operations",
    "formulas.muon": "counts of operations",
    "formulas.medium_time": "where a table of sizes begins",
    "formulas.planned_choice": "a table of NCCL's, which it plans with and nothing is timed by",
    "formulas.stragglers": "an integral",
    "formulas.traffic": "bytes that kernels read and write, counted",
    "simulate.layer.adapter_time": "kernels of an adapter, counted",
    "simulate.layer.context_exchange": "bytes that merging moves, counted",
    "simulate.layer.layer_exchange": "bytes of a number",
    "simulate.memory.memory_buffers": "defaults of DeepSpeed",
    "simulate.layer.orthogonal_work": "steps of the iteration",
    "simulate.step.sharding_time": "bytes of a moment",
    "formulas.v_idle": "forms read off the orders of schedules",
    "formulas.token_operations:TRAINING": "counts of operations",
    "run.parallelism:UNASKED": "what software does that is told nothing",
    "run.software:DDP_BUCKET": "a default of PyTorch",
    "run.software:DDP_FIRST_BUCKET": "a default of PyTorch",
    "run.software:GRADIENT_BYTES": "bytes of a number",
    "run.software:_ADAM": "bytes of an optimizer's step, counted",
    "run.software:_ADAM_UNFUSED": "bytes of an optimizer's step, counted",
    "formulas.compute:MULTIPLY_ADD": "a count",
    "formulas.compute:TILE_ROWS": "a tile of the libraries",
    "formulas.compute:TILE_COLUMNS": "a tile of the libraries",
    "formulas.compute:BLOCK": "a block of the kernels",
    "formulas.compute:QUERIES_PER_BLOCK": "a block of the kernels",
    "formulas.compute:ALIGNMENT": "elements in 16 bytes",
    "simulate.step.error_attribution:_TAIL": "of a normal distribution",
    "simulate.step.error_attribution:_STEP": "of a numerical derivative",
    "simulate.layer.layer_time:ATTENTION_BACKWARD": "a count of products",
    "simulate.layer.layer_time:EARLY_SHARE": "a count of collectives",
    "simulate.step.step_range:WIDEST": "where a range stops telling anything",
    "simulate.step.step_range:SLOWEST_PORTS": "the most of the published runs",
    "simulate.layer.layer_time:FROZEN_TRANSPOSE": "bytes of a transpose, counted",
    "simulate.layer.device_model:_IN_A_NODE": "a count of GPUs",
    "catalog.nccl_constants:TREE_BY_SIZE": "a table of NCCL's",
    "catalog.nccl_constants:MEDIUM_BY_SIZE": "a table of NCCL's",
    "catalog.nccl_constants:MEDIUM_DATA": "bytes of a line of LL128",
    "catalog.nccl_constants:MEDIUM_CHUNK": "a buffer of NCCL's",
    "catalog.nccl_constants:MEDIUM_SPLIT_CHUNK": "a buffer of NCCL's",
    "catalog.nccl_constants:MEDIUM_SMALLEST_CHUNK": "a buffer of NCCL's",
    "catalog.nccl_constants:SMALL_BY_SIZE": "a table of NCCL's",
    "catalog.nccl_constants:SWITCH_TREE_CHANNELS": "a setting of NCCL's",
    "catalog.nccl_constants:SWITCH_TREE_CHUNK": "a buffer of NCCL's",
    "catalog.nccl_constants:SWITCH_TREE_CHUNKS": "a table of NCCL's",
    "catalog.nccl_constants:MESSAGES_AT_ONCE": "a setting of NCCL's",
    "catalog.transports:_HOPPER": "a table of NCCL's",
    "catalog.transports:_BLACKWELL": "a table of NCCL's",
}


def named(module):
    """The constants of a module: names in capitals that hold a number."""
    for node in ast.parse((ROOT / "engine" / module).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            held = [one.value for one in ast.walk(node.value) if isinstance(one, ast.Constant)]
            if any(type(value) in (int, float) for value in held):
                yield from ast.unparse(target).strip("()").split(", ")


def constants():
    """What an estimate imports that computes, and what collectives are computed from."""
    needed = ImportGraph(engine_sources(ROOT / "engine")).dependencies("engine/estimate.py")
    rooms = ("formulas/", "simulate/", "run/", "catalog/transports", "catalog/nccl_constants")
    found = sorted(name.removeprefix("engine/") for name in needed)
    return {
        name.removesuffix(".py").replace("/", "."): set(named(name))
        for name in found
        if name.startswith(rooms)
    }


def test_every_constant_in_the_code_has_a_row_or_a_reason():
    told = {":".join((module, path.partition(".")[0]))
            for module, _, path in (key.partition(":") for key in KEYS)}  # fmt: skip
    bare = [
        f"{module}:{name}"
        for module, names in constants().items()
        for name in names
        if module not in EXEMPT and f"{module}:{name}" not in {*EXEMPT, *told}
    ]
    assert bare == []


def test_every_reason_is_of_a_constant():
    known = constants()
    for key in EXEMPT:
        module, _, name = key.partition(":")
        assert known[module], key
        assert not name or name in known[module], key


@pytest.mark.parametrize("name", [one.name for one in fields(COMMON)])
def test_a_constant_of_all_types_is_fitted_or_has_a_row(name):
    assert (name in FITTED) != (f"catalog.constants:COMMON.{name}" in KEYS)


@pytest.mark.parametrize("name", [one.name for one in fields(ALLOWANCES)])
def test_an_allowance_of_memory_has_a_row(name):
    assert f"catalog.constants:ALLOWANCES.{name}" in KEYS


@pytest.mark.parametrize("gpu", ACHIEVED)
def test_a_type_of_gpu_is_fitted_or_has_a_row(gpu):
    of = LIKE.get(gpu, gpu)
    assert ACHIEVED[gpu] == ACHIEVED[of]
    assert of.split()[0] in TYPES or f"catalog.constants:ACHIEVED.{of}.matmul" in KEYS


def test_what_no_fit_moves_of_a_gpu_has_a_row_for_each_value():
    for name in {one.name for one in fields(AchievedShares)} - FITTED:
        told = {value_of(key) for key in KEYS if "ACHIEVED" in key and key.endswith(f".{name}")}
        held = {getattr(one, name) for gpu, one in ACHIEVED.items() if gpu.split()[0] in TYPES
                and LIKE.get(gpu, gpu) == gpu}  # fmt: skip
        assert held <= told | {ACHIEVED["A100 PCIe 80 GB"].scale_up}, name


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_constant_lies_where_its_sources_do(row):
    key, words, _, ends, origin, _ = row
    assert words
    assert origin
    value = value_of(key)
    if ends:
        assert ends[0] < ends[1]
        assert ends[0] - 1e-9 <= value <= ends[1] + 1e-9
