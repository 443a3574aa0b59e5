"""A pasted mesh: `init_device_mesh(...)` of PyTorch, or the flags of a Megatron launch script."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd, prod

from engine.core.inputs import InputError
from engine.core.units import Count
from engine.run.importers.shell import script_flags

MOST_RANKS: Count = 4096
# Megatron's order, and what --use-tp-pp-dp-mapping makes of it; the innermost axis first.
ORDER = ("tp", "cp", "dp", "pp")
TP_PP_DP = ("tp", "cp", "pp", "dp")

_MESH = re.compile(
    r"init_device_mesh\(\s*[^,()\[\]]{1,60},\s*(?:mesh_shape\s*=\s*)?[(\[]([\d\s,_]{1,200})[)\]]"
    r"\s*(?:,\s*(?:mesh_dim_names\s*=\s*)?[(\[]([^()\[\]]{0,400})[)\]])?"
)
_NAME = re.compile(r"[\"']([\w\-]{1,30})[\"']")
_FLAGS = {
    "tensor-model-parallel-size": "tp",
    "pipeline-model-parallel-size": "pp",
    "context-parallel-size": "cp",
    "expert-model-parallel-size": "ep",
    "expert-tensor-parallel-size": "etp",
    "world-size": "world",
    "nnodes": "nodes",
    "nproc-per-node": "per_node",
    "NNODES": "nodes",
    "NUM_NODES": "nodes",
    "GPUS_PER_NODE": "per_node",
    "NPROC_PER_NODE": "per_node",
    "WORLD_SIZE": "world",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MeshText:
    """The device mesh described by a text.

    Attributes:
        source: "PyTorch" or "Megatron-LM".
        sizes: by axis, the innermost first; their product is the world size.
        experts: of Megatron: the axes of the experts over the same ranks; empty without experts.
        assumed: whether the world size is the smallest that fits, since the text names none.
    """

    source: str
    sizes: Mapping[str, Count]
    experts: Mapping[str, Count]
    assumed: bool = False

    @property
    def world_size(self) -> Count:
        """All ranks."""
        return prod(self.sizes.values())


def read_mesh(text: str, world_size: Count = 0) -> MeshText:
    """Return the mesh of a text; `world_size` counts where a script names none (0: the least).

    Raises:
        InputError: neither a mesh nor a flag of Megatron is in it, or its sizes do not fit.
    """
    match = _MESH.search(text)
    if match:
        return _pytorch_mesh(match)
    if "init_device_mesh" in text:
        raise InputError(
            "init_device_mesh needs a shape of whole numbers, such as "
            'init_device_mesh("cuda", (2, 8), mesh_dim_names=("dp", "tp"))'
        )
    return _megatron_mesh(text, world_size)


def _pytorch_mesh(match: re.Match[str]) -> MeshText:
    shape = [int(part) for part in match[1].replace("_", "").replace(",", " ").split()]
    names = _NAME.findall(match[2] or "") or [f"dim{index}" for index in range(len(shape))]
    if len(names) != len(shape) or len(set(names)) != len(names):
        raise InputError(
            f"the mesh has {len(shape)} dimensions and {len(set(names))} different names; "
            "each needs one of its own"
        )
    _check_world_size(prod(shape))
    # The last dimension of a mesh has neighboring ranks.
    sizes = dict(zip(reversed(names), reversed(shape), strict=True))
    return MeshText(source="PyTorch", sizes=sizes, experts={})


def _megatron_mesh(text: str, world_size: Count) -> MeshText:
    degrees = _flag_sizes(text)
    if not degrees.keys() & {"tp", "pp", "cp", "ep"}:
        raise InputError(
            "no mesh is in this text; allowed is init_device_mesh(...) of PyTorch, or flags such "
            "as --tensor-model-parallel-size 2 --pipeline-model-parallel-size 4"
        )
    tensor, context, pipeline = (degrees.get(axis, 1) for axis in ("tp", "cp", "pp"))
    model_parallel = tensor * context * pipeline
    # Unasked, Megatron splits each expert as it splits the rest.
    expert, expert_tensor = degrees.get("ep", 1), degrees.get("etp", tensor)
    least = pipeline * _least_common_multiple(tensor * context, expert * expert_tensor)
    launched = (
        degrees["nodes"] * degrees.get("per_node", 1)
        if "nodes" in degrees
        else degrees.get("per_node", 0)
    )
    world = degrees.get("world") or launched or world_size or least
    _check_world_size(world)
    if world % model_parallel:
        raise InputError(
            f"{world} GPUs are no multiple of tp x cp x pp = {tensor} x {context} x {pipeline} = "
            f"{model_parallel}"
        )
    if world % (pipeline * expert * expert_tensor):
        raise InputError(
            f"{world} GPUs are no multiple of etp x ep x pp = {expert_tensor} x {expert} x "
            f"{pipeline} = {pipeline * expert * expert_tensor}"
        )
    order = TP_PP_DP if "--use-tp-pp-dp-mapping" in text else ORDER
    sizes = {"tp": tensor, "cp": context, "pp": pipeline, "dp": world // model_parallel}
    experts = {
        "tp": expert_tensor,
        "cp": expert,
        "pp": pipeline,
        "dp": world // pipeline // expert // expert_tensor,
    }
    names = {"tp": "etp", "cp": "ep", "pp": "pp", "dp": "edp"}
    return MeshText(
        source="Megatron-LM",
        sizes={axis: sizes[axis] for axis in order},
        experts={names[axis]: experts[axis] for axis in order} if expert > 1 else {},
        assumed=not (degrees.get("world") or launched or world_size),
    )


def _flag_sizes(text: str) -> dict[str, Count]:
    sizes: dict[str, Count] = {}
    for flag in script_flags(text):
        key = flag.key.removeprefix("--")
        axis = _FLAGS.get(key) or _FLAGS.get(key.replace("_", "-"))
        value = str(flag.value).strip()
        if not axis:
            continue
        if not value.isdigit() or not 0 < int(value) <= MOST_RANKS:
            raise InputError(
                f"{flag.key} is {value[:40]!r}; allowed is a whole number from 1 to {MOST_RANKS}"
            )
        sizes[axis] = int(value)
    return sizes


def _check_world_size(world: Count) -> None:
    if not 0 < world <= MOST_RANKS:
        raise InputError(f"the mesh has {world} ranks; allowed are 1 to {MOST_RANKS:,}")


def _least_common_multiple(first: Count, second: Count) -> Count:
    return first * second // gcd(first, second)
