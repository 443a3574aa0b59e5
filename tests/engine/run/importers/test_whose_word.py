"""Words that mean one thing to one program and another to the next: each kind mended with cases."""

import json

from engine.run.importers.assemble import ImportDefaults, import_run
from tests.each import each

LLAMA = json.dumps(
    {"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "vocab_size": 128256,
     "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
     "tie_word_embeddings": False}
)  # fmt: skip
TRAINER = (
    "train.py --model_name_or_path meta-llama/Meta-Llama-3-8B --bf16 --max_seq_length 2048 "
    "--per_device_train_batch_size 2 --gradient_accumulation_steps 4"
)
VERL = (
    "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.max_prompt_length=1024 "
    "data.max_response_length=1024 actor_rollout_ref.model.path=Qwen/Qwen2.5-7B "
    "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2"
)
GPT = (
    "pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
    "--swiglu --untie-embeddings-and-output-weights --disable-bias-linear --micro-batch-size 1 "
    "--global-batch-size 64 --position-embedding-type rope"
)


ENVIRONMENT = "export WORLD_SIZE=${WORLD_SIZE:-%d}\n"
RUN = "torchrun --nnodes $WORLD_SIZE --nproc_per_node 8"
OTHER = "python launch.py --num_nodes 2 --gpus 8 -- torchrun --nnodes 2 --nproc_per_node 8"
PRODUCT = "GPUS_PER_NODE=8\nNNODES=2\nWORLD_SIZE=$(($GPUS_PER_NODE*$NNODES))\n"
HUB = "--tokenizer-type HuggingFaceTokenizer --tokenizer-model"


def world(text):
    return import_run(text).document["parallelism"]["world_size"]


@each(
    "text, gpus",
    [
        # A cluster's WORLD_SIZE counts nodes where a flag or the processes of a node say so.
        (f"{ENVIRONMENT % 1}{RUN} {TRAINER}", 8),
        (f"WORLD_SIZE=4\n{RUN} {TRAINER}", 32),
        (f"{ENVIRONMENT % 1}{VERL} trainer.nnodes=1 trainer.n_gpus_per_node=8", 8),
        (f"{ENVIRONMENT % 2}{VERL} trainer.nnodes=$WORLD_SIZE trainer.n_gpus_per_node=8", 16),
        (f"WORLD_SIZE=${{WORLD_SIZE:-2}}\ntorchrun --nproc_per_node 8 {TRAINER}", 16),
        (f"WORLD_SIZE=16\ntorchrun --nproc_per_node 8 {TRAINER}", 16),
        (f"{PRODUCT}python {TRAINER}", 16),
        # Flags behind a script are its own.
        (f"torchrun --nproc_per_node 8 {TRAINER} --num_processes 64", 8),
        (f"torchrun --nproc_per_node 8 {TRAINER} --num_gpus 1", 8),
        (f"{OTHER} {TRAINER}", 16),
        (f"accelerate launch --num_processes 4 {TRAINER}", 4),
        (f"python -m torch.distributed.launch --nproc_per_node 4 --nnodes 2 {TRAINER}", 8),
        (f"deepspeed --num_gpus 4 {TRAINER} --deepspeed ds_z3.json", 4),
    ],
)  # fmt: skip
def test_who_says_how_many_gpus(text, gpus):
    assert world(text) == gpus


def test_processes_of_one_node_beside_another_programs_nodes_are_refused():
    text = f"python launch.py --num_nodes 4 -- accelerate launch --num_processes 8 {TRAINER}"
    found = import_run(text)
    assert found.run is None
    assert "whether in all or on each" in found.contradictions[0]


def test_a_cluster_that_sets_the_world_is_told():
    found = import_run(f"WORLD_SIZE=${{WORLD_SIZE:-1}}\npython {TRAINER}")
    assert any(one.startswith("WORLD_SIZE (line 1) is 1") for one in found.warnings)
    nodes = import_run(f"WORLD_SIZE=${{WORLD_SIZE:-2}}\ntorchrun --nproc_per_node 8 {TRAINER}")
    assert any("taken for the number of nodes" in one for one in nodes.warnings)


@each(
    "line, warns",
    [
        ("#SBATCH --gres=gpu:a100:8", "--gres (line 1): asks for a100"),
        ("#SBATCH -C v100-32g", "--constraint (line 1): asks for v100"),
        ("#SBATCH --constraint=h200", "--constraint (line 1): asks for h200"),
        ("#SBATCH --gpus-per-node=mi300x:8", "--gpus-per-node (line 1): asks for mi300x"),
        ("#SBATCH --gres=gpu:h100:8", ""),
        ("#SBATCH --constraint=rack7", ""),
        ("#SBATCH --gres=gpu:8", ""),
    ],
)
def test_gpus_that_a_scheduler_is_asked_for(line, warns):
    found = import_run(f"{line}\nsrun torchrun --nproc_per_node 8 {TRAINER}")
    assert [one for one in found.warnings if "asks for" in one] == (
        [f"{warns}; H100-SXM is shown"] if warns else []
    )
    assert found.document["parallelism"]["world_size"] == 8


