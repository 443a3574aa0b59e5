"""The command in a terminal, and what it prints."""

import io
import json

import pytest

from engine.estimate import estimate
from engine.estimate_file import main
from engine.formulas.parameters import matrix_parameters
from engine.run.file import read_run

# The example of the documentation: GPT-3 175B on 1,024 A100.
RUN = {
    "model": {
        "num_layers": 96,
        "hidden_size": 12288,
        "num_attention_heads": 96,
        "num_key_value_heads": 96,
        "ffn_hidden_size": 49152,
        "vocab_size": 51200,
        "mlp": "gelu",
        "tied_embeddings": True,
        "num_experts": 0,
        "experts_per_token": 0,
        "num_shared_experts": 0,
        "expert_ffn_hidden_size": 0,
        "num_dense_layers": 0,
    },
    "sequence_length": 2048,
    "cluster": {
        "gpu": "A100-SXM-80GB",
        "gpus_per_node": 8,
        "nics_per_node": 8,
        "nic_bandwidth": 25e9,
    },
    "parallelism": {
        "world_size": 1024,
        "tensor_parallel": 8,
        "pipeline_parallel": 16,
        "virtual_pipeline": 1,
        "context_parallel": 1,
        "expert_parallel": 1,
        "sequence_parallel": False,
        "zero_stage": 0,
        "shard_group": 0,
    },
    "training": {
        "micro_batch_size": 1,
        "global_batch_size": 1536,
        "precision": "bf16",
        "recompute": "full",
        "flash_attention": False,
        "schedule": "1f1b",
        "overlap_gradient_reduce": True,
        "overlap_tensor_parallel": False,
        "framework": "megatron",
        "compiled": False,
    },
}
PRINTED = [
    "step_time",
    "step_time_low",
    "step_time_high",
    "range_basis",
    "extrapolates",
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
    "memory_allocated",
    "memory_reserved",
    "memory_process",
    "fit",
    "memory_usable",
    "memory_to_give_back",
]


def test_the_estimate_has_the_documented_keys():
    assert list(estimate(read_run(RUN))) == PRINTED


def test_the_rate_counts_the_operations_of_megatrons_formula():
    # Korthikanti et al. 2022, equation 7: 72 B s l h^2 (1 + s/6h + V/12lh).
    operations = 72 * 1536 * 2048 * 96 * 12288**2
    operations *= 1 + 2048 / (6 * 12288) + 51200 / (12 * 96 * 12288)
    found = estimate(read_run(RUN))
    per_gpu = operations / found["step_time"] / 1024
    assert found["model_flops_rate"] == pytest.approx(per_gpu, rel=1e-3)


def test_tokens_per_second_follow_from_the_step():
    found = estimate(read_run(RUN))
    assert found["tokens_per_second_per_gpu"] * found["step_time"] * 1024 == pytest.approx(
        1536 * 2048
    )


def test_a_run_that_does_not_fit_says_so():
    small = {**RUN, "parallelism": {"world_size": 8, "tensor_parallel": 8}}
    found = estimate(read_run(small))
    assert not found["fits"]
    assert any("needs" in sentence for sentence in found["problems"])


def test_the_command_prints_one_json_object(tmp_path, capsys):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(RUN), encoding="utf-8")
    status = main([str(path)])
    assert (status, list(json.loads(capsys.readouterr().out))) == (0, PRINTED)


def test_the_command_reads_standard_input(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(RUN)))
    assert main(["-"]) == 0
    assert json.loads(capsys.readouterr().out)["step_time"] > 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "allowed: a file with one JSON object"),
        ("[]", "run: []; allowed: an object"),
        (json.dumps({**RUN, "sequence_length": 0}), "sequence_length: 0; allowed: "),
        (
            json.dumps({**RUN, "sequence_length": "9"}).replace('"9"', "9" * 5000),
            f"sequence_length: {'9' * 77}...; allowed: a whole number",
        ),
    ],
)
def test_bad_input_ends_with_status_2_and_one_line(monkeypatch, capsys, text, said):
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert main(["-"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_file_that_is_not_there_is_named(capsys):
    assert main(["nowhere.json"]) == 2
    assert "nowhere.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("gpu", "asked", "taken"),
    [
        ("H100-SXM", "fp4", "fp8"),
        ("MI300X", "fp4", "fp8"),
        ("A100-SXM-80GB", "fp4", "fp16"),
        ("A100-SXM-80GB", "fp8", "fp16"),
        ("V100-SXM-32GB", "bf16", "fp16"),
    ],
)
def test_a_data_type_that_a_gpu_lacks_is_replaced_by_the_one_that_is_timed(gpu, asked, taken):
    def of(precision):
        training = {**RUN["training"], "precision": precision}
        cluster = {**RUN["cluster"], "gpu": gpu}
        return estimate(read_run({**RUN, "cluster": cluster, "training": training}))

    lacking, wider = of(asked), of(taken)
    assert lacking["step_time"] == pytest.approx(wider["step_time"])
    assert lacking["mfu"] == pytest.approx(wider["mfu"])
    said = f"has no {asked}; its {taken} peak is taken."
    assert any(said in note for note in lacking["problems"])


def test_of_adapters_the_note_says_what_the_rate_counts():
    training = {**RUN["training"], "lora_rank": 16}
    found, whole = estimate(read_run({**RUN, "training": training})), estimate(read_run(RUN))
    assert found["time"]["compute"] < whole["time"]["compute"]
    assert any("Adapters alone are trained" in note for note in found["problems"])
    run = read_run(RUN)
    tokens = run.training.global_batch_size * run.training.sequence_length
    frozen = 2 * matrix_parameters(run.model) * tokens / run.plan.world_size
    counted = found["model_flops_rate"] * found["step_time"]
    assert counted == pytest.approx(whole["model_flops_rate"] * whole["step_time"] - frozen)
