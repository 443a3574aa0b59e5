"""The settings of FSDP2: default and meaning.

Source: PyTorch 2.13, torch/distributed/fsdp/_fully_shard/_fully_shard.py and _fsdp_api.py.
"""

from dataclasses import dataclass

VERSION = "PyTorch 2.13"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fsdp2Argument:
    """An argument of `fully_shard`, a field of a policy, or a method of the sharded module."""

    name: str
    default: str
    effect: str


def _argument(name: str, default: str, does: str) -> Fsdp2Argument:
    return Fsdp2Argument(name=name, default=default, effect=does)


ARGUMENTS: tuple[Fsdp2Argument, ...] = (
    _argument(
        "mesh", "all ranks, 1D", "Who shares. A 2D mesh replicates over its first dimension."
    ),
    _argument(
        "reshard_after_forward",
        "not given: True, but False for the root",
        "Free after the forward pass. An integer keeps a share over so many ranks.",
    ),
    _argument(
        "shard_placement_fn", "not given: dimension 0", "The dimension or the mesh of a tensor."
    ),
    _argument(
        "MixedPrecisionPolicy.param_dtype", "not given: as stored", "What is gathered, computed."
    ),
    _argument("MixedPrecisionPolicy.reduce_dtype", "not given: as param_dtype", "What is reduced."),
    _argument("MixedPrecisionPolicy.output_dtype", "not given", "What the forward pass returns."),
    _argument(
        "MixedPrecisionPolicy.cast_forward_inputs", "True", "Inputs are cast to param_dtype."
    ),
    _argument(
        "offload_policy", "OffloadPolicy(): none", "CPUOffloadPolicy keeps shards on the host."
    ),
    _argument("CPUOffloadPolicy.pin_memory", "True", "Shards in pinned memory of the host."),
    _argument("ignored_params", "not given", "Parameters that are left alone."),
    _argument(
        "dp_mesh_dims", "not given", "Which dimensions of a larger mesh shard and replicate."
    ),
    _argument(
        "set_modules_to_forward_prefetch",
        "not set",
        "Which modules to gather early; without it, the CPU's lead decides.",
    ),
    _argument(
        "set_modules_to_backward_prefetch",
        "not set: the one before",
        "Which modules to gather early in the backward pass.",
    ),
    _argument("set_requires_gradient_sync", "True", "Off: gradients are kept whole, not reduced."),
    _argument("set_requires_all_reduce", "True", "Off: a 2D mesh only reduce-scatters."),
    _argument("set_reshard_after_backward", "True", "Off: parameters stay for the next pass."),
    _argument(
        "set_is_last_backward", "True", "On: wait for all reductions at the end of the pass."
    ),
    _argument("set_unshard_in_backward", "True", "Off: no gather in the backward pass."),
    _argument("set_gradient_divide_factor", "the ranks", "What sums of gradients are divided by."),
)