@each(
    "flags, stage, framework",
    [
        ("--config_file recipes/deepspeed_zero3.yaml", 3, "deepspeed"),
        ("--config_file fsdp.yaml", 3, "fsdp"),
        ("--config_file multi_gpu.yaml", 0, "fsdp"),
        ("--use_deepspeed --deepspeed_config_file ds_stage2.json", 2, "deepspeed"),
        ("--use_deepspeed --zero_stage 3", 3, "deepspeed"),
        ("--use_deepspeed", 2, "deepspeed"),
        ("--use_fsdp --fsdp_sharding_strategy SHARD_GRAD_OP", 2, "fsdp"),
        ("--use_fsdp --fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP", 3, "fsdp"),
        ("--multi_gpu", 0, "fsdp"),
    ],
)
def test_accelerates_command_says_what_is_sharded(flags, stage, framework):
    found = import_run(f"accelerate launch {flags} --num_processes 8 {TRAINER}")
    assert found.document["parallelism"]["zero_stage"] == stage
    assert found.document["training"]["framework"] == framework


def test_accelerates_file_is_needed_or_read_beside():
    command = f"accelerate launch --config_file mine.yaml --num_processes 8 {TRAINER}"
    alone = import_run(command)
    assert alone.run is None
    assert alone.contradictions == ("line 1: what is sharded is in mine.yaml; paste that file too",)
    file = (
        "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nnum_machines: 1\n"
        "num_processes: 8\nfsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD\n"
        "  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"
    )
    for text in (f"{command}\n--- mine.yaml ---\n{file}", f"{file}--- go.sh ---\n{command}"):
        found = import_run(text)
        assert found.contradictions == ()
        assert found.run.plan.zero_stage == 3


# A switch of memory by another name than the Trainer's.
SWITCHES = (
    "grad_checkpoint", "grad-ckpt", "use_checkpointing", "act_ckpt", "gradientCheckpointing",
    "activation_checkpoint", "use_zero3", "mbs", "ctx_len", "bf16_params", "trainable_layers",
)  # fmt: skip


@each("flag", SWITCHES)
def test_an_unknown_switch_of_memory_is_told_at_the_verdict(flag):
    found = import_run(f"torchrun --nproc_per_node 8 {TRAINER} --{flag} 1")
    assert any(f"--{flag} (line 1) is not known here" in one for one in found.warnings)


@each("flag", ("save_checkpoint", "checkpoint_dir", "exp_name", "resume_checkpoint"))
def test_names_of_what_is_saved_are_no_switch_of_memory(flag):
    found = import_run(f"torchrun --nproc_per_node 8 {TRAINER} --{flag} x")
    assert found.warnings == ()


@each(
    "flags, rows, warns",
    [
        (f"{HUB} meta-llama/Llama-3.1-8B", 128256, ""),
        (f"{HUB} /models/Qwen2.5-7B", 152064, ""),
        ("--tokenizer-type Llama2Tokenizer --tokenizer-model /t/tokenizer.model", 32000, ""),
        ("--tokenizer-type GPT2BPETokenizer --vocab-file gpt2-vocab.json", 50304, ""),
        ("--tokenizer-type GPT2BPETokenizer --tensor-model-parallel-size 8", 51200, ""),
        (f"--vocab-size 100352 {HUB} x/y", 100352, ""),
        (f"{HUB} org/own", 50304, "org/own"),
        ("--tokenizer-type SentencePieceTokenizer --tokenizer-model a.model", 50304, "a.model"),
        (f"{HUB} $TOKENIZER", 50304, "$TOKENIZER"),
        ("", 50304, "no text says it"),
    ],
)  # fmt: skip
def test_a_tokenizer_says_the_vocabulary(flags, rows, warns):
    found = import_run(f"torchrun --nproc_per_node 8 {GPT} {flags}")
    assert found.document["model"]["vocab_size"] == rows
    told = [one for one in found.warnings if one.startswith("vocab_size")]
    assert bool(told) is bool(warns)
    assert warns in "".join(told)


