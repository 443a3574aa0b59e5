"""Configurations as runs: key by key what was meant, contradictions by name, damage refused."""

import json
import random
import re
from typing import get_args

import pytest

from engine.catalog.models import MODELS
from engine.estimate import estimate
from engine.formulas.parameters import total_parameters
from engine.run.importers.assemble import import_run
from engine.run.importers.import_report import OFFLOADED, Kind, TextError, whole_number
from engine.run.importers.layouts import parse_layout
from engine.run.importers.shell import script_flags
from engine.run.importers.unknown_keys import UNKNOWN
from engine.run.importers.yaml_text import read_yaml
from tests.engine.run.importers.fuzz import mutated, tried
from tests.engine.run.importers.hf_files import FILES, LLAMA, OTHERS, UNPRICED
from tests.engine.run.importers.real_files import (
    ACCELERATE,
    BRIDGE,
    DATA,
    DEEPSPEED,
    LOOPED,
    MEANT,
    MEGATRON,
    REFUSED,
    TORCHTITAN,
    real,
)
from tests.engine.run.importers.texts import TEXTS


def at(document, path):
    for key in path.split("."):
        document = document[key]
    return document


@pytest.mark.parametrize("name", TEXTS)
def test_a_configuration_says_what_was_meant(name):
    text, meant = TEXTS[name]
    found = import_run(text)
    assert found.contradictions == ()
    assert {path: at(found.document, path) for path in meant} == meant
    assert estimate(found.run)["step_time"] > 0


@pytest.mark.parametrize("name", TEXTS)
def test_every_key_is_told_with_its_line(name):
    text, _ = TEXTS[name]
    lines = text.splitlines()
    entries = import_run(text).entries
    assert {entry.kind for entry in entries} <= set(get_args(Kind)) - {"not read"}
    for entry in entries:
        if entry.line:
            last = entry.key.lstrip("-").rpartition(".")[2].rpartition("=")[0] or entry.key
            word = last.lstrip("-").rpartition(".")[2]
            assert word in lines[entry.line - 1] or entry.kind == "understood"


@pytest.mark.parametrize(
    ("name", "keys", "parameters", "row"), FILES, ids=lambda one: str(one)[:30]
)
def test_a_config_json_has_the_published_parameters(name, keys, parameters, row):
    text = json.dumps({**keys, "_name_or_path": name, "torch_dtype": "bfloat16"}, indent=2)
    found = import_run(text)
    assert found.contradictions == ()
    assert total_parameters(found.run.model) == pytest.approx(parameters, rel=0.01)
    if row:
        assert found.document["model"] == row or total_parameters(found.run.model) == pytest.approx(
            total_parameters(MODELS[row]), rel=0.002
        )


@pytest.mark.parametrize(("keys", "said"), OTHERS)
def test_a_config_json_of_another_kind_is_refused_in_words(keys, said):
    (problem,) = import_run(json.dumps(keys)).contradictions
    assert said in problem
    assert "; allowed: " in problem


@pytest.mark.parametrize(("others", "said"), UNPRICED)
def test_what_is_not_priced_is_refused_by_its_name(others, said):
    found = import_run(json.dumps(LLAMA | others))
    assert f"model.{said}" in found.contradictions
    assert found.run is None


def test_layers_with_a_window_in_any_ratio_are_read():
    kinds = (["sliding_attention"] * 3 + ["full_attention"]) * 8
    found = import_run(json.dumps(LLAMA | {"layer_types": kinds, "sliding_window": 512}))
    assert found.document["model"]["layers"] == {"order": "WWW*", "window": 512}
    assert found.run.model.mix.count(range(8)) == (6, 2)


def test_a_window_of_all_layers_is_told_as_left_out():
    found = import_run(json.dumps(LLAMA | {"sliding_window": 4096}))
    said = "attention over all tokens is taken; a window costs less beyond it"
    told = {entry.key: (entry.kind, entry.meaning) for entry in found.entries}
    assert told["sliding_window"] == ("not modeled", said)
    off = import_run(json.dumps(LLAMA | {"sliding_window": 4096, "use_sliding_window": False}))
    kinds = {entry.key: entry.kind for entry in off.entries}
    assert kinds["sliding_window"] == "without effect"


