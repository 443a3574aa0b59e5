"""Advice on fewer GPU hours, with side effects; and the challenge."""

from engine.calculators.splitting_the_model.parallelism_modeler.changes import Change
from engine.calculators.splitting_the_model.parallelism_modeler.inputs import Inputs
from engine.calculators.splitting_the_model.parallelism_modeler.result import Result
from engine.core.text import Sentence, Text, say
from engine.core.units import BYTES, COUNT, GPU_TIME, LINK_SPEED, SHARE, Quantity
from engine.core.views import Advice, Challenge, Condition, Remedy
from engine.form.plural import pluralize
from engine.simulate.step.modeled_plan import ModeledPlan


def advice(inputs: Inputs, result: Result) -> Advice:
    """Return changes that lower the GPU time per token, with their side effects.

    What does not fit is not among them, nor what makes a plan tight; a plan that does not fit
    itself needs what makes it fit.
    """
    plan, labels = result.plan, _labels(inputs)
    now = plan.token_time
    allowed = {"fits", plan.fit.verdict} - {"does not fit"}
    remedies = [
        Remedy(
            key=key,
            label=labels[key],
            change=change,
            after=after.token_time,
            side_effect=_side_effects(plan, after),
        )
        for key, (change, after) in result.changed().items()
        if after.fit.verdict in allowed
    ]
    useful = [remedy for remedy in remedies if not plan.fit.runs or remedy.after < now * 0.9995]
    useful.sort(key=lambda remedy: remedy.after)
    return Advice(
        title="What would help",
        verdict=_verdict(plan, useful),
        figure="GPU time for a million tokens",
        now=now,
        quantity=GPU_TIME,
        remedies=tuple(useful[:8]),
        enabling=not plan.fit.runs,
    )


def _verdict(plan: ModeledPlan, useful: list[Remedy]) -> Text:
    if not plan.fit.runs and useful:
        return "This plan does not fit. Each line is one change after which it fits."
    if not plan.fit.runs:
        return "This plan does not fit, and no single change here makes it fit."
    if not useful:
        return "Nothing here makes tokens cheaper."
    step = plan.step
    return say(
        "The step computes for {c} of its time, the bubble takes {b}, exposed communication "
        "{e}. Each line gives the GPU time for a million tokens after one change.",
        c=(step.compute / step.total, SHARE),
        b=(step.bubble / step.total, SHARE),
        e=(plan.exposed / step.total, SHARE),
    )


def _side_effects(before: ModeledPlan, after: ModeledPlan) -> Sentence:
    """Return side effects: GPUs, batch, memory, and uneven divisions."""
    numbers: dict[str, tuple[float, Quantity]] = {}
    words: list[str] = []
    pairs = (
        (
            "n",
            f"{{n}} {pluralize(after.run.plan.world_size, 'GPU')}",
            before.run.plan.world_size,
            after.run.plan.world_size,
            COUNT,
        ),
        (
            "b",
            f"a batch of {{b}} {pluralize(after.run.training.global_batch_size, 'sequence')}",
            before.run.training.global_batch_size,
            after.run.training.global_batch_size,
            COUNT,
        ),
        (
            "m",
            "{m} on the fullest GPU",
            before.stages[before.fullest].memory.total,
            after.stages[after.fullest].memory.total,
            BYTES,
        ),
    )
    for key, phrase, old, new, quantity in pairs:
        if abs(new - old) > 1e-3 * old:
            words.append(phrase)
            numbers[key] = (float(new), quantity)
    words += _uneven(after)
    return say(", ".join(words) or "nothing else changes", **numbers)


def _uneven(plan: ModeledPlan) -> list[str]:
    if sizes := plan.doubts.pieces:
        return [f"{plan.run.model.num_layers} layers do not divide by {len(sizes)}"]
    return ["but " + note.replace("_", " ").rstrip(".") for note in plan.doubts.problems[:1]]


def _labels(inputs: Inputs) -> dict[str, Text]:
    """Return the labels of the changes."""
    batches, stages, tensor = (
        inputs.num_microbatches,
        inputs.pipeline_parallel,
        inputs.tensor_parallel,
    )
    return {
        "microbatches": say("{m} micro-batches", m=(2 * batches, COUNT)),
        "larger": say(
            f"{{m}} {pluralize(batches // 2, 'micro-batch')} of {{b}}",
            m=(batches // 2, COUNT),
            b=(2 * inputs.micro_batch_size, COUNT),
        ),
        "stages": _stages(stages - 1),
        "half_stages": _stages(stages // 2),
        "less_tensor": say("Tensor parallelism of {t}", t=(tensor // 2, COUNT)),
        "more_tensor": say("Tensor parallelism of {t}", t=(2 * tensor, COUNT)),
        "context": say("Context parallelism of {c}", c=(inputs.context_parallel // 2, COUNT)),
        "interleaved": say("Interleaved, {v} pieces per rank", v=(inputs.virtual_pipeline, COUNT)),
        "zero_bubble": "Zero bubble, ZB-1p",
        "overlap": "Tensor parallelism beside products",
        "sequence": "Sequence parallelism",
        "recompute": "Recompute nothing",
        "port": say("Ports of {b}", b=(2 * inputs.nic_bandwidth, LINK_SPEED)),
        "off_last": "One layer off the last stage",
        "off_ends": "One layer off both ends",
    }


def _stages(count: int) -> Text:
    return say("{p} stages" if count > 1 else "{p} stage", p=(count, COUNT))


_CHALLENGE_INPUTS: Change = {
    "model": "llama-3-70b",
    "gpu": "H100-SXM",
    "sequence_length": 4096,
    "gpus_per_node": 8,
    "nics_per_node": 8,
    "nic_bandwidth": 50e9,
    "precision": "bf16",
    "framework": "megatron",
    "context_parallel": 1,
}
START: Change = {"tensor_parallel": 8, "pipeline_parallel": 4, "data_parallel": 4}
SOLUTION: Change = {
    "tensor_parallel": 4,
    "pipeline_parallel": 4,
    "data_parallel": 8,
    "num_microbatches": 32,
    "schedule": "interleaved",
    "virtual_pipeline": 5,
    "overlap": True,
}


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge: little waiting on the same GPUs."""
    plan = result.plan
    run, step = plan.run, plan.step
    unchanged = all(getattr(inputs, name) == value for name, value in _CHALLENGE_INPUTS.items())
    conditions = (
        Condition(
            text="Llama 3 70B on 128 H100 with their network as at the start, sequences of 4,096",
            met=unchanged and run.plan.world_size == 128,
        ),
        Condition(
            text="at most 256 sequences in a step", met=run.training.global_batch_size <= 256
        ),
        Condition(text="every GPU holds its part", met=plan.fit.verdict == "fits"),
        Condition(
            text=say("a bubble of at most {b} of the step", b=(0.05, SHARE)),
            met=step.bubble <= 0.05 * step.total,
        ),
        Condition(
            text=say("exposed communication of at most {e} of the computation", e=(0.1, SHARE)),
            met=result.ratio <= 0.1,
        ),
    )
    return Challenge(
        title="Challenge: 128 GPUs that do not wait",
        goal="Split the same model on the same GPUs so that the step waits for next to nothing.",
        conditions=conditions,
        hints=(
            "The axis that sends most is the one to make smaller. What takes its place?",
            "Pieces of a stage shrink the bubble without a larger batch.",
            "Some software runs the collectives of a layer beside its products.",
        ),
        start=START,
        solution=SOLUTION,
    )
