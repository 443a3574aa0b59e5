"""Results of the Muon lab: step time, bytes and memory, against AdamW's."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated, cast

from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.text import Text
from engine.core.units import COUNT, Bytes, Count, Operations, Parameters, Ratio, Seconds, Share
from engine.form.fields import OwnConstants
from engine.form.run.inputs import Inputs as Form
from engine.form.run.nearest_valid import nearest_run
from engine.formulas.muon import muon_overhead, shampoo_bytes
from engine.formulas.parameters import total_parameters
from engine.run.parallelism import Plan, sharding_ranks
from engine.run.run import Run
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.layer.layer_exchange import HALF
from engine.simulate.layer.muon_slices import MODES, TensorMode
from engine.simulate.layer.orthogonal_work import (
    STEPS,
    MatrixCounts,
    matrix_parameters,
    matrix_pools,
)
from engine.simulate.memory.allocator import MemoryFit, memory_fit, usable_bytes
from engine.simulate.memory.memory import rank_memory
from engine.simulate.step.muon import SCHEMES, MuonStep, Scheme, muon_step, scheme_plan
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.sharding_time import MOMENT
from engine.simulate.step.step_time import step_time

# Inputs of the Muon lab, and the run that they describe.

GPUS = (8, 4096)
_MODELS = ("llama-3-8b", "llama-3-70b", "llama-3-405b", "qwen3-30b-a3b", "qwen3-235b-a22b")
_GPU_TYPES = {"A100-SXM-80GB": "A100 80 GB", "H100-SXM": "H100", "H200-SXM": "H200", "B200": "B200"}
SCHEME_NAMES: dict[Scheme, str] = {
    "owner": "each matrix whole on one GPU",
    "exchange": "sharded, gathered on one GPU",
    "gather": "sharded, gathered on every GPU",
    "deal": "states on all, work dealt out",
    "repeat": "states and work on every GPU",
}
MODE_NAMES: dict[TensorMode, str] = {
    "duplicated": "duplicated: whole on every GPU",
    "blockwise": "blockwise: each slice by itself",
    "distributed": "distributed: Gram matrix summed",
    "layer_sharded": "layer-sharded: whole on one GPU",
}


def _count_input(label: str, low: int, high: int, symbol: str = "") -> Number:
    return Number(label=label, low=low, high=high, scale="log2", whole=True, symbol=symbol)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    world_size: Annotated[int, _count_input("GPUs", *GPUS, "n")] = 64
    scheme: Annotated[
        str, Choice(label="Matrices over replicas", options=cast("dict[str, str]", SCHEME_NAMES))
    ] = "exchange"
    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in _MODELS})
    ] = "llama-3-8b"
    gpu: Annotated[str, Choice(label="GPU", options=_GPU_TYPES)] = "H100-SXM"
    tensor_parallel: Annotated[int, _count_input("Tensor parallel", 1, 8, "t")] = 1
    tensor_mode: Annotated[
        str,
        Choice(
            label="Matrices over tensor parallelism",
            options=cast("dict[str, str]", MODE_NAMES),
            help="By the names of Megatron-LM's --muon-tp-mode.",
        ),
    ] = "duplicated"
    pipeline_parallel: Annotated[int, _count_input("Pipeline parallel", 1, 16)] = 1
    expert_parallel: Annotated[int, _count_input("Expert parallel", 1, 64)] = 1
    global_batch_size: Annotated[int, _count_input("Global batch, sequences", 8, 16_384, "B")] = (
        1024
    )
    sequence_length: Annotated[int, _count_input("Sequence length", 1024, 32_768, "s")] = 4096
    recompute: Annotated[
        str,
        Choice(label="Recomputed", options={"none": "nothing", "full": "every layer"}),
    ] = "none"
    element: Annotated[
        str,
        Choice(
            label="A number on its way",
            options={"2": "2 bytes (bf16)", "4": "4 bytes (fp32)"},
            advanced=True,
        ),
    ] = "2"
    own_constants: OwnConstants = ""


def run_with(inputs: Inputs, world_size: Count = 0) -> tuple[Run, tuple[Text, ...]]:
    """Return the run with AdamW and ZeRO-1, and the changes that make it divide."""
    return nearest_run(
        Form(
            model=inputs.model,
            gpu=inputs.gpu,
            own_constants=inputs.own_constants,
            world_size=world_size or inputs.world_size,
            tensor_parallel=inputs.tensor_parallel,
            pipeline_parallel=inputs.pipeline_parallel,
            virtual_pipeline=1,
            schedule="1f1b",
            context_parallel=1,
            expert_parallel=inputs.expert_parallel,
            micro_batch_size=1,
            global_batch_size=inputs.global_batch_size,
            sequence_length=inputs.sequence_length,
            recompute=inputs.recompute,
            zero_stage="1",
            sequence_parallel=inputs.tensor_parallel > 1,
        )
    )


# Muon's optimizer step in every way, over the number of GPUs.

# GPUs, the optimizer step, the busiest GPU's operations over the mean.
Sized = tuple[Count, Seconds, Ratio]
_SIZES = tuple(8 << power for power in range(10))


def job_of(inputs: Inputs, scheme: Scheme, mode: TensorMode, run: Run) -> MuonStep:
    """Return Muon's step of a run under a scheme and tensor mode."""
    rank = rank_rates(run.cluster, run.training)
    return muon_step(
        run.model, run.plan, run.training, rank, scheme, mode, element=float(inputs.element)
    )