def test_a_command_assigns_by_a_default_and_sums_may_be_nested():
    text = (
        ': "${LENGTH:=4096}" ${NNODES:=2}\nA=512\nB=1024\n'
        f"{VERL.replace('max_response_length=1024', 'max_response_length=$((2*(A+B)))')} "
        "trainer.nnodes=$NNODES trainer.n_gpus_per_node=8\n"
    )
    found = import_run(text)
    assert found.document["sequence_length"] == 1024 + 2 * (512 + 1024)
    assert found.document["parallelism"]["world_size"] == 16
    trainer = TRAINER.replace("2048", "$LENGTH")
    flags = import_run(f': "${{LENGTH:=4096}}"\ntorchrun --nproc_per_node 8 {trainer}')
    assert flags.document["sequence_length"] == 4096


def test_an_object_that_a_script_hands_on_is_no_configuration():
    text = (
        'ENV=$(cat <<EOF\n{\n  "env_vars": {"A": "1"}\n}\nEOF\n)\n'
        f"torchrun --nproc_per_node 8 {TRAINER}\n"
    )
    found = import_run(text)
    assert (found.unread, found.contradictions) == ((), ())


def test_checkpointing_of_verl_is_that_of_its_engine():
    on = "actor_rollout_ref.model.enable_gradient_checkpointing=True"
    split = "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2"
    machine = "trainer.nnodes=1 trainer.n_gpus_per_node=8"
    sharded = import_run(f"{VERL} {machine} {on}")
    assert sharded.run.training.recompute == "full"
    megatron = import_run(f"{VERL} {machine} {on} {split}")
    assert megatron.run.training.recompute == "none"
    assert any("of FSDP alone" in one for one in megatron.warnings)
    prefix = "+actor_rollout_ref.actor.megatron.override_transformer_config."
    own = f"{prefix}recompute_granularity=full {prefix}recompute_method=uniform"
    assert import_run(f"{VERL} {machine} {on} {split} {own}").run.training.recompute == "full"
    named = import_run(f"{VERL} {machine} --config-name=ppo_megatron_trainer.yaml")
    assert named.document["training"]["framework"] == "megatron"
    mine = import_run(f"{VERL} {machine} --config-name=mine")
    assert any("whose settings are not in the text" in one for one in mine.warnings)


@each(
    "flags, said",
    [
        ("--modules_to_save embed_tokens,lm_head --lora_rank 8", "further weights are trained"),
        ("--trainable_params embed,norm --lora_r 8", "further weights are trained"),
    ],
)
def test_weights_that_are_trained_beside_adapters_are_told(flags, said):
    found = import_run(f"torchrun --nproc_per_node 8 {TRAINER} {flags}")
    assert any(said in one for one in found.warnings)


def test_the_zero_stage_of_a_script_of_ones_own():
    text = (
        'ZERO=$2\nif [ "$ZERO" == "" ]; then ZERO=3; fi\n'
        "deepspeed --num_gpus 8 main.py --model_name_or_path meta-llama/Llama-2-7b-hf "
        "--per_device_train_batch_size 4 --gradient_accumulation_steps 1 --max_seq_len 512 "
        "--zero_stage $ZERO --deepspeed --dtype bf16"
    )
    found = import_run(text)
    assert found.document["parallelism"]["zero_stage"] == 3
    assert found.document["training"]["framework"] == "deepspeed"
    two = import_run(text.replace("--zero_stage", "--actor_zero_stage"))
    assert two.run is None
    assert any("actor and a critic" in one for one in two.contradictions)


def test_arguments_beside_a_named_model_change_it():
    flags = "--mtp_num_layers 1"
    text = (
        "NPROC_PER_NODE=8 megatron sft --model Qwen/Qwen3-8B --tensor_model_parallel_size 4 "
        f"--micro_batch_size 1 --global_batch_size 8 --max_length 4096 {flags}"
    )
    assert any(
        "changes the model: num_prediction_layers 1" in one for one in import_run(text).warnings
    )
    assert not any(
        "changes the model" in one for one in import_run(text.replace(flags, "")).warnings
    )


BRIDGE = (
    "python setup_experiment.py -m llama -mr llama3_70b -g gb200 -ng 64 -gn 4 -c bf16 -gb 128 -mb 1"
)


def test_megatron_bridges_launcher_counts_all_gpus():
    found = import_run(f"{BRIDGE} -tp 2 -pp 4 -cp 1 -sl 8192")
    assert found.document["model"] == "llama-3-70b"
    assert found.document["parallelism"]["world_size"] == 64
    assert any("asks for gb200" in one for one in found.warnings)
    unsaid = import_run(BRIDGE)
    assert unsaid.run is None
    assert "the recipe llama3_70b sets tensor_model_parallel_size" in unsaid.contradictions[0]


NEMO = """
from nemo.collections import llm
from nemo.collections.llm.recipes.llama3_70b import pretrain_recipe
def recipe():
    pretrain = pretrain_recipe(performance_mode=True)
    pretrain = set_primary_perf_configs(
        pretrain, "pre_train", 8, 8, 2, 256, 50, 2, 4, 2, 5, 1, compute_dtype="bf16",
        enable_cuda_graphs=False, {more}
    )
    pretrain.data.seq_length = 8192
    return pretrain
"""


