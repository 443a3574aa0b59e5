"""Which configurations a text holds, where each begins, and what is too deep or damaged."""

import json

import pytest

from engine.run.importers.assemble import DGX_H100, ImportDefaults, import_run
from engine.run.importers.import_report import TextError
from engine.run.importers.recognize import recognize
from tests.each import each

TOML = "[training]\nseq_len = 8192"
CONFIG = json.dumps(
    {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8,
     "vocab_size": 128, "intermediate_size": 128}
)  # fmt: skip
LLAMA = '{"model_type": "llama", "vocab_size": 1}'
DEEPSPEED = '{"zero_optimization": {"stage": 2}}'
FLAGS = "run --num-layers 4 --hidden-size 8"
DEEPEST = 100


def found(text):
    return [(one.dialect, one.line) for one in recognize(text).pieces]


def refused(text):
    with pytest.raises(TextError) as caught:
        recognize(text)
    return str(caught.value)


@each(
    "text, dialect",
    [
        ('{"parallelism": {}, "training": {}}', "run file"),
        ('{"zero_optimization": {"stage": 2}}', "DeepSpeed JSON"),
        ('{"train_batch_size": 8, "gradient_clipping": 1}', "DeepSpeed JSON"),
        ('{"model_type": "llama", "hidden_size": 8}', "Hugging Face config.json"),
        (TOML, "torchtitan TOML"),
        ("[job]\n[parallelism]", "torchtitan TOML"),
        ("x = ParallelismConfig(tensor_parallel_degree=2)", "torchtitan Python"),
        ("import torchtitan\ncfg.parallelism.tensor_parallel_degree = 2", "torchtitan Python"),
        ("run --training.seq_len 8192 --job.x 1", "torchtitan flags"),
        ("distributed_type: FSDP\nnum_machines: 1", "accelerate YAML"),
        ("distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2", "accelerate YAML"),
        ("  tensor_model_parallel_size ........ 4\n  num_layers ..... 1\n seq_length ...... 2",
         "Megatron-LM log"),
        ("model.tensor_model_parallel_size=4 train.global_batch_size=4",
         "Megatron-Bridge overrides"),
        ("run_recipe.py --recipe llama3_8b_pretrain_config", "Megatron-Bridge overrides"),
        (FLAGS, "Megatron-LM arguments"),
        ("pretrain_gpt.py --num_layers 4", "Megatron-LM arguments"),
    ],
)  # fmt: skip
def test_a_text_is_what_two_of_its_signs_say(text, dialect):
    assert found(text) == [(dialect, 1)]


@each(
    "text, seen",
    [
        ("", "none"),
        ("  \n", "none"),
        ("hello there", "none"),
        ("--- a.json ---\nhello\n", "none"),
        ("--num-layers 4", "--num-layers (Megatron-LM arguments)"),
        ("--num-layers 4 --num_layers 8", "--num-layers (Megatron-LM arguments)"),
        ("# --num-layers 4 --hidden-size 8", "none"),
        ("echo --num-layers 4 --hidden-size 8", "none"),
        ("x: 1 # start it with --num-layers 4 --hidden-size 8", "none"),
        ("run --learning_rate 4 --nproc-per-node 8", "--nproc-per-node (launch script)"),
        ('{"model_type": "llama"}', "model_type (Hugging Face config.json)"),
        ('{"a": 1}', "none"),
        (
            "fsdp_config:\n  reshard_after_forward: true\nsequence_len: 4096",
            "sequence-len (axolotl YAML)",
        ),
    ],
)
def test_a_text_with_fewer_signs_is_refused_and_they_are_named(text, seen):
    said = refused(text)
    assert said.startswith(f"line 1: no configuration is recognized (signs seen: {seen}); allowed:")
    assert "Megatron-LM arguments" in said


