"""What frees memory, ranked, and a challenge."""

from collections.abc import Mapping
from dataclasses import replace

from engine.basis.inputs import Number
from engine.basis.text import Text, say
from engine.basis.units import BYTES, COUNT, SHARE, TOKENS, Count, Share, TokenRate
from engine.basis.views import Advice, Challenge, Condition, Remedy
from engine.calculators.one_gpu.largest_batch.inputs import RECOMPUTE, Inputs, fit
from engine.run.parallelism import data_parallel
from engine.simulate.largest_batch import Fit, speed

Change = Mapping[str, float | int | str | bool]
_FIELDS = {name: hint.__metadata__[0] for name, hint in Inputs.__annotations__.items()}


def advice(inputs: Inputs, found: Fit, before: TokenRate) -> Advice:
    """Return the knobs by what they free at the reader's micro-batch."""
    now = found.held.total
    remedies = [
        _remedy(inputs, key, label, change, before)
        for key, label, change in _candidates(inputs)
        if _in_range(change)
    ]
    useful = [one for one in remedies if one.after < now * 0.9995]
    enough = [one for one in useful if one.after <= found.usable]
    useful = enough or useful
    useful.sort(key=lambda one: one.after)
    words = "Nothing here frees memory."
    if useful:
        words = "{m} on the fullest GPU with {b} at once. Each line gives its memory after one "
        words += "change." if enough else "change; no single one is enough."
    return Advice(
        title="What frees memory",
        verdict=say(words, m=(now, BYTES), b=(inputs.micro_batch_size, COUNT)),
        figure="fullest GPU",
        now=now,
        quantity=BYTES,
        remedies=tuple(useful[:8]),
    )


def _remedy(inputs: Inputs, key: str, label: Text, change: Change, before: TokenRate) -> Remedy:
    changed = replace(inputs, **change)  # type: ignore[arg-type]
    after = fit(changed)
    ranks = data_parallel(after.run.plan)
    return Remedy(
        key=key,
        label=label,
        change=change,
        after=after.held.total,
        side_effect=say(
            f"{_pace(after, changed.micro_batch_size, before)}; largest micro-batch {{b}}, on "
            f"{'one data-parallel rank' if ranks == 1 else '{d} data-parallel ranks'}",
            p=(abs(_slower(after, changed.micro_batch_size, before)), SHARE),
            b=(after.largest, COUNT),
            d=(ranks, COUNT),
        ),
    )


def _slower(after: Fit, batch: Count, before: TokenRate) -> Share:
    """Return how much slower a token gets; nothing where there is no speed to compare."""
    return 1 - speed(after.run, batch) / before if before and after.fits else 0.0


def _pace(after: Fit, batch: Count, before: TokenRate) -> str:
    if not after.fits:
        return "still does not fit"
    if not before:
        return "then it fits"
    slower = _slower(after, batch, before)
    if abs(slower) <= 0.0005:
        return "no slower"
    return "{p} slower per token" if slower > 0 else "{p} faster per token"


def _in_range(change: Change) -> bool:
    return all(
        field.low <= float(value) <= field.high
        for name, value in change.items()
        if isinstance(field := _FIELDS[name], Number)
    )


def _candidates(inputs: Inputs) -> list[tuple[str, Text, Change]]:
    found: list[tuple[str, Text, Change]] = [
        (kind, f"Recompute: {RECOMPUTE[kind]}", {"recompute": kind})
        for kind in ("selective", "full")
        if kind != inputs.recompute
    ]
    found += [
        (f"zero{stage}", f"ZeRO stage {stage}", {"zero_stage": stage})
        for stage in "123"
        if stage > inputs.zero_stage
    ]
    axes = (
        ("tensor_parallel", "Tensor parallelism of {n}"),
        ("pipeline_parallel", "Pipeline of {n} stages"),
        ("context_parallel", "Context parallelism of {n}"),
        ("world_size", "{n} GPUs"),
    )
    for name, words in axes:
        value = 2 * getattr(inputs, name)
        found.append((name, say(words, n=(value, COUNT)), {name: value}))
    if not inputs.flash_attention:
        found.append(("flash", "Fused attention", {"flash_attention": True}))
    half = inputs.micro_batch_size // 2
    found.append(("batch", say("{b} at once", b=(half, COUNT)), {"micro_batch_size": half}))
    length = inputs.sequence_length // 2
    shorter = say("Sequences of {s} tokens", s=(length, TOKENS))
    return [*found, ("length", shorter, {"sequence_length": length})]


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


def challenge(inputs: Inputs, found: Fit, pace: TokenRate) -> Challenge:
    """Return the challenge: a 70B model on 64 GPUs, nothing recomputed, and fast."""
    wanted = ("llama-3-70b", "H100-SXM", 64, 8192, "fsdp")
    given = (
        inputs.model,
        inputs.gpu,
        inputs.world_size,
        inputs.sequence_length,
        inputs.framework,
    )
    conditions = (
        Condition(
            text="Llama 3 70B, sequences of 8,192 tokens, 64 H100 SXM, FSDP",
            met=given == wanted,
        ),
        Condition(
            text="a micro-batch of two fits, at least 5 % of the memory left free",
            met=inputs.micro_batch_size >= 2
            and inputs.micro_batch_size <= found.largest
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
