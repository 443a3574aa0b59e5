"""NeMo 2: a recipe by its name, what a script assigns to it, classes without a recipe."""

import pytest

from engine.catalog.models import MODELS
from engine.catalog.nemo_recipes import FINETUNE, PRETRAIN
from engine.run.importers.assemble import import_run
from engine.run.importers.import_report import TextError

_HEAD = "import nemo_run as run\nfrom nemo.collections import llm\n"
_CLASSES = """from nemo import lightning as nl
from nemo.collections import llm
length = 2048
data = llm.MockDataModule(seq_length=length, global_batch_size=16, micro_batch_size=2)
model = llm.LlamaModel(llm.Llama3Config8B(seq_length=length), tokenizer=data.tokenizer)
strategy = nl.MegatronStrategy(tensor_model_parallel_size=2)
trainer = nl.Trainer(devices=8, strategy=strategy,
    plugins=nl.MegatronMixedPrecision(precision="bf16-mixed"))
"""


def test_recipes_have_models_of_the_catalog():
    rows = [*PRETRAIN.values(), *FINETUNE.values()]
    assert {row.model for row in rows} <= set(MODELS)
    assert all(bool(row.rank) == adapted for (_, adapted), row in FINETUNE.items())


@pytest.mark.parametrize("name", PRETRAIN)
def test_a_recipe_by_its_name_is_a_job(name):
    nodes = PRETRAIN[name].nodes
    row = PRETRAIN[name]
    parts = row.tensor * row.pipeline * row.context
    nodes = max(nodes, -(-parts // 8))
    job = import_run(f'nemo llm pretrain --factory "{name}(num_nodes={nodes})"\n')
    assert job.contradictions == ()
    assert job.document["parallelism"]["world_size"] == 8 * nodes
    assert job.document["model"] == row.model
    assert job.document["training"]["global_batch_size"] == row.batch


def test_arguments_go_through_functions():
    text = (
        _HEAD
        + """
def configure(nodes: int = 1, gpus: int = 8):
    recipe = llm.llama3_8b.pretrain_recipe(num_nodes=nodes, num_gpus_per_node=gpus)
    recipe.trainer.strategy.context_parallel_size = 1
    return recipe

def executor(nodes: int = 1, devices: int = 2):
    return run.LocalExecutor(ntasks_per_node=devices)

recipe = configure(nodes=4)
ex = executor(nodes=recipe.trainer.num_nodes, devices=recipe.trainer.devices)
"""
    )
    job = import_run(text)
    assert job.contradictions == ()
    assert job.document["parallelism"]["world_size"] == 32
    assert job.document["parallelism"]["context_parallel"] == 1


def test_what_a_script_computes_stops_the_answer():
    text = _HEAD + "r = llm.llama3_8b.pretrain_recipe(num_nodes=1)\n"
    assert import_run(text).run is not None
    assert import_run(text.replace("=1", "=int(os.environ['N'])")).run is None
    for value in ("config.devices", "int(word)", "2 + 2", "sizes[3]"):
        assert import_run(f"{text}r.trainer.devices = {value}\n").run is None, value
    changed = text.replace("r =", "recipe =") + "recipe = tune(recipe)\nrun.run(recipe)\n"
    assert [word for word in import_run(changed).warnings if "may change the recipe" in word]
    branch = "if big:\n    r.trainer.strategy.tensor_model_parallel_size = 8\n"
    job = import_run(_HEAD + "r = llm.llama3_8b.pretrain_recipe(num_nodes=1)\n" + branch)
    assert any("the branch in line 4" in said for said in job.contradictions)


def test_defaults_of_a_command_line_are_named():
    text = _CLASSES.replace("devices=8", "devices=args.gpus")
    assert import_run(text).run is None
    job = import_run(text + "parser.add_argument('--gpus', type=int, default=16)\n")
    assert job.document["parallelism"]["world_size"] == 16
    assert any("at their defaults" in warning for warning in job.warnings)


def test_classes_without_a_recipe():
    job = import_run(_CLASSES)
    assert job.contradictions == ()
    assert job.document["model"] == "llama-3-8b"
    assert job.document["parallelism"]["zero_stage"] == 0
    assert job.document["training"]["overlap_gradient_reduce"] is False
    sharded = import_run(_CLASSES + "o = OptimizerConfig(use_distributed_optimizer=True)\n")
    assert sharded.document["parallelism"]["zero_stage"] == 1


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("MockDataModule(", "OwnDataModule(batch=3)  # ", "a data module of one's own"),
        ("Llama3Config8B(seq_length=length)", "Llama3Config8B(seq_length=99)", "sequences of 99"),
        ("Llama3Config8B(", "Llama3Config8B(num_layers=2, ", "change the model"),
        ("Llama3Config8B(", "Baichuan2Config7B(", "no model of the catalog"),
        ("strategy=strategy", "strategy='fsdp2'", "Megatron's strategy alone"),
        ("devices=8, ", "", "no trainer.devices"),
    ],
)
def test_what_cannot_be_read_is_refused(before, after, said):
    job = import_run(_CLASSES.replace(before, after))
    assert job.run is None
    assert any(said in fault for fault in job.contradictions)


def test_two_recipes_are_not_one():
    recipe = "a = llm.llama3_8b.pretrain_recipe(num_nodes=1)\n"
    with pytest.raises(TextError, match="2 recipes"):
        import_run(_HEAD + recipe + recipe)


@pytest.mark.parametrize(
    ("words", "rank", "tensor"),
    [("", 16, 8), (" peft=none", None, 8), (" peft.dim=4", 4, 8)],
)
def test_adapters_of_a_recipe(words, rank, tensor):
    job = import_run(f"nemo llm finetune --factory llama3_70b{words}\n")
    assert job.document["training"].get("lora_rank") == rank
    assert job.document["parallelism"]["tensor_parallel"] == tensor
    scheme = import_run('nemo llm finetune --factory "llama3_70b(peft_scheme=none)"\n')
    assert scheme.document["parallelism"]["pipeline_parallel"] == 4
    assert "lora_rank" not in scheme.document["training"]


def test_precision_of_a_plugin():
    text = _HEAD + "r = llm.llama3_8b.pretrain_recipe(num_nodes=1)\n"
    job = import_run(text + "r.trainer.plugins = bf16_with_fp8_mixed()\n")
    assert job.document["training"]["precision"] == "fp8"
    assert import_run(text + "r.trainer.plugins = own_plugin()\n").run is None
