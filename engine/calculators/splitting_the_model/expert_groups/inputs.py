"""The parallel sizes of a plan with experts, and the groups that follow."""

import math
from dataclasses import dataclass
from typing import Annotated, cast

from engine.core.inputs import Choice, Number
from engine.core.outputs import Told
from engine.core.units import Count
from engine.formulas.experts import folded_least, within_least
from engine.simulate.layer.expert_mesh import Convention, ExpertMesh

_SIZE = {"low": 1, "scale": "log2", "whole": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    convention: Annotated[
        str,
        Choice(
            label="Software",
            options={
                "folded": "Megatron Core, torchtitan (folded)",
                "within": "DeepSpeed, older Megatron (within data)",
            },
        ),
    ] = "folded"
    world_size: Annotated[int, Number(label="GPUs", high=1024, symbol="n", **_SIZE)] = 64
    tensor_parallel: Annotated[int, Number(label="Tensor (TP)", high=16, symbol="t", **_SIZE)] = 4
    context_parallel: Annotated[int, Number(label="Context (CP)", high=16, symbol="c", **_SIZE)] = 1
    pipeline_parallel: Annotated[
        int, Number(label="Pipeline (PP)", high=16, symbol="p", **_SIZE)
    ] = 2
    expert_parallel: Annotated[int, Number(label="Expert (EP)", high=256, symbol="e", **_SIZE)] = 8
    expert_tensor_parallel: Annotated[
        int,
        Number(
            label="Tensor, within an expert (ETP)",
            high=16,
            symbol="x",
            help="Of the folded convention. DeepSpeed splits experts as it splits attention.",
            **_SIZE,
        ),
    ] = 1
    rank: Annotated[
        int,
        Number(
            label="GPU shown",
            low=0,
            high=1023,
            whole=True,
            help="Counted from 0. If the plan has fewer GPUs, its last one is shown.",
        ),
    ] = 0
    gpus_per_node: Annotated[
        int, Number(label="GPUs per node", low=1, high=72, whole=True, advanced=True)
    ] = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The mesh and its sizes."""

    mesh: ExpertMesh
    world: Annotated[
        Count,
        Told(
            "GPUs in all",
            "N",
            note="TP × CP × DP × PP; experts do not occur in it",
            color="ink",
            assumes=("Data parallelism takes what the other axes leave.",),
            sources=("megatron_moe", "torchtitan_dims"),
            basis="definition",
        ),
    ]
    mistaken: Annotated[
        Count,
        Told(
            "If EP multiplied",
            note="what you would rent by mistake",
            color="muted",
            assumes=("All five axes multiplied.",),
            basis="definition",
        ),
    ]
    data: Annotated[
        Count,
        Told(
            "Data-parallel ranks",
            "d",
            note="for attention: they see different tokens",
            color="data",
            basis="definition",
            assumes=("What tensor, context and pipeline parallelism leave.",),
        ),
    ]
    expert_data: Annotated[
        Count,
        Told(
            "Ranks with the same experts",
            note="over them the experts' gradients are summed",
            color="expert",
            basis="definition",
            assumes=("What expert parallelism leaves of the ranks it is taken from.",),
        ),
    ]
    stage_least: Annotated[Count, Told(symbol="l")]
    least: Annotated[
        Count,
        Told(
            "GPUs at least, folded",
            "n",
            note="enough in a stage for attention and for the experts",
            assumes=("TP × CP and EP × ETP both have to divide the ranks of a stage.",),
        ),
    ]
    least_within: Annotated[
        Count,
        Told(
            "GPUs at least, within data",
            "m",
            note="as many data-parallel ranks as EP",
            assumes=("The experts' groups lie inside the data-parallel ranks.",),
        ),
    ]


def mesh_of(inputs: Inputs) -> ExpertMesh:
    """Return the mesh; data parallelism takes the ranks that are left, at least one."""
    others = inputs.tensor_parallel * inputs.context_parallel * inputs.pipeline_parallel
    return ExpertMesh(
        tensor=inputs.tensor_parallel,
        context=inputs.context_parallel,
        data=max(1, inputs.world_size // others),
        pipeline=inputs.pipeline_parallel,
        expert=inputs.expert_parallel,
        expert_tensor=inputs.expert_tensor_parallel,
        convention=cast(Convention, inputs.convention),
    )


def solve(inputs: Inputs) -> Result:
    """Return the mesh and its sizes."""
    mesh = mesh_of(inputs)
    dense = inputs.tensor_parallel * inputs.context_parallel
    sparse = inputs.expert_parallel * inputs.expert_tensor_parallel
    return Result(
        mesh=mesh,
        world=mesh.world_size,
        mistaken=mesh.world_size * inputs.expert_parallel,
        data=mesh.data,
        expert_data=mesh.expert_data if mesh.fits else 0,
        stage_least=math.lcm(dense, sparse),
        least=folded_least(inputs.pipeline_parallel, dense, sparse),
        least_within=within_least(inputs.pipeline_parallel, dense, inputs.expert_parallel),
    )
