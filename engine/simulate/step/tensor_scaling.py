"""What the step model says of a published run over ranks of tensor parallelism."""

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.tensor_scaling import MODEL_3B, SEQUENCE, TENSOR_RUNS, TensorRun
from engine.core.units import Count, Gbit, Share, TokenRate
from engine.run.parallelism import Cluster, Framework, Plan, Training, Transport
from engine.run.run import Run
from engine.simulate.step.modeled_plan import Modeled, model_of

UTILIZATION: Share = 0.5


def modeled(
    one: TensorRun,
    transport: Transport,
    framework: Framework = "megatron",
    gpus_per_node: Count = 8,
) -> Modeled:
    """Return one run, modelled on nodes of 8 H100 (or more) with a port of 400 Gb/s for each.

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
        world_size=one.ranks,
        tensor_parallel=one.ranks,
        sequence_parallel=True,
        zero_stage=0,
    )
    training = Training(
        micro_batch_size=one.micro_batch_size,
        global_batch_size=one.micro_batch_size,
        sequence_length=SEQUENCE,
        framework=framework,
        compiled=False,
    )
    return model_of(Run(model=MODEL_3B, cluster=cluster, plan=plan, training=training), UTILIZATION)


def rates(transport: Transport, framework: Framework = "megatron") -> tuple[TokenRate, ...]:
    """Return the modelled tokens per second per GPU of every published run."""
    return tuple(modeled(one, transport, framework).token_rate for one in TENSOR_RUNS)


def lost(before: TokenRate, after: TokenRate) -> Share:
    """Return the share of its speed that a GPU loses."""
    return 1 - after / before


def run_with(ranks: Count) -> TensorRun:
    """Return the published run with so many ranks."""
    return next(one for one in TENSOR_RUNS if one.ranks == ranks)
