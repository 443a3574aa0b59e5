"""Checkpoints of a run: size, write time and best interval."""

from dataclasses import dataclass

from engine.core.units import Bandwidth, Bytes, Count, Seconds, Share, TokenRate
from engine.formulas.checkpoint import checkpoint_bytes, write_time
from engine.formulas.goodput import daly_interval, goodput, young_interval
from engine.formulas.parameters import total_parameters
from engine.run.parallelism import shards_all
from engine.run.run import Run
from engine.simulate.step.what_if import run_step_time

# Weights as they are saved, and the optimizer's copy and moments. FSDP's weights are its copy.
_MIXED: tuple[Bytes, Bytes] = (2.0, 12.0)
_SHARDED: tuple[Bytes, Bytes] = (4.0, 8.0)
# One moment less.
_MOMENT: Bytes = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointStorage:
    """Bandwidths of checkpoint storage.

    Attributes:
        rate: of the storage, all writers together.
        node: of one node to the storage.
        host: of one GPU to the memory of its host.
    """

    rate: Bandwidth
    node: Bandwidth
    host: Bandwidth


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Size and write time of a checkpoint.

    Attributes:
        weight, optimizer: bytes of a parameter that are saved.
        whole: all files together.
        writers: GPUs that write.
        per_gpu: of one writer.
        per_node: of one node with writers.
        write: until the last byte is stored.
        copy: until all is in the memory of the hosts.
        rank_0: if one node gathered and wrote everything.
    """

    weight: Bytes
    optimizer: Bytes
    whole: Bytes
    writers: Count
    per_gpu: Bytes
    per_node: Bytes
    write: Seconds
    copy: Seconds
    rank_0: Seconds


def saved_bytes_per_parameter(run: Run, *, optimizer: bool) -> tuple[Bytes, Bytes]:
    """Return the saved bytes per parameter, of weights and of optimizer states."""
    weight, states = _SHARDED if shards_all(run.training) else _MIXED
    if run.training.optimizer != "adam":
        states -= _MOMENT
    return weight, states if optimizer else 0.0


def checkpoint_writers(run: Run) -> Count:
    """Return the number of GPUs that write: all if states are sharded, else one replica's."""
    plan = run.plan
    if plan.zero_stage:
        return plan.world_size
    return plan.tensor_parallel * plan.pipeline_parallel


def run_checkpoint(run: Run, storage: CheckpointStorage, *, optimizer: bool = True) -> Checkpoint:
    """Return the checkpoint of a run, with equal files and writers packed into nodes."""
    weight, states = saved_bytes_per_parameter(run, optimizer=optimizer)
    whole = checkpoint_bytes(total_parameters(run.model), weight, states)
    gpus = checkpoint_writers(run)
    writers_per_node = min(gpus, run.cluster.gpus_per_node)
    per_gpu = whole / gpus
    return Checkpoint(
        weight=weight,
        optimizer=states,
        whole=whole,
        writers=gpus,
        per_gpu=per_gpu,
        per_node=per_gpu * writers_per_node,
        write=write_time(whole, storage.rate, per_gpu * writers_per_node, storage.node),
        copy=per_gpu / storage.host,
        rank_0=write_time(whole, storage.rate, whole, storage.node),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointCost:
    """Cost of checkpoints at some interval.

    Attributes:
        stall: in which no step runs, of each checkpoint.
        behind: time from the snapshot until it is safe, beyond the stall; lost with a failure.
        young, daly: the best work between two checkpoints; never less than one write.
        goodput: at the reader's interval.
        best: at Daly's.
    """

    stall: Seconds
    behind: Seconds
    young: Seconds
    daly: Seconds
    goodput: Share
    best: Share


def checkpoint_cost(
    checkpoint: Checkpoint, interval: Seconds, restart: Seconds, mtbf: Seconds, *, background: bool
) -> CheckpointCost:
    """Return the cost of synchronous or background checkpoints.

    A checkpoint that is still being written is of no use yet, so a failure costs that time too. A
    second one cannot begin before the first is stored.
    """
    stall = checkpoint.copy if background else checkpoint.write
    behind = max(0.0, checkpoint.write - checkpoint.copy) if background else 0.0
    least = checkpoint.write if background else 0.0
    daly = max(daly_interval(stall, mtbf), least)
    recovery = restart + behind
    return CheckpointCost(
        stall=stall,
        behind=behind,
        young=young_interval(stall, mtbf),
        daly=daly,
        goodput=goodput(max(interval, least), stall, recovery, mtbf),
        best=goodput(daly, stall, recovery, mtbf),
    )


def run_token_rate(run: Run) -> TokenRate:
    """Return the tokens per second of all GPUs."""
    training = run.training
    return training.global_batch_size * training.sequence_length / run_step_time(run).total
