"""Small jobs that the planner's tests share."""

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.run.parallelism import Cluster, Training
from engine.run.plan_space import PlanningJob

H100 = Cluster(gpu=ACCELERATORS["H100-SXM"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=50e9)


def job(model, world_size, length, batch, **chosen):
    training = Training(micro_batch_size=1, global_batch_size=batch, sequence_length=length)
    return PlanningJob(
        model=MODELS[model],
        cluster=H100,
        world_size=world_size,
        training=training,
        **{"kept_free": 0.0, **chosen},
    )


ALL = ("1f1b", "interleaved", "zb-1p", "zbv", "dualpipe")
JOBS = {
    "7b": job("llama-7b", 16, 4096, 32),
    "schedules": job("llama-3-8b", 8, 8192, 32, frameworks=("megatron",), schedules=ALL),
    "deepspeed": job("llama-3-8b", 16, 8192, 24, frameworks=("deepspeed",)),
    "experts": job(
        "qwen3-30b-a3b",
        16,
        4096,
        16,
        schedules=ALL,
        frameworks=("megatron",),
        recomputes=("full",),
        expert_parallel=(1, 8),
        context_parallel=(1, 2),
    ),
    "layers": job("llama-3-405b", 512, 8192, 128, tensor_parallel=(8,), recomputes=("full",)),
    "latents": job(
        "deepseek-v3",
        512,
        4096,
        256,
        expert_parallel=(64,),
        recomputes=("modules",),
        tensor_parallel=(1, 4),
        context_parallel=(1, 2),
    ),
}
