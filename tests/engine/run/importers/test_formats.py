"""Each format says what it was meant to say, and no key of these texts is unknown."""

import itertools
import re

import pytest

from engine.run.importers.assemble import import_run
from engine.run.importers.dialects import DIALECTS
from engine.run.importers.import_report import TextError
from tests.each import each
from tests.engine.run.importers.format_texts import FORMATS
from tests.engine.run.importers.fuzz import SEEDS

# Dialects whose texts stand in a file of tests of their own.
OWN_TESTS = {
    "GPT-NeoX printed arguments": "test_gpt_neox_printed.py",
    "slime arguments": "test_slime.py",
    "launch script": "test_launch.py",
    "MaxText overrides": "test_maxtext.py",
    "run file": "test_read_piece_edges.py",
}


def value_at(document, path):
    section, _, key = path.partition(".")
    found = document.get(section)
    return found.get(key) if key and isinstance(found, dict) else None if key else found


@each("name", FORMATS)
def test_a_format_says_what_it_was_meant_to_say(name):
    _, text, meant = FORMATS[name]
    job = import_run(text)
    assert job.contradictions == ()
    assert job.run is not None
    found = {path: value_at(job.document, path) for path in meant}
    assert found == dict(meant)


@each("name", FORMATS)
def test_every_line_of_a_text_has_an_outcome(name):
    _, text, _ = FORMATS[name]
    job = import_run(text)
    assert [entry for entry in job.entries if entry.kind in ("not known", "not read")] == []
    assert len(job.dialects) == 1


@each("name", FORMATS)
def test_a_key_that_no_one_knows_is_called_so(name):
    source, text, _ = FORMATS[name]
    if name == "Trainer Python":
        text = text.replace("packing=True", "packing=True, foo_expert_size=7")
    elif name == "NeMo 2 Python":
        line = "    pretrain.trainer.val_check_interval = 400\n"
        text = text.replace(line, f"{line}    pretrain.trainer.foo_expert_size = 7\n")
    elif name == "NeMo 2 command":
        text = f"{text.rstrip()} trainer.foo_expert_size=7\n"
    elif name.startswith("verl"):
        text = text.rstrip().removesuffix("$@").rstrip(" \\")
        text += " \\\n    actor_rollout_ref.actor.foo_expert_size=7 model.foo_expert_size=7\n"
    elif text.lstrip().startswith(("#", "{")) and "{" in text:
        text = text.replace("{", '{\n  "foo_expert_size": 7,', 1)
    elif "\\\n" in text:
        text = re.sub(r"\n( +)--", r"\n\1--foo_expert_size 7 \\\n\1--", text, count=1)
    else:
        lines = text.rstrip().splitlines()
        indent = lines[-1][: len(lines[-1]) - len(lines[-1].lstrip())]
        text = "\n".join([*lines, f"{indent}foo_expert_size: 7", ""])
    job = import_run(text)
    told = [entry for entry in job.entries if "foo_expert_size" in entry.key]
    assert {entry.kind for entry in told} <= {"not known", "not modeled"}, source
    assert told, source
    assert any("foo_expert_size" in warning for warning in job.warnings) or name == "NeMo 1"


def test_every_dialect_has_a_text_that_says_what_it_means():
    read = {name for text in SEEDS for name in import_run(text).dialects}
    missing = {dialect.name for dialect in DIALECTS} - read - OWN_TESTS.keys()
    assert not missing, f"{missing}: add a text to tests/engine/run/importers/format_texts.py"


def test_formats_have_names_of_their_own():
    names = [dialect.name for dialect in DIALECTS]
    assert len(set(names)) == len(names)
    assert {name for dialect in DIALECTS for name in dialect.contains} <= set(names)


@pytest.mark.parametrize("other", ["NeMo 1", "verl FSDP", "GPT-NeoX"])
def test_two_trainers_in_one_paste_are_no_job(other):
    first, second = FORMATS["axolotl FSDP"][1], FORMATS[other][1]
    job = import_run(f"--- a.yaml ---\n{first}\n--- b ---\n{second}")
    assert job.run is None
    assert any("two trainers" in said for said in job.contradictions)