def test_nemos_function_for_performance_changes_a_recipe():
    found = import_run(NEMO.replace("{more}", ""))
    plan, training = found.run.plan, found.run.training
    assert (plan.tensor_parallel, plan.pipeline_parallel, plan.context_parallel) == (2, 4, 2)
    assert (training.micro_batch_size, training.global_batch_size) == (2, 256)
    assert found.document["parallelism"]["world_size"] == 64
    some = import_run(NEMO.replace("{more}", "recompute_modules=['mlp'],"))
    assert some.document["training"]["recompute"] == ["mlp"]
    fp8 = import_run(NEMO.replace("{more}", "").replace('"bf16"', '"fp8", fp8_recipe="cs"'))
    assert fp8.run.training.precision == "fp8"
    sharded = import_run(NEMO.replace("{more}", "use_mcore_fsdp=True,"))
    assert sharded.run is None
    other = import_run(NEMO.replace("{more}", "").replace("set_primary_perf_configs", "mine"))
    assert any("a function may change the recipe" in one for one in other.warnings)


def test_experts_of_nanotron_are_refused_by_key():
    text = (
        "parallelism:\n  dp: 1\n  tp: 2\n  pp: 1\n  tp_mode: ALL_REDUCE\n  pp_engine: 1f1b\n"
        "  expert_parallel_size: 2\ntokens:\n  micro_batch_size: 1\n  sequence_length: 512\n"
        "  batch_accumulation_per_replica: 2\noptimizer:\n  zero_stage: 0\n"
    )
    found = import_run(f"{text}---\n{LLAMA}")
    assert found.run is None
    assert any("expert_parallel_size is 2" in one for one in found.contradictions)


FLA = {"model_type": "transformer", "hidden_size": 1024, "num_heads": 16, "num_hidden_layers": 24}


def test_files_of_flash_linear_attention():
    # fla/modules/mlp.py: int(1024 x 4 x 2 / 3) = 2730, up to a multiple of 256.
    found = import_run(json.dumps({**FLA, "hidden_ratio": 4, "intermediate_size": None}))
    model = found.document["model"]
    assert (model["ffn_hidden_size"], model["vocab_size"]) == (2816, 32000)
    linear = import_run(json.dumps({**FLA, "model_type": "gla", "vocab_size": 32000}))
    assert linear.run is None
    flame = (
        "NGPU=8 bash train.sh --model.config configs/a.json --training.batch_size 4 "
        "--training.seq_len 2048 --training.gradient_accumulation_steps 2"
    )
    beside = import_run(f"{flame}\n--- a.json ---\n{json.dumps(FLA)}")
    assert beside.run.training.global_batch_size == 64
    assert beside.document["model"]["num_layers"] == 24


TOML = "[model]\nname = 'llama3'\nflavor = '8B'\n[training]\nseq_len = 8192\nlocal_batch_size = 1\n"
TITAN = "NGPU=8 CONFIG_FILE=./a.toml ./run_train.sh --training.local_batch_size 2"


def test_flags_of_torchtitan_go_before_its_file_which_is_needed():
    for text in (f"{TOML}--- go.sh ---\n{TITAN}", f"{TITAN}\n--- a.toml ---\n{TOML}"):
        found = import_run(text)
        assert found.contradictions == ()
        assert (found.run.training.micro_batch_size, found.document["model"]) == (2, "llama-3-8b")
    alone = import_run(
        f"{TITAN} --model.name llama3 --model.flavor 8B --training.seq_len 8192",
        ImportDefaults(cluster={"gpu": "H100-SXM", "gpus_per_node": 8, "nics_per_node": 8,
                                "nic_bandwidth": 50e9}),
    )  # fmt: skip
    assert any("further settings, which is not in the text" in one for one in alone.warnings)


@each(
    "text, trains",
    [
        (f"torchrun --nproc_per_node 8 run_text_generation.py {GPT.partition(' ')[2]}", False),
        (f"torchrun --nproc_per_node 8 text_generation_ptq.py {GPT.partition(' ')[2]}", False),
        (f"torchrun --nproc_per_node 8 tasks/main.py {GPT.partition(' ')[2]}", False),
        (f"python tools/checkpoint/convert.py {GPT.partition(' ')[2]}", False),
        (f"torchrun --nproc_per_node 8 pretrain_gpt.py {GPT.partition(' ')[2]}", True),
        (f"torchrun --nproc_per_node 8 finetune_chatty.py {GPT.partition(' ')[2]}", True),
        (f"deepspeed --num_gpus 8 evaluate.py {TRAINER.partition(' ')[2]}", False),
    ],
)
def test_a_program_that_trains_nothing_is_refused_by_name(text, trains):
    found = import_run(text)
    assert (found.run is not None) is trains
    if not trains:
        assert found.contradictions[0].startswith("line 1: ")


