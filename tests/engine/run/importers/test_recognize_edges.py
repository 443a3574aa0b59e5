"""Which configurations a text holds, where each begins, and what is too deep or damaged."""

import pytest

from engine.run.importers.assemble import import_run
from engine.run.importers.import_report import TextError
from engine.run.importers.recognize import split_configurations
from tests.each import each

TOML = "[training]\nseq_len = 8192"
DEEPEST = 100


def found(text):
    return [(one.dialect, one.line) for one in split_configurations(text)]


def refused(text):
    with pytest.raises(TextError) as caught:
        split_configurations(text)
    return str(caught.value)


@each(
    "text, dialect",
    [
        ('{"parallelism": {}, "training": {}}', "run file"),
        ('{"parallelism": {}}', "Hugging Face config.json"),
        ('{"training": {}}', "Hugging Face config.json"),
        ('{"zero_optimization": {}}', "DeepSpeed JSON"),
        ('{"train_batch_size": 8}', "DeepSpeed JSON"),
        ('{"train_micro_batch_size_per_gpu": 8}', "DeepSpeed JSON"),
        ('{"gradient_accumulation_steps": 8}', "DeepSpeed JSON"),
        ('{"model_type": "llama"}', "Hugging Face config.json"),
        (TOML, "torchtitan TOML"),
        ("[job]", "torchtitan TOML"),
        ("x = ParallelismConfig(tensor_parallel_degree=2)", "torchtitan Python"),
        ("cfg.parallelism.tensor_parallel_degree = 2", "torchtitan Python"),
        ("run --training.seq_len 8192", "torchtitan flags"),
        ("distributed_type: FSDP", "accelerate YAML"),
        ("  tensor_model_parallel_size ........ 4", "Megatron-LM log"),
        ("model.tensor_model_parallel_size=4", "Megatron-Bridge overrides"),
        ("llama3_8b_pretrain_config", "Megatron-Bridge overrides"),
        ("--num-layers 4", "Megatron-LM arguments"),
        ("# --num-layers 4", "Megatron-LM arguments"),
        ("# [training]\n--num-layers 4", "Megatron-LM arguments"),
    ],
)
def test_a_text_is_what_it_says_first_of_all(text, dialect):
    assert found(text) == [(dialect, 1)]


@each("text", ["", "  \n", "hello there", "--- a.json ---\nhello\n"])
def test_a_text_without_a_configuration_is_refused(text):
    assert refused(text).startswith("line 1: no configuration is recognized; allowed: Megatron-LM")


def test_what_is_no_configuration_stands_beside_one_that_is():
    assert found('hello\n--- a.json ---\n{"model_type": "llama"}\nbye') == [
        ("Hugging Face config.json", 3)
    ]


def test_a_heading_begins_the_next_part_a_line_further():
    text = f'=== run.toml ===\n{TOML}\n---\n\n{{"model_type": "llama"}}\n# --- x.sh ---\n--lr 1'
    assert found(text) == [
        ("torchtitan TOML", 2),
        ("Hugging Face config.json", 6),
        ("Megatron-LM arguments", 8),
    ]


@each("dashes, parts", [(199, [("torchtitan TOML", 1), ("Megatron-LM arguments", 4)]),
                        (200, [("torchtitan TOML", 1)])])  # fmt: skip
def test_a_heading_is_shorter_than_200_characters(dashes, parts):
    assert found(f"{TOML}\n{'-' * dashes}\n--num-layers 4") == parts


def test_a_comment_that_names_no_file_is_no_heading():
    assert found("--num-layers 4\n# --- sizes ---\n--hidden-size 8") == [
        ("Megatron-LM arguments", 1)
    ]


def test_objects_stand_beside_each_other_and_a_script_keeps_its_lines():
    text = '{"model_type":\n "llama"}\n{"train_batch_size":\n 8}\n--num-layers 4'
    assert found(text) == [
        ("Hugging Face config.json", 1),
        ("DeepSpeed JSON", 3),
        ("Megatron-LM arguments", 1),
    ]
    parts = split_configurations(text)
    assert [one.tree for one in parts] == [{"model_type": "llama"}, {"train_batch_size": 8}, None]
    assert [one.text for one in parts[:2]] == [
        '{"model_type":\n "llama"}',
        '{"train_batch_size":\n 8}',
    ]
    assert parts[2].text == "\n\n\n\n--num-layers 4"


def test_an_object_within_another_that_begins_a_line_is_a_part_of_it():
    text = '{"zero_optimization":\n{"stage": 3},\n"extra":\n{"a": 1}}\n'
    (one,) = split_configurations(text)
    assert one.tree == {"zero_optimization": {"stage": 3}, "extra": {"a": 1}}


def test_lines_before_an_object_count():
    assert found('\n\n  {"model_type": "llama"}') == [("Hugging Face config.json", 3)]
    assert found('{\n\n"model_type": "llama"}') == [("Hugging Face config.json", 1)]
    assert found('---\n--lr 1\n\n  {"model_type": "llama"}') == [
        ("Hugging Face config.json", 4),
        ("Megatron-LM arguments", 2),
    ]


def test_a_flag_behind_an_object_has_its_own_line():
    text = '{"zero_optimization":\n {"stage": 1}}\ntorchrun x.py --num-layers 4\n'
    (line,) = [one.line for one in import_run(text).entries if one.key == "--num-layers"]
    assert line == 3


def nested(depth):
    """Return an object with so many brackets around one another."""
    return '{"model_type": ' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


def test_a_hundred_brackets_are_read_and_one_more_is_refused():
    assert found(nested(DEEPEST)) == [("Hugging Face config.json", 1)]
    assert refused(nested(DEEPEST + 1)) == "line 1: nested too deeply"
    assert refused(f"---\n\n{nested(DEEPEST + 1)}") == "line 2: nested too deeply"


def test_brackets_that_are_closed_do_not_count():
    flat = '{"a": [' + ", ".join(["[]"] * 200) + "]}"
    assert found(flat) == [("Hugging Face config.json", 1)]
    late = '{"a": [], "b": [], "c": ' + "[" * DEEPEST + "]" * DEEPEST + "}"
    assert refused(late) == "line 1: nested too deeply"


def test_brackets_behind_an_object_do_not_count():
    assert found('{"model_type": "llama"}\n' + "[" * 200) == [("Hugging Face config.json", 1)]
    assert found('{"a": 1}\n--num-layers 4 ' + "{" * 200) == [
        ("Hugging Face config.json", 1),
        ("Megatron-LM arguments", 1),
    ]


@each(
    "text, said",
    [
        ('{"a": }', "line 1, column 7: the JSON is damaged or cut off (Expecting value)"),
        ('\n\n{"a":\n 1,\n}', "line 5, column 1: the JSON is damaged or cut off"),
        ('---\n{"a":\n }', "line 3, column 2: the JSON is damaged or cut off (Expecting value)"),
        ("{" * DEEPEST, "line 1, column 2: the JSON is damaged or cut off"),
    ],
)
def test_a_text_that_begins_with_a_damaged_object_is_refused(text, said):
    assert refused(text).startswith(said)


def test_a_bracket_of_a_script_is_no_damaged_object():
    assert found("--num-layers 4\n{ echo }") == [("Megatron-LM arguments", 1)]
    assert found('{"model_type": "llama"}\n--lr 1\n{ echo }')[1:] == [("Megatron-LM arguments", 1)]


def test_a_number_that_is_too_long_for_python_is_refused_with_the_line_of_its_object():
    assert refused('\n{"a": ' + "9" * 5000 + "}") == (
        "line 2: a number is too long or brackets too deep"
    )
