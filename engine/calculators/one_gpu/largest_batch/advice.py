"""Memory-saving changes ranked by effect, and the challenge."""

from collections.abc import Mapping

from engine.calculators.one_gpu.largest_batch.inputs import RECOMPUTE, Inputs
from engine.calculators.one_gpu.largest_batch.result import Result
from engine.calculators.one_gpu.largest_batch.tried import Change, TriedChange
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, SHARE, TOKENS, Quantity, TokenRate
from engine.core.views import Advice, Challenge, Condition, Remedy
from engine.simulate.step.largest_batch import BatchFit


def advice(inputs: Inputs, result: Result) -> Advice:
    """Return the memory-saving changes ranked by memory freed at the reader's micro-batch."""
    changes = result.tried()
    words = "Nothing here frees memory."
    if changes:
        words = "{m} on the fullest GPU with {b} at once. Each line gives its memory after one "
        words += (
            "change."
            if changes[0].fit.fit.verdict == "fits"
            else "change; no single one is enough."
        )
    return Advice(
        title="What frees memory",
        verdict=say(words, m=(result.total, BYTES), b=(inputs.micro_batch_size, COUNT)),
        figure="fullest GPU",
        now=result.total,
        quantity=BYTES,
        remedies=tuple(_remedy(result, change) for change in changes),
    )


def _remedy(result: Result, change: TriedChange) -> Remedy:
    return Remedy(
        key=change.key,
        label=_change_label(change),
        change=change.change,
        after=change.fit.memory.total,
        side_effect=say(
            f"{_speed_words(result, change)}; largest micro-batch {{b}}, on "
            f"{'one data-parallel rank' if change.ranks == 1 else '{d} data-parallel ranks'}",
            p=(abs(change.slower), SHARE),
            b=(change.fit.largest, COUNT),
            d=(change.ranks, COUNT),
        ),
    )


def _speed_words(result: Result, change: TriedChange) -> str:
    if change.fit.fit.verdict != "fits":
        return "still tight" if change.fit.fit.runs else "still does not fit"
    if not result.token_rate:
        return "then it fits"
    if abs(change.slower) <= 0.0005:
        return "no slower"
    return "{p} slower per token" if change.slower > 0 else "{p} faster per token"


_NUMBERS: Mapping[str, tuple[str, str, Quantity]] = {
    "tensor_parallel": ("Tensor parallelism of {n}", "n", COUNT),
    "pipeline_parallel": ("Pipeline of {n} stages", "n", COUNT),
    "context_parallel": ("Context parallelism of {n}", "n", COUNT),
    "world_size": ("{n} GPUs", "n", COUNT),
    "micro_batch_size": ("{b} at once", "b", COUNT),
    "sequence_length": ("Sequences of {s} tokens", "s", TOKENS),
}


def _change_label(change: TriedChange) -> Text:
    ((name, value),) = change.change.items()
    if name == "recompute":
        return f"Recompute: {RECOMPUTE[str(value)]}"
    if name == "zero_stage":
        return f"ZeRO stage {value}"
    if name == "flash_attention":
        return "Fused attention"
    words, symbol, quantity = _NUMBERS[name]
    return say(words, **{symbol: (int(value), quantity)})


START: Change = {
    "model": "llama-3-70b",
    "world_size": 64,
    "sequence_length": 8192,
    "micro_batch_size": 2,
    "recompute": "none",
    "zero_stage": "3",
}
SOLUTION: Change = {
    **START,
    "zero_stage": "1",
    "tensor_parallel": 8,
    "context_parallel": 2,
}
_PACE = 800.0


def challenge(inputs: Inputs, fit: BatchFit, pace: TokenRate) -> Challenge:
    """Return the challenge: a 70B model on 64 GPUs, nothing recomputed, and fast."""
    wanted = ("llama-3-70b", "H100-SXM", 64, 8192, "fsdp")
    setting = (
        inputs.model,
        inputs.gpu,
        inputs.world_size,
        inputs.sequence_length,
        inputs.framework,
    )
    conditions = (
        Condition(
            text="Llama 3 70B, sequences of 8,192 tokens, 64 H100 SXM, FSDP",
            met=setting == wanted,
        ),
        Condition(
            text="a micro-batch of two fits, at least 5 % of the memory left free",
            met=inputs.micro_batch_size >= 2
            and inputs.micro_batch_size <= fit.largest
            and inputs.margin >= 0.05,
        ),
        Condition(text="nothing is recomputed", met=inputs.recompute == "none"),
        Condition(text=f"at least {_PACE:.0f} tokens per second per GPU", met=pace >= _PACE),
    )
    return Challenge(
        title="Challenge: 70B without recomputation",
        goal="Make two sequences of a 70B model fit on 64 GPUs, without computing anything twice.",
        conditions=conditions,
        hints=(
            "ZeRO shards states. With 8,192 tokens it is the activations that do not fit.",
            "Three axes divide the activations of a GPU. Each of them costs something else.",
            "With few data-parallel ranks left, full sharding gathers too much for too few tokens.",
        ),
        start=START,
        solution=SOLUTION,
    )
