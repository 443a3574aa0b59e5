"""Predictions for a published scaling run of tensor parallelism."""

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.tensor_scaling import MODEL_3B, SEQUENCE, TENSOR_RUNS, TensorRun
from engine.core.units import Count, Gbit, Share, TokenRate
from engine.run.parallelism import Cluster, Framework, Plan, Training, Transport
from engine.run.run import Run
from engine.simulate.step.modeled_plan import ModeledPlan, model_plan

UTILIZATION: Share = 0.5


def model_tensor_run(
    published: TensorRun,
    transport: Transport,
    framework: Framework = "megatron",
    gpus_per_node: Count = 8,
) -> ModeledPlan:
    """Return a published run modeled on nodes of 8 or more H100, each with a 400 Gb/s port.

    The benchmark's own software is none of the families that the model knows; eager kernels are
    taken.
    """
    cluster = Cluster(
        gpu=ACCELERATORS["H100-SXM"],
        gpus_per_node=gpus_per_node,
        nics_per_node=gpus_per_node,
        nic_bandwidth=400 * Gbit,
        transport=transport,
    )
    plan = Plan(
        world_size=published.ranks,
        tensor_parallel=published.ranks,
        sequence_parallel=True,
        zero_stage=0,
    )
    training = Training(
        micro_batch_size=published.micro_batch_size,
        global_batch_size=published.micro_batch_size,
        sequence_length=SEQUENCE,
        framework=framework,
        compiled=False,
    )
    return model_plan(
        Run(model=MODEL_3B, cluster=cluster, plan=plan, training=training), UTILIZATION
    )


def modeled_token_rates(
    transport: Transport, framework: Framework = "megatron"
) -> tuple[TokenRate, ...]:
    """Return the modeled tokens per second per GPU of every published run."""
    return tuple(
        model_tensor_run(published, transport, framework).token_rate for published in TENSOR_RUNS
    )


def speed_loss(before: TokenRate, after: TokenRate) -> Share:
    """Return the relative loss of tokens per second per GPU."""
    return 1 - after / before


def published_tensor_run(ranks: Count) -> TensorRun:
    """Return the published run with so many ranks."""
    return next(published for published in TENSOR_RUNS if published.ranks == ranks)
