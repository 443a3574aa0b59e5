"""The second version of the run file: every new key, and documents of the first unchanged."""

import json
import random
import subprocess
import sys
from dataclasses import replace

import pytest

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS, num_sparse_in
from engine.estimate import estimate
from engine.run.file import InputError, read_run
from engine.run.parallelism import MODULES, layers_of_stage
from engine.simulate.memory.memory import rank_memory
from tests.engine.run.test_run_file import GOOD, problems
from tests.validation.any_run import any_document, changed

SHAPE = {
    "num_layers": 8,
    "hidden_size": 1024,
    "num_attention_heads": 8,
    "ffn_hidden_size": 4096,
    "vocab_size": 32000,
    "mlp": "swiglu",
    "tied_embeddings": False,
}
LATENTS = {
    "attention": "mla",
    "head_size": 192,
    "query_latent_size": 512,
    "key_value_latent_size": 256,
    "rotary_head_size": 64,
    "value_head_size": 128,
}
EXPERTS = {"num_experts": 16, "experts_per_token": 2, "expert_ffn_hidden_size": 512}
# What each new key is where it is left out.
DEFAULTS = {
    "parallelism": {"expert_tensor_parallel": 1, "pipeline_layout": []},
    "training": {"optimizer": "adam", "cuda_graphs": False, "lora_rank": 0},
    "cluster": {"transport": "infiniband"},
}
FIRST = {
    "step_time",
    "tokens_per_second_per_gpu",
    "model_flops_rate",
    "hardware_flops_rate",
    "mfu",
    "hfu",
    "parameters",
    "peak_memory",
    "memory",
    "time",
    "fits",
    "problems",
}


@pytest.mark.parametrize("seed", range(40))
def test_a_document_of_the_first_version_means_what_it_meant(seed):
    document = any_document(random.Random(f"first {seed}"))
    said = dict(document)
    for section, keys in DEFAULTS.items():
        said = changed(said, section, **keys)
    model = document["model"] | {"head_size": 0, "attention": "gqa", "dense_layer_every": 0}
    assert estimate(read_run({**said, "model": model})) == estimate(read_run(document))
    assert estimate(read_run(document)).keys() >= FIRST


def with_model(**sizes):
    return {**GOOD, "model": SHAPE | sizes}


def test_latents_are_read():
    model = read_run(with_model(**LATENTS)).model
    assert (model.attention, model.head_size, model.value_head_size) == ("mla", 192, 128)


def test_every_other_layer_without_experts():
    model = read_run(with_model(**EXPERTS, dense_layer_every=2)).model
    assert [num_sparse_in(model, range(i, i + 1)) for i in range(4)] == [0, 1, 0, 1]
    assert num_sparse_in(model, range(1, 8)) == 4


def test_leading_and_alternating_dense_layers_add_up():
    model = read_run(with_model(**EXPERTS, dense_layer_every=3, num_dense_layers=2)).model
    assert [num_sparse_in(model, range(i, i + 1)) for i in range(8)] == [0, 0, 1, 0, 1, 1, 0, 1]
    assert sum(num_sparse_in(model, range(i, i + 3)) for i in (0, 3)) == num_sparse_in(
        model, range(6)
    )


def test_a_gpu_of_ones_own_is_like_one_of_the_catalog():
    own = {"like": "H100-SXM", "memory": 96e9, "memory_bandwidth": 2.4e12, "power_limit": 500}
    gpu = read_run(changed(GOOD, "cluster", gpu=own)).cluster.gpu
    full = ACCELERATORS["H100-SXM"]
    assert (gpu.memory, gpu.memory_bandwidth, gpu.sms) == (96e9, 2.4e12, full.sms)
    assert gpu.peak["bf16"] == pytest.approx(full.peak["bf16"] * (5 / 7) ** 0.5)


def test_more_power_than_the_datasheet_gives_no_more_than_the_datasheet():
    own = {"like": "H100-SXM", "power_limit": 1400}
    assert read_run(changed(GOOD, "cluster", gpu=own)).cluster.gpu.peak["bf16"] == 989e12


def test_a_price_says_what_a_step_costs():
    found = estimate(read_run(changed(GOOD, "cluster", price_per_hour=2.0)))
    assert found["cost_per_step"] == pytest.approx(2 / 3600 * 16 * found["step_time"])
    assert "cost_per_step" not in estimate(read_run(GOOD))