def test_flags_of_a_second_command_that_evaluates_are_not_the_trainings():
    train = (
        "NPROC_PER_NODE=8 swift sft --model Qwen/Qwen3-8B --per_device_train_batch_size 2 "
        "--gradient_accumulation_steps 4 --max_length 4096 --deepspeed zero3 --train_type full\n"
    )
    for more in (
        "python src/eval.py --model out --max_length 512\n",
        "swift export --model out --quant_bits 4\n",
        "vllm serve out --max-model-len 512\n",
    ):
        found = import_run(train + more)
        assert found.document["model"] == "qwen3-8b"
        assert found.document["sequence_length"] == 4096
        assert found.warnings == ()


def test_arguments_of_a_script_beyond_the_ninth_have_two_digits():
    found = import_run(f"TP=${{12}}\npython {GPT} --tensor-model-parallel-size $TP")
    assert "--tensor-model-parallel-size is $12" in found.contradictions[0]


def test_a_device_that_is_no_gpu_is_told():
    machine = "trainer.nnodes=1 trainer.n_gpus_per_node=8 trainer.device="
    assert any("kind of device" in one for one in import_run(f"{VERL} {machine}npu").warnings)
    assert not any("kind of device" in one for one in import_run(f"{VERL} {machine}cuda").warnings)


def test_flags_of_openrlhf_that_generate_are_told_under_any_roof():
    text = (
        "python -m other.train --pretrain Qwen/Qwen2.5-7B --actor_num_nodes 1 "
        "--actor_num_gpus_per_node 8 --micro_train_batch_size 1 --train_batch_size 64 "
        "--prompt_max_len 512 --generate_max_len 512 --zero_stage 3 {more}"
    )
    told = import_run(text.replace("{more}", "--vllm_num_engines 4")).warnings
    assert any("the actor's training alone" in one for one in told)


def test_the_rank_of_adapters_that_no_text_says_is_told():
    found = import_run(f"torchrun --nproc_per_node 8 {TRAINER} --use_lora")
    assert any(one.startswith("lora_r: no text says the rank") for one in found.warnings)
    said = import_run(f"torchrun --nproc_per_node 8 {TRAINER} --use_lora --lora_r 64")
    assert not any(one.startswith("lora_r") for one in said.warnings)


def test_overrides_of_a_named_models_shape_are_told():
    text = (
        "max_seq_len: 2048\nmodel:\n  name: hf_causal_lm\n  pretrained_model_name_or_path: gpt2\n"
        "  config_overrides:\n    n_positions: 2048\nglobal_train_batch_size: 64\n"
        "device_train_microbatch_size: 4\nfsdp_config:\n  sharding_strategy: FULL_SHARD\n"
    )
    assert any(
        "the shape of the named model is changed" in one for one in import_run(text).warnings
    )


def test_a_recipe_of_automodel_that_reads_images_is_told():
    text = (
        "recipe: FinetuneRecipeForVLM\nstep_scheduler:\n  global_batch_size: 8\n"
        "  local_batch_size: 1\nmodel:\n  _target_: nemo_automodel.NeMoAutoModel\n"
        "  pretrained_model_name_or_path: Qwen/Qwen3-8B\ndistributed:\n  strategy: fsdp2\n"
    )
    assert any("images" in one for one in import_run(text).warnings)


def test_arrays_in_quotes_add_no_empty_words():
    text = (
        "A=(--micro-batch-size 1 --global-batch-size 128)\nB=(--bf16)\nC=()\n"
        f"torchrun --nproc_per_node 8 {GPT.split(' --micro')[0]} --position-embedding-type rope "
        '"${A[@]}" "${C[@]}" "${B[@]}"\n'
    )
    found = import_run(text)
    assert found.contradictions == ()
    assert found.run.training.global_batch_size == 128


def test_a_program_in_a_branch_that_is_not_taken_does_not_run():
    flags = GPT.partition(" ")[2]
    text = (
        'ADD=0\nif [ "$ADD" = "0" ]; then\n  SCRIPT=pretrain_gpt.py\nelse\n'
        f"  SCRIPT=pretrain_retro.py\nfi\ntorchrun --nproc_per_node 8 $SCRIPT {flags}"
    )
    assert import_run(text).run is not None
    assert import_run(text.replace("ADD=0", "ADD=1")).run is None


