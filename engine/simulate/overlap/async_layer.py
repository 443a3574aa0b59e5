"""One layer of the step model with tensor parallelism, played in pieces beside its collectives."""

from dataclasses import replace

from engine.catalog.hardware import GPUS
from engine.catalog.models import MODELS
from engine.catalog.reader_constants import parse_constants
from engine.core.record import record
from engine.core.units import Count, Gbit, Seconds
from engine.run.parallelism import Cluster, Plan, Training
from engine.run.run import Run
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.layer.layer_time import LayerTime
from engine.simulate.programs import tensor_parallel, tensor_parallel_async
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.stage_time import layer_costs
from engine.simulate.step.step_time import StepTime, pipeline_cost, step_from_costs
from engine.simulate.streams.exposed_time import SpanPart, split_spans
from engine.simulate.streams.stream_account import StepAccount, step_account
from engine.simulate.streams.streams import OpSpan, run_program
from engine.simulate.streams.workload import Workload, ring_group

_NODE: Count = 8
# Gather and scatter, forward and backward: PyTorch keeps the gathered input for the weights.
COLLECTIVES: Count = 4


@record
class TensorJob:
    """A step of one tensor-parallel group by the step model, one micro-batch.

    Attributes:
        run: the job, its collectives beside products or not.
        layer: of the estimate.
        blocking: the same layer with nothing beside its collectives.
        estimate: parts of the step.
        evidence: on which a prediction of the step rests.
    """

    run: Run
    layer: LayerTime
    blocking: LayerTime
    estimate: StepTime
    evidence: Evidence

    @property
    def left_out(self) -> Seconds:
        """Of the step what is no layer: embedding, output layer, optimizer, host, slowest GPU."""
        return self.estimate.total - self.run.model.num_layers * self.layer.total


@record
class PlayedLayer:
    """Forward and backward pass of one layer, played.

    Attributes:
        spans: what ran when.
        account: the account of it.
        gather: time of the gathers of one pass, alone.
    """

    spans: tuple[OpSpan, ...]
    account: StepAccount
    gather: Seconds

    @property
    def parts(self) -> tuple[SpanPart, ...]:
        """The spans, communication cut where it stops or starts to be hidden."""
        return split_spans(self.spans)


def tensor_run(
    model: str, gpu: str, ranks: Count, tokens: Count, *, overlap: bool, own_constants: str = ""
) -> Run:
    """Return a step of one tensor-parallel group under PyTorch: a micro-batch of one sequence.

    `model` and `gpu` are keys of the catalog; `own_constants` is the text of what was
    measured on the GPUs.
    """
    return Run(
        model=MODELS[model],
        cluster=Cluster(
            gpu=GPUS[gpu],
            gpus_per_node=_NODE,
            nics_per_node=_NODE,
            nic_bandwidth=400 * Gbit,  # nothing leaves the node
            own_constants=parse_constants(own_constants),
        ),
        plan=Plan(world_size=ranks, tensor_parallel=ranks, sequence_parallel=True, zero_stage=0),
        training=Training(
            micro_batch_size=1,
            global_batch_size=1,
            sequence_length=tokens,
            framework="fsdp",
            overlap_tensor_parallel=overlap,
        ),
    )


def tensor_job(run: Run) -> TensorJob:
    """Return the layer and the step of a run of one tensor-parallel group."""
    model, plan, training = run.model, run.plan, run.training
    rank = rank_rates(run.cluster, training)
    costs = layer_costs(model, plan, training, rank)
    blocking = replace(training, overlap_tensor_parallel=False)
    cost = pipeline_cost(model, plan, training, costs)
    return TensorJob(
        run=run,
        layer=costs.kinds[0],
        blocking=layer_costs(model, plan, blocking, rank).kinds[0],
        estimate=step_from_costs(model, plan, training, rank, cost),
        evidence=evidence(run),
    )


def play_layer(job: TensorJob, chunks: Count) -> PlayedLayer:
    """Return the layer of a job in pieces; with one nothing overlaps, and it is the estimate's.

    Attention and feed-forward part are taken as one: their gathers before, their scatters behind.
    Pieces are as fast as the whole, which bounds what they can hide.
    """
    layer = job.blocking
    work = Workload(
        layers=1,
        forward=layer.forward,
        backward=layer.backward + layer.repeated,
        parameters=0.0,
        data=ring_group(1, 1.0),
        tensor_gather=layer.tensor_parallel / COLLECTIVES,
        tensor_chunks=chunks,
    )
    program = tensor_parallel if chunks == 1 else tensor_parallel_async
    spans = run_program(program.program(work))
    return PlayedLayer(spans=spans, account=step_account(spans), gather=work.tensor_gather)
