"""Plans in words: their names, why one is not taken, what limits the best."""

from collections.abc import Mapping

from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, RATIO, SECONDS, SHARE, Quantity, Seconds
from engine.run.parallelism import Plan, Training
from engine.simulate.planner.moves import Limit
from engine.simulate.planner.ties import Tie
from engine.simulate.planner.why import Reason
from engine.simulate.step.single_changes import SingleChange

SOFTWARE = {
    "megatron": "Megatron",
    "fsdp": "FSDP",
    "deepspeed": "DeepSpeed",
    "xla": "XLA",
}
PARTS: Mapping[str, str] = {
    "compute": "computation",
    "tensor_parallel": "tensor parallelism",
    "context_parallel": "context parallelism",
    "expert_parallel": "the exchange of tokens between experts",
    "pipeline": "messages between stages",
    "data_parallel": "gradients and parameters of data parallelism",
    "bubble": "the pipeline's bubble",
    "optimizer": "the optimizer",
    "other": "the host and the slowest GPU",
}
_RECOMPUTED = {
    "none": "nothing recomputed",
    "selective": "selective recomputation",
    "modules": "recomputation by module",
    "full": "full recomputation",
}
_HELD = {
    "parameters": "parameters",
    "gradients": "gradients",
    "optimizer": "optimizer states",
    "activations": "activations",
    "buffers": "buffers",
}
# Parts that differ by less than this share of the best step are not worth a word.
_WORTH = 0.005


def name(plan: Plan, training: Training) -> str:
    """Return a plan on one line: "Megatron, TP 4, PP 4 in 5 pieces, CP 2, DP 2, ZeRO-1, ..."."""
    return ", ".join((SOFTWARE[training.framework], split(plan), *_details(plan, training)))


def split(plan: Plan) -> str:
    """Return the axes of a plan that are larger than one, and its replicas: "TP 4 x DP 16"."""
    pieces = f" in {plan.virtual_pipeline} pieces" if plan.virtual_pipeline > 1 else ""
    sizes = (
        ("TP", plan.tensor_parallel, ""),
        ("PP", plan.pipeline_parallel, pieces),
        ("CP", plan.context_parallel, ""),
        ("EP", plan.expert_parallel, ""),
        ("ETP", plan.expert_tensor_parallel, ""),
    )
    axes = [f"{axis} {size}{more}" for axis, size, more in sizes if size > 1]
    return " × ".join([*axes, f"DP {plan.data_parallel}"])


def sharding(plan: Plan) -> str:
    """Return what the replicas shard, and over how many where not over all."""
    group = f" in groups of {plan.shard_group}" if plan.shard_group else ""
    return f"ZeRO-{plan.zero_stage}{group}" if plan.zero_stage else "nothing sharded"


def _details(plan: Plan, training: Training) -> tuple[str, ...]:
    schedule = (training.schedule,) if plan.pipeline_parallel > 1 else ()
    precision = () if training.precision == "bf16" else (training.precision,)
    batch = f"micro-batch {training.micro_batch_size}"
    again = _RECOMPUTED[training.recompute]
    return (sharding(plan), batch, again, *schedule, *precision)


def reason(found: Reason) -> Text:
    """Return in words what speaks against a plan."""
    if found.verdict == "impossible":
        return "Nothing would run it. " + " ".join(found.problems)
    if found.verdict == "too large":
        return _too_large(found)
    if found.verdict == "best":
        return "Nothing speaks against it: no plan that fits has a shorter step."
    share = (found.slower - 1, SHARE)
    parts, numbers = differing(found.parts or {}, found.plan.step if found.plan else 0.0)
    if found.verdict == "tied":
        return say(
            "Its step is predicted {share} longer than the best one's, but the ranges of both "
            f"overlap, so either may be faster. {parts}",
            share=share,
            **numbers,
        )
    return say(f"It fits, and its step is {{share}} longer. {parts}", share=share, **numbers)


def _too_large(found: Reason) -> Text:
    assert found.plan is not None
    mends = "; ".join(change(one) for one in found.mends)
    way = f"One of these changes makes it fit: {mends}." if mends else ""
    return say(
        "It needs {missing} more than a GPU has room for. The largest part of its {held} are "
        f"{_HELD[found.largest]}: {{most}}. {way}",
        missing=(found.missing, BYTES),
        held=(found.plan.held.total, BYTES),
        most=(float(getattr(found.plan.held, found.largest)), BYTES),
    )


def change(one: SingleChange) -> str:
    """Return a changed setting: "recompute none to full"."""
    return f"{one.setting.replace('_', ' ')} {one.before} to {one.after}"


def differing(
    parts: Mapping[str, Seconds], step: Seconds
) -> tuple[str, dict[str, tuple[float, Quantity]]]:
    """Return which parts of a step are longer and which shorter than another's, largest first."""
    order = sorted(parts, key=lambda key: -abs(parts[key]))
    told = [key for key in order if abs(parts[key]) > _WORTH * step][:4]
    words = [f"{PARTS[key]} {{{key}}} {'more' if parts[key] > 0 else 'less'}" for key in told]
    numbers = {key: (abs(parts[key]), SECONDS) for key in told}
    return (f"Per step: {', '.join(words)}." if words else ""), numbers


def limited(found: Limit) -> Text:
    """Return what of the best step is no computation."""
    return say(
        "{computing} of its step computes. The largest other part is "
        f"{PARTS[found.part]}: {{seconds}}, {{share}}.",
        computing=(found.computing, SHARE),
        seconds=(found.seconds, SECONDS),
        share=(found.share, SHARE),
    )


def tied(found: Tie) -> Text:
    """Return how many plans tie with the best."""
    if found.tied == 1:
        return "No other plan's range overlaps that of the best."
    return say(
        "{n} plans tie: their ranges overlap that of the best, which goes from {low} to {high}. "
        "They are {splits} splits into tensor and pipeline parallelism.",
        n=(found.tied, COUNT),
        splits=(found.splits, COUNT),
        low=(found.low, SECONDS),
        high=(found.high, SECONDS),
    )


MOVES: Mapping[str, str] = {
    "batch": "Twice the global batch",
    "fp8": "Linear layers in FP8",
    "ports": "Ports of twice the speed",
    "memory": "H200 instead of H100: 141 GB",
    "gpus": "Twice the GPUs, the batch as it is",
}


def gained(gain: float, per_gpu: float) -> Text:
    """Return what a change of the job gains."""
    return say("{gain} as fast, {each} per GPU", gain=(gain, RATIO), each=(per_gpu, RATIO))