def test_a_layout_places_each_piece():
    plan = {
        "pipeline_parallel": 2,
        "virtual_pipeline": 2,
        "pipeline_layout": [9, 8, 8, 7],
    }
    run = read_run(changed(GOOD, "parallelism", **plan))
    stages = [layers_of_stage(run.model, run.plan, stage) for stage in (0, 1)]
    assert stages == [(range(0, 9), range(17, 25)), (range(9, 17), range(25, 32))]
    even = estimate(read_run(changed(GOOD, "parallelism", **plan | {"pipeline_layout": [8] * 4})))
    late = estimate(
        read_run(changed(GOOD, "parallelism", **plan | {"pipeline_layout": [7, 8, 8, 9]}))
    )
    assert estimate(run)["step_time"] < even["step_time"] < late["step_time"]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_that_is_repeated_is_not_kept(module):
    model = "deepseek-v3"
    plan = {"world_size": 1024, "tensor_parallel": 2, "pipeline_parallel": 16}
    plan |= {"expert_parallel": 64}
    training = {"global_batch_size": 2048, "flash_attention": module != "core_attn"}
    document = changed({**GOOD, "model": model}, "parallelism", **plan)
    before = estimate(read_run(changed(document, "training", **training)))["memory"]
    after = estimate(read_run(changed(document, "training", recompute=[module], **training)))[
        "memory"
    ]
    if module == "mlp":  # three of its 61 layers
        assert after["activations"] <= before["activations"]
    else:
        assert after["activations"] < before["activations"]


def test_adapters_leave_gradients_and_moments_to_almost_nothing():
    whole = estimate(read_run(GOOD))["memory"]
    found = estimate(read_run(changed(GOOD, "training", lora_rank=16)))["memory"]
    assert found["optimizer"] < 0.02 * whole["optimizer"]
    assert found["gradients"] < 0.02 * whole["gradients"]
    assert found["parameters"] < 1.02 * whole["parameters"]


@pytest.mark.parametrize(("optimizer", "bytes_each"), [("adam", 12), ("muon", 8), ("sgd", 8)])
def test_one_moment_less_is_four_bytes_less(optimizer, bytes_each):
    found = estimate(read_run(changed(GOOD, "training", optimizer=optimizer)))["memory"]
    reference = estimate(read_run(GOOD))["memory"]["optimizer"]
    assert found["optimizer"] / reference == pytest.approx(bytes_each / 12)


def test_three_lines_of_memory_grow():
    found = estimate(read_run(GOOD))
    assert found["memory_allocated"] < found["memory_reserved"] < found["memory_process"]


def test_xla_and_fp4_are_estimated():
    assert estimate(read_run(changed(GOOD, "training", framework="xla", precision="fp8")))[
        "step_time"
    ]
    blackwell = changed(GOOD, "cluster", gpu="B200")
    halves = [
        estimate(read_run(changed(blackwell, "training", precision=name)))["memory"]["activations"]
        for name in ("bf16", "fp8", "fp4")
    ]
    assert halves == sorted(halves, reverse=True)


# (section, keys, the path, what must be said)
PAIRS = [
    (
        {"attention": "mla"},
        "model.key_value_latent_size: 0, rotary_head_size: 0, value_head_size: 0; allowed: 1 or",
        "with attention mla",
    ),
    (
        {"attention": "mla", "key_value_latent_size": 512},
        "model.rotary_head_size: 0, value_head_size: 0; allowed: ",
        "with attention mla",
    ),
    (LATENTS | {"head_size": 64}, "model.head_size: 64", "rotary_head_size = 64"),
    ({"key_value_latent_size": 512}, "model.key_value_latent_size: 512", 'attention "mla"'),
    (
        LATENTS | {"attention": "gqa"},
        "model.query_latent_size: 512, key_value_latent_size: 256, rotary_head_size: 64; allowed: ",
        'attention "mla"',
    ),
    ({"dense_layer_every": 2}, "model.dense_layer_every: 2", "where num_experts is 0"),
    (
        {"dense_layer_every": 2, "nodes_per_token": 4},
        "model.dense_layer_every: 2, nodes_per_token: 4; allowed: 0",
        "where num_experts is 0",
    ),
    (EXPERTS | {"dense_layer_every": 1}, "model.dense_layer_every: 1", "2 or more"),
    ({"nodes_per_token": 4}, "model.nodes_per_token: 4", "where num_experts is 0"),
    (
        {"num_experts": 16},
        "model.experts_per_token: 0, expert_ffn_hidden_size: 0; allowed: 1 to 16, and 1 or more",
        "there are experts",
    ),
    (
        EXPERTS | {"expert_ffn_hidden_size": 0},
        "model.expert_ffn_hidden_size: 0; allowed: 1 or more",
        "there are experts",
    ),
    (EXPERTS | {"experts_per_token": 17}, "model.experts_per_token: 17", "1 to 16"),
    ({"head_size": -1}, "model.head_size: -1", "0 to"),
    ({"attention": "mqa"}, 'model.attention: "mqa"', "gqa, mla"),
]


