"""MaxText: axes, batches that count every device, models by name or by their sizes."""

import pytest

from engine.formulas.parameters import total_parameters
from engine.run.importers.assemble import DGX_H100, ImportDefaults, import_run
from tests.each import each

RUN = """export LIBTPU_INIT_ARGS="--xla_tpu_overlap_compute_collective_tc=true"
python3 -m maxtext.trainers.pre_train.train "${CONFIGS:-src/maxtext/configs}"/base.yml \\
  steps=15 model_name=llama3.1-70b per_device_batch_size=2 remat_policy=full \\
  ici_fsdp_parallelism=16 ici_tensor_parallelism=4 dcn_data_parallelism=2 \\
  max_target_length=8192 base_output_directory=$OUT attention=flash hardware=gpu
"""


def test_axes_within_and_between_slices_are_multiplied():
    found = import_run(RUN)
    assert found.dialects == ("MaxText overrides",)
    assert found.contradictions == ()
    plan, training = found.run.plan, found.run.training
    assert (plan.world_size, plan.tensor_parallel, plan.zero_stage) == (128, 4, 3)
    assert found.document["parallelism"]["shard_group"] == 16
    # Two sequences for each of the four devices of a replica, and of all 128.
    assert (training.micro_batch_size, training.global_batch_size) == (8, 256)
    assert (training.sequence_length, training.recompute) == (8192, "full")


def test_an_open_axis_is_what_the_devices_leave():
    text = RUN.replace("ici_fsdp_parallelism=16", "ici_fsdp_parallelism=-1")
    asked = import_run(text, ImportDefaults(cluster=DGX_H100, world_size=256))
    assert asked.run.plan.world_size == 256
    assert asked.run.training.global_batch_size == 512
    alone = import_run(text)
    assert alone.run.plan.world_size == 16
    assert any("no text says" in one and "world_size" in one for one in alone.warnings)
    launched = import_run(RUN, ImportDefaults(cluster=DGX_H100, world_size=64))
    assert "the axes have 128 devices, and 64 are launched" in launched.contradictions


@each("micro, ranks, allowed", [("0.25", 4, True), ("0.125", 4, False), ("3", 4, True)])
def test_a_part_of_a_sequence_needs_enough_devices(micro, ranks, allowed):
    text = RUN.replace("per_device_batch_size=2", f"per_device_batch_size={micro}")
    found = import_run(text)
    assert (found.run is not None) is allowed
    if allowed:
        assert found.run.training.micro_batch_size == float(micro) * ranks


_SIZES = """base_emb_dim: 2048
base_num_query_heads: 16
base_num_kv_heads: 16
base_mlp_dim: 7168
base_num_decoder_layers: 16
head_dim: 128
vocab_size: 32000
per_device_batch_size: 1
hardware: gpu
"""


# Its sizes are named by their parameters in src/maxtext/configs/tpu/v5p.
@each("scale, billions", [(1, 1.1), (8, 8), (32, 32), (64, 64), (128, 128)])
def test_a_global_scale_doubles_sizes_in_turn(scale, billions):
    found = import_run(f"{_SIZES}global_parameter_scale: {scale}\n")
    assert found.contradictions == ()
    assert total_parameters(found.run.model) / 1e9 == pytest.approx(billions, rel=0.2)


def test_latents_and_experts_are_read_from_their_sizes():
    keys = {
        "base_emb_dim": 7168, "base_num_query_heads": 128, "base_num_kv_heads": 128,
        "base_mlp_dim": 18432, "base_moe_mlp_dim": 2048, "base_num_decoder_layers": 61,
        "first_num_dense_layers": 3, "vocab_size": 129280, "num_experts": 256,
        "num_experts_per_tok": 8, "shared_experts": 1, "decoder_block": "deepseek",
        "attention_type": "mla", "q_lora_rank": 1536, "kv_lora_rank": 512,
        "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "hardware": "gpu",
    }  # fmt: skip
    text = "".join(f"{key}: {value}\n" for key, value in keys.items())
    model = import_run(text).run.model
    assert total_parameters(model) == pytest.approx(671e9, rel=0.001)
    (problem,) = import_run(f"{text}use_indexer: true\n").contradictions
    assert "its layers differ" in problem


@each(
    "text, said",
    [
        (RUN.replace("llama3.1-70b", "mine"), "model_name mine: not in the catalog"),
        (RUN.replace("ici_tensor", "ici_sequence"), "this axis is not predicted"),
        (RUN.replace("base.yml", "gpu/mine.yml").replace("per_device_batch_size=2", ""),
         "mine.yml holds further settings: paste it too"),
        (f"{_SIZES}decoder_block: gemma3\n", "its layers differ"),
        (f"{_SIZES}global_parameter_scale: 3\n", "a power of two"),
        (f"{_SIZES}ici_fsdp_parallelism: -1\nici_data_parallelism: -1\n", "allowed: one"),
    ],
)  # fmt: skip
def test_what_is_not_read_is_refused_by_name(text, said):
    found = import_run(text)
    assert found.run is None
    assert any(said in one for one in found.contradictions)


@each(
    "key, value, said",
    [
        ("remat_policy", "save_qkv_proj", "keeps more than a full recomputation"),
        ("quantization", "int8", "products in fewer bits"),
        ("weight_dtype", "bfloat16", "32 bits are shown"),
        ("attention", "dot_product", "its scores are kept"),
        ("optimizer_memory_host_offload", "true", "waits in the host's memory"),
        ("hardware", "tpu", "no text says which TPU"),
    ],
)
def test_what_is_left_out_is_told(key, value, said):
    text = "".join(line for line in _SIZES.splitlines(True) if not line.startswith(f"{key}:"))
    found = import_run(f"{text}{key}: {value}\n")
    assert found.run is not None
    assert any(one.startswith(key) and said in one for one in found.warnings)


def test_a_topology_names_the_accelerator():
    found = import_run(f"{_SIZES.replace('hardware: gpu', '')}compile_topology: v5p-256\n")
    assert found.document["cluster"]["gpu"] == "TPU-v5p"


def test_primus_nests_the_settings():
    lines = "".join(f"      {line}" for line in _SIZES.splitlines(True))
    lines = lines.replace("      hardware: gpu\n", "      ici_fsdp_parallelism: 8\n")
    text = (
        "modules:\n  pre_trainer:\n    framework: maxtext\n    config: pre_trainer.yaml\n"
        f"    model: llama3_8B.yaml\n    overrides:\n{lines}"
    )
    found = import_run(text)
    assert found.dialects == ("MaxText YAML",)
    assert found.document["model"] == "llama-3-8b"
    assert found.document["parallelism"]["world_size"] == 8
