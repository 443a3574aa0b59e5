"""A pasted mesh: `init_device_mesh(...)` of PyTorch, or the flags of a Megatron launch script."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd, prod

from engine.core.inputs import InputError
from engine.core.units import Count
from engine.run.importers.shell import script_flags

MOST: Count = 4096
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
    """What a text says.

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
    found = _MESH.search(text)
    if found:
        return _of_pytorch(found)
    if "init_device_mesh" in text:
        raise InputError(
            "init_device_mesh needs a shape of whole numbers, such as "
            'init_device_mesh("cuda", (2, 8), mesh_dim_names=("dp", "tp"))'
        )
    return _of_megatron(text, world_size)


def _of_pytorch(found: re.Match[str]) -> MeshText:
    shape = [int(part) for part in found[1].replace("_", "").replace(",", " ").split()]
    names = _NAME.findall(found[2] or "") or [f"dim{index}" for index in range(len(shape))]
    if len(names) != len(shape) or len(set(names)) != len(names):
        raise InputError(
            f"the mesh has {len(shape)} dimensions and {len(set(names))} different names; "
            "each needs one of its own"
        )
    _check(prod(shape))
    # The last dimension of a mesh has neighboring ranks.
    sizes = dict(zip(reversed(names), reversed(shape), strict=True))
    return MeshText(source="PyTorch", sizes=sizes, experts={})


def _of_megatron(text: str, world_size: Count) -> MeshText:
    said = _sizes(text)
    if not said.keys() & {"tp", "pp", "cp", "ep"}:
        raise InputError(
            "no mesh is in this text; allowed is init_device_mesh(...) of PyTorch, or flags such "
            "as --tensor-model-parallel-size 2 --pipeline-model-parallel-size 4"
        )
    tensor, context, pipeline = (said.get(axis, 1) for axis in ("tp", "cp", "pp"))
    held = tensor * context * pipeline
    # Unasked, Megatron splits each expert as it splits the rest.
    expert, inside = said.get("ep", 1), said.get("etp", tensor)
    least = pipeline * _multiple(tensor * context, expert * inside)
    launched = (
        said["nodes"] * said.get("per_node", 1) if "nodes" in said else said.get("per_node", 0)
    )
    world = said.get("world") or launched or world_size or least
    _check(world)
    if world % held:
        raise InputError(
            f"{world} GPUs are no multiple of tp x cp x pp = {tensor} x {context} x {pipeline} = "
            f"{held}"
        )
    if world % (pipeline * expert * inside):
        raise InputError(
            f"{world} GPUs are no multiple of etp x ep x pp = {inside} x {expert} x {pipeline} = "
            f"{pipeline * expert * inside}"
        )
    order = TP_PP_DP if "--use-tp-pp-dp-mapping" in text else ORDER
    sizes = {"tp": tensor, "cp": context, "pp": pipeline, "dp": world // held}
    experts = {
        "tp": inside,
        "cp": expert,
        "pp": pipeline,
        "dp": world // pipeline // expert // inside,
    }
    names = {"tp": "etp", "cp": "ep", "pp": "pp", "dp": "edp"}
    return MeshText(
        source="Megatron-LM",
        sizes={axis: sizes[axis] for axis in order},
        experts={names[axis]: experts[axis] for axis in order} if expert > 1 else {},
        assumed=not (said.get("world") or launched or world_size),
    )


def _sizes(text: str) -> dict[str, Count]:
    found: dict[str, Count] = {}
    for one in script_flags(text):
        key = one.key.removeprefix("--")
        axis = _FLAGS.get(key) or _FLAGS.get(key.replace("_", "-"))
        value = str(one.value).strip()
        if not axis:
            continue
        if not value.isdigit() or not 0 < int(value) <= MOST:
            raise InputError(
                f"{one.key} is {value[:40]!r}; allowed is a whole number from 1 to {MOST}"
            )
        found[axis] = int(value)
    return found


def _check(world: Count) -> None:
    if not 0 < world <= MOST:
        raise InputError(f"the mesh has {world} ranks; allowed are 1 to {MOST:,}")


def _multiple(one: Count, other: Count) -> Count:
    return one * other // gcd(one, other)