def test_commands_that_prepare_nodes_do_not_count_the_trainers():
    head = (
        '#SBATCH -N 2\n#SBATCH --ntasks-per-node=1\nsrun --nodes=1 --ntasks=1 bash -c "ray start"\n'
    )
    for nodes, each_one in (("actor_num_nodes", "actor_num_gpus_per_node"),
                            ("actor.num_nodes", "actor.num_gpus_per_node")):  # fmt: skip
        text = (
            f"{head}srun --nodes=1 --ntasks=1 python3 -m openrlhf.cli.train_ppo_ray --{nodes} 1 "
            f"--{each_one} 4 --pretrain meta-llama/Meta-Llama-3-8B --zero_stage 3 "
            "--micro_train_batch_size 8 --train_batch_size 128 --vllm_num_engines 4"
        )
        found = import_run(text)
        assert found.contradictions == ()
        assert found.document["parallelism"]["world_size"] == 4


def test_a_launcher_alone_says_the_gpus():
    text = f"deepspeed --include localhost:0 src/train.py my.yaml\n---\n{LLAMA}"
    assert world(text) == 1
    assert world(text.replace("localhost:0", "a:0,1@b:0,1")) == 4


def test_overrides_of_a_fork_are_refused_and_unknown_heads_are_told():
    fork = (
        "python3 -m verl.trainer.main config=examples/config.yaml data.train_files=x "
        "worker.actor.model.model_path=Qwen/Qwen2.5-7B trainer.n_gpus_per_node=8"
    )
    found = import_run(fork)
    assert found.run is None
    assert "EasyR1" in found.contradictions[0]
    more = import_run(f"{VERL} trainer.n_gpus_per_node=8 trainer.nnodes=1 mine.tensor_degree=2")
    assert any("mine.tensor_degree (line 1) is not known here" in one for one in more.warnings)


def test_a_model_in_a_folder_of_an_unknown_home_is_known_by_its_name():
    text = VERL.replace("Qwen/Qwen2.5-7B", "$HOME/models/Qwen2.5-7B-Instruct")
    found = import_run(f"{text} trainer.nnodes=1 trainer.n_gpus_per_node=8")
    assert found.document["model"] == "qwen2.5-7b"


@each(
    "parts, trains",
    [("mm_mlp_adapter", False), ("mm_vision_tower,mm_mlp_adapter,mm_language_model", True)],
)
def test_parts_of_llava_that_are_trained(parts, trains):
    found = import_run(f"torchrun --nproc_per_node 8 {TRAINER} --mm_tunable_parts {parts}")
    assert (found.run is not None) is trains


def test_layers_of_a_file_and_tasks_of_another_kind_are_told():
    spec = import_run(f"torchrun --nproc_per_node 8 {GPT} --spec my.layers get_spec")
    assert any("layers of a file" in one for one in spec.warnings)
    own = "megatron.core.models.gpt.gpt_layer_specs get_gpt_layer_local_spec"
    plain = import_run(f"torchrun --nproc_per_node 8 {GPT} --spec {own}")
    assert not any("layers of a file" in one for one in plain.warnings)
    swift = (
        "NPROC_PER_NODE=8 swift sft --model Qwen/Qwen3-8B --per_device_train_batch_size 2 "
        "--gradient_accumulation_steps 4 --max_length 4096 --deepspeed zero3 --train_type full "
        "--task_type {task}"
    )
    told = import_run(swift.replace("{task}", "generative_reranker")).warnings
    assert any("pairs or lists" in one for one in told)
    assert import_run(swift.replace("{task}", "causal_lm")).warnings == ()


def test_the_length_of_nemos_samples_goes_before_the_models():
    text = (
        "trainer:\n  devices: 8\n  num_nodes: 1\n  precision: bf16\nmodel:\n"
        "  micro_batch_size: 1\n  global_batch_size: 64\n  encoder_seq_length: 4096\n"
        "  restore_from_path: llama-3-8b.nemo\n  data:\n    train_ds:\n      max_seq_length: 2048\n"
    )
    found = import_run(f"{text}---\n{LLAMA}")
    assert found.document["sequence_length"] == 2048


def test_models_of_images_are_refused_or_told():
    flux = "[model]\nname = 'flux'\nflavor = 'flux-dev'\n[training]\nlocal_batch_size = 1\n"
    given = ImportDefaults(model="llama-3-8b", cluster={"gpu": "H100-SXM", "gpus_per_node": 8,
                                                        "nics_per_node": 8,
                                                        "nic_bandwidth": 50e9})  # fmt: skip
    assert "images" in import_run(flux, given).contradictions[0]
    axolotl = (
        "base_model: Qwen/Qwen3-8B\nprocessor_type: AutoProcessor\nsequence_len: 2048\n"
        "micro_batch_size: 1\ngradient_accumulation_steps: 4\nbf16: true\n"
    )
    assert any("images" in one for one in import_run(axolotl).warnings)


