"""The recompute board: which saved tensors of a layer to keep, and which to recompute."""

from functools import partial

from engine.calculators.one_gpu.recompute_board import board
from engine.calculators.one_gpu.recompute_board.result import (
    LENGTHS,
    LONGEST,
    Inputs,
    RecomputeStep,
    Result,
    keep_inputs,
)
from engine.calculators.one_gpu.recompute_board.result import solve as solve
from engine.core.outputs import Presenter, Views
from engine.core.text import say
from engine.core.units import BYTES, OPERATIONS, SHARE, TOKENS
from engine.core.views import (
    Axis,
    Bar,
    Bars,
    Challenge,
    Code,
    Condition,
    Line,
    Lines,
    Point,
    Rule,
    Scale,
    Segment,
    Series,
)
from engine.form.adjusted_inputs import with_changes
from engine.formulas.recomputation import KEPT_BY_LAYERS, REPEATED_SHARE

TITLE = "The board of saved tensors"
QUESTION = "Which tensors of a layer are worth keeping, and which are cheaper to make again?"
HEADLINE = "total"
EQUATIONS = (REPEATED_SHARE, KEPT_BY_LAYERS)
PRESETS = {
    "Llama 3 8B: keep every second product (torchtitan)": keep_inputs(
        "query", "value", "gate", "normalizer", "attended"
    ),
    "Llama 3 8B: keep the inputs only (full)": keep_inputs(),
    "Llama 3 70B, 64 GPUs, TP 8": {
        "model": "llama-3-70b",
        "world_size": 64,
        "tensor_parallel": 8,
        "framework": "megatron",
        "micro_batch_size": 1,
    },
    "GPT 22B on 8 A100, as in 2022": {
        "model": "gpt-22b",
        "gpu": "A100-SXM-80GB",
        "sequence_length": 2048,
        "micro_batch_size": 4,
        "tensor_parallel": 8,
        "framework": "megatron",
        "flash_attention": False,
        "keep_softmax": False,
        "keep_score_mask": False,
        "keep_dropped_scores": False,
    },
}
_PRICE = 0.15


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "fits": with_changes(board.fits_badge(present, result), board.change_notes(inputs)),
        "board": partial(board.board, result),
        **present.values("kept", "extra", "light_time", "total", "num_sets"),
        "over_step": partial(memory_over_step, result),
        "pareto": partial(pareto, present, result),
        "policies": partial(policy_bars, result),
        "lengths": partial(memory_by_length, present, inputs, result),
        **present.values("gpt_none", "gpt_selective", "gpt_full"),
        "tensors": partial(board.tensor_table, result),
        "policy": partial(pytorch_policy, result),
        "megatron": partial(megatron_options, result),
        "challenge": _challenge(inputs, result),
    }


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    wanted = ("llama-3-8b", "H100-SXM", 64, 32_768, 1, 1, "fsdp", True)
    setting = (
        inputs.model,
        inputs.gpu,
        inputs.world_size,
        inputs.sequence_length,
        inputs.micro_batch_size,
        inputs.tensor_parallel,
        inputs.framework,
        inputs.flash_attention,
    )
    start = {"sequence_length": 32_768, "micro_batch_size": 1, "world_size": 64} | keep_inputs()
    return Challenge(
        title="Challenge: 32,768 tokens, and little computed twice",
        goal="Llama 3 8B on 64 H100, one sequence of 32,768 tokens on each. Full recomputation "
        "fits, and keeping every second product does not. Find a set that fits and repeats as "
        "little as possible.",
        conditions=(
            Condition(
                text="Llama 3 8B on 64 H100, one sequence of 32,768 tokens, FSDP, no tensor "
                "parallelism, fused attention",
                met=setting == wanted,
            ),
            Condition(text="the peak fits", met=result.fit.verdict == "fits"),
            Condition(
                text=f"at most {100 * _PRICE:.0f} % of the step's operations run again",
                met=result.extra <= _PRICE,
            ),
        ),
        hints=(
            "You have very little room. Begin with everything dropped.",
            "Compare the tensors by operations per byte. The table lists both.",
            "At this length the attention is the most expensive operator of the layer.",
        ),
        start=start,
        solution={**start, **keep_inputs("normalizer", "attended")},
    )


# The pictures of the board: memory over the step, the best sets, longer sequences.

_POLICIES = {
    "none": "keep everything",
    "core_attn": "the core of the attention",
    "every_second": "every second product",
    "full": "every layer",
    "yours": "your set",
}


