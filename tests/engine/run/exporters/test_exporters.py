"""Exports read back by the importer give the same run."""

import ast
from dataclasses import replace
from functools import partial

import pytest

from engine.catalog.models import MODELS
from engine.run.exporters import fully_sharded
from engine.run.exporters.megatron import bridge_overrides, megatron_arguments
from engine.run.file import read_run
from engine.run.fp8_layouts import reads_any_operand_layout
from engine.run.importers.assemble import DGX_H100, ImportDefaults, import_run
from engine.run.importers.hugging_face_keys import find_catalog_model


def run_of(model, plan, cluster=(), **training):
    return read_run(
        {
            "model": model,
            "sequence_length": 8192,
            "cluster": DGX_H100 | dict(cluster),
            "parallelism": plan,
            "training": {"micro_batch_size": 1, "precision": "bf16"} | training,
        }
    )


on_blackwell = partial(
    run_of,
    "llama-3-8b",
    {"world_size": 8},
    cluster={"gpu": "B200"},
    global_batch_size=128,
    precision="fp8",
    quantized_weights=True,
)
MEGATRON = {
    "70B, interleaved": run_of(
        "llama-3-70b",
        {
            "world_size": 64,
            "tensor_parallel": 4,
            "pipeline_parallel": 4,
            "virtual_pipeline": 5,
            "context_parallel": 2,
        },
        global_batch_size=128,
        overlap_tensor_parallel=True,
    ),
    "DeepSeek-V3": run_of(
        "deepseek-v3",
        {
            "world_size": 1024,
            "tensor_parallel": 2,
            "pipeline_parallel": 16,
            "expert_parallel": 64,
            "pipeline_layout": [4] * 15 + [1],
        },
        global_batch_size=8192,
        recompute=["mla_up_proj", "mlp"],
        precision="fp8",
        gradient_precision="bf16",
    ),
    "DeepSeek-V3, weights in fp8": run_of(
        "deepseek-v3",
        {
            "world_size": 256,
            "pipeline_parallel": 16,
            "expert_parallel": 8,
            "pipeline_layout": [4] * 15 + [1],
        },
        global_batch_size=2048,
        recompute=["mla_up_proj"],
        precision="fp8",
        quantized_weights=True,
        overlap_expert_parallel=True,
        fused_experts=True,
        exchange="hybridep",
    ),
    "8B, weights in fp8 twice on Blackwell": on_blackwell(),
    "8B, weights in fp8 once": on_blackwell(quantized_once=True),
    "Maverick": run_of(
        "llama-4-maverick",
        {"world_size": 512, "tensor_parallel": 4, "expert_parallel": 128, "zero_stage": 3},
        global_batch_size=1024,
        recompute="full",
    ),
    "GPT-3": run_of(
        "gpt-3-175b",
        {"world_size": 128, "tensor_parallel": 8, "pipeline_parallel": 16, "zero_stage": 0},
        global_batch_size=64,
        precision="fp16",
        overlap_gradient_reduce=False,
    ),
}


def machines_of(run):
    """A text does not name them."""
    gpu = "B200" if reads_any_operand_layout(run.cluster.gpu) else "H100-SXM"
    return ImportDefaults(cluster=DGX_H100 | {"gpu": gpu})


@pytest.mark.parametrize("name", MEGATRON)
def test_arguments_of_megatron_are_read_back(name):
    run = MEGATRON[name]
    found = import_run(megatron_arguments(run), machines_of(run))
    assert found.contradictions == ()
    assert replace(found.run.model, name="") == replace(
        run.model, name="", source=""
    ) or find_catalog_model(found.run.model)
    assert (found.run.plan, found.run.training) == (run.plan, run.training)


def arguments_of(model):
    run = run_of(model, {"world_size": 8}, global_batch_size=64)
    lines = megatron_arguments(run).replace("\\\n", "").split(" --")[3:]
    return dict([*line.split(), ""][:2] for line in lines)


def test_a_llama_is_told_whole():
    """What Megatron needs to build it; its defaults are LayerNorm, dropout, learned positions.

    Source: Dubey et al. 2024, section 3.2 and table 3; megatron/training/arguments.py, whose
    validation demands --max-position-embeddings of every model.
    """
    told = arguments_of("llama-3-8b")
    shape = {
        "num-layers": "32",
        "hidden-size": "4096",
        "ffn-hidden-size": "14336",
        "num-attention-heads": "32",
        "num-query-groups": "8",
        "vocab-size": "128256",
        "max-position-embeddings": "8192",
    }
    kind = {
        "normalization": "RMSNorm",
        "position-embedding-type": "rope",
        "rotary-base": "500000",
        "attention-dropout": "0.0",
        "hidden-dropout": "0.0",
    }
    switches = dict.fromkeys(
        (
            "swiglu",
            "group-query-attention",
            "disable-bias-linear",
            "untie-embeddings-and-output-weights",
        ),
        "",
    )
    assert told | shape | kind | switches == told


def test_what_a_family_adds_to_a_llama_is_told():
    assert "normalization" not in arguments_of("gpt-3-175b")
    assert "qk-layernorm" in arguments_of("qwen3-8b")
    assert "add-qkv-bias" in arguments_of("qwen2.5-7b")
    assert arguments_of("llama-2-7b")["rotary-base"] == "10000"
    assert "normalization" not in arguments_of("palm-540b")
    assert arguments_of("mixtral-8x7b")["rotary-base"] == "1000000"


