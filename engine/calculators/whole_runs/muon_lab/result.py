"""Results of the Muon lab: step time, bytes and memory, against AdamW's."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, cast

from engine.calculators.whole_runs.muon_lab.inputs import Inputs, run_with
from engine.calculators.whole_runs.muon_lab.over_gpus import Sized, job_of, over_gpus
from engine.catalog.models import MODELS
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.text import Text
from engine.core.units import COUNT, Bytes, Count, Operations, Parameters, Ratio, Seconds, Share
from engine.formulas.muon import muon_overhead, shampoo_bytes
from engine.formulas.parameters import total_parameters
from engine.run.parallelism import Plan, sharding_ranks
from engine.run.run import Run
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
from engine.simulate.step.muon import SCHEMES, MuonStep, Scheme, scheme_plan
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.sharding_time import MOMENT
from engine.simulate.step.step_time import step_time

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
            ("The fullest GPU, with activations, in mixed precision as Megatron-LM keeps it.",),
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
