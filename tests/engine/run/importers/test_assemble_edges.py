"""A run file put together from a text: ranks, batch, machines, and what stands for the unsaid."""

from engine.run.importers.assemble import DGX_H100, ImportDefaults, import_run
from tests.each import each

MODEL = "--num-layers 8 --hidden-size 64 --num-attention-heads 8 --vocab-size 100 --seq-length 128"
LAUNCH = "torchrun --nproc_per_node 8 pretrain_gpt.py"
SIZES = ("world_size", "micro_batch_size", "global_batch_size")


def sizes_of(text, defaults=None):
    found = import_run(text, defaults)
    assert found.contradictions == ()
    both = found.document["parallelism"] | found.document["training"]
    return [both[key] for key in SIZES]


@each(
    "flags, sizes",
    [
        (f"{LAUNCH} --nnodes 2", [16, 1, 16]),
        (LAUNCH, [8, 1, 8]),
        (f"{LAUNCH} --tensor-model-parallel-size 2 --context-parallel-size 2", [8, 1, 2]),
        (f"{LAUNCH} --tensor-model-parallel-size 2 --micro-batch-size 3", [8, 3, 12]),
        (f"{LAUNCH} --world-size 32", [32, 1, 32]),
        # Without a launcher: one node, or the least multiple of the degrees from 8 on.
        ("", [8, 1, 8]),
        ("--tensor-model-parallel-size 4 --pipeline-model-parallel-size 4", [16, 1, 1]),
        ("--pipeline-model-parallel-size 4 --tensor-model-parallel-size 1", [8, 1, 2]),
        ("--context-parallel-size 8 --tensor-model-parallel-size 2", [16, 1, 1]),
        ("--num-experts 12 --expert-model-parallel-size 12", [12, 1, 12]),
        ("--num-experts 12 --expert-model-parallel-size 6 --expert-tensor-parallel-size 2 "
         "--pipeline-model-parallel-size 2", [24, 1, 12]),
    ],
)  # fmt: skip
def test_gpus_and_batch_of_megatron_follow(flags, sizes):
    assert sizes_of(f"{flags} {MODEL}") == sizes


def test_a_recipe_says_its_gpus_where_no_launcher_does():
    degrees = "model.tensor_model_parallel_size=1 model.pipeline_model_parallel_size=1"
    recipe = f"--recipe llama3_8b_16gpus_pretrain_config {degrees}"
    assert sizes_of(f"run.py {recipe}") == [16, 1, 16]
    assert sizes_of(f"torchrun --nproc_per_node=8 run.py {recipe}") == [8, 1, 8]


def test_gpus_that_are_asked_for_go_before_those_of_the_text():
    assert sizes_of(f"{LAUNCH} {MODEL}", ImportDefaults(cluster=DGX_H100, world_size=4)) == [
        4,
        1,
        4,
    ]
    assert sizes_of(f"{LAUNCH} {MODEL}", ImportDefaults(cluster=DGX_H100)) == [8, 1, 8]


def test_the_machines_are_one_dgx_unless_the_launch_says_otherwise():
    cluster = {"gpu": "H100-SXM", "gpus_per_node": 8, "nics_per_node": 8, "nic_bandwidth": 50e9}
    assert import_run(MODEL).document["cluster"] == cluster
    four = import_run(f"torchrun --nproc_per_node 4 x.py {MODEL}").document["cluster"]
    assert four == cluster | {"gpus_per_node": 4}


@each("text, length", [(MODEL.partition(" --seq")[0], 8192),
                       ('{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, '
                        '"num_attention_heads": 8, "vocab_size": 100}', 4096)])  # fmt: skip
def test_a_length_that_is_not_said_is_that_of_the_software(text, length):
    assert import_run(text).document["sequence_length"] == length


def test_a_model_alone_is_run_on_one_node():
    text = (
        '{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, '
        '"num_attention_heads": 8, "intermediate_size": 256, "vocab_size": 100}'
    )
    assert sizes_of(text) == [8, 1, 8]
    assert import_run(text).document["training"]["precision"] == "bf16"


def test_a_text_without_a_model_has_the_one_of_the_defaults_or_none():
    flags = "pretrain_gpt.py --tensor-model-parallel-size 2"
    named = ImportDefaults(model="llama-3-8b", cluster=DGX_H100)
    assert import_run(flags, named).document["model"] == "llama-3-8b"
    assert import_run(f"{flags} {MODEL}", named).document["model"]["num_layers"] == 8
    found = import_run(flags)
    assert (found.run, "model" in found.document) == (None, False)
    said = "no text says which model: add its config.json, or arguments that say its shape"
    assert found.contradictions == (said,)


def test_a_named_model_goes_before_sizes_of_one():
    text = "--recipe llama3_8b_pretrain_config model.num_layers=4"
    assert import_run(f"run.py {text}").document["model"] == "llama-3-8b"


def test_a_contradiction_is_told_alone():
    found = import_run(f"{LAUNCH} --num-layers many")
    assert found.run is None
    said = "line 1: --num-layers is many; a whole number is needed"
    assert found.contradictions == (said,)


BATCH = "--micro-batch-size 1 --global-batch-size 8"
LLAMA = """{"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096,
 "vocab_size": 128256,
 "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
 "tie_word_embeddings": false}
---
"""


def test_of_two_models_the_one_that_arguments_say_is_shown_and_told():
    found = import_run(f"{LLAMA}{LAUNCH} {MODEL} {BATCH}")
    assert found.run.model.num_layers == 8
    assert found.warnings == (
        "two texts describe the model, and the arguments' is shown: num_layers 8, not 32, "
        "hidden_size 64, not 4096, num_attention_heads 8, not 32",
    )
    same = "--num-layers 32 --hidden-size 4096 --num-attention-heads 32"
    alike = import_run(f"{LLAMA}{LAUNCH} {same} {BATCH} --seq-length 128")
    assert (alike.document["model"], alike.warnings) == ("llama-3-8b", ())


def test_arguments_that_change_a_part_of_a_named_model_stop_the_answer():
    found = import_run(f"{LLAMA}{LAUNCH} --num-layers 8 --micro-batch-size 1")
    assert found.contradictions == (
        "arguments change the model that is named: num_layers 8, not 32",
    )


def test_warnings_that_say_the_same_are_one():
    found = import_run(
        f"{LAUNCH} {MODEL} {BATCH} --a-size 1 --b-size 2 --c-size 3 --d-size 4 --e-size 5"
    )
    assert found.warnings == (
        "--a-size (line 1), --b-size (line 1), --c-size (line 1), --d-size (line 1) and 1 more are "
        "not known here",
    )


def test_sizes_that_no_text_says_are_warned_of():
    assert import_run(f"{LAUNCH} {MODEL}").warnings == (
        "no text says micro_batch_size 1, global_batch_size 8",
    )
    assert import_run(LLAMA.rstrip("-\n")).warnings == (
        "no text says sequence_length 4096, micro_batch_size 1, global_batch_size 8, world_size 8",
    )


def test_of_two_files_of_models_the_later_is_shown_and_told():
    other = LLAMA.replace('"num_hidden_layers": 32', '"num_hidden_layers": 30').rstrip("-\n")
    found = import_run(f"{LLAMA}{other}")
    assert found.run.model.num_layers == 30
    assert found.warnings[0] == "two texts describe the model, and the later one is shown"
