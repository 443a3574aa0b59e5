"""The reader's set as code: a policy for torch.utils.checkpoint, and Megatron's options."""

from engine.calculators.one_gpu.recompute_board.result import Result
from engine.core.views import Code

# The matrix products of a Llama layer in PyTorch, in the order in which it calls them.
_LLAMA = ("query", "key", "value", "middle", "gate", "up", "last")
_GPT = ("query", "key", "value", "middle", "inner", "last")
_POLICY = """\
# Keeps: {names}. Everything else of the layer is made again.
from functools import partial

import torch
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
)

aten = torch.ops.aten
PRODUCTS = {products}  # which of the layer's matrix products to save, in order
ATTENTION = {attention}
SAVED = {{
    aten._scaled_dot_product_flash_attention.default,
    aten._scaled_dot_product_cudnn_attention.default,
    aten._scaled_dot_product_efficient_attention.default,
}}


def contexts():
    count = {{False: 0, True: 0}}

    def policy(ctx, op, *args, **kwargs):
        save = ATTENTION and op in SAVED
        if op in (aten.mm.default, aten.addmm.default):
            save = count[ctx.is_recompute] in PRODUCTS
            count[ctx.is_recompute] += 1
        return CheckpointPolicy.MUST_SAVE if save else CheckpointPolicy.PREFER_RECOMPUTE

    return create_selective_checkpoint_contexts(policy)


for name, layer in model.layers.named_children():
    layer.forward = partial(
        checkpoint, layer.forward, use_reentrant=False, context_fn=contexts
    )
"""
_PLAIN = "# Nothing is dropped: no checkpoint is needed.\n"
_FULL = """\
# Only the input of every layer is kept.
from functools import partial

from torch.utils.checkpoint import checkpoint

for name, layer in model.layers.named_children():
    layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)
"""


def pytorch_policy(result: Result) -> Code:
    """Return the set as a policy of selective activation checkpointing in PyTorch."""
    keys = {tensor.key for tensor in result.job.layer.tensors} - {"input"}
    kept = keys - result.gone
    order = _GPT if "inner" in keys else _LLAMA
    saved = tuple(at for at, key in enumerate(order) if key in kept)
    attention = "attended" in kept
    if not result.gone:
        text = _PLAIN
    elif not saved and not attention:
        text = _FULL
    else:
        names = [key for key in order if key in kept] + ["attended"] * attention
        text = _POLICY.format(
            names=", ".join(names), products=set(saved) or "set()", attention=attention
        )
    return Code(title="The set as a policy for PyTorch 2.13", language="python", text=text)


# What each module of Megatron-Core makes again.
_MODULES = {
    "core_attn": {"normalizer", "softmax", "score_mask", "dropped_scores"},
    "layernorm": {"normed", "normed_2"},
    "mlp": {"gate", "up", "inner", "product"},
}


def megatron_options(result: Result) -> Code:
    """Return the options of Megatron-Core that come nearest to the set."""
    keys = {tensor.key for tensor in result.job.layer.tensors} - {"input"}
    gone = set(result.gone)
    modules = [name for name, parts in _MODULES.items() if parts & keys and parts & keys <= gone]
    covered = {key for name in modules for key in _MODULES[name]} & keys
    if not gone:
        lines = ["# nothing is dropped; leave --recompute-granularity out"]
    elif gone == keys:
        lines = [
            "--recompute-granularity full",
            "--recompute-method uniform",
            "--recompute-num-layers 1",
        ]
    else:
        lines = ["--recompute-granularity selective"] if modules else []
        lines += [f"--recompute-modules {' '.join(modules)}"] if modules else []
        left = gone - covered
        if left:
            lines.append(f"# no module drops just: {', '.join(sorted(left))}")
    return Code(
        title="The nearest options of Megatron-Core", language="bash", text="\n".join(lines) + "\n"
    )
