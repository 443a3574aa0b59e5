"""What the replicas of a pipeline may shard: stages of ZeRO, and groups that share one copy."""

from dataclasses import replace

from engine.run.parallelism import Plan
from engine.run.plan_space import shardings
from tests.each import each
from tests.engine.run.planner_jobs import job

JOB = job("llama-3-8b", 16, 4096, 8)  # nodes of 8 GPUs
SHARDED = [
    ("megatron", {"world_size": 16}, [0, 1, 3], [0]),
    ("megatron", {"world_size": 16, "pipeline_parallel": 2}, [0, 1], [0]),
    ("megatron", {"world_size": 4, "pipeline_parallel": 4}, [0], [0]),
    ("megatron", {"world_size": 2}, [0, 1, 3], [0]),
    ("xla", {"world_size": 16}, [3], [0]),
    ("fsdp", {"world_size": 16}, [2, 3], [0, 8]),
    ("fsdp", {"world_size": 8, "tensor_parallel": 8}, [2], [0]),
    ("fsdp", {"world_size": 16, "pipeline_parallel": 2}, [2], [0]),
    ("deepspeed", {"world_size": 16, "pipeline_parallel": 2}, [0, 1], [0, 2, 4]),
    # 3, 6 and 12 GPUs are no whole nodes of 8, and no even parts of one.
    ("deepspeed", {"world_size": 24}, [0, 1, 3], [0, 2, 4, 8]),
    ("deepspeed", {"world_size": 16, "tensor_parallel": 2}, [0, 1, 3], [0, 2, 4]),
    ("deepspeed", {"world_size": 16, "context_parallel": 2}, [0, 1, 3], [0, 2, 4, 8]),
    ("deepspeed", {"world_size": 16, "context_parallel": 4}, [0, 1, 3], [0, 4, 8]),
]


@each(("framework", "sizes", "stages", "groups"), SHARDED)
def test_replicas_shard_over_all_or_over_groups_on_whole_nodes(framework, sizes, stages, groups):
    training = replace(JOB.training, framework=framework)
    found = shardings(JOB, Plan(**sizes), training)
    told = [(plan.zero_stage, plan.shard_group) for plan in found]
    assert told == [(stage, group) for stage in stages for group in groups]
