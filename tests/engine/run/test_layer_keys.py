"""The keys of `model.layers` of a run file, and runs of models whose layers differ."""

import json

import pytest

from engine.catalog.recent_models import RECENT_MODELS
from engine.estimate import estimate
from engine.run.exporters.megatron import megatron_arguments
from engine.run.file import InputError, read_run
from engine.run.model_keys import model_keys
from engine.simulate.memory.memory import rank_memory
from engine.simulate.step.modeled_plan import model_plan

SIZES = {
    "num_layers": 8,
    "hidden_size": 1024,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "ffn_hidden_size": 4096,
    "vocab_size": 32000,
    "mlp": "swiglu",
    "tied_embeddings": False,
}
DELTAS = {"key_heads": 8, "value_heads": 16, "key_size": 128, "value_size": 128}
MIXED = {**SIZES, "layers": {"order": "GGG*", **DELTAS}}


def job(model, length=8192, gpus=8, **others):
    plan = {"world_size": gpus, "zero_stage": 1} | others.pop("plan", {})
    training = {"micro_batch_size": 1, "global_batch_size": gpus, "precision": "bf16"}
    return {
        "model": model,
        "sequence_length": length,
        "cluster": {
            "gpu": "H100-SXM",
            "gpus_per_node": 8,
            "nics_per_node": 8,
            "nic_bandwidth": 50e9,
        },
        "parallelism": plan,
        "training": training | {"framework": "megatron"} | others,
    }


def said(document):
    with pytest.raises(InputError) as error:
        read_run(document)
    return error.value.problems


def test_layers_are_read_and_written():
    model = read_run(job(MIXED)).model
    assert model.mix.count(range(8)) == (6, 2)
    again = read_run(job(json.loads(json.dumps(model_keys(model))))).model
    assert again == model


@pytest.mark.parametrize("key", RECENT_MODELS)
def test_a_recent_model_is_named_in_a_run_file(key):
    assert read_run(job(key)).model == RECENT_MODELS[key]


@pytest.mark.parametrize(
    ("layers", "problem"),
    [
        ({"order": "GGG*"}, "model.layers.key_heads: 0; allowed: 1 or more, there are layers G"),
        ({"order": 3}, "model.layers.order: 3; allowed: a letter for each layer"),
        ({"order": "?"}, "model.layers.order: '?'; allowed: letters of *WSsGKMCH-E"),
        (
            {"order": "W", "window": "x"},
            'model.layers.window: "x"; allowed: a whole number from 0 to 1073741824',
        ),
    ],
)
def test_what_layers_cannot_be_is_told_by_its_path(layers, problem):
    assert problem in said(job({**SIZES, "layers": layers}))


def test_an_unknown_key_of_layers_is_refused():
    (problem,) = said(job({**SIZES, "layers": {"orders": "*"}}))
    assert problem.startswith('model.layers.orders: "*"; unknown key; allowed: window, ')


def test_what_such_layers_do_not_allow_is_refused():
    odd = {**DELTAS, "key_heads": 1, "order": "GGG*"}
    assert said(job({**SIZES, "layers": odd}, plan={"tensor_parallel": 2})) == (
        "parallelism.tensor_parallel: 2; allowed: a divisor of model.layers.key_heads = 1",
    )
    assert said(job(MIXED, lora_rank=8)) == (
        "training.lora_rank: 8; allowed: 0 where layers differ",
    )
    assert said(job(MIXED, flash_attention=False)) == (
        "training.flash_attention: false; allowed: true where layers differ",
    )


def test_layers_without_attention_save_more_the_longer_the_sequence():
    ratios = []
    for length in (8192, 131072):
        mixed, plain = (estimate(read_run(job(one, length))) for one in (MIXED, SIZES))
        ratios.append(mixed["time"]["compute"] / plain["time"]["compute"])
    assert ratios[1] < 0.5 < ratios[0]


def test_a_window_that_covers_the_sequence_costs_what_full_attention_does():
    windows = {**SIZES, "layers": {"order": "W*", "window": 1 << 20}}
    wide, plain = (estimate(read_run(job(one))) for one in (windows, SIZES))
    assert wide["step_time"] == pytest.approx(plain["step_time"])
    assert wide["memory"] == pytest.approx(plain["memory"])
    narrow = {**SIZES, "layers": {"order": "W*", "window": 1024}}
    assert estimate(read_run(job(narrow)))["step_time"] < plain["step_time"]


def test_gated_deltanet_keeps_what_its_kernels_read_again():
    # Per token, in bytes: the convolution's inputs 2 x 4,096; queries and keys of 16 heads
    # 2 x 4,096, values and strengths 2 x 2,064, decays 4 x 16, triangles 2 x 16 x 64; the result,
    # its gate and the projection's input 6 x 2,048. A norm's input and output 4 x 1,024.
    kind = read_run(job(MIXED)).model.mix.kinds[0][0]
    kept = kind.mixer.kept(kind, 2.0, 1, 4 * 1024)
    assert kept == 4096 + 8192 + 8192 + 4128 + 64 + 2048 + 12288


def test_stages_with_other_kinds_of_layers_take_another_time():
    run = read_run(job({**SIZES, "layers": {"order": "GGGG****", **DELTAS}}, 65536,
                       plan={"pipeline_parallel": 2}))  # fmt: skip
    first, last = model_plan(run, 0.5).stages
    assert last.time > 1.2 * first.time
    alone = read_run(job({**SIZES, "layers": {"order": "****GGGG", **DELTAS}}, 65536,
                         plan={"pipeline_parallel": 2}))  # fmt: skip
    assert model_plan(alone, 0.5).stages[0].time > model_plan(alone, 0.5).stages[1].time


@pytest.mark.parametrize("split", [{"tensor_parallel": 4}, {"context_parallel": 4}])
def test_splitting_a_layer_splits_its_activations(split):
    whole, parts = (
        rank_memory(run.model, run.plan, run.training).activations
        for run in (read_run(job(MIXED)), read_run(job(MIXED, plan=split)))
    )
    assert parts == pytest.approx(whole / 4, rel=0.15)


def test_exported_arguments_say_what_they_leave_out():
    said = "# The layers of this model differ, which no argument below says"
    assert said in megatron_arguments(read_run(job(MIXED)))
    assert said not in megatron_arguments(read_run(job(SIZES)))


@pytest.mark.parametrize("key", [key for key, model in RECENT_MODELS.items() if model.mix])
def test_every_recent_model_has_an_estimate(key):
    model = RECENT_MODELS[key]
    split = {"expert_parallel": 8} if model.num_experts else {}
    found = estimate(read_run(job(key, gpus=64, plan=split)))
    assert 0 < found["mfu"] < 0.75
    assert found["memory"]["activations"] > 0


def test_context_parallelism_needs_a_head_of_every_linear_layer():
    # Megatron-Core asserts the same of linear_num_key_heads, tensor and context parallelism.
    split = {"context_parallel": 32, "expert_parallel": 8}
    with pytest.raises(InputError, match="key_heads = 16"):
        read_run(job("qwen3-next-80b-a3b", 65536, gpus=64, plan=split))
    assert read_run(job("nemotron-3-nano", 65536, gpus=64, plan=split)).plan.context_parallel == 32