def test_an_encoder_is_named_as_left_out():
    vision = {"vision_config": {"depth": 24, "hidden_size": 1024}}
    told = {entry.key: entry.meaning for entry in import_run(json.dumps(LLAMA | vision)).entries}
    left = "vision_config is left out: the language model alone is predicted"
    assert told["vision_config.depth"] == told["vision_config.hidden_size"] == left
    assert told["hidden_size"] == "model.hidden_size = 4096"


@pytest.mark.parametrize("key", ["some_rank", "another_width"])
def test_a_key_that_is_not_known_is_told_so(key):
    told = {entry.key: entry.meaning for entry in import_run(json.dumps(LLAMA | {key: 8})).entries}
    assert told[key] == "not known here"


# A degree that a run file need not name.
ONE = {f"parallelism.{kind}_parallel" for kind in ("tensor", "pipeline", "expert", "context")}


def said(document, path):
    section, _, key = path.partition(".")
    return document.get(section, {}).get(key, 1) if path in ONE else at(document, path)


@pytest.mark.parametrize("name", MEANT)
def test_a_file_of_a_public_repository_says_what_was_meant(name):
    found = import_run(real(name))
    assert found.contradictions == ()
    meant = MEANT[name]
    assert {path: said(found.document, path) for path in meant} == meant
    assert estimate(found.run)["step_time"] > 0


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_its_framework_refuses_is_refused_in_its_words(name):
    assert import_run(real(name)).contradictions == (REFUSED[name],)


def test_every_file_that_is_stored_is_asserted():
    stored = {str(path.relative_to(DATA)) for path in DATA.rglob("*") if path.suffix}
    assert stored == MEANT.keys() | REFUSED.keys() | {LOOPED}


def test_overrides_in_a_script_have_its_variables_and_its_headings_split_nothing():
    text = real(LOOPED)
    assert "line 186: tensor_model_parallel_size is $TP" in import_run(text).contradictions[0]
    read = """IFS=',' read -r TP PP EP CP SP <<< "$CONFIG\""""
    assert read in text
    found = import_run(text.replace(read, "TP=2\nPP=4\nEP=4\nCP=1\nSP=True"))
    assert found.contradictions == ()
    plan = found.document["parallelism"]
    assert (plan["tensor_parallel"], plan["pipeline_parallel"], plan["expert_parallel"]) == (
        2,
        4,
        4,
    )
    assert (found.document["model"], plan["world_size"]) == ("gpt-oss-20b", 32)
    assert found.document["training"]["global_batch_size"] == 128


def test_a_long_line_of_overrides_is_read_to_its_end():
    many = " ".join(f"logger.name_{number}=$WORD" for number in range(600))
    text = f"WORD=x\nTP=4\nrun_recipe.py --recipe llama3_8b_pretrain_config {many} "
    found = import_run(text + "model.tensor_model_parallel_size=$TP\n")
    assert found.document["parallelism"]["tensor_parallel"] == 4


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("axolotl/zero2.json", "zero_optimization.offload_optimizer.device"),
        ("axolotl/zero3_bf16_cpuoffload_all.json", "zero_optimization.offload_param.device"),
    ],
)
def test_offloading_is_said_to_be_missing_in_the_prediction(name, key):
    meaning = {one.key: one.meaning for one in import_run(real(name)).entries}
    assert meaning[key] == OFFLOADED


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("megatron", "--optimizer-cpu-offload"),
        ("torchtitan", "training.enable_cpu_offload"),
        ("accelerate", "fsdp_config.fsdp_offload_params"),
    ],
)
def test_every_frameworks_offloading_is_told(text, key):
    given = {
        "megatron": "torchrun pretrain_gpt.py --num-layers 4 --optimizer-cpu-offload",
        "torchtitan": "[training]\nlocal_batch_size = 1\nenable_cpu_offload = true",
        "accelerate": "distributed_type: FSDP\nnum_machines: 1\n"
        "fsdp_config:\n  fsdp_offload_params: true",
    }[text]
    assert {one.key: one.meaning for one in import_run(given).entries}[key] == OFFLOADED


def test_a_comment_does_not_say_what_a_text_is():
    text = "# ParallelismConfig(sp_size=2)\ndistributed_type: FSDP\nnum_processes: 4\n"
    assert import_run(text).dialects == ("accelerate YAML",)


def test_there_are_forty_real_files_of_every_kind():
    assert len(MEANT) + len(REFUSED) + len(FILES) >= 80
    assert min(map(len, (MEGATRON, BRIDGE, TORCHTITAN, DEEPSPEED, ACCELERATE))) >= 7