@each(
    "program, said, sequences",
    [
        ("scripts/run_dpo.py", "a sample counts as two sequences", 2),
        ("reward_modeling.py", "another head", 2),
        ("-m FlagEmbedding.finetune.reranker.decoder_only.base", "another head", 1),
        ("run_grpo.py", "without generation", 1),
        ("distill.py", "a teacher", 1),
        ("kto.py", "a reference model", 1),
        ("run_sft.py", "", 1),
        ("trl online_dpo", "", 1),
    ],
)
def test_a_programs_name_says_what_it_trains_for(program, said, sequences):
    found = import_run(
        TRAINER.replace("train.py", f"accelerate launch --num_processes 8 {program}")
    )
    assert found.document["training"]["micro_batch_size"] == 2 * sequences
    assert not said or any(said in warning for warning in found.warnings)


@each(
    "name, said",
    [
        ("OnlineDPOConfig", "without generation"),
        ("NashMDConfig", "without generation"),
        ("RewardConfig", "another head"),
        ("ORPOConfig", "two sequences"),
    ],
)
def test_a_class_of_arguments_says_what_it_trains_for(name, said):
    text = f"from trl import {name}\nargs = {name}(per_device_train_batch_size=2)"
    assert any(said in warning for warning in import_run(text).warnings)


def test_quotes_within_what_expands_end_no_text():
    text = (
        'LR="--lr `bc <<< "scale=3; 1/10"` --min-lr 0"\nTP=4\n'
        'SIZE="$(dirname "$0")/x"\nexport A="it"\n'
        f"torchrun --nproc_per_node 8 {GPT} --tensor-model-parallel-size $TP --load $SIZE/y $LR"
    )
    assert import_run(text).document["parallelism"]["tensor_parallel"] == 4
    document = 'cat <<EOF > ds.json\n{"zero_optimization": {"stage": $STAGE}}\nEOF\n'
    written = f'A="$(dirname "$0")/x"\nSTAGE=1\n{document}'
    found = import_run(f"{written}deepspeed --num_gpus 8 {TRAINER} --deepspeed ds.json")
    assert found.document["parallelism"]["zero_stage"] == 1


def test_a_server_beside_a_trainer_of_overrides_is_no_other_work():
    found = import_run(f"python -m verl_tool.servers.serve --host a --port 1 &\n{VERL}")
    assert not found.contradictions
    alone = import_run(
        f"python generate.py --host a\ntorchrun {TRAINER.replace('train.py', 'eval.py')}"
    )
    assert "trains nothing" in alone.contradictions[0]


def test_experts_of_megablocks_are_read():
    flags = "--moe-num-experts 8 --moe-top-k 2 --moe-capacity-factor 1"
    found = import_run(f"torchrun --nproc_per_node 8 {GPT} --vocab-size 50304 {flags}")
    assert found.document["model"]["num_experts"] == 8


ZERO_OF_A_FILE = (
    "accelerate launch --config_file recipes/zero3.yaml scripts/run_dpo.py a.yaml\n---\n"
)
TRAINER_YAML = (
    "model_name_or_path: meta-llama/Meta-Llama-3-8B\nbf16: true\nper_device_train_batch_size: 2\n"
    "gradient_accumulation_steps: 4\nmax_length: 2048\n"
)


def test_a_launcher_beside_a_configuration_names_the_sharding_and_the_objective():
    found = import_run(ZERO_OF_A_FILE + TRAINER_YAML)
    assert found.run is not None
    assert found.document["parallelism"]["zero_stage"] == 3
    assert found.document["training"]["micro_batch_size"] == 4  # pairs
    assert not any("sharding" in warning for warning in found.warnings)


@each("option, recompute", [("op", "full"), ("2", "full")])
def test_the_option_of_selective_recomputation_is_none_of_full(option, recompute):
    text = (
        '[model]\nname = "qwen3"\nflavor = "32B"\n[training]\nlocal_batch_size = 2\nseq_len = 8\n'
        f'[activation_checkpoint]\nmode = "full"\nselective_ac_option = "{option}"\n'
    )
    found = import_run(text)
    assert not found.contradictions
    assert found.document["training"]["recompute"] == recompute


@each("part", ["trainer", "model"])
def test_a_part_of_a_recipe_that_a_function_returns_is_refused(part):
    text = (
        "from nemo.collections.llm.recipes import llama3_70b\n"
        "recipe = llama3_70b.pretrain_recipe(num_nodes=32, num_gpus_per_node=8)\n"
        f"recipe.{part} = {part}(num_nodes=32)\n"
    )
    assert any("not read" in said for said in import_run(text).contradictions)


