"""Documents that are no run: each problem names the key, the value and what is allowed."""

import random

import pytest

from engine.run.file import InputError, read_run
from tests.each import each
from tests.validation.any_run import any_document, changed

GOOD = {
    "model": "llama-3-8b",
    "sequence_length": 4096,
    "cluster": {
        "gpu": "H100-SXM",
        "gpus_per_node": 8,
        "nics_per_node": 8,
        "nic_bandwidth": 50e9,
    },
    "parallelism": {"world_size": 16, "tensor_parallel": 2},
    "training": {"micro_batch_size": 1, "global_batch_size": 64, "precision": "bf16"},
}


def problems(document):
    with pytest.raises(InputError) as caught:
        read_run(document)
    return caught.value.problems


# (section, key, value, what must be said)
BAD = [
    ("parallelism", "tensor_parallel", 0, ("parallelism.tensor_parallel", "0", "1 to")),
    ("parallelism", "tensor_parallel", 2.5, ("parallelism.tensor_parallel", "2.5", "whole")),
    ("parallelism", "tensor_parallel", True, ("parallelism.tensor_parallel", "true", "whole")),
    ("parallelism", "tensor_parallel", "2", ("parallelism.tensor_parallel", '"2"', "whole")),
    ("parallelism", "world_size", 15, ("parallelism.world_size", "15", "multiple")),
    ("parallelism", "world_size", None, ("parallelism.world_size", "null", "whole")),
    ("parallelism", "expert_parallel", 2, ("parallelism.expert_parallel", "2", "no experts")),
    ("parallelism", "zero_stage", 4, ("parallelism.zero_stage", "4", "0 to 3")),
    ("parallelism", "shard_group", 3, ("parallelism.shard_group", "3", "divisor of the 8")),
    ("parallelism", "virtual_pipeline", 2, ("parallelism.virtual_pipeline", "2", "1 where")),
    ("parallelism", "tensor", 2, ("parallelism.tensor", "2", "unknown", "tensor_parallel")),
    ("cluster", "gpu", "H100", ("cluster.gpu", '"H100"', "H100-SXM")),
    ("cluster", "nic_bandwidth", -1, ("cluster.nic_bandwidth", "-1", "above 0")),
    ("cluster", "nic_bandwidth", float("nan"), ("cluster.nic_bandwidth", "NaN", "above 0")),
    ("cluster", "nic_bandwidth", float("inf"), ("cluster.nic_bandwidth", "Infinity", "1e18")),
    ("training", "precision", "fp64", ("training.precision", '"fp64"', "bf16, fp16, fp8, fp4")),
    ("training", "global_batch_size", 12, ("training.global_batch_size", "12", "multiple", "8")),
    ("training", "flash_attention", 1, ("training.flash_attention", "1", "true or false")),
    ("training", "schedule", "gpip", ("training.schedule", '"gpip"', "gpipe")),
]


@each(("section", "key", "value", "said"), BAD)
def test_a_bad_value_is_named_with_what_is_allowed(section, key, value, said):
    (problem,) = problems(changed(GOOD, section, **{key: value}))
    assert all(text in problem for text in said), problem


@each("key", ["world_size", "micro_batch_size", "gpu", "nic_bandwidth"])
def test_a_missing_key_is_named(key):
    document = {
        name: {k: v for k, v in part.items() if k != key} if isinstance(part, dict) else part
        for name, part in GOOD.items()
    }
    (problem,) = problems(document)
    assert f".{key}: missing; allowed: " in problem


@each("section", list(GOOD))
def test_a_missing_section_is_named(section):
    document = {name: part for name, part in GOOD.items() if name != section}
    assert any(problem.startswith(f"{section}: missing") for problem in problems(document))


def test_an_unknown_section_is_named():
    (problem,) = problems({**GOOD, "modell": {}})
    assert problem.startswith("modell: {}; unknown key; allowed: model,")


def test_an_unknown_model_is_told_the_catalogue():
    (problem,) = problems({**GOOD, "model": "llama"})
    assert "llama-3-8b" in problem


@each("document", [[], "run", None, 3])
def test_a_document_that_is_no_object_is_refused(document):
    (problem,) = problems(document)
    assert "allowed: an object" in problem


def test_all_problems_are_told_at_once():
    twice = changed(changed(GOOD, "parallelism", zero_stage=9), "training", precision="fp64")
    assert len(problems(twice)) == 2


def test_a_head_that_does_not_split_is_refused():
    (problem,) = problems(changed(GOOD, "parallelism", world_size=24, tensor_parallel=3))
    assert problem.startswith("parallelism.tensor_parallel: 3; allowed: a divisor of the 32")


def test_defaults_follow_the_plan():
    run = read_run(changed(GOOD, "parallelism", pipeline_parallel=2, virtual_pipeline=2))
    assert (run.plan.sequence_parallel, run.training.schedule) == (True, "interleaved")


def test_without_tensor_parallelism_sequences_are_not_split():
    assert not read_run(changed(GOOD, "parallelism", tensor_parallel=1)).plan.sequence_parallel


def test_key_value_heads_default_to_the_heads():
    model = {
        "num_layers": 2,
        "hidden_size": 256,
        "num_attention_heads": 4,
        "ffn_hidden_size": 1024,
        "vocab_size": 1000,
        "mlp": "gelu",
        "tied_embeddings": True,
    }
    assert read_run({**GOOD, "model": model}).model.num_key_value_heads == 4


def early(mlp, *, compiled, flash_attention=True):
    """Whether the fused attention of a run is taken to be the first one."""
    model = {
        "num_layers": 2,
        "hidden_size": 256,
        "num_attention_heads": 4,
        "ffn_hidden_size": 1024,
        "vocab_size": 1000,
        "mlp": mlp,
        "tied_embeddings": True,
    }
    switches = {"compiled": compiled, "flash_attention": flash_attention}
    document = {**GOOD, "model": model, "training": GOOD["training"] | switches}
    return read_run(document).training.first_flash_attention


def test_an_unfused_model_of_2022_has_the_first_flash_attention():
    assert early("gelu", compiled=False)


def test_a_llama_is_younger_than_the_first_flash_attention_fused_or_not():
    assert not early("swiglu", compiled=False)


def test_fused_kernels_come_with_a_newer_attention():
    assert not early("gelu", compiled=True)


def test_without_a_fused_attention_there_is_no_first_one():
    assert not early("gelu", compiled=False, flash_attention=False)


WRONG = [None, -1, 0, 3.7, "x", [], {}, True, 10**12, float("nan")]


@each("seed", range(300))
def test_a_random_change_for_the_worse_names_its_key(seed):
    source = random.Random(f"worse {seed}")
    document = any_document(source)
    section = source.choice(["model", "cluster", "parallelism", "training"])
    key = source.choice(sorted(document[section]))
    kind = type(document[section][key])
    wrong = source.choice([value for value in WRONG if type(value) is not kind])
    if isinstance(wrong, float | int) and not isinstance(wrong, bool) and kind in (float, int):
        wrong = -1
    found = problems(changed(document, section, **{key: wrong}))
    assert any(problem.startswith(f"{section}.{key}: ") for problem in found)
    assert all("; allowed: " in problem for problem in found)
