"""Launch facts of a text: nodes and processes, whoever says them, reach the answer."""

from engine.run.importers.assemble import DGX_H100, ImportDefaults, import_run
from tests.each import each

SHAPE = "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --vocab-size 128 --seq-length 64"
GPT = f"pretrain_gpt.py {SHAPE}"


def world(text):
    found = import_run(text)
    assert found.contradictions == ()
    return found.run.plan.world_size, found.run.cluster.gpus_per_node


@each(
    "text, gpus",
    [
        (f"torchrun --nproc_per_node 4 {GPT}", (4, 4)),
        (f"torchrun --nproc-per-node=8 --nnodes=4 {GPT}", (32, 8)),
        (f"NNODES=4\ntorchrun --nnodes $NNODES {GPT}", (32, 8)),
        (f"NNODES=4\npython {GPT}", (32, 8)),
        (f"NPROC_PER_NODE=4 megatron {GPT}", (4, 4)),
        (f"NPROC_PER_NODE=4 NNODES=2 megatron {GPT}", (8, 4)),
        (f"export GPUS_PER_NODE=8\nNUM_NODES=${{NUM_NODES:-2}}\npython {GPT}", (16, 8)),
        (f"deepspeed --num_gpus 4 {GPT}", (4, 4)),
        (f"deepspeed --num_nodes 2 --num_gpus 8 {GPT}", (16, 8)),
        (f"deepspeed --include localhost:0,1,2,3 {GPT}", (4, 4)),
        (f"deepspeed --include=a:0,1@b:0,1 {GPT}", (4, 2)),
        (f"mpirun -np 16 python {GPT}", (16, 8)),
        (f"mpirun -n 16 python {GPT}", (16, 8)),
        (f"accelerate launch --num_processes 16 --num_machines 2 {GPT}", (16, 8)),
        (f"srun --nodes=4 --ntasks-per-node=8 python {GPT}", (32, 8)),
        (f"srun -N4 -n32 python {GPT}", (32, 8)),
        (f"#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\n#SBATCH --ntasks-per-node=1\n"
         f"srun torchrun --nnodes 4 --nproc_per_node 8 {GPT}", (32, 8)),
        (f"#SBATCH --nodes=6\nsrun torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 {GPT}",
         (48, 8)),
        (f"#SBATCH -N 2\n#SBATCH --gres=gpu:a100:4\nsrun python {GPT}", (8, 4)),
        (f"CUDA_VISIBLE_DEVICES=0,1 python {GPT}", (2, 2)),
        (f"CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 torchrun --nproc_per_node 4 {GPT}", (4, 4)),
        (f"python3 train.py {SHAPE} --actor-num-nodes 4 --actor-num-gpus-per-node 8", (32, 8)),
        (f"WORLD_SIZE=$((8*4))\nGPUS_PER_NODE=8\nNUM_NODES=4\npython {GPT}", (32, 8)),
    ],
)  # fmt: skip
def test_a_launcher_says_the_gpus(text, gpus):
    assert world(text) == gpus


@each(
    "text, said",
    [
        (f"#SBATCH --nodes=4\ntorchrun --nnodes 2 --nproc_per_node 8 {GPT}",
         "line 1: --nodes says 4, line 2 says 2: how many nodes are launched"),
        (f"NNODES=2 GPUS_PER_NODE=4 mpirun -np 16 python {GPT}",
         "16 processes are launched in all, and 4 on each of 2 nodes"),
    ],
)  # fmt: skip
def test_launchers_that_disagree_are_told(text, said):
    assert said in import_run(text).contradictions


def test_nodes_that_the_text_does_not_say_are_warned_of():
    found = import_run(f"torchrun --nnodes $N --nproc_per_node 8 {GPT}")
    assert found.warnings == (
        "--nnodes (line 1) is $N, which the text does not say",
        "no text says micro_batch_size 1, global_batch_size 8",
    )


LLAMA = '{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "vocab_size": 128, '
LLAMA += '"num_attention_heads": 4, "intermediate_size": 128}'
DEEPSPEED = '{"zero_optimization": {"stage": 2}, "train_micro_batch_size_per_gpu": 1}'


def test_a_launch_script_says_the_gpus_of_another_text():
    command = "torchrun --nproc_per_node 8 --nnodes 2 train.py --config my.json"
    text = f"{LLAMA}\n---\n{DEEPSPEED}\n---\n{command}"
    found = import_run(text)
    assert found.dialects[-1] == "launch script"
    assert found.run.plan.world_size == 16
    asked = import_run(text, ImportDefaults(cluster=DGX_H100, world_size=4))
    assert asked.run.plan.world_size == 4


@each("flag", ["--ds.zero_stage 2", "--max_len 2048", "--train.batch_size 8", "--fp8 true"])
def test_a_trainer_that_is_not_known_is_not_answered_for(flag):
    found = import_run(f"{LLAMA}\n---\ndeepspeed --num_gpus 8 train.py {flag}")
    assert found.run is None
    name = flag.partition(" ")[0]
    assert f"arguments of a trainer that is not known here ({name})" in found.contradictions[0]


def test_the_command_of_accelerate_goes_before_its_file():
    file = "distributed_type: FSDP\nnum_machines: 1\nnum_processes: 2\n"
    command = "accelerate launch --num_processes 16 --num_machines 2 train.py"
    found = import_run(f"{LLAMA}\n---\n{file}---\n{command}")
    assert found.run.plan.world_size == 16
    asked = import_run(
        f"{LLAMA}\n---\n{file}---\n{command}", ImportDefaults(cluster=DGX_H100, world_size=4)
    )
    assert asked.run.plan.world_size == 4


def test_processes_that_are_not_the_world_size_are_told():
    found = import_run(f"mpirun -np 16 python {GPT} --world-size 8")
    assert "16 processes are launched, and a text says 8 GPUs" in found.contradictions