def test_the_bridges_fsdp_shards_all_and_its_command_may_stand_in_a_document():
    flags = (
        "--model_family_name llama --model_recipe_name llama31_405b --gpu h100 --num_gpus 128 "
        "--gpus_per_node 8 --compute_dtype bf16 --seq_length 8192 --global_batch_size 64 "
        "--micro_batch_size 1 --tensor_model_parallel_size 2 --pipeline_model_parallel_size 1 "
        "--context_parallel_size 1 --use_megatron_fsdp true"
    )
    text = f"command=$(cat <<- EOM\n python custom_setup_experiment.py {flags}\nEOM\n)\n"
    assert import_run(text).document["parallelism"]["zero_stage"] == 3


@each(
    "key",
    ["vision_pretraining_type: classify", "unet:\n    embed_dim: 5", "retro:\n    chunk: 64"],
)
def test_models_of_nemo_1_that_are_no_decoder_of_text_are_refused(key):
    text = (
        "trainer:\n  devices: 8\n  precision: bf16\nexp_manager:\n  name: a\nmodel:\n"
        "  micro_batch_size: 1\n  megatron_amp_O2: true\n"
        "  global_batch_size: 64\n  tensor_model_parallel_size: 1\n  num_layers: 12\n"
        f"  hidden_size: 768\n  num_attention_heads: 12\n  encoder_seq_length: 196\n  {key}\n"
    )
    assert any("are not predicted" in said for said in import_run(text).contradictions)


def test_variables_of_mosaics_platform_are_read():
    text = (
        "compute:\n  gpus: 8\nparameters:\n  variables:\n    max_seq_len: 4096\n"
        "  max_seq_len: ${variables.max_seq_len}\n  model:\n    name: hf_causal_lm\n"
        "    pretrained_model_name_or_path: meta-llama/Llama-2-7b-hf\n"
        "  global_train_batch_size: 64\n  device_train_microbatch_size: 1\n  precision: amp_bf16\n"
        "  fsdp_config:\n    sharding_strategy: FULL_SHARD\n"
    )
    found = import_run(text)
    assert not found.contradictions
    assert found.document["sequence_length"] == 4096


LINEAR_LOSS = (
    "step_scheduler:\n  global_batch_size: 64\n  local_batch_size: 2\nmodel:\n"
    "  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n"
    "  pretrained_model_name_or_path: Qwen/Qwen3-32B\nloss_fn:\n"
    "  _target_: nemo_automodel.components.loss.linear_ce.FusedLinearCrossEntropy\n"
)
CUT_LOSS = (
    "base_model: NousResearch/Meta-Llama-3-8B\nsequence_len: 4096\nmicro_batch_size: 1\n"
    "gradient_accumulation_steps: 1\nplugins:\n"
    "  - axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin\n"
)


@each("text", [LINEAR_LOSS, CUT_LOSS])
def test_losses_that_keep_no_logits_are_told(text):
    assert any("keeps no logits" in said for said in import_run(text).warnings)


def test_gpus_that_no_text_counts_share_the_batch():
    found = import_run(f"python {GPT.replace('64', '4')} --vocab-size 32000")
    assert not found.contradictions
    assert found.document["parallelism"]["world_size"] == 4
    assert import_run(f"python {GPT} --vocab-size 32000").document["parallelism"]["world_size"] == 8
    foundry = (
        "max_seq_len: 2048\nmodel:\n  name: hf_causal_lm\n"
        "  pretrained_model_name_or_path: meta-llama/Llama-2-7b-hf\nglobal_train_batch_size: 6\n"
        "device_train_microbatch_size: 1\nprecision: amp_bf16\n"
    )
    assert import_run(foundry).document["parallelism"]["world_size"] == 6


def test_preferences_without_a_reference_name_none():
    said = import_run(f"{TRAINER_YAML}beta: 2.5\ngamma_beta_ratio: 0.5\n").warnings
    assert any("two sequences" in one for one in said)
    assert not any("reference" in one for one in said)


_PAIRS = """model_name_or_path: mistralai/Mistral-7B-v0.1
per_device_train_batch_size: 4
gradient_accumulation_steps: 2
gradient_checkpointing: true
bf16: true
max_length: 1024
"""


def test_names_that_speak_of_pairs_are_told_where_nothing_says_what_is_trained():
    said = import_run(f"{_PAIRS}output_dir: data/zephyr-7b-dpo-full\n").warnings
    assert any("output_dir (line 7) speaks of dpo" in line for line in said)
    plain = import_run(f"{_PAIRS}output_dir: data/zephyr-7b-sft-full\n").warnings
    assert not any("speaks of" in line for line in plain)


def test_a_name_says_whether_pairs_have_a_reference():
    for name, reference in (("orpo", False), ("dpo", True)):
        said = import_run(f"{_PAIRS}beta: 0.1\nrun_name: zephyr-{name}\n").warnings
        (told,) = [line for line in said if line.startswith("beta")]
        assert ("a reference model" in told) is reference
