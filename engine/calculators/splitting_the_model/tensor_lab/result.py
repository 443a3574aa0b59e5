"""Results of the tensor-parallel lab: the plan, and the plan at other numbers of ranks."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.core.inputs import GBITS, Choice, Number, Scalar, Switch
from engine.core.outputs import Output
from engine.core.text import Text
from engine.core.units import (
    LINK_SPEED,
    Bytes,
    Count,
    Gbit,
    Ratio,
    Seconds,
    Share,
    TokenRate,
    Tokens,
)
from engine.form.fields import GpusPerNode, OwnConstants, kernel_efficiency
from engine.form.run.inputs import Inputs as RunInputs
from engine.form.run.nearest_valid import nearest_run
from engine.formulas.axes import HALF, least_bandwidth, tensor_layer_bytes
from engine.formulas.volumes import tensor_passes
from engine.simulate.memory.tensor_tiles import ActivationSplit, activation_split
from engine.simulate.step.modeled_plan import ModeledPlan, model_plan

# The inputs of the tensor-parallel lab, and the run that they describe.

OFFERED = ("llama-3-8b", "llama-2-13b", "llama-3-70b", "llama-3-405b", "gpt-3-175b")
MOST = 72
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "16 ranks over two nodes": {"tensor_parallel": 16},
    "16 ranks, one port per node": {"tensor_parallel": 16, "nics_per_node": 1},
    "8B on one node": {
        "model": "llama-3-8b",
        "sequence_length": 8192,
        "pipeline_parallel": 1,
        "data_parallel": 1,
    },
    "Async, 8 ranks": {"overlap": True},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    tensor_parallel: Annotated[
        int,
        Number(label="Tensor parallel", low=1, high=MOST, scale="log2", whole=True, symbol="t"),
    ] = 8
    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in OFFERED})
    ] = "llama-3-70b"
    sequence_length: Annotated[
        int,
        Number(
            label="Sequence length", low=512, high=131_072, scale="log2", whole=True, symbol="s"
        ),
    ] = 4096
    micro_batch_size: Annotated[
        int,
        Number(label="Micro-batch", low=1, high=64, scale="log2", whole=True, symbol="b"),
    ] = 1
    sequence_parallel: Annotated[
        bool,
        Switch(
            label="Sequence parallel",
            help="--sequence-parallel in Megatron-LM: gathers and scatters in place of "
            "all-reduces.",
        ),
    ] = True
    overlap: Annotated[
        bool,
        Switch(
            label="Async",
            help="Collectives are cut into pieces that run beside the products.",
        ),
    ] = False
    nics_per_node: Annotated[int, Number(label="Ports per node", low=1, high=MOST, whole=True)] = 8
    nic_bandwidth: Annotated[
        float,
        Number(
            label="Port",
            unit=GBITS,
            low=10 * Gbit,
            high=1600 * Gbit,
            scale="log",
            help="Line rate of one port, one way.",
        ),
    ] = 400 * Gbit
    gpus_per_node: GpusPerNode = 8
    gpu: Annotated[
        str,
        Choice(
            label="GPU",
            cites=False,
            options={key: gpu.name for key, gpu in ACCELERATORS.items()},
            advanced=True,
        ),
    ] = "H100-SXM"
    pipeline_parallel: Annotated[
        int,
        Number(label="Pipeline stages", low=1, high=64, scale="log2", whole=True, advanced=True),
    ] = 4
    data_parallel: Annotated[
        int, Number(label="Replicas", low=1, high=1024, scale="log2", whole=True, advanced=True)
    ] = 4
    num_microbatches: Annotated[
        int, Number(label="Micro-batches", low=1, high=256, scale="log2", whole=True, advanced=True)
    ] = 8
    utilization: Annotated[
        float,
        kernel_efficiency(
            "For the ratio and the bandwidth needed; the times of a step come from the step model."
        ),
    ] = 0.5
    own_constants: OwnConstants = ""


def run_inputs(inputs: Inputs, tensor: Count) -> RunInputs:
    """Return the run at a tensor-parallel degree, other axes unchanged."""
    return RunInputs(
        model=inputs.model,
        gpu=inputs.gpu,
        gpus_per_node=inputs.gpus_per_node,
        nics_per_node=inputs.nics_per_node,
        nic_bandwidth=inputs.nic_bandwidth,
        own_constants=inputs.own_constants,
        world_size=tensor * inputs.pipeline_parallel * inputs.data_parallel,
        tensor_parallel=tensor,
        pipeline_parallel=inputs.pipeline_parallel,
        context_parallel=1,
        sequence_parallel=inputs.sequence_parallel and tensor > 1,
        sequence_length=inputs.sequence_length,
        micro_batch_size=inputs.micro_batch_size,
        global_batch_size=inputs.micro_batch_size * inputs.num_microbatches * inputs.data_parallel,
        overlap_tensor_parallel=inputs.overlap,
        virtual_pipeline=1,
        schedule="1f1b",
    )


_ALONE = (
    "All collectives of tensor parallelism one after another, nothing hidden; each with its "
    "latency and at the bandwidth that a message of its size reaches.",
    "Computation at {utilization} of the peak, layers only.",
)


PREDICTED = "All sequences of a step over its time, as the modeler predicts it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Every number of the lab.

    Attributes:
        plan: the possible plan nearest to the inputs, modelled.
        changes: what differs from the inputs, in sentences.
        ranks: of the curves: the divisors of the heads.
        ratios: key of a curve -> `ratio` over the ranks.
        plans: the same plan over the ranks.
        tiles: (alone, with sequence parallelism) over the ranks.
    """

    plan: ModeledPlan
    changes: tuple[Text, ...]
    num_gpus: Annotated[Count, Output(symbol="n", of="tensor_parallel")]
    ratio: Annotated[
        Ratio,
        Output(
            "Communication alone, over computation",
            "",
            "tensor parallelism over {num_gpus} GPUs",
            "communication",
            assumes=_ALONE,
            sources=("narayanan2021",),
        ),
    ]
    tokens: Annotated[Tokens, Output(symbol="t", of="sequence_length")]
    hidden: Annotated[Count, Output(symbol="h", of="model")]
    passes: Annotated[Count, Output(symbol="k", of="sequence_parallel")]
    element: Annotated[Bytes, Output(symbol="e")] = HALF
    layer_bytes: Annotated[
        Bytes,
        Output(
            "Sent by each GPU, per layer and micro-batch", "V", "forward and backward", "tensor"
        ),
    ]
    needed: Annotated[
        float,
        LINK_SPEED,
        Output(
            "Bandwidth needed to keep up",
            "",
            "of a GPU, one way; the links that its ring can use reach {has}",
            "tensor",
            assumes=("With less, sending takes longer than computing, however it is scheduled.",),
            sources=("narayanan2021",),
        ),
    ]
    has: Annotated[float, LINK_SPEED]
    exposed: Annotated[
        Seconds,
        Output(
            "Waited for in a step",
            "",
            "for tensor parallelism, of {step}; {computing} computing",
            "communication",
            sources=("nccl_tests",),
        ),
    ]
    step: Seconds
    computing: Seconds
    exposed_share: Annotated[
        Share,
        Output(
            "Of the step",
            "",
            "waiting for tensor parallelism",
            "communication",
            sources=("nccl_tests",),
        ),
    ]
    token_rate: Annotated[
        TokenRate,
        Output(
            "Tokens per second per GPU",
            "",
            "on {world_size} GPUs",
            "compute",
            assumes=(PREDICTED,),
        ),
    ]
    world_size: Count
    memory: Annotated[
        Bytes,
        Output(
            "GPU that holds most",
            "",
            "{usable} can be used",
            "optimizer",
            sources=("korthikanti2022", "rajbhandari2020"),
        ),
    ]
    usable: Bytes
    kept: Annotated[
        Bytes,
        Output(
            "One layer keeps on each GPU",
            "",
            "without sequence parallelism {kept_whole}",
            "activations",
            assumes=("One micro-batch, nothing recomputed, fused attention.",),
            sources=("korthikanti2022",),
        ),
    ]
    kept_whole: Bytes
    ranks: tuple[Count, ...]
    ratios: Mapping[str, tuple[Ratio, ...]]
    plans: tuple[ModeledPlan, ...]
    tiles: tuple[tuple[ActivationSplit, ActivationSplit], ...]