def test_a_text_of_two_dialects_is_refused_by_their_names():
    assert refused(f"{TOML}\n[job]\ndistributed_type: FSDP\nnum_machines: 1") == (
        "line 1: signs of torchtitan TOML ([training], [job], seq-len) and accelerate YAML "
        "(distributed-type, num-machines): put a line such as --- NAME --- between the texts"
    )
    both = '{"model_type": 1, "hidden_size": 2, "zero_optimization": {"stage": 1}}'
    assert refused(both) == (
        "line 1: keys of Hugging Face config.json (hidden_size, model_type) and DeepSpeed JSON "
        "(zero_optimization, zero_optimization.stage): one object is one configuration"
    )


def unread(text):
    return [(one.name, one.first, one.last) for one in recognize(text).unread]


def test_what_no_reader_takes_is_named_with_its_lines():
    text = f"{CONFIG}\nbye\n--- a.yaml ---\n\nx: 1\ny: 2\n---\n# a comment\n---\n{FLAGS}"
    assert unread(text) == [("line 2", 2, 2), ("a.yaml", 5, 6)]


def test_a_text_that_no_reader_takes_stops_the_answer_until_it_is_left_out():
    text = f"{CONFIG}\n--- my.yaml ---\nlength: 4\n"
    stopped = import_run(text)
    assert stopped.run is None
    said = "my.yaml, line 3: not read: no format that is known here; signs seen: none"
    assert stopped.contradictions == (f"{said}; mend it, or leave it out",)
    assert [one.sentence() for one in stopped.unread] == [said]
    for names in (("my.yaml",), ("all",)):
        defaults = ImportDefaults(cluster=DGX_H100, leave_out=names)
        answered = import_run(text, defaults)
        assert answered.run is not None
        assert answered.warnings[0] == "my.yaml is left out"
    entries = [(one.key, one.line, one.kind) for one in answered.entries if one.kind == "not read"]
    assert entries == [("my.yaml", 3, "not read")]


@each("text", ["length: 4\nbatch: 2", "[data]\nlength = 4"])
def test_another_format_within_a_script_is_not_read(text):
    (one,) = recognize(f"{FLAGS}\n{text}").unread
    assert (one.name, one.reason) == ("lines 2-3", "another format within a script")
    assert import_run(f"{CONFIG}\n{FLAGS}\n{text}").run is None


def test_what_a_script_writes_is_a_text_of_its_own():
    script = f"cat <<EOF > ./ds.json\n{DEEPSPEED}\nEOF\n{FLAGS} --x ds.json"
    assert found(script) == [("DeepSpeed JSON", 2), ("Megatron-LM arguments", 1)]
    assert unread(f"cat > a.yaml << 'END'\nb: 1\nEND\n{FLAGS}") == [("a.yaml", 2, 2)]
    assert unread(f"cat <<EOF\nhow to use it\nEOF\n{FLAGS}") == []


def test_blocks_of_markdown_are_texts():
    text = f"```json\n{CONFIG}\n```\n\n```bash\n{FLAGS}\n```"
    assert found(text) == [("Hugging Face config.json", 2), ("Megatron-LM arguments", 6)]


TRAINERS = [
    (FLAGS, TOML, "Megatron-LM arguments (line 1) and torchtitan TOML (line 3)"),
    (TOML, "distributed_type: NO\nnum_machines: 1",
     "torchtitan TOML (line 1) and accelerate YAML (line 4)"),
    (DEEPSPEED, TOML, "DeepSpeed JSON (line 1) and torchtitan TOML (line 3)"),
]  # fmt: skip


@each("first, second, both", TRAINERS)
def test_texts_of_two_trainers_give_no_answer(first, second, both):
    found = import_run(f"{first}\n---\n{second}")
    assert found.run is None
    assert found.contradictions[0] == (
        f"two trainers: {both}; one job has one, so leave one of the texts out"
    )


def test_what_is_no_configuration_stands_beside_one_that_is():
    assert found(f"hello\n--- a.json ---\n{LLAMA}\nbye") == [("Hugging Face config.json", 3)]


def test_a_heading_begins_the_next_part_a_line_further():
    text = f"=== run.toml ===\n{TOML}\n---\n\n{LLAMA}\n# --- x.sh ---\n{FLAGS}"
    assert found(text) == [
        ("torchtitan TOML", 2),
        ("Hugging Face config.json", 6),
        ("Megatron-LM arguments", 8),
    ]