def over_gpus(inputs: Inputs) -> Mapping[Scheme, tuple[Sized, ...]]:
    """Return the steps of every scheme over the numbers of GPUs that fit the plan."""
    plain = Inputs(
        model=inputs.model,
        gpu=inputs.gpu,
        tensor_parallel=inputs.tensor_parallel,
        pipeline_parallel=inputs.pipeline_parallel,
        expert_parallel=inputs.expert_parallel,
        element=inputs.element,
    )
    return {
        scheme: _column(plain, scheme, cast("TensorMode", inputs.tensor_mode)) for scheme in SCHEMES
    }


@lru_cache(maxsize=64)
def _column(inputs: Inputs, scheme: Scheme, mode: TensorMode) -> tuple[Sized, ...]:
    largest = run_with(inputs, _SIZES[-1])[0].plan
    jobs = []
    for size in _SIZES:
        run, _ = run_with(inputs, size)
        if _model_split(run.plan) == _model_split(largest):
            step = job_of(inputs, scheme, mode, run)
            jobs.append((run.plan.world_size, step.total, step.over_mean))
    return tuple(jobs)


def _model_split(plan: Plan) -> tuple[Count, Count, Count]:
    return plan.tensor_parallel, plan.pipeline_parallel, plan.expert_parallel


MASTER: Bytes = 4.0  # the copy of a parameter in full precision
_ASSUMES = (
    "Five steps of Newton-Schulz in bf16, products one after another, at the rate that products of "
    "their size reach in training.",
    "Nothing of it overlaps with the passes or with itself. Embedding, output layer and norms stay "
    "with AdamW.",
)


