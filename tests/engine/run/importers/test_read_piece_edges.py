"""What each piece of a text is read as: lines of keys, refusals, several configurations."""

import pytest

from engine.run.importers.assemble import import_run
from engine.run.importers.import_report import TextError
from tests.each import each


def lines(text):
    return {one.key: one.line for one in import_run(text).entries if one.line}


def refused(text):
    with pytest.raises(TextError) as caught:
        import_run(text)
    return str(caught.value)


def test_keys_of_toml_have_the_line_of_their_section():
    text = "--- a.toml ---\ntitle = 1\n[training]\nseq_len = 8\n[job.x]\nseq_len = 9\n"
    assert lines(text) == {"title": 2, "training.seq_len": 4, "job.x.seq_len": 6}


def test_damaged_toml_is_refused_with_its_place():
    assert refused("--- a.toml ---\n[training]\nseq_len = = 8").startswith("line 3, column 11: ")


def test_a_run_file_is_taken_as_it_is():
    text = '{"parallelism": {},\n "training": {"precision": "bf16"}}'
    found = import_run(text)
    assert found.document == {"parallelism": {}, "training": {"precision": "bf16"}}
    told = [(one.key, one.line, one.meaning) for one in found.entries]
    said = "a key of a run file"
    assert told == [("parallelism", 1, said), ("training.precision", 2, said)]


def recipes(count):
    return "\n".join(
        f"def f{at}():\n    return Trainer.Config(training=TrainingConfig())" for at in range(count)
    )


@each("count, more", [(2, ""), (12, ""), (13, " and 1 more"), (14, " and 2 more")])
def test_several_configurations_are_named_up_to_twelve(count, more):
    names = ", ".join(f"f{at} (line {2 * at + 1})" for at in range(min(count, 12)))
    assert refused(recipes(count)) == (
        f"line 1: {count} configurations, {names}{more}; paste one of these functions alone"
    )


def test_a_single_configuration_is_read():
    assert import_run(recipes(1)).dialects == ("torchtitan Python",)


def test_overrides_in_python_are_those_of_its_tree_and_its_recipe():
    text = (
        "cfg = llama3_8b_pretrain_config()\ncfg.model.tensor_model_parallel_size = 2\n"
        "# --nnodes 9\nmain() # torchrun\n"
    )
    found = import_run(text)
    assert found.dialects == ("Megatron-Bridge overrides",)
    assert found.document["model"] == "llama-3-8b"
    assert found.document["parallelism"]["tensor_parallel"] == 2


def test_a_launcher_of_overrides_says_the_gpus_and_nothing_else():
    text = (
        "torchrun --nproc_per_node 4 --nnodes 3 run.py --num-layers 7 "
        "--recipe llama3_8b_pretrain_config model.tensor_model_parallel_size=2"
    )
    found = import_run(text)
    assert found.document["parallelism"]["world_size"] == 12
    assert "--num-layers" not in lines(text)