def test_a_registry_of_several_recipes_is_refused_by_their_names():
    text = real("torchtitan/llama3_8b.py.txt") + "\n\n" + real("torchtitan/llama3_70b.py.txt")
    with pytest.raises(TextError, match=r"2 configurations, llama3_8b \(line \d+\), llama3_70b"):
        import_run(text)


def test_keys_that_accelerate_does_not_know_are_told():
    found = import_run(real("accelerate/invalid_keys.yaml"))
    unknown = [one.key for one in found.entries if one.meaning == UNKNOWN]
    assert unknown == ["invalid_key", "another_invalid_key"]


def test_an_unknown_key_is_never_dropped():
    text, _ = TEXTS["megatron gpt3 175b"]
    found = import_run(text + "\n--frobnicate 3\n")
    (entry,) = [entry for entry in found.entries if entry.key == "--frobnicate"]
    assert (entry.kind, entry.meaning) == ("not known", UNKNOWN)


# Each in the framework's own words: megatron-core 0.19.2 (training/arguments.py, parallel_state.py,
# num_microbatches_calculator.py, transformer_config.py, transformer_block.py), torchtitan b5bcd76c
# and 0.2 (parallel_dims.py, trainer.py, pipeline_parallel.py), DeepSpeed 0.19 (runtime/config.py),
# accelerate 1.15 (parallelism_config.py).
CONTRADICTIONS = [
    ("megatron gpt3 175b", "--micro-batch-size 1", "--micro-batch-size 7",
     "global batch size (1536) is not divisible by micro batch size (7) times data parallel size"
     " (1)"),
    ("megatron gpt3 175b", "NUM_NODES=16", "NUM_NODES=15",
     "world size (120) is not divisible by total_model_size (total_model_size=128)"),
    ("megatron gpt3 175b", "--num-layers 96", "--num-layers 97",
     "Number of layers should be divisible by the pipeline-model-parallel size: 97 layers"),
    ("megatron gpt3 175b", "--num-attention-heads 96", "--num-attention-heads 97",
     "num_attention_heads (97) must be a multiple of tensor_model_parallel_size (8)."),
    ("megatron gpt3 175b", "--num-layers 96", "--num-layers 96\n --num-layers-per-virtual-pipeline-"
     "stage 4", "number of layers per pipeline stage must be divisible number of layers per virtual"
     " pipeline stage: 6 layers, 4 in each"),
    ("megatron gpt3 175b", "--num-layers 96", "--num-layers 97\n --num-layers-per-virtual-pipeline-"
     "stage 3", "number of layers of the model must be divisible pipeline model parallel size"),
    ("megatron gpt3 175b", "--num-layers 96", "--num-layers 96\n"
     " --num-virtual-stages-per-pipeline-rank 4",
     "num_layers_per_pipeline_rank 6 should be divisible by vp_size 4"),
    ("megatron gpt3 175b", "--num-layers 96", "--num-layers 96\n"
     " --decoder-first-pipeline-num-layers 5",
     "number of layers at middle stage: 91 must be divisible by the middle pipeline model parallel"
     " size 15"),
    ("megatron gpt3 175b", "--num-layers 96", "--num-layers 96\n"
     " --expert-model-parallel-size 2",
     "num_experts must be non None to use expert model parallelism"),
    ("megatron mixtral 8x7b", "--nnodes 8", "--nnodes 6",
     "world_size (48) is not divisible by expert_tensor_model_pipeline_parallel size (32)"),
    ("megatron mixtral 8x7b", "--expert-model-parallel-size 8", "--expert-model-parallel-size 7",
     "Number of experts should be a multiple of expert model parallel_size: 8 experts, 7 ranks"),
    ("megatron deepseek layout", "Et*3|(tt|)*29,m|L", "Et*3|(tt|)*28,ttm|L",
     "The length of pipeline_model_parallel_layout must be divisible by "
     "pipeline_model_parallel_size (num_stages=31, args.pipeline_model_parallel_size=16)"),
    ("megatron log", "num_layers ...................................... 80",
     "num_layers ...................................... 7",
     "Number of layers should be divisible by the pipeline-model-parallel size: 7 layers, 4"),
    ("torchtitan toml 405b", "data_parallel_shard_degree = 16",
     'data_parallel_shard_degree = 16\npipeline_parallel_schedule = "Foo"\n'
     "pipeline_parallel_degree = 2", "pipeline_parallel_schedule foo is not known"),
    ("torchtitan flags", "--training.seq_len 8192",
     "--training.seq_len 8192 --parallelism.data_parallel_shard_degree 5",
     "Invalid parallel dims: dp_replicate(1) * dp_shard(5) * cp(1) * tp(1) * pp(1) != "
     "WORLD_SIZE(32)"),
    ("torchtitan toml deepseek", "expert_parallel_degree = 64", "expert_parallel_degree = 48",
     "expert_parallel_degree (48) must divide dp_shard * cp * tp (256)"),
    ("torchtitan toml 8b", "seq_len = 8192", "seq_len = 8192\nglobal_batch_size = 12",
     "global batch size must be multiple of local batch size times data-parallel degree "
     "(12 % (1 * 8) != 0)"),
    ("torchtitan toml 8b", "pipeline_parallel_degree = 1", "pipeline_parallel_degree = 40",
     "Number of stages (40) cannot be greater than effective layers (34)"),
    ("torchtitan main", "num_tokens_per_train_step=1048576", "num_tokens_per_train_step=1064960",
     "training.num_tokens_per_train_step (1064960) must be divisible by the number of tokens "
     "processed globally in one gradient accumulation iteration (262144)."),
    ("deepspeed zero 3", '_per_gpu": 4', '_per_gpu": 3',
     "Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * "
     "gradient_acc_step * world_size 512 != 3 * 4 * 42"),
    ("accelerate parallelism", "dp_shard_size: 8", "dp_shard_size: 4",
     "ParallelismConfig total_size (32) does not match num_processes (64). Please adjust "
     "dp_replicate_size/ dp_shard_size/tp_size/cp_size/sp_size."),
    ("accelerate parallelism", "cp_size: 1", "cp_size: 2\n  parallelism_config_sp_size: 2",
     "Context Parallelism (CP) and Sequence Parallelism (SP) are mutually exclusive. Got cp_size=2"
     " and sp_size=2. Please set either cp_size=1 or sp_size=1."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "said"), CONTRADICTIONS)