def _output(label: str, note: str, color: str, symbol: str = "") -> Output:
    return Output(label, symbol, note, color, _ASSUMES, ("jordan2024",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """Bytes per parameter that an optimizer keeps, as a mean over the model.

    Attributes:
        name: of the optimizer.
        copy: of the parameter in full precision.
        first: moment, or momentum.
        second: moment.
        squares: of sides of matrices, and their roots.
    """

    name: str
    copy: Bytes
    first: Bytes
    second: Bytes
    squares: Bytes = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Every number of the lab."""

    run: Run
    evidence: Evidence
    changes: tuple[Text, ...]
    steps: dict[Scheme, MuonStep]
    modes: dict[TensorMode, MuonStep]
    over_gpus: Lazy[Mapping[Scheme, tuple[Sized, ...]]]
    muon: Annotated[
        Seconds,
        _output("Muon's optimizer step", "of the busiest GPU", "optimizer"),
    ]
    adam: Annotated[Seconds, _output("AdamW's, ZeRO-1", "a pass over sharded states", "memory")]
    longer: Annotated[
        Share,
        _output("The training step is longer by", "{step} with AdamW", "optimizer"),
    ]
    step: Annotated[
        Seconds,
        Output(
            "A training step with AdamW",
            "",
            "as the planner predicts it",
            "compute",
        ),
    ]
    sent: Annotated[
        Bytes,
        _output(
            "Sent by each GPU beyond AdamW",
            "in the optimizer step, by the busiest GPU",
            "communication",
        ),
    ]
    products: Annotated[
        Seconds, _output("Of that, Newton-Schulz", "{operations} on the busiest GPU", "compute")
    ]
    operations: Annotated[
        Operations, _output("Operations of the busiest GPU", "of Newton-Schulz", "compute")
    ]
    communication: Annotated[
        Seconds, _output("Of that, waiting for numbers", "alone, nothing hidden", "communication")
    ]
    over_mean: Annotated[
        Ratio,
        _output("Busiest GPU over the mean", "in operations of Newton-Schulz", "compute"),
    ]
    overhead: Annotated[
        Share,
        Output(
            "Operations beside the model's, at most",
            "x",
            "if each matrix is orthogonalized once in the whole job",
            "compute",
            ("A square matrix of the hidden size; the step's tokens are those of the whole job.",),
        ),
    ]
    small_side: Annotated[Count, Output(symbol="m", of="model")]
    tokens: Annotated[float, COUNT, Output(symbol="B", of="global_batch_size")]
    newton_schulz: Annotated[Count, Output(symbol="S")]
    matrices: Annotated[
        Count,
        Output(
            "Matrices",
            "",
            "of a pipeline stage, experts of one GPU among them",
            assumes=("Weights of linear layers; query, key, value, gate and up count separately.",),
        ),
    ]
    parameters: Annotated[
        Parameters,
        Output(
            "Parameters in matrices",
            "P",
            "of {total} of the model",
            assumes=("Without embedding, output layer, norms and biases.",),
            of="model",
        ),
    ]
    total: Parameters
    ladder: tuple[Rung, ...]
    replicas: Annotated[
        Count, Output("GPUs that share the states", "N", "data parallel", "data", of="world_size")
    ]
    held: Annotated[
        Bytes,
        Output(
            "A GPU holds",
            "",
            "{capacity} can be used",
            "memory",
            ("The GPU that holds most, with activations, in Megatron-LM's mixed precision.",),
        ),
    ]
    capacity: Bytes
    fitting: dict[Scheme, MemoryFit]
    fit: MemoryFit


def solve(inputs: Inputs) -> Result:
    """Return every number of the lab."""
    run, changes = run_with(inputs)
    scheme, mode = cast("Scheme", inputs.scheme), cast("TensorMode", inputs.tensor_mode)
    time = step_time(run.model, run.cluster, run.plan, run.training)
    own_job = job_of(inputs, scheme, mode, run)
    pools = matrix_pools(run.model, run.plan)
    whole = [pool.shapes for pool in matrix_pools(run.model, Plan(world_size=1))]
    kept = {
        key: rank_memory(
            run.model, scheme_plan(run.plan, key), replace(run.training, optimizer="muon")
        )
        for key in SCHEMES
    }
    tokens = float(run.training.global_batch_size * run.training.sequence_length)
    device = run.cluster.gpu.memory
    return Result(
        run=run,
        evidence=evidence(run),
        changes=changes,
        steps={key: job_of(inputs, key, mode, run) for key in SCHEMES},
        modes={key: job_of(inputs, scheme, key, run) for key in MODES},
        over_gpus=Lazy(partial(over_gpus, inputs)),
        muon=own_job.total,
        adam=time.optimizer,
        longer=(own_job.total - time.optimizer) / time.total,
        step=time.total,
        sent=own_job.sent,
        products=own_job.products,
        operations=own_job.operations,
        communication=own_job.communication,
        over_mean=own_job.over_mean,
        overhead=muon_overhead(STEPS, MODELS[inputs.model].hidden_size, tokens),
        small_side=MODELS[inputs.model].hidden_size,
        tokens=tokens,
        newton_schulz=STEPS,
        matrices=sum(count for pool in pools for _, count in pool.shapes),
        parameters=sum(matrix_parameters(shapes) for shapes in whole),
        total=total_parameters(run.model),
        ladder=_ladder(whole, total_parameters(run.model)),
        replicas=sharding_ranks(run.plan),
        held=kept[scheme].total,
        capacity=usable_bytes(device),
        fitting={key: memory_fit(memory, device) for key, memory in kept.items()},
        fit=memory_fit(kept[scheme], device),
    )


def _ladder(whole: list[MatrixCounts], total: Parameters) -> tuple[Rung, ...]:
    """Return optimizer bytes per parameter; embeddings and norms stay with AdamW."""
    matrices = sum(map(matrix_parameters, whole)) / total
    squares = sum(
        count * shape.parameters * shampoo_bytes(shape.rows, shape.columns)
        for shapes in whole
        for shape, count in shapes
    )
    ends = (1 - matrices) * MOMENT
    return (
        Rung(name="AdamW", copy=MASTER, first=MOMENT, second=MOMENT),
        Rung(name="Muon", copy=MASTER, first=MOMENT, second=ends),
        Rung(
            name="Muon, momentum in bf16",
            copy=MASTER,
            first=matrices * HALF + ends,
            second=ends,
        ),
        Rung(name="Shampoo", copy=MASTER, first=MOMENT, second=ends, squares=squares / total),
    )