def memory_over_step(result: Result) -> Lines:
    """Return the chart of GPU memory over the operations of a step."""
    looks = (
        ("yours", "your set", "activations"),
        ("none", "keep everything", "ink"),
        ("full", "recompute everything", "compute"),
    )
    series = tuple(_curve(key, label, result.steps()[key], color) for key, label, color in looks)
    top = max(result.usable, *(max(line.y) for line in series))
    return Lines(
        title="Memory over one step",
        x=Axis(
            label="work done since the step began",
            quantity=OPERATIONS,
            low=0.0,
            high=max(line.x[-1] for line in series),
        ),
        y=Axis(label="memory of the GPU", quantity=BYTES, low=0.0, high=1.05 * top),
        series=series,
        rules=(
            Rule(
                key="usable",
                label=say("usable: {m}", m=(result.usable, BYTES)),
                axis="y",
                at=result.usable,
            ),
        ),
        caption="Up: the forward pass of every layer leaves its tensors. The spike is the output "
        "layer with its logits. Down: every layer makes its dropped tensors again, uses them, "
        "and frees them. A curve that ends further right has computed more.",
    )


def _curve(key: str, label: str, step: RecomputeStep, color: str) -> Series:
    return Series(
        key=key,
        label=label,
        x=tuple(moment.done for moment in step.moments),
        y=tuple(step.fixed + moment.activations for moment in step.moments),
        color=color,
        dashed=key != "yours",
    )


def pareto(present: Presenter, result: Result) -> Lines:
    """Return the sets that no other set beats, and the reader's."""
    best = result.best()
    xs, ys = [], []
    for at, (share, kept) in enumerate(best):
        if at:  # a stair: until the next set costs that much, nothing is saved
            xs.append(share)
            ys.append(best[at - 1][1])
        xs.append(share)
        ys.append(kept)
    named = []
    for key, label in (("every_second", "every 2nd product"), ("full", "inputs only")):
        step = result.steps()[key]
        named.append(Point(key=key, label=label, x=step.extra, y=step.kept, color="muted"))
    return Lines(
        title="Memory against work, over all sets",
        x=Axis(label="operations computed again", quantity=SHARE, low=0.0, high=0.36),
        y=Axis(label="kept by all layers", quantity=BYTES, low=0.0, high=1.05 * result.everything),
        series=(
            Series(key="best", label="best sets", x=tuple(xs), y=tuple(ys), color="activations"),
        ),
        points=(
            *named,
            Point(key="yours", label=present.say("yours: {kept}"), x=result.extra, y=result.kept),
        ),
        caption=present.say(
            "No other of the {num_sets} sets beats those on the stair. A ring above the stair "
            "keeps more than it must for its price."
        ),
    )


def policy_bars(result: Result) -> Bars:
    """Return the peak under the policies that software offers, and the reader's."""
    steps = result.steps()
    most = max(result.usable, *(step.fixed + step.peak for step in steps.values()))
    return Bars(
        title="Peak memory, by policy",
        axis=Axis(label="memory of the GPU", quantity=BYTES, low=0.0, high=1.05 * most),
        bars=tuple(_bar(key, step) for key, step in steps.items()),
        rules=(
            Rule(
                key="usable",
                label=say("usable: {m}", m=(result.usable, BYTES)),
                axis="x",
                at=result.usable,
            ),
        ),
    )


def _bar(key: str, step: RecomputeStep) -> Bar:
    name = _POLICIES[key]
    return Bar(
        key=key,
        label=name if key == "none" else f"{name}: +{100 * step.extra:.1f} % work",
        segments=(
            Segment(key="fixed", label="states, buffers", value=step.fixed, color="optimizer"),
            Segment(key="held", label="activations", value=step.peak, color="activations"),
        ),
    )


def memory_by_length(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the chart of saved bytes over the sequence length: three policies and a formula."""
    column, kept = tuple(map(float, LENGTHS)), result.lengths()
    looks = (
        ("none", "everything", "activations", False),
        ("every_second", "every second product", "data", False),
        ("full", "inputs only", "compute", False),
        ("gpt", "GPT formula", "muted", True),
    )
    return present.curve(
        "What the layers keep, over the sequence length",
        over=Scale(TOKENS, "tokens per sequence", 1024, LONGEST, log=True),
        shows=Scale(
            "kept", "kept by all layers", kept["full"][0] / 2, 2 * kept["gpt"][-1], log=True
        ),
        x=column,
        lines=(
            Line(key, label, kept[key], color, dashed=dashed) for key, label, color, dashed in looks
        ),
        handle="sequence_length",
        rules=(
            Rule(
                key="usable",
                label="one GPU",
                axis="y",
                at=result.usable,
            ),
        ),
        caption="Drag the handle. Both axes are logarithmic.",
    )


# The reader's set as code: a policy for torch.utils.checkpoint, and Megatron's options.

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
