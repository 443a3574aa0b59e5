"""slime, and Megatron-DeepSpeed: Megatron's arguments with defaults and files of their own."""

from engine.run.importers.assemble import import_run

RUN = """python3 train.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 \\
 --vocab-size 32000 --global-batch-size 64 --tensor-model-parallel-size 2 --bf16 \\
 --actor-num-nodes 4 --actor-num-gpus-per-node 8 --rollout-batch-size 32 --lr 1e-6
"""


def test_nodes_of_the_actor_and_the_distributed_optimizer_are_read():
    found = import_run(RUN)
    assert found.dialects == ("slime arguments",)
    assert found.contradictions == ()
    plan, training = found.run.plan, found.run.training
    assert (plan.world_size, plan.tensor_parallel, plan.zero_stage) == (32, 2, 1)
    assert (training.sequence_length, training.global_batch_size) == (4096, 64)
    assert [entry.key for entry in found.entries if entry.kind == "not known"] == []
    assert any("the training pass alone is shown" in warning for warning in found.warnings)


def test_a_model_in_a_file_of_its_own_is_read_beside():
    run = RUN.replace("--num-layers 24 --hidden-size 2048 --num-attention-heads 16", "${MODEL[@]}")
    model = "MODEL=(\n --num-layers 12\n --hidden-size 1024\n --num-attention-heads 8\n --swiglu\n)"
    found = import_run(f"{run}\n--- model.sh ---\n{model}")
    assert found.dialects == ("slime arguments", "Megatron-LM arguments")
    assert found.run.model.num_layers == 12
    assert found.run.plan.zero_stage == 1


SOURCED = """SCRIPT_DIR="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
source "${SCRIPT_DIR}/models/qwen3-4B.sh"
python3 train.py ${MODEL_ARGS[@]} --hf-checkpoint NAME --global-batch-size 64 \\
 --actor-num-nodes 4 --actor-num-gpus-per-node 8 --rollout-batch-size 32
"""


def test_a_model_in_a_sourced_file_is_that_of_the_checkpoint():
    found = import_run(SOURCED.replace("NAME", "/root/Qwen3-4B"))
    assert found.document["model"] == "qwen3-4b"
    (told,) = [one.meaning for one in found.entries if one.key == "model"]
    said = "--hf-checkpoint, by its name; paste qwen3-4B.sh too to read its own sizes"
    assert told == said


def test_a_sourced_file_is_asked_for_by_its_name():
    script = SOURCED.replace("NAME", "/root/mine")
    found = import_run(script)
    assert found.run is None
    said = "the script reads the model from qwen3-4B.sh: paste qwen3-4B.sh too"
    assert said in found.contradictions
    model = "MODEL_ARGS=(\n --num-layers 12 --hidden-size 1024 --num-attention-heads 8 --swiglu\n)"
    beside = import_run(f"{script}\n--- qwen3-4B.sh ---\n{model}")
    assert beside.contradictions == ()
    assert beside.run.model.num_layers == 12


DEEPSPEED = """#!/bin/bash
ZERO=1
MICRO=2
cat <<EOF > ds.json
{ "train_micro_batch_size_per_gpu": $MICRO, "train_batch_size": 32,
  "zero_optimization": {"stage": $ZERO} }
EOF
deepspeed --num_gpus 8 pretrain_gpt.py --num-layers 22 --hidden-size 2048 --seq-length 2048 \\
 --num-attention-heads 16 --micro-batch-size $MICRO --global-batch-size 32 --vocab-size 32000 \\
 --pipeline-model-parallel-size 4 --pp-partition-method 'type:transformer|embedding' \\
 --deepspeed --deepspeed_config ds.json --zero-stage $ZERO --checkpoint-activations
"""


def test_megatron_with_the_file_of_deepspeed_that_its_script_writes():
    found = import_run(DEEPSPEED)
    assert found.dialects == ("DeepSpeed JSON", "Megatron-LM arguments")
    assert found.contradictions == ()
    document = found.document
    assert document["parallelism"]["zero_stage"] == 1
    assert document["parallelism"]["pipeline_parallel"] == 4
    assert document["training"]["framework"] == "megatron"
    assert document["training"]["recompute"] == "full"


def test_a_batch_of_deepspeeds_file_that_is_another_is_told():
    found = import_run(DEEPSPEED.replace('"train_batch_size": 32', '"train_batch_size": 64'))
    assert "train_batch_size is 64, and the arguments say 32" in found.contradictions


def test_experts_of_megatron_deepspeed_stand_in_every_other_layer():
    flags = "--num-experts 16 --moe-expert-parallel-size 8"
    text = DEEPSPEED.replace("--checkpoint-activations", flags).replace(" 4 --pp", " 1 --pp")
    document = import_run(text).document
    assert document["model"]["dense_layer_every"] == 2
    assert document["model"]["experts_per_token"] == 1
    assert document["parallelism"]["expert_parallel"] == 8