@each("line", ["-" * 40, "====", "---- arguments ----", "------ end of arguments ------"])
def test_a_rule_that_a_log_prints_is_no_heading(line):
    assert found(f"run --num-layers 4\n{line}\n--hidden-size 8") == [("Megatron-LM arguments", 1)]


def test_a_comment_that_names_no_file_is_no_heading():
    assert found(f"{FLAGS}\n# --- sizes ---\n--swiglu") == [("Megatron-LM arguments", 1)]


def test_objects_stand_beside_each_other_and_a_script_keeps_its_lines():
    model = '{"model_type":\n "llama", "vocab_size": 1}'
    batch = '{"train_batch_size":\n 8, "gradient_clipping": 1}'
    text = f"{model}\n{batch}\n{FLAGS}"
    assert found(text) == [
        ("Hugging Face config.json", 1),
        ("DeepSpeed JSON", 3),
        ("Megatron-LM arguments", 1),
    ]
    parts = recognize(text).pieces
    assert [one.tree for one in parts] == [
        {"model_type": "llama", "vocab_size": 1},
        {"train_batch_size": 8, "gradient_clipping": 1},
        None,
    ]
    assert [one.text for one in parts[:2]] == [model, batch]
    assert parts[2].text == f"\n\n\n\n{FLAGS}"


def test_an_object_within_another_that_begins_a_line_is_a_part_of_it():
    text = '{"zero_optimization":\n{"stage": 3},\n"extra":\n{"a": 1}}\n'
    (one,) = recognize(text).pieces
    assert one.tree == {"zero_optimization": {"stage": 3}, "extra": {"a": 1}}


def test_lines_before_an_object_count():
    assert found(f"\n\n  {LLAMA}") == [("Hugging Face config.json", 3)]
    assert found('{\n\n"model_type": "llama", "vocab_size": 1}') == [
        ("Hugging Face config.json", 1)
    ]
    assert found(f"---\n{FLAGS}\n\n  {LLAMA}") == [
        ("Hugging Face config.json", 4),
        ("Megatron-LM arguments", 2),
    ]


def test_a_flag_behind_an_object_has_its_own_line():
    text = '{"zero_optimization":\n {"stage": 1}}\n' + f"torchrun {FLAGS}\n"
    (line,) = [one.line for one in import_run(text).entries if one.key == "--num-layers"]
    assert line == 3


def nested(depth):
    """Return an object with so many brackets around one another."""
    return '{"vocab_size": 1, "model_type": ' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


def test_a_hundred_brackets_are_read_and_one_more_is_refused():
    assert found(nested(DEEPEST)) == [("Hugging Face config.json", 1)]
    assert refused(nested(DEEPEST + 1)) == "line 1: nested too deeply"
    assert refused(f"---\n\n{nested(DEEPEST + 1)}") == "line 2: nested too deeply"


def test_brackets_that_are_closed_do_not_count():
    flat = '{"model_type": 1, "vocab_size": [' + ", ".join(["[]"] * 200) + "]}"
    assert found(flat) == [("Hugging Face config.json", 1)]
    late = '{"a": [], "b": [], "c": ' + "[" * DEEPEST + "]" * DEEPEST + "}"
    assert refused(late) == "line 1: nested too deeply"


def test_brackets_behind_an_object_do_not_count():
    assert found(f"{LLAMA}\n" + "[" * 200) == [("Hugging Face config.json", 1)]
    assert found(f"{LLAMA}\n{FLAGS} " + "{" * 200) == [
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
    assert found(FLAGS + "\n{ echo }") == [("Megatron-LM arguments", 1)]
    assert found(f"{LLAMA}\n{FLAGS}\n{{ echo }}")[1:] == [("Megatron-LM arguments", 1)]


def test_a_number_that_is_too_long_for_python_is_refused_with_the_line_of_its_object():
    assert refused('\n{"a": ' + "9" * 5000 + "}") == (
        "line 2: a number is too long or brackets too deep"
    )
