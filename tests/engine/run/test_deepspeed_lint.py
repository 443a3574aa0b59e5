"""The linter says what DeepSpeed would say, with the line; bad JSON has line, column and reason."""

import pytest

from engine.core.inputs import InputError
from engine.run.deepspeed_lint import lint
from engine.run.deepspeed_values import LintJob, read_settings, read_zero_values

JOB = LintJob(parameters=8.03e9, hidden=4096, matrix=4096 * 1024, ranks=64)


def notes(zero: str, rest: str = '"train_micro_batch_size_per_gpu": 1,'):
    text = f'{{\n{rest}\n"zero_optimization": {{\n{zero}\n}}\n}}'
    found = lint(read_settings(text), JOB)
    return {note.path.removeprefix("zero_optimization."): note for note in found}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1,}', "line 1, column 9"),
        ('{"a": 1\n "b": 2}', "line 2, column 2: expecting ',' delimiter"),
        ('{\n// why\n"a": 1}', "line 2, column 1: a comment"),
        ('{"a": tru}', "line 1, column 7"),
        ("[1]", "begins with '{'"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "line 1, column 24: 'c' stands in this object twice"),
        ('{"x":' + "[" * 100_000, "line 1, column 55: brackets are too deep"),
        ('{"x":\n' + '{"a":' * 60, "line 2, column 246: brackets are too deep"),
        ('{"x":' + "9" * 5000 + "}", "too long"),
        ('{\n"a": NaN}', "line 2, column 1: the number of 'a' is not finite"),
        ('{"a": {\n "b": 1e400}}', "line 2, column 2: the number of 'b' is not finite"),
        ('{"betas": [0.9, -Infinity]}', "line 1, column 2: the number of 'betas'"),
        ('{"x":' + "9" * 400 + "}", "not finite"),
    ],
)
def test_bad_json_has_line_column_and_reason(text, message):
    with pytest.raises(InputError) as caught:
        read_settings(text)
    assert message in str(caught.value)


def test_keys_have_their_own_lines_and_paths():
    lines = read_settings('{\n"fp16": {"enabled": false},\n"bf16": {\n"enabled": true}\n}')
    assert [(line.path, line.number, line.value is True) for line in lines][1::2] == [
        ("fp16.enabled", 2, False),
        ("bf16.enabled", 4, True),
    ]


@pytest.mark.parametrize(
    ("zero", "key", "word"),
    [
        ('"stage": 4', "stage", "stages 0 to 3"),
        ('"stage": 3, "reduce_bucket_sise": 5', "reduce_bucket_sise", "reduce_bucket_size"),
        ('"stage": 3, "reduce_bucket_size": -1', "reduce_bucket_size", "0 or more"),
        ('"stage": 3, "stage3_prefetch_bucket_size": 15099494.4',
         "stage3_prefetch_bucket_size", "whole number"),
        ('"stage": 2, "offload_optimizer": {"device": "cpu", "ratio": 0.5}',
         "offload_optimizer", "needs stage 3"),
        ('"stage": 3, "zero_hpz_partition_size": 7', "zero_hpz_partition_size", "no multiple"),
        ('"stage": 3, "mics_shard_size": 8', "mics_shard_size", "Removed in DeepSpeed 0.19.7"),
        ('"stage": 3, "zeropp_loco_param": {}', "zeropp_loco_param", "Removed"),
        ('"stage": 3, "stage3_partition_stream_chunk_size": 1',
         "stage3_partition_stream_chunk_size", "No such setting"),
        ('"stage": 3, "reduce_bucket_size": 0', "reduce_bucket_size", "above 0"),
    ],
)  # fmt: skip
def test_what_deepspeed_refuses_is_an_error(zero, key, word):
    note = notes(zero)[key]
    assert note.verdict == "error"
    assert word in note.text


@pytest.mark.parametrize(
    ("zero", "key", "word"),
    [
        ('"stage": 3, "allgather_bucket_size": 5e8', "allgather_bucket_size", "stages 1 and 2"),
        ('"stage": 2, "stage3_max_live_parameters": 1e9', "stage3_max_live_parameters", "stage 3"),
        ('"stage": 3, "stage3_max_live_parameters": 0', "stage3_max_live_parameters", "prefetch"),
        ('"stage": 3, "stage3_max_reuse_distance": 1e10', "stage3_max_reuse_distance", "stop"),
        ('"stage": 3, "overlap_comm": false', "overlap_comm", "stops for every bucket"),
        ('"stage": 2, "reduce_bucket_size": 1e10', "reduce_bucket_size", "nothing overlaps"),
        ('"stage": 3, "stage3_param_persistence_threshold": 1e7',
         "stage3_param_persistence_threshold", "matrices"),
        ('"stage": 3, "cpu_offload": true', "cpu_offload", "offload_optimizer"),
    ],
)  # fmt: skip
def test_what_does_nothing_or_harms_is_a_warning(zero, key, word):
    note = notes(zero)[key]
    assert note.verdict == "warning"
    assert word in note.text


def test_a_sound_file_has_neither():
    found = notes('"stage": 3, "reduce_bucket_size": 5e7, "stage3_max_live_parameters": 5e8, '
                  '"stage3_max_reuse_distance": 1e8')  # fmt: skip
    assert {note.verdict for note in found.values()} == {"ok"}


@pytest.mark.parametrize("group", [1, 8])
def test_a_group_that_divides_the_ranks_keeps_a_copy(group):
    note = notes(f'"stage": 3, "zero_hpz_partition_size": {group}')["zero_hpz_partition_size"]
    assert note.verdict == "ok"


def test_batches_must_agree_as_deepspeed_asserts():
    rest = (
        '"train_batch_size": 64, "train_micro_batch_size_per_gpu": 1, '
        '"gradient_accumulation_steps": 2,'
    )
    assert notes('"stage": 1', rest)["train_batch_size"].verdict == "error"
    assert notes('"stage": 1', rest.replace("64", "128"))["train_batch_size"].verdict == "ok"
    assert notes('"stage": 1', "")["(batch)"].verdict == "error"


def test_sections_that_were_removed_are_refused():
    rest = '"train_batch_size": 64, "elasticity": {"enabled": false}, "zero_force": 1,'
    found = notes('"stage": 1', rest)
    assert found["elasticity"].verdict == "error"
    assert "Removed in DeepSpeed 0.19.8" in found["elasticity"].text
    assert found["zero_force"].verdict == "warning"


def test_both_halves_are_refused():
    rest = '"train_batch_size": 64, "fp16": {"enabled": true}, "bf16": {"enabled": true},'
    assert notes('"stage": 1', rest)["bf16.enabled"].verdict == "error"


def test_a_key_that_nobody_reads_is_named():
    note = notes('"stage": 1', '"train_batch_size": 64, "zero_optimisation": {},')
    assert "zero_optimization" in note["zero_optimisation"].text


def test_auto_is_what_accelerate_fills_in():
    lines = read_settings(
        '{"zero_optimization": {"stage": 3, "reduce_bucket_size": "auto", '
        '"stage3_param_persistence_threshold": "auto"}}'
    )
    values = read_zero_values(lines, JOB)
    assert values.elements("reduce_bucket_size") == 4096**2
    assert values.elements("stage3_param_persistence_threshold") == 40_960
    assert values.elements("stage3_prefetch_bucket_size") == 5e7
    assert values.switch("overlap_comm")
