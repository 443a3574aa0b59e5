"""What the reader can type, and the ranks that it gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from engine.core.inputs import InputError, Number, Sample, Text
from engine.core.outputs import Told
from engine.core.units import Count
from engine.run.mesh_text import MOST, MeshText, read_mesh
from engine.simulate.step.rank_lists import Layout, Ranks, rank_lists

SAMPLES = {
    "megatron": Sample(
        title="Megatron-LM: 16 GPUs",
        text="""torchrun --nnodes 2 --nproc-per-node 8 pretrain_gpt.py \\
    --tensor-model-parallel-size 2 \\
    --pipeline-model-parallel-size 4
""",
    ),
    "experts": Sample(
        title="Megatron-LM with experts",
        text="""torchrun --nnodes 8 --nproc-per-node 8 pretrain_gpt.py \\
    --tensor-model-parallel-size 2 \\
    --context-parallel-size 2 \\
    --pipeline-model-parallel-size 2 \\
    --expert-model-parallel-size 8 \\
    --expert-tensor-parallel-size 1
""",
    ),
    "pytorch": Sample(
        title="PyTorch: a mesh of 24",
        text='mesh = init_device_mesh("cuda", (3, 2, 4), mesh_dim_names=("pp", "dp", "tp"))\n',
    ),
}
# Groups over several axes that Megatron makes: their names, and the axes.
_JOINED = (("dp-cp", ("dp", "cp")), ("tp-pp", ("tp", "pp")), ("tp-cp", ("tp", "cp")))
SHOWN, LISTED = 4, 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    text: Annotated[
        str,
        Text(
            label="A mesh, or a launch script",
            samples=SAMPLES,
            rows=6,
            placeholder='Paste init_device_mesh("cuda", ...), or the flags of Megatron-LM.',
            longest=50_000,
            check=read_mesh,
        ),
    ] = SAMPLES["megatron"].text
    world_size: Annotated[
        int,
        Number(
            label="GPUs, where a script names none",
            low=0,
            high=MOST,
            step=8,
            whole=True,
            help="0: as few as the sizes need.",
        ),
    ] = 0
    rank: Annotated[
        int, Number(label="You are GPU", low=0, high=MOST - 1, whole=True, symbol="r")
    ] = 5
    gpus_per_node: Annotated[int, Number(label="GPUs per node", low=1, high=72, whole=True)] = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The mesh that was read, and its groups."""

    read: MeshText | None
    problem: str
    groups: tuple[tuple[str, Count, tuple[Ranks, ...]], ...]
    world: Annotated[
        Count,
        Told(
            "GPUs",
            note="the product of {axes} axes",
            color="ink",
            basis="definition",
            sources=("megatron_ranks",),
        ),
    ]
    axes: Count
    rank: Count


def solve(inputs: Inputs) -> Result:
    """Read the mesh and list its groups."""
    try:
        read = read_mesh(inputs.text, inputs.world_size)
    except InputError as error:
        return Result(read=None, problem=str(error), groups=(), world=0, axes=0, rank=0)
    return Result(
        read=read,
        problem="",
        groups=tuple(_groups(read)),
        world=read.world_size,
        axes=len(read.sizes),
        rank=min(inputs.rank, read.world_size - 1),
    )


def _groups(read: MeshText) -> Sequence[tuple[str, Count, tuple[Ranks, ...]]]:
    """Return (name, distance of neighbors or 0, groups) of every axis, and of joined ones."""
    layout = Layout(sizes=read.sizes)
    found = [(name, layout.stride(name), rank_lists(layout, (name,))) for name in read.sizes]
    for name, axes in _JOINED:
        if all(read.sizes.get(axis, 1) > 1 for axis in axes):
            found.append((name, 0, rank_lists(layout, axes)))
    if read.experts:
        experts = Layout(sizes=read.experts)
        found += [
            (name, experts.stride(name), rank_lists(experts, (name,)))
            for name in read.experts
            if name != "pp"
        ]
    return found
