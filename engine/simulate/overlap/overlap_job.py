"""Workload of one job for schedule simulation: a pipeline stage in blocks of layers."""

from dataclasses import dataclass

from engine.catalog.hardware import GPUS
from engine.catalog.models import MODELS
from engine.catalog.reader_constants import parse_constants
from engine.core.units import MB, Bandwidth, Bytes, Count, Ratio, Seconds, Share
from engine.formulas.parameters import dense_layer_parameters
from engine.formulas.transfer_time import scatter_or_gather_time
from engine.run.parallelism import Cluster, Plan, Training, chunk_sizes
from engine.run.run import Run
from engine.simulate.layer.device_model import RankRates, rank_group, rank_rates
from engine.simulate.layer.layer_time import LayerTime, layer_time
from engine.simulate.step.axis_wires import ring_line_rate
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.streams.streams import COMPUTE, NETWORK, SCALE_UP
from engine.simulate.streams.workload import Workload, nccl_group

_BLOCKS = 8  # of a stage, at most: units that are simulated and drawn
_MATRICES = 7  # of a layer
_BF16: Bytes = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlapSetting:
    """A job of dense layers, and how its collectives are scheduled.

    Attributes:
        model, gpu: keys of the catalog (`MODELS`, `GPUS`).
        tensor_parallel, pipeline_parallel, data_parallel: ranks of each axis.
        num_microbatches: of a pipeline in a step.
        tokens: of a micro-batch.
        port: line rate of the network, per GPU, one way.
        slow_down: computation takes so much longer while a collective runs.
        bucket: of gradients, where they are reduced in buckets.
        prefetch: units that parameters are gathered ahead of their use.
        reshard: parameters are freed after the forward pass and gathered again.
        gradient: bytes of a gradient on the wire.
        deviation: of one GPU's step time, over its mean.
        unit: layers that are gathered as one, where parameters are sharded; divides their number.
        again: ranks that gather for the backward pass; 0: those that gather for the forward pass.
        shard: neighboring ranks that share one copy of the states; 0: all.
        sum_once: copies sum their gradients with the last micro-batch only.
        own: text of constants that were measured on these GPUs; empty: the catalog's.
    """

    model: str
    gpu: str
    tensor_parallel: Count
    pipeline_parallel: Count
    data_parallel: Count
    num_microbatches: Count
    tokens: Count
    port: Bandwidth
    slow_down: Ratio = 0.19
    bucket: Bytes = 100 * MB
    prefetch: Count = 1
    reshard: bool = True
    gradient: Bytes = 2.0
    deviation: Share = 0.01
    unit: Count = 1
    again: Count = 0
    shard: Count = 0
    sum_once: bool = False
    own: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlapJob:
    """Workload of a job, independent of its schedule.

    Attributes:
        work: of one stage, in blocks of layers.
        layers: of a block.
        layer: times of one layer.
        stages: of the pipeline.
        world_size: GPUs.
        stream: that carries data parallelism.
        line_rate: of it, for a ring of the data-parallel ranks: several of a node share its ports.
        run: all of the job.
        evidence: on which predictions of its step rest.
    """

    work: Workload
    layers: Count
    layer: LayerTime
    stages: Count
    world_size: Count
    stream: str
    line_rate: Bandwidth
    run: Run
    evidence: Evidence

    @property
    def streams(self) -> tuple[str, ...]:
        """Displayed streams, from top to bottom."""
        names = [COMPUTE]
        if self.work.tensor_gather or self.stream == SCALE_UP:
            names.append(SCALE_UP)
        if self.stream == NETWORK:
            names.append(NETWORK)
        return tuple(names)


def setting_run(setting: OverlapSetting, zero_stage: Count = 1) -> Run:
    """Return the job of a setting as a run."""
    tensor, stages = setting.tensor_parallel, setting.pipeline_parallel
    cluster = Cluster(
        gpu=GPUS[setting.gpu],
        gpus_per_node=8,
        nics_per_node=8,
        nic_bandwidth=setting.port,
        own=parse_constants(setting.own),
    )
    plan = Plan(
        world_size=tensor * stages * setting.data_parallel,
        tensor_parallel=tensor,
        pipeline_parallel=stages,
        sequence_parallel=tensor > 1,
        zero_stage=zero_stage,
        shard_group=setting.shard,
    )
    training = Training(
        micro_batch_size=1,
        global_batch_size=setting.data_parallel * setting.num_microbatches,
        sequence_length=setting.tokens,
    )
    return Run(model=MODELS[setting.model], cluster=cluster, plan=plan, training=training)


def build_overlap_job(setting: OverlapSetting) -> OverlapJob:
    """Return the job of a setting, its stage in blocks of layers."""
    run = setting_run(setting)
    model, cluster, plan, training = run.model, run.cluster, run.plan, run.training
    tensor, stages = setting.tensor_parallel, setting.pipeline_parallel
    rank = rank_rates(cluster, training)
    times = layer_time(model, plan, training, rank, sparse=False)
    layers = max(chunk_sizes(model.num_layers, stages))
    count = max(number for number in range(1, _BLOCKS + 1) if layers % number == 0)
    block = layers // count
    shard = setting.shard or setting.data_parallel
    group = rank_group(rank, shard, tensor)
    copies = rank_group(rank, setting.data_parallel // shard, tensor * shard)
    again = rank_group(rank, setting.again, tensor) if setting.again else None
    gather, sent = _tensor_gathers(rank, tensor, block, _BF16 * setting.tokens * model.hidden_size)
    work = Workload(
        layers=count,
        forward=block * times.forward,
        backward=block * times.backward,
        parameters=block * dense_layer_parameters(model).matrices / tensor,
        data=nccl_group(rank, group),
        replicas=nccl_group(rank, copies) if copies.ranks > 1 else None,
        sum_once=setting.sum_once,
        again=nccl_group(rank, again) if again else None,
        element=_BF16,
        gradient=setting.gradient,
        tensors=_MATRICES * block,
        bucket=setting.bucket,
        prefetch=setting.prefetch,
        reshard=setting.reshard,
        slow_down=setting.slow_down,
        tensor_gather=gather,
        tensor_size=sent,
        tensor_again=plan.sequence_parallel,
    )
    return OverlapJob(
        work=work,
        layers=block,
        layer=times,
        stages=stages,
        world_size=plan.world_size,
        stream=work.data.stream,
        line_rate=ring_line_rate(cluster, rank, setting.data_parallel, tensor),
        run=run,
        evidence=evidence(run),
    )


def _tensor_gathers(
    rank: RankRates, tensor: Count, layers: Count, size: Bytes
) -> tuple[Seconds, Bytes]:
    """Return time and bytes of the all-gathers of one block pass, for attention and MLP."""
    group = rank_group(rank, tensor, 1)
    gather_time = scatter_or_gather_time(
        size, group.ranks, group.nodes, group.bandwidth, group.network
    )
    sent = (tensor - 1) / tensor * size
    return 2 * layers * gather_time, 2 * layers * sent
