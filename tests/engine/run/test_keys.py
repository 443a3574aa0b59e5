"""Every key of a run file: its first and last allowed value, its words, and its default."""

import pytest

from engine.run.keys import CLUSTER, GPU, MODEL, PLAN, RECOMPUTED, SECTIONS, TRAINING, spec_without
from engine.run.values import read_section, read_value
from tests.each import each

SPECS = {
    "model": MODEL,
    "cluster": CLUSTER,
    "cluster.gpu": GPU,
    "parallelism": PLAN,
    "training": TRAINING,
}
# Path of the key, its smallest and its largest value.
RANGES = [
    ("model.num_layers", 1, 4096),
    ("model.hidden_size", 1, 1_048_576),
    ("model.num_attention_heads", 1, 65_536),
    ("model.num_key_value_heads", 1, 65_536),
    ("model.ffn_hidden_size", 1, 16_777_216),
    ("model.vocab_size", 1, 16_777_216),
    ("model.num_experts", 0, 65_536),
    ("model.experts_per_token", 0, 65_536),
    ("model.num_shared_experts", 0, 1024),
    ("model.expert_ffn_hidden_size", 0, 16_777_216),
    ("model.num_dense_layers", 0, 4096),
    ("model.dense_layer_every", 0, 4096),
    ("model.nodes_per_token", 0, 65_536),
    ("model.num_prediction_layers", 0, 16),
    ("model.head_size", 0, 1_048_576),
    ("model.query_latent_size", 0, 1_048_576),
    ("model.key_value_latent_size", 0, 1_048_576),
    ("model.rotary_head_size", 0, 1_048_576),
    ("model.value_head_size", 0, 1_048_576),
    ("model.sliding_window", 0, 1_073_741_824),
    ("model.learned_positions", 0, 1_073_741_824),
    ("cluster.gpus_per_node", 1, 1 << 14),
    ("cluster.nics_per_node", 1, 1 << 14),
    ("cluster.nvlink_domain", 0, 1 << 14),
    ("parallelism.world_size", 1, 1_000_000_000),
    ("parallelism.tensor_parallel", 1, 1_000_000_000),
    ("parallelism.pipeline_parallel", 1, 1_000_000_000),
    ("parallelism.virtual_pipeline", 1, 1_000_000_000),
    ("parallelism.context_parallel", 1, 1_000_000_000),
    ("parallelism.expert_parallel", 1, 1_000_000_000),
    ("parallelism.expert_tensor_parallel", 1, 1_000_000_000),
    ("parallelism.zero_stage", 0, 3),
    ("parallelism.shard_group", 0, 1_000_000_000),
    ("training.micro_batch_size", 1, 1_000_000_000),
    ("training.global_batch_size", 1, 1_000_000_000),
    ("training.lora_rank", 0, 65_536),
    ("training.recompute_layers", 0, 65_536),
]
RATES = [
    "cluster.nic_bandwidth",
    "cluster.price_per_hour",
    "cluster.gpu.memory",
    "cluster.gpu.memory_bandwidth",
    "cluster.gpu.power_limit",
]
SWITCHES = [
    "model.tied_embeddings",
    "model.biases",
    "parallelism.sequence_parallel",
    "training.flash_attention",
    "training.overlap_gradient_reduce",
    "training.overlap_tensor_parallel",
    "training.overlap_expert_parallel",
    "training.compiled",
    "training.cuda_graphs",
    "training.fused_experts",
    "training.even_routing",
    "training.nf4_weights",
    "training.quantized_weights",
    "training.quantized_once",
    "training.keeps_quantized_products",
    "training.eager_loss",
    "training.fused_norms",
    "training.fp8_activation_inputs",
]
SCHEDULES = "gpipe, 1f1b, interleaved, zb-1p, zb-2p, zbv, v-half, v-min, dualpipe"
WORDS = [
    ("training.lora_layers", "attention, all"),
    ("model.attention", "gqa, mla"),
    ("cluster.transport", "infiniband, efa-v1, efa-v2, efa-v3, efa-v4, roce, nvlink-network"),
    ("training.precision", "bf16, fp16, fp8, fp4"),
    ("training.recompute", "none, selective, modules, full"),
    ("training.schedule", SCHEDULES),
    ("training.framework", "megatron, fsdp, deepspeed, xla"),
    ("training.gradient_precision", "bf16, fp16, fp32"),
    ("training.exchange", "auto, all-to-all, deepep, hybridep"),
    ("training.optimizer", "adam, sgd, muon"),
]
# The lists of the catalog grow with it.
CATALOGS = ["model.mlp", "cluster.gpu", "cluster.gpu.like"]
DEFAULTS = {
    "model": {
        "num_key_value_heads": None,
        **dict.fromkeys(("num_experts", "experts_per_token", "num_shared_experts"), 0),
        **dict.fromkeys(("expert_ffn_hidden_size", "num_dense_layers", "dense_layer_every"), 0),
        **dict.fromkeys(("nodes_per_token", "num_prediction_layers", "head_size"), 0),
        "attention": "gqa",
        **dict.fromkeys(("query_latent_size", "key_value_latent_size", "rotary_head_size"), 0),
        **dict.fromkeys(("value_head_size", "sliding_window", "learned_positions"), 0),
        "biases": False,
    },
    "cluster": {"transport": "infiniband", "nvlink_domain": 0, "price_per_hour": None},
    "cluster.gpu": {"memory": None, "memory_bandwidth": None, "power_limit": None},
    "parallelism": {
        "tensor_parallel": 1,
        "pipeline_parallel": 1,
        "virtual_pipeline": 1,
        "context_parallel": 1,
        "expert_parallel": 1,
        "expert_tensor_parallel": 1,
        "sequence_parallel": None,
        "zero_stage": 1,
        "shard_group": 0,
    },
    "training": {
        "recompute": "none",
        "flash_attention": True,
        "schedule": None,
        "overlap_gradient_reduce": True,
        "overlap_tensor_parallel": False,
        "overlap_expert_parallel": None,
        "framework": "megatron",
        "compiled": True,
        "gradient_precision": "",
        "optimizer": "adam",
        "cuda_graphs": False,
        "fused_experts": False,
        "exchange": "auto",
        "even_routing": True,
        "lora_rank": 0,
        "recompute_layers": 0,
        "fp8_activation_inputs": False,
        "lora_layers": "attention",
        "nf4_weights": False,
        "quantized_weights": False,
        "quantized_once": False,
        **dict.fromkeys(("keeps_quantized_products", "eager_loss", "fused_norms"), False),
    },
}


