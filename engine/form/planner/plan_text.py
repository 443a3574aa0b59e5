"""Plans as text: names, reasons against a plan."""

from collections.abc import Mapping

from engine.catalog.gain_errors import GAIN_ERROR
from engine.core.text import Text, say
from engine.core.units import BYTES, SECONDS, SHARE, Quantity, Seconds
from engine.form.adjusted_inputs import join_sentences
from engine.form.memory_fit import tight_text
from engine.run.parallelism import Plan, Training
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
RECOMPUTED: Mapping[str, str] = {
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


def plan_name(plan: Plan, training: Training) -> str:
    """Return a one-line name: "Megatron, TP 4 × PP 4 with 5 virtual stages × DP 2, ZeRO-1"."""
    return ", ".join((SOFTWARE[training.framework], split_text(plan), *_details(plan, training)))


def split_text(plan: Plan) -> str:
    """Return the parallel axes above one, and the replicas: "TP 4 x DP 16"."""
    virtual = plan.virtual_pipeline
    several = f" with {virtual} virtual stages" if virtual > 1 else ""
    sizes = (
        ("TP", plan.tensor_parallel, ""),
        ("PP", plan.pipeline_parallel, several),
        ("CP", plan.context_parallel, ""),
        ("EP", plan.expert_parallel, ""),
        ("ETP", plan.expert_tensor_parallel, ""),
    )
    axes = [f"{axis} {size}{more}" for axis, size, more in sizes if size > 1]
    return " × ".join([*axes, f"DP {plan.data_parallel}"])


def sharding_text(plan: Plan) -> str:
    """Return the sharded states, and the group size if it is not all replicas."""
    group = f" in groups of {plan.shard_group}" if plan.shard_group else ""
    return f"ZeRO-{plan.zero_stage}{group}" if plan.zero_stage else "nothing sharded"


def _details(plan: Plan, training: Training) -> tuple[str, ...]:
    schedule = (training.schedule,) if plan.pipeline_parallel > 1 else ()
    precision = () if training.precision == "bf16" else (training.precision,)
    batch = f"micro-batch {training.micro_batch_size}"
    again = RECOMPUTED[training.recompute]
    return (sharding_text(plan), batch, again, *schedule, *precision)


def reason_text(reason: Reason) -> Text:
    """Return the reason against a plan as text."""
    if reason.verdict == "impossible":
        return "Nothing would run it. " + " ".join(reason.problems)
    if reason.verdict == "too large":
        return _memory_reason_text(reason)
    if reason.plan and reason.plan.fit.verdict == "tight":
        return join_sentences((_step_reason_text(reason), tight_text(reason.plan.fit)), [])
    return _step_reason_text(reason)


def _step_reason_text(reason: Reason) -> Text:
    """Return how the step of a plan that runs compares with the best one's."""
    if reason.verdict == "best" and reason.plan and reason.plan.fit.verdict == "tight":
        return "No plan that leaves enough memory free has a shorter step."
    if reason.verdict == "best":
        return "Nothing speaks against it: no plan that fits has a shorter step."
    share = (reason.slower - 1, SHARE)
    parts, numbers = differing_parts(reason.parts or {}, reason.plan.step if reason.plan else 0.0)
    if reason.verdict == "tied":
        return say(
            "Its step is predicted {share} longer than the best one's. Pairs of published runs are "
            f"predicted to within {{error}}, so either may be faster. {parts}",
            share=share,
            error=(GAIN_ERROR, SHARE),
            **numbers,
        )
    return say(f"It fits, and its step is {{share}} longer. {parts}", share=share, **numbers)


def _memory_reason_text(reason: Reason) -> Text:
    assert reason.plan is not None
    mends = "; ".join(change_text(change) for change in reason.fixes)
    remedy = f"One of these changes makes it fit: {mends}." if mends else ""
    return say(
        "Even with every free block given back, it needs {missing} more than a GPU has. "
        "The largest part of its {held} are "
        f"{_HELD[reason.largest]}: {{most}}. {remedy}",
        missing=(reason.missing, BYTES),
        held=(reason.plan.memory.total, BYTES),
        most=(float(getattr(reason.plan.memory, reason.largest)), BYTES),
    )


def change_text(change: SingleChange) -> str:
    """Return a changed setting: "recompute none to full"."""
    return f"{change.setting.replace('_', ' ')} {change.before} to {change.after}"


def differing_parts(
    parts: Mapping[str, Seconds], step: Seconds
) -> tuple[str, dict[str, tuple[float, Quantity]]]:
    """Return the parts of a step that are longer or shorter than another's, largest first."""
    order = sorted(parts, key=lambda key: -abs(parts[key]))
    largest = [key for key in order if abs(parts[key]) > _WORTH * step][:4]
    words = [f"{PARTS[key]} {{{key}}} {'more' if parts[key] > 0 else 'less'}" for key in largest]
    numbers = {key: (abs(parts[key]), SECONDS) for key in largest}
    return (f"Per step: {', '.join(words)}." if words else ""), numbers
