"""A modeled plan: pipeline stages, step time, memory and communication by axis."""

from dataclasses import dataclass, replace

from engine.catalog.models import commonest_kind, kinds_in, layer_kinds
from engine.core.units import (
    Bytes,
    Count,
    FlopRate,
    GpuTime,
    Parameters,
    Ratio,
    Seconds,
    Share,
    TokenRate,
    Tokens,
)
from engine.formulas.axes import exposed_ratio
from engine.formulas.overlap import compute_time
from engine.formulas.parameters import active_parameters, embedding_parameters, output_parameters
from engine.formulas.step_operations import model_operations
from engine.run.doubts import RunWarnings, run_warnings
from engine.run.parallelism import (
    first_piece,
    last_piece,
    layers_of_stage,
    num_microbatches,
)
from engine.run.run import Run
from engine.simulate.layer.device_model import RankRates, rank_rates
from engine.simulate.layer.layer_time import embedding_time, layer_time, output_time
from engine.simulate.memory.allocator import Memory, MemoryFit, memory_fit
from engine.simulate.memory.memory import layer_memories, stage_memory
from engine.simulate.memory.peak_activations import microbatches_in_flight
from engine.simulate.step.axis_loads import AxisLoad, axis_loads
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.step_time import StepTime, step_time


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineStage:
    """A pipeline stage with its memory and time.

    Attributes:
        layers: on its rank, all pieces together.
        microbatches_in_flight: micro-batches whose activations it keeps at most.
        memory: of each of its GPUs.
        time: forward and backward pass of one micro-batch.
    """

    layers: Count
    microbatches_in_flight: Ratio
    memory: Memory
    time: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeledPlan:
    """Model results of a run.

    Attributes:
        run: it.
        step: exposed seconds of the slowest rank.
        stages: of the pipeline, in order.
        axes: those with more than one rank.
        computation: of one GPU in a step at the given kernel efficiency, stages alike.
        embedding: look-up of one micro-batch, forward and backward.
        output: output layer and loss, likewise.
        layer: one layer, likewise, of the kind that most layers are.
        doubts: what speaks against the run.
        evidence: on which its step rests.
    """

    run: Run
    step: StepTime
    stages: tuple[PipelineStage, ...]
    axes: tuple[AxisLoad, ...]
    computation: Seconds
    embedding: Seconds
    output: Seconds
    layer: Seconds
    doubts: RunWarnings
    evidence: Evidence

    @property
    def microbatches(self) -> Count:
        """Number of micro-batches per step."""
        return num_microbatches(self.run.plan, self.run.training)

    @property
    def fullest(self) -> Count:
        """Index of the stage with the most memory."""
        return max(range(len(self.stages)), key=lambda i: self.stages[i].memory.total)

    @property
    def slowest(self) -> Count:
        """Index of the stage with the longest time."""
        return max(range(len(self.stages)), key=lambda i: self.stages[i].time)

    @property
    def exposed(self) -> Seconds:
        """Exposed communication of all axes."""
        return sum(axis.exposed for axis in self.axes)

    @property
    def usable(self) -> Bytes:
        """Memory of a GPU that a process should fill at most."""
        return self.fit.usable

    @property
    def fit(self) -> MemoryFit:
        """How the fullest GPU holds its part."""
        return self.stage_fit(self.fullest)

    def stage_fit(self, stage: Count) -> MemoryFit:
        """Return how a GPU of one stage holds its part."""
        return memory_fit(self.stages[stage].memory, self.run.cluster.gpu.memory)

    @property
    def tensor_over_computation(self) -> Ratio:
        """All collectives of tensor parallelism, nothing hidden, over the computation of a GPU.

        Forward and backward pass, bandwidths as large messages were measured to reach them, the
        computation at the given kernel efficiency; 0 without tensor parallelism.
        """
        alone = {axis.key: axis.alone for axis in self.axes}.get("tensor", 0.0)
        return exposed_ratio(alone, self.computation)

    @property
    def token_rate(self) -> TokenRate:
        """Tokens per second per GPU."""
        return 1e6 / self.token_time

    @property
    def mfu(self) -> Share:
        """Share of the dense peak in the run's precision that the model uses (PaLM's MFU)."""
        run, peaks = self.run, self.run.cluster.gpu.peak
        peak = peaks.get(run.training.precision) or peaks["fp16"]
        done = model_operations(run.model, run.training)
        return done / (self.step.total * run.plan.world_size * peak)

    @property
    def token_time(self) -> GpuTime:
        """GPU time for a million tokens."""
        training = self.run.training
        tokens = training.global_batch_size * training.sequence_length
        return self.step.total * self.run.plan.world_size / tokens * 1e6