def test_a_contradiction_is_named_as_the_framework_would(name, old, new, said):
    text = TEXTS[name][0]
    assert old in text
    found = import_run(text.replace(old, new))
    assert found.run is None
    assert any(said in line for line in found.contradictions), found.contradictions


def test_two_texts_that_disagree_are_told():
    found = import_run(
        TEXTS["deepspeed zero 1 fp16"][0] + '---\n{"zero_optimization": {"stage": 2}}'
    )
    assert any("zero_optimization.stage" in line for line in found.contradictions)


BAD = [
    ("", "line 1"),
    ("hello there", "no configuration is recognized"),
    ('{"model_type": "llama",\n "hidden_size": }', "line 2, column 17"),
    ("[parallelism]\ntensor_parallel_degree = = 2", "line 2, column"),
    (
        "distributed_type: FSDP\nfsdp_config:\n\tfsdp_version: 2",
        "line 3, column 1: found",
    ),
    ("distributed_type: FSDP\nnum_machines: 1\n&anchor x", "line 3, column 10: could not"),
    ("{" * 5000, "line 1: nested too deeply"),
    ('{"a":' * 99 + "1", "line 1, column"),
    (
        "def f():\n    x.parallelism.a = 1\n    x.parallelism.tensor_parallel_degree = (",
        "line 3, column",
    ),
]


@pytest.mark.parametrize(("text", "said"), BAD)
def test_malformed_text_is_refused_with_line_column_and_reason(text, said):
    with pytest.raises(TextError) as caught:
        import_run(text)
    assert said in str(caught.value)


def test_a_long_text_is_refused_in_words():
    with pytest.raises(TextError, match="at most 1000000"):
        import_run("x" * 1_000_001)


def test_variables_sums_and_defaults_of_a_script():
    text = 'A=4\nB=$((A * 2))\nC=${UNSET:-3}\nrun --x $A --y ${B} --z $C --w "$D" --on\n'
    flags = {one.key: one.value for one in script_flags(text)}
    assert (flags["--x"], flags["--y"], flags["--z"]) == ("4", "8", "3")
    assert (flags["--w"], flags["--on"]) == ("$D", True)


@pytest.mark.parametrize("default", ['"8"', "'8'", "8"])
def test_a_default_of_a_script_may_stand_in_quotes(default):
    (flag,) = script_flags(f"NODES=${{NODES:-{default}}}\nrun --nnodes $NODES\n")
    assert flag.value == "8"


