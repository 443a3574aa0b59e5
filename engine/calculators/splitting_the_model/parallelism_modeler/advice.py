"""What would cost fewer GPU hours, with side effects; and a challenge."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from engine.basis.inputs import Number
from engine.basis.text import Sentence, Text, say
from engine.basis.units import BYTES, COUNT, GPU_TIME, LINK_SPEED, SHARE, Quantity
from engine.basis.views import Advice, Challenge, Condition, Remedy
from engine.calculators.splitting_the_model.parallelism_modeler.inputs import Inputs
from engine.calculators.splitting_the_model.parallelism_modeler.result import Result, plan_of
from engine.form.counted import noun
from engine.simulate.modeled_plan import Modeled

Change = Mapping[str, float | int | str | bool]
_FIELDS = {name: hint.__metadata__[0] for name, hint in Inputs.__annotations__.items()}


def advice(inputs: Inputs, found: Modeled) -> Advice:
    """Return the changes that lower the GPU time per token, with what else they change.

    What does not fit is not among them; a plan that does not fit itself needs what makes it fit.
    """
    now = found.token_time
    remedies = [
        remedy
        for key, label, change in _candidates(inputs, found)
        if _in_range(change) and (remedy := _remedy(inputs, found, key, label, change))
    ]
    useful = [one for one in remedies if not found.fits or one.after < now * 0.9995]
    useful.sort(key=lambda one: one.after)
    return Advice(
        title="What would help",
        verdict=_verdict(found, useful),
        figure="GPU time for a million tokens",
        now=now,
        quantity=GPU_TIME,
        remedies=tuple(useful[:8]),
        enabling=not found.fits,
    )


def _verdict(found: Modeled, useful: list[Remedy]) -> Text:
    if not found.fits and useful:
        return "This plan does not fit. Each line is one change after which it fits."
    if not found.fits:
        return "This plan does not fit, and no single change here makes it fit."
    if not useful:
        return "Nothing here makes tokens cheaper."
    step = found.step
    return say(
        "The step computes for {c} of its time, the bubble takes {b}, exposed communication "
        "{e}. Each line gives the GPU time for a million tokens after one change.",
        c=(step.compute / step.total, SHARE),
        b=(step.bubble / step.total, SHARE),
        e=(found.exposed / step.total, SHARE),
    )


def _remedy(
    inputs: Inputs, before: Modeled, key: str, label: Text, change: Change
) -> Remedy | None:
    """Return the change with its effect; nothing if the plan does not fit after it."""
    after, _ = plan_of(replace(inputs, **change))  # type: ignore[arg-type]
    if not after.fits:
        return None
    return Remedy(
        key=key,
        label=label,
        change=change,
        after=after.token_time,
        side_effect=_side(before, after),
    )


def _side(before: Modeled, after: Modeled) -> Sentence:
    """Return what else changes: GPUs, batch, memory; and what does not divide."""
    numbers: dict[str, tuple[float, Quantity]] = {}
    words: list[str] = []
    pairs = (
        (
            "n",
            f"{{n}} {noun(after.run.plan.world_size, 'GPU')}",
            before.run.plan.world_size,
            after.run.plan.world_size,
            COUNT,
        ),
        (
            "b",
            f"a batch of {{b}} {noun(after.run.training.global_batch_size, 'sequence')}",
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


def _uneven(found: Modeled) -> list[str]:
    if sizes := found.doubts.pieces:
        return [f"{found.run.model.num_layers} layers do not divide by {len(sizes)}"]
    return ["but " + note.replace("_", " ").rstrip(".") for note in found.doubts.problems[:1]]


def _in_range(change: Change) -> bool:
    return all(
        field.low <= float(value) <= field.high
        for name, value in change.items()
        if isinstance(field := _FIELDS[name], Number)
    )


def _candidates(inputs: Inputs, found: Modeled) -> Iterator[tuple[str, Text, Change]]:
    many, stages = inputs.num_microbatches, inputs.pipeline_parallel
    yield (
        "microbatches",
        say("{m} micro-batches", m=(2 * many, COUNT)),
        {"num_microbatches": 2 * many},
    )
    if many > 1 and many % 2 == 0:
        sequences = 2 * inputs.micro_batch_size
        yield (
            "larger",
            say(
                f"{{m}} {noun(many // 2, 'micro-batch')} of {{b}}",
                m=(many // 2, COUNT),
                b=(sequences, COUNT),
            ),
            {"num_microbatches": many // 2, "micro_batch_size": sequences},
        )
    if stages > 1:
        yield "stages", _stages(stages - 1), {"pipeline_parallel": stages - 1}
    if stages > 2 and stages % 2 == 0:
        yield "half_stages", _stages(stages // 2), {"pipeline_parallel": stages // 2}
    tensor = inputs.tensor_parallel
    for key, size in (("less_tensor", tensor // 2), ("more_tensor", 2 * tensor)):
        yield key, say("Tensor parallelism of {t}", t=(size, COUNT)), {"tensor_parallel": size}
    if inputs.context_parallel > 1:
        half = inputs.context_parallel // 2
        yield (
            "context",
            say("Context parallelism of {c}", c=(half, COUNT)),
            {"context_parallel": half},
        )
    yield from _settings(inputs)
    yield from _moves(inputs)


def _stages(count: int) -> Text:
    return say("{p} stages" if count > 1 else "{p} stage", p=(count, COUNT))


def _settings(inputs: Inputs) -> Iterator[tuple[str, Text, Change]]:
    if inputs.pipeline_parallel > 1 and inputs.schedule != "interleaved":
        pieces = say("Interleaved, {v} pieces per rank", v=(inputs.virtual_pipeline, COUNT))
        yield "interleaved", pieces, {"schedule": "interleaved"}
    if inputs.pipeline_parallel > 1 and inputs.schedule != "zb-1p":
        yield "zero_bubble", "Zero bubble, ZB-1p", {"schedule": "zb-1p"}
    if not inputs.overlap and inputs.tensor_parallel > 1:
        yield "overlap", "Tensor parallelism beside products", {"overlap": True}
    if not inputs.sequence_parallel and inputs.tensor_parallel > 1:
        yield "sequence", "Sequence parallelism", {"sequence_parallel": True}
    if inputs.recompute != "none":
        yield "recompute", "Recompute nothing", {"recompute": "none"}
    port = 2 * inputs.nic_bandwidth
    yield "port", say("Ports of {b}", b=(port, LINK_SPEED)), {"nic_bandwidth": port}


def _moves(inputs: Inputs) -> Iterator[tuple[str, Text, Change]]:
    """Return one layer more off the last stage, and off both ends."""
    if inputs.pipeline_parallel < 3:
        return
    last, first = inputs.off_last + 1, inputs.off_first + 1
    yield "off_last", "One layer off the last stage", {"off_last": last}
    yield "off_ends", "One layer off both ends", {"off_last": last, "off_first": first}


_GIVEN: Change = {
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
    found = result.plan
    run, step = found.run, found.step
    given = all(getattr(inputs, name) == value for name, value in _GIVEN.items())
    conditions = (
        Condition(
            text="Llama 3 70B on 128 H100 with their network as at the start, sequences of 4,096",
            met=given and run.plan.world_size == 128,
        ),
        Condition(
            text="at most 256 sequences in a step", met=run.training.global_batch_size <= 256
        ),
        Condition(text="every GPU holds its part", met=found.fits),
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