def model_plan(run: Run, utilization: Share) -> ModeledPlan:
    """Return the model results of a run; `utilization` of kernels is for `computation` only."""
    model, plan, training = run.model, run.plan, run.training
    rank = rank_rates(run.cluster, training)
    step = step_time(model, run.cluster, plan, training)
    computation = _computation(run, utilization)
    embedding = embedding_time(model, plan, training, rank)
    output = (1 + model.num_prediction_layers) * output_time(model, plan, training, rank)
    typical = commonest_kind(model)
    layer = layer_time(typical, plan, training, rank, sparse=bool(typical.num_experts)).total
    return ModeledPlan(
        run=run,
        step=step,
        stages=_stages(run, rank, layer, embedding, output),
        axes=axis_loads(run, rank, step, computation),
        computation=computation,
        embedding=embedding,
        output=output,
        layer=layer,
        doubts=run_warnings(run),
        evidence=evidence(run),
    )


def _computation(run: Run, utilization: Share) -> Seconds:
    """Return the computation of a GPU in a step, layers only, all stages alike."""
    return compute_time(
        active_parameters_per_gpu(run), replica_tokens(run), utilization, dense_peak(run)
    )


def active_parameters_per_gpu(run: Run) -> Parameters:
    """Return the active layer parameters per GPU, with equal stages."""
    plan = run.plan
    ranks = plan.tensor_parallel * plan.pipeline_parallel * plan.context_parallel
    return active_layer_parameters(run) / ranks


def replica_tokens(run: Run) -> Tokens:
    """Return the tokens per step of one model replica."""
    training = run.training
    return training.global_batch_size // run.plan.data_parallel * training.sequence_length


def active_layer_parameters(run: Run) -> Parameters:
    """Return the active parameters per token of all layers, without embedding and output layer."""
    model = run.model
    ends = embedding_parameters(model) + model.hidden_size * (2 if model.biases else 1)
    return (
        active_parameters(model) - ends - (0 if model.tied_embeddings else output_parameters(model))
    )


def dense_peak(run: Run) -> FlopRate:
    """Return the dense 16-bit peak of the GPU, for the required bandwidths."""
    peak = run.cluster.gpu.peak
    return peak.get("bf16") or peak["fp16"]


def _stages(
    run: Run, rank: RankRates, layer: Seconds, embedding: Seconds, output: Seconds
) -> tuple[PipelineStage, ...]:
    model, plan, training = run.model, run.plan, run.training
    kinds = layer_memories(model, plan, training)
    times = _kind_times(run, rank, layer)
    # A micro-batch passes one of the two copies of a layer that a rank of DualPipe holds.
    copies = 2 if training.schedule == "dualpipe" else 1
    stages = []
    for stage in range(plan.pipeline_parallel):
        pieces = layers_of_stage(model, plan, stage, training.schedule)
        count = sum(len(piece) for piece in pieces)
        counts = zip(*(kinds_in(model, piece) for piece in pieces), strict=True)
        time = sum(sum(layers) * each for layers, each in zip(counts, times, strict=True))
        time += embedding * first_piece(plan, stage, training.schedule)
        time += output * last_piece(plan, stage, training.schedule)
        stages.append(
            PipelineStage(
                layers=count,
                microbatches_in_flight=_microbatches_in_flight(run, stage),
                memory=stage_memory(model, plan, training, stage, kinds),
                time=time / copies,
            )
        )
    return tuple(stages)


def _kind_times(run: Run, rank: RankRates, layer: Seconds) -> tuple[Seconds, ...]:
    """Return the time of a layer of each kind; `layer` is that of one with experts, if any has."""
    model, plan, training = run.model, run.plan, run.training
    if model.mix:
        kinds = layer_kinds(model)
        times = [layer_time(kind, plan, training, rank, sparse=has) for kind, has in kinds]
        return tuple(time.total for time in times)
    dense = layer
    if model.num_dense_layers and model.num_experts:
        dense = layer_time(model, plan, training, rank, sparse=False).total
    return dense, layer


def _microbatches_in_flight(run: Run, stage: Count) -> Ratio:
    """Return the micro-batches whose activations a stage holds, averaged over its pieces."""
    plan, training = run.plan, run.training
    in_flight_by_piece = microbatches_in_flight(
        training.schedule,
        plan.pipeline_parallel,
        plan.virtual_pipeline,
        stage,
        num_microbatches(plan, training),
    )
    return sum(in_flight_by_piece) / len(in_flight_by_piece)


def compute_share(run: Run, microbatches: Count) -> Share:
    """Return the compute share of the step with another number of micro-batches."""
    sequences = run.training.micro_batch_size * run.plan.data_parallel
    training = replace(run.training, global_batch_size=sequences * microbatches)
    step = step_time(run.model, run.cluster, run.plan, training)
    return step.compute / step.total