@each("first, second", list(itertools.combinations(FORMATS, 2)))
def test_two_formats_in_one_text_never_give_one_answer_without_a_word(first, second):
    one, two = FORMATS[first], FORMATS[second]
    try:
        job = import_run(f"{one[1]}\n{two[1]}")
    except TextError:
        return
    told = job.run is None or job.warnings or job.contradictions
    assert told or len(set(job.dialects)) == 1
    software = {dialect.software for dialect in DIALECTS if dialect.name in job.dialects}
    assert job.run is None or len(software - {""}) == 1


_TRAINER = (
    "torchrun --nproc_per_node 8 train.py --model_name_or_path{0}Qwen/Qwen2.5-7B "
    "--per_device_train_batch_size{0}1 --gradient_accumulation_steps{0}8 --bf16{0}True "
    "--model_max_length{0}2048\n"
)


@pytest.mark.parametrize(
    "before",
    ["", "model_name_or_path=Qwen/Qwen2.5-7B\nper_device_train_batch_size=1\nreport_to=none\n"],
)
@pytest.mark.parametrize("joint", [" ", "="])
def test_a_shell_is_no_python(before, joint):
    job = import_run(before + _TRAINER.format(joint))
    assert job.dialects == ("Hugging Face TrainingArguments",)
    assert job.document["training"]["global_batch_size"] == 64


def test_labels_of_a_case_are_no_flags():
    labels = "--train_batch_size) A=$2 ;;\n  --micro_train_batch_size)\n    B=$2 ;;\n"
    script = f"case $1 in\n  {labels}  --max_len) C=$2 ;;\nesac\n{FORMATS['verl FSDP'][1]}"
    assert import_run(script).dialects == ("verl overrides",)


_RLHF = (
    "deepspeed --module openrlhf.cli.train_{} --pretrain meta-llama/Meta-Llama-3-8B --bf16 "
    "--train_batch_size 64 --zero_stage 3 {}\n"
)


@pytest.mark.parametrize(
    ("kind", "more", "said"),
    [
        ("kto", "", "a reference model"),
        ("kd", "--teacher_model meta-llama/Meta-Llama-3-70B", "the teacher"),
        ("sft", "--own_teacher big", "own_teacher"),
    ],
)
def test_a_second_model_is_named(kind, more, said):
    job = import_run(_RLHF.format(kind, more))
    assert any(said in warning for warning in job.warnings)
    assert job.document["sequence_length"] == 2048
    assert job.document["training"]["micro_batch_size"] == 8


_FACTORY = (
    "model_name_or_path: Qwen/Qwen2.5-7B\nfinetuning_type: lora\ncutoff_len: 1024\nbf16: true\n"
)


@pytest.mark.parametrize(
    ("more", "trains"),
    [
        ("", True),
        ("do_train: true\ndo_predict: true\n", True),
        ("do_predict: true\npredict_with_generate: true\n", False),
        ("export_dir: merged\n", False),
        ("do_train: false\n", False),
    ],
)
def test_what_trains_nothing_has_no_answer(more, trains):
    job = import_run(_FACTORY + more)
    assert (job.run is not None) == trains
    assert any("trains nothing" in said for said in job.contradictions) != trains


def test_workers_of_ray_are_gpus():
    job = import_run(f"{_FACTORY}ray_num_workers: 4\nresources_per_worker:\n  GPU: 1\n")
    assert job.document["parallelism"]["world_size"] == 4


def test_a_folder_of_megatron_weights_names_its_model():
    text = (
        "NPROC_PER_NODE=2 megatron sft --load Qwen2.5-7B-Instruct-mcore --micro_batch_size 4 "
        "--tensor_model_parallel_size 2 --global_batch_size 16 --max_length 2048\n"
    )
    assert import_run(text).document["model"] == "qwen2.5-7b"


@pytest.mark.parametrize("name", ["NNODES", "NPROC_PER_NODE"])
def test_a_launch_variable_that_nothing_says_is_warned_of(name):
    line = f"{name}=$SOMETHING swift sft --model Qwen/Qwen2.5-7B --max_length 2048\n"
    assert any(name in warning for warning in import_run(line).warnings)


def test_no_sign_begins_with_what_a_long_text_repeats():
    """Such a sign takes time by the square of a text of blank lines, or of one long word."""
    signs = [sign for dialect in DIALECTS for sign in dialect.signs]
    assert signs
    assert not [sign for sign in signs if re.match(r"\^?\\[sSwW][*+]", sign)]