@pytest.mark.parametrize(("sizes", "path", "said"), PAIRS)
def test_a_pair_that_cannot_be_is_named_on_one_line(sizes, path, said):
    (line,) = problems(with_model(**sizes))
    assert line.startswith(path)
    assert said in line
    assert "\n" not in line


def test_a_reason_that_quotes_several_lines_is_told_on_one():
    (line,) = problems(changed(GOOD, "cluster", own_constants="matmul\n= 1\r\nfill"))
    assert line.startswith("cluster.own_constants: no GPU of the catalog is named 'matmul = 1")
    assert len(line.splitlines()) == 1


OTHERS = [
    ("parallelism", {"pipeline_layout": [4, 4]}, "pipeline_layout: 2 virtual stages"),
    ("parallelism", {"pipeline_layout": [31]}, "pipeline_layout: 31 layers"),
    ("parallelism", {"pipeline_layout": "4"}, "pipeline_layout: "),
    ("parallelism", {"pipeline_layout": [True]}, "pipeline_layout: "),
    ("parallelism", {"expert_tensor_parallel": 2}, "expert_tensor_parallel: 2"),
    ("cluster", {"transport": "carrier pigeon"}, "cluster.transport: "),
    ("cluster", {"price_per_hour": -1}, "cluster.price_per_hour: -1"),
    ("cluster", {"gpu": {"like": "H100"}}, "cluster.gpu.like: "),
    ("cluster", {"gpu": {"like": "H100-SXM", "memory": float("nan")}}, "cluster.gpu.memory: NaN"),
    ("cluster", {"gpu": {"like": "H100-SXM", "power": 1}}, "cluster.gpu.power: 1; unknown key"),
    ("training", {"recompute": ["mlp", "mlp"]}, "training.recompute: "),
    ("training", {"recompute": ["everything"]}, "training.recompute: "),
    ("training", {"gradient_precision": ""}, "training.gradient_precision: "),
    ("training", {"optimizer": "lion"}, "training.optimizer: "),
    ("training", {"lora_rank": 10**400}, "training.lora_rank: 1000"),
]


@pytest.mark.parametrize(("section", "keys", "said"), OTHERS)
def test_a_bad_new_value_is_named(section, keys, said):
    (problem,) = problems(changed(GOOD, section, **keys))
    assert problem.startswith(f"{section}.") or said in problem
    assert said in problem
    assert "\n" not in problem


def test_expert_tensor_parallelism_must_divide_a_stage():
    document = changed(
        {**GOOD, "model": "mixtral-8x7b"},
        "parallelism",
        world_size=16,
        expert_parallel=8,
        expert_tensor_parallel=4,
    )
    (problem,) = problems(document)
    assert problem.startswith("parallelism.expert_tensor_parallel: 4; allowed: such that with")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[" * 100_000 + "]" * 100_000,
        '{"model":' * 100_000,
        '{"a\\nb": 1, "model": NaN}',
        '{"sequence_length": ' + "9" * 6000 + "}",
        '{"model": ' + "[" * 700 + "]" * 700 + "}",
        "",
        "\x00",
    ],
)
def test_bad_text_ends_with_status_2_and_one_line_for_each_problem(text):
    done = subprocess.run(
        [sys.executable, "-m", "engine", "estimate", "-"],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    lines = done.stderr.splitlines()
    assert done.returncode == 2
    assert lines
    assert all("; allowed: " in line for line in lines)
    assert "Traceback" not in done.stderr


def test_a_config_json_is_a_model():
    config = {
        "model_type": "llama",
        "num_hidden_layers": 32,
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 14336,
        "vocab_size": 128256,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
    }
    model = read_run({**GOOD, "model": json.loads(json.dumps(config))}).model
    known = MODELS["llama-3-8b"]
    assert replace(known, name=model.name, source="") == model


def test_a_config_json_without_its_layers_is_refused_by_their_name():
    with pytest.raises(InputError) as caught:
        read_run({**GOOD, "model": {"model_type": "llama", "hidden_size": 4096}})
    assert any("model.num_hidden_layers: missing" in line for line in caught.value.problems)


def test_of_uneven_pieces_a_stage_in_the_middle_can_be_the_fullest():
    # 88 layers in 16 pieces of 5 and 6: the first stage has 10 layers, the fourth 12.
    plan = {"world_size": 1024, "tensor_parallel": 8, "pipeline_parallel": 8, "virtual_pipeline": 2}
    document = {**GOOD, "model": "mistral-large-123b"}
    document = changed(document, "parallelism", **plan, zero_stage=3)
    run = read_run(changed(document, "training", global_batch_size=128))
    layers = [sum(map(len, layers_of_stage(run.model, run.plan, stage))) for stage in range(8)]
    held = rank_memory(run.model, run.plan, run.training)
    assert held.stage not in (0, 1, 7)
    assert layers[held.stage] == max(layers)