@lru_cache(maxsize=256)
def plan_of(inputs: Inputs, tensor: Count) -> tuple[ModeledPlan, tuple[Text, ...]]:
    """Return the modeled nearest possible plan of so many ranks, and its changes."""
    run, changes = nearest_run(run_inputs(inputs, tensor))
    return model_plan(run, inputs.utilization), changes


def solve(inputs: Inputs) -> Result:
    """Return every number of the lab."""
    plan, changes = plan_of(inputs, inputs.tensor_parallel)
    run, axes = plan.run, {axis.key: axis for axis in plan.axes}
    ranks = run.plan.tensor_parallel
    passes = tensor_passes(sequence_parallel=run.plan.sequence_parallel)
    tokens = inputs.micro_batch_size * inputs.sequence_length
    tensor = axes.get("tensor")
    degrees = divisors(run.model.num_attention_heads)
    tiles = tuple(_tiles(plan, t) for t in degrees)
    whole, split = _tiles(plan, ranks)
    return Result(
        plan=plan,
        changes=changes,
        num_gpus=ranks,
        ratio=plan.tensor_over_computation,
        tokens=tokens,
        hidden=run.model.hidden_size,
        passes=passes,
        layer_bytes=tensor_layer_bytes(tokens, run.model.hidden_size, ranks, passes),
        needed=least_bandwidth(tensor.sent, plan.computation) if tensor else 0.0,
        has=tensor.bandwidth if tensor else 0.0,
        exposed=plan.step.tensor_parallel,
        step=plan.step.total,
        computing=plan.step.compute,
        exposed_share=plan.step.tensor_parallel / plan.step.total,
        token_rate=plan.token_rate,
        world_size=run.plan.world_size,
        memory=plan.stages[plan.fullest].memory.total,
        usable=plan.usable,
        kept=split.total if run.plan.sequence_parallel else whole.total,
        kept_whole=whole.total,
        ranks=degrees,
        ratios=_ratios(inputs, degrees),
        plans=tuple(plan_of(inputs, t)[0] for t in degrees),
        tiles=tiles,
    )


def divisors(heads: Count) -> tuple[Count, ...]:
    """Return the numbers of ranks that divide the heads, powers of two only, up to the most."""
    return tuple(t for t in (1, 2, 4, 8, 16, 32, 64) if heads % t == 0 and t <= MOST)


def _ratios(inputs: Inputs, degrees: tuple[Count, ...]) -> Mapping[str, tuple[Ratio, ...]]:
    """Return ratios on the chosen cluster, with a single port per node, and on NVLink."""
    clusters = {
        "own": inputs,
        "port": replace(inputs, nics_per_node=1),
        "rack": replace(inputs, gpus_per_node=MOST),
    }
    return {
        key: tuple(plan_of(cluster, t)[0].tensor_over_computation for t in degrees)
        for key, cluster in clusters.items()
    }


def _tiles(plan: ModeledPlan, tensor: Count) -> tuple[ActivationSplit, ActivationSplit]:
    """Return a layer's memory per rank, alone and with sequence parallelism."""
    run = plan.run
    cut = replace(run.plan, tensor_parallel=tensor, sequence_parallel=False)
    split = replace(cut, sequence_parallel=tensor > 1)
    return (
        activation_split(run.model, cut, run.training),
        activation_split(run.model, split, run.training),
    )