def wrong(path, given):
    name, _, key = path.rpartition(".")
    found = []
    read_value(path, given, SPECS[name][key][0], found)
    return found


@each(("path", "low", "high"), RANGES)
def test_a_whole_number_is_allowed_up_to_its_limits_and_not_beyond(path, low, high):
    assert wrong(path, low) == []
    assert wrong(path, high) == []
    for given in (low - 1, high + 1):
        message = f"{path}: {given}; allowed: a whole number from {low} to {high}"
        assert wrong(path, given) == [message]


@each("path", RATES)
def test_a_rate_is_above_zero_and_at_most_a_billion_billions(path):
    assert wrong(path, 1e-9) == []
    assert wrong(path, 1e18) == []
    assert wrong(path, 0) == [f"{path}: 0; allowed: a number above 0, at most 1e18"]
    assert wrong(path, 1e19) == [f"{path}: 1e+19; allowed: a number above 0, at most 1e18"]


@each("path", SWITCHES)
def test_a_switch_is_true_or_false_and_no_number(path):
    assert wrong(path, True) == wrong(path, False) == []
    assert wrong(path, 1) == [f"{path}: 1; allowed: true or false"]


@each(("path", "words"), WORDS)
def test_a_word_is_one_of_the_list_and_the_message_names_all(path, words):
    assert [wrong(path, word) for word in words.split(", ")] == [[]] * len(words.split(", "))
    assert wrong(path, "") == [f'{path}: ""; allowed: {words}']


def test_no_key_is_left_out_of_these_tables():
    named = [path for path, *_ in (*RANGES, *WORDS)] + RATES + SWITCHES + CATALOGS
    assert sorted(named) == sorted(f"{name}.{key}" for name, spec in SPECS.items() for key in spec)


@pytest.mark.parametrize("name", SPECS)
def test_what_is_left_out_has_its_default_and_the_rest_must_be_there(name):
    found = []
    assert read_section(name, {}, SPECS[name], found) == DEFAULTS[name]
    required = [key for key in SPECS[name] if key not in DEFAULTS[name]]
    assert [line.partition(": missing; ")[0] for line in found] == [
        f"{name}.{key}" for key in required
    ]


def test_sections_and_modules_come_in_their_order():
    assert SECTIONS == ("model", "sequence_length", "cluster", "parallelism", "training")
    assert RECOMPUTED[0] == "core_attn"
    assert len(RECOMPUTED) == 7


def test_a_spec_without_some_keys_has_the_others():
    assert spec_without(GPU, "memory", "power_limit") == {
        "like": GPU["like"],
        "memory_bandwidth": (0.0, None),
    }