def test_no_sum_of_a_script_grows_without_bound():
    text = "A=9\n" + "\n".join("A=$((A * A))" for _ in range(50)) + "\nrun --x $A"
    (flag,) = script_flags(text)
    assert len(str(flag.value)) < 60


def test_yaml_says_the_line_of_each_key():
    keys = read_yaml("a:\n  b: 1\n  c:\n    - x\n    - 2\n# note\nd: 'q' # more\n")
    assert [(one.key, one.value, one.line) for one in keys] == [
        ("a.b", 1, 2),
        ("a.c", ["x", 2], 4),
        ("d", "q", 7),
    ]


@pytest.mark.parametrize(
    ("text", "sizes"),
    [("E|(t|)*3,m|m||L", [0, 1, 1, 1, 0, 0, 0, 0]), ("Ett|t*3|ttL", [2, 3, 2]), ("x", [])],
)
def test_a_layout_is_unrolled(text, sizes):
    assert parse_layout(text) == sizes


@pytest.mark.parametrize("seed", range(400))
def test_a_damaged_text_is_answered_or_refused(seed):
    assert tried(mutated(random.Random(f"damaged {seed}"))) in ("read", "contradicted", "refused")


# Of megatron/training/arguments.py: a gated layer is as wide as 64 divides two thirds of it.
@pytest.mark.parametrize(
    ("flags", "hidden", "width"),
    [("", 12288, 49152), ("--swiglu", 12288, 32768), ("--swiglu", 4096, 10880)],
)
def test_the_width_of_a_layer_that_is_not_told_is_megatron_s(flags, hidden, width):
    text = TEXTS["megatron gpt3 175b"][0]
    sizes = f"--hidden-size {hidden} {flags}"
    found = import_run(text.replace("--hidden-size 12288", sizes)).document
    assert at(found, "model.ffn_hidden_size") == width


def test_without_a_batch_megatron_is_given_one_sequence_on_each_rank_and_this_is_told():
    text = re.sub(r"--(micro|global)-batch-size \S+", "", TEXTS["megatron mixtral 8x7b"][0])
    found = import_run(text)
    # 64 GPUs in pipelines of 4, without tensor or context parallelism.
    batch = {"training.micro_batch_size": 1, "training.global_batch_size": 16}
    assert {path: at(found.document, path) for path in batch} == batch
    assert set(batch) <= {entry.key for entry in found.entries if entry.kind == "assumed"}


@pytest.mark.parametrize(("told", "micro"), [("", 1), ("microbatch_size = 2", 2)])
def test_a_pipeline_of_torchtitan_cuts_the_local_batch(told, micro):
    key = f"pipeline_parallel_{told}\n" if told else ""
    cut = f"[parallelism]\npipeline_parallel_degree = 2\n{key}"
    text = TEXTS["torchtitan toml 405b"][0].replace("local_batch_size = 2", "local_batch_size = 4")
    found = import_run(text.replace("[parallelism]\n", cut)).document
    assert at(found, "training.micro_batch_size") == micro


@pytest.mark.parametrize(("parts", "compiled"), [('["loss"]', False), ('["model", "loss"]', True)])
def test_torchtitan_compiles_the_model_where_its_components_name_it(parts, compiled):
    text = TEXTS["torchtitan toml 405b"][0]
    found = import_run(text.replace("enable = true\n", f"enable = true\ncomponents = {parts}\n"))
    assert at(found.document, "training.compiled") is compiled


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (8, 8),
        (8.0, 8),
        (8.5, None),
        (float("nan"), None),
        (float("inf"), None),
        (1e18, None),
        (10**18, None),
        (True, None),
        ("1_024", 1024),
        ("-1", -1),
        ("9" * 18, 10**18 - 1),
        ("9" * 19, None),
        ("8.0", None),
    ],
)
def test_a_whole_number_is_read_as_one_or_not_at_all(value, number):
    assert whole_number(value) == number


def test_an_offloading_that_is_off_is_not_said_to_be_missing():
    config = {"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "none"}}}
    found = import_run(json.dumps({"train_micro_batch_size_per_gpu": 1, **config}))
    meanings = {entry.key: entry.meaning for entry in found.entries}
    assert meanings["zero_optimization.offload_optimizer.device"] != OFFLOADED