@pytest.mark.parametrize("key", ["llama-3-8b", "qwen3-8b", "qwen2.5-7b", "deepseek-v3", "gpt-2"])
def test_no_exported_argument_is_unknown_to_the_importer(key):
    run = run_of(key, {"world_size": 8}, global_batch_size=64)
    found = import_run(megatron_arguments(run))
    assert found.entries
    assert not [one for one in found.entries if "not known" in one.meaning]


RECIPES = {
    "70B, interleaved": "llama3_70b",
    "DeepSeek-V3": "deepseek_v3",
    "DeepSeek-V3, weights in fp8": "deepseek_v3",
    "8B, weights in fp8 twice on Blackwell": "llama3_8b",
    "8B, weights in fp8 once": "llama3_8b",
}


@pytest.mark.parametrize("name", RECIPES)
def test_overrides_of_megatron_bridge_are_read_back(name):
    run = MEGATRON[name]
    found = import_run(bridge_overrides(run, RECIPES[name]), machines_of(run))
    assert found.contradictions == ()
    assert found.run.model == run.model
    assert (found.run.plan, found.run.training) == (run.plan, run.training)


@pytest.mark.parametrize(
    ("name", "section"),
    [("overlap_grad_reduce", "ddp"), ("tensor_model_parallel_size", "model"),
     ("micro_batch_size", "train"), ("seq_length", "dataset")],
)  # fmt: skip
def test_an_override_of_megatron_bridge_names_its_part(name, section):
    text = bridge_overrides(MEGATRON["70B, interleaved"], "llama3_70b")
    parts = [line.strip().rpartition(f".{name}=")[0] for line in text.splitlines() if name in line]
    assert parts == [section]


SHARDED = {
    "8B": run_of(
        "llama-3-8b",
        {"world_size": 32, "zero_stage": 3},
        micro_batch_size=2,
        global_batch_size=64,
        framework="fsdp",
        recompute="selective",
        precision="fp8",
    ),
    "70B, HSDP": run_of(
        "llama-3-70b",
        {"world_size": 256, "tensor_parallel": 8, "zero_stage": 3, "shard_group": 8},
        global_batch_size=64,
        framework="fsdp",
        recompute="full",
        compiled=False,
    ),
    "405B, pipeline": run_of(
        "llama-3-405b",
        {"world_size": 512, "tensor_parallel": 8, "pipeline_parallel": 8, "zero_stage": 3},
        global_batch_size=64,
        framework="fsdp",
        recompute="full",
    ),
}


@pytest.mark.parametrize("name", SHARDED)
@pytest.mark.parametrize("dialect", ["toml", "python", "tokens"])
def test_torchtitan_is_read_back(name, dialect):
    run = SHARDED[name]
    flavor = name.partition(",")[0]
    if dialect == "toml":
        text = fully_sharded.torchtitan_toml(run, "llama3", flavor)
    else:
        text = fully_sharded.torchtitan_python(run, "llama3", flavor, tokens=dialect == "tokens")
        ast.parse(text)
    found = import_run(text)
    assert found.contradictions == ()
    assert found.run.model == run.model
    assert found.run.plan == run.plan
    same = ("global_batch_size", "sequence_length", "recompute", "compiled", "framework")
    for key in same:
        assert getattr(found.run.training, key) == getattr(run.training, key)
    if dialect != "tokens" or run.plan.pipeline_parallel == 1:
        assert found.run.training.micro_batch_size == run.training.micro_batch_size


def test_deepspeed_is_read_back():
    run = run_of(
        "llama-3-8b",
        {"world_size": 32, "tensor_parallel": 2, "zero_stage": 2, "sequence_parallel": False},
        micro_batch_size=2,
        global_batch_size=128,
        framework="deepspeed",
    )
    found = import_run(
        fully_sharded.deepspeed_json(run), ImportDefaults(model="llama-3-8b", cluster=DGX_H100)
    )
    assert found.contradictions == ()
    assert (found.run.plan, found.run.training) == (run.plan, run.training)


@pytest.mark.parametrize("name", ["8B", "70B, HSDP"])
def test_accelerate_is_read_back(name):
    run = SHARDED[name]
    found = import_run(
        fully_sharded.accelerate_yaml(run), ImportDefaults(model="llama-3-8b", cluster=DGX_H100)
    )
    assert found.contradictions == ()
    # Of tensor parallelism accelerate's own has no sequence parallelism.
    assert found.run.plan == replace(run.plan, sequence_parallel=False)
    assert found.run.training.precision == run.training.precision


@pytest.mark.parametrize("name", SHARDED)
def test_code_with_fsdp2_parses(name):
    code = fully_sharded.fsdp2_code(SHARDED[name])
    assert "fully_shard" in ast.unparse(ast.parse(code))


def test_every_model_of_the_catalog_is_read_back():
    lost = []
    for key, model in MODELS.items():
        run = run_of(key, {"world_size": 8}, global_batch_size=64)
        found = import_run(megatron_arguments(run))
        same = found.run and replace(found.run.model, name="", source="", sliding_window=0)
        if same != replace(model, name="", source="", sliding_window=0):
            lost.append(key)
    assert not lost
