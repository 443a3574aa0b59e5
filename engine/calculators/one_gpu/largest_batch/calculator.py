"""The largest micro-batch: the memory of a GPU by part, and the changes that free it."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.one_gpu.largest_batch.charts import (
    largest_by_length,
    memory_bars,
    memory_line,
    search_animation,
    speed_bars,
)
from engine.calculators.one_gpu.largest_batch.result import (
    RECOMPUTE,
    Change,
    Inputs,
    Result,
    TriedChange,
)
from engine.calculators.one_gpu.largest_batch.result import solve as solve
from engine.catalog.unfitted_errors import OWN
from engine.core.outputs import Presenter, Views
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, SHARE, TOKENS, Quantity, TokenRate
from engine.core.views import Advice, Badge, Challenge, Condition, Remedy, Value
from engine.form.memory_fit import fit_badge
from engine.form.run.equations import PEAK
from engine.form.run.prediction_text import evidence_assumptions, memory_error_text, range_note
from engine.form.run.verdicts import possible_badge
from engine.formulas.batch import LARGEST_BATCH, MEMORY_LINE, USABLE_MEMORY
from engine.run.run import Run
from engine.simulate.step.largest_batch import SEQUENCES, BatchFit

TITLE = "The largest batch that fits"
QUESTION = "How many sequences can a GPU work on at once, and what would let it take more?"
HEADLINE = "largest"
EQUATIONS = (LARGEST_BATCH, PEAK, MEMORY_LINE, USABLE_MEMORY)
PRESETS = {
    "Llama 3 8B, 8,192 tokens, 8 H100": {"model": "llama-3-8b", "sequence_length": 8192},
    "The same 7B model, states replicated": {"zero_stage": "0"},
    "The same, adapters only (LoRA)": {"zero_stage": "0", "trained": "lora"},
    "Llama 3 70B on 64 H100": {
        "model": "llama-3-70b",
        "sequence_length": 8192,
        "world_size": 64,
        "tensor_parallel": 8,
        "micro_batch_size": 1,
        "zero_stage": "1",
        "pipeline_parallel": 4,
        "framework": "megatron",
    },
    "GPT-3 175B on 1,024 A100, as in 2021": {
        "model": "gpt-3-175b",
        "gpu": "A100-SXM-80GB",
        "sequence_length": 2048,
        "world_size": 1024,
        "tensor_parallel": 8,
        "pipeline_parallel": 16,
        "zero_stage": "0",
        "recompute": "full",
        "framework": "megatron",
        "flash_attention": False,
        "micro_batch_size": 1,
    },
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present, fit = Presenter(result, inputs, equations=EQUATIONS), result.batch_fit
    outputs = values(present, result)
    return {
        "largest": largest(present, result),
        "fits": fits(present, result),
        "memory_line": partial(memory_line, present, fit),
        "memory_bars": partial(memory_bars, inputs, result),
        **outputs,
        "possible": possible_badge(fit.run, result.doubts, result.changes),
        "search": partial(search_animation, result),
        "advice": partial(advice, inputs, result),
        "formula": present.formula("The closed form, with these numbers", LARGEST_BATCH),
        "speed_bars": partial(speed_bars, result),
        "lengths": partial(largest_by_length, result),
        "challenge": challenge(inputs, fit, result.token_rate),
    }


# Values of the largest batch whose receipts depend on the run, and its verdicts.

_PAPERS = ("korthikanti2022", "rajbhandari2020")


def values(present: Presenter, result: Result) -> dict[str, Value]:
    """Return the memory of the GPU that holds most, part by part, and the speed."""
    run = result.batch_fit.run
    peak = (memory_error_text(), "Of the process, with the context of CUDA and NCCL.")
    return {
        "total": present.value("total", assumes=peak, sources=_PAPERS),
        **present.values("fixed", "per_sequence"),
        "usable": present.value("usable", sources=(run.cluster.gpu.source, "bigscience2022")),
        "token_rate": present.value(
            "token_rate",
            assumes=(
                *evidence_assumptions(result.evidence),
                *_adapter_error(run),
                f"Each data-parallel rank works through {SEQUENCES} sequences in a step.",
                "Nodes of 8 GPUs with one port of 400 Gb/s for each.",
            ),
            sources=("korthikanti2022",),
            note=_speed_value(present, result),
        ),
    }


def _adapter_error(run: Run) -> tuple[Text, ...]:
    """Return the measured error of steps that train adapters alone, as a sentence."""
    if not run.training.lora_rank:
        return ()
    rows = [row for row in OWN if row[0] in ("LoRA time, compiled", "LoRA time, eager")]
    count = sum(row[1] for row in rows)
    words = "We measured {n} steps with adapters alone on an H100 and an H200: the mean error is "
    words += "{mean}. With one sequence of a small model the host launches kernels more slowly "
    words += "than the GPU runs them; such a step is predicted up to {worst} too short."
    mean, worst = sum(row[1] * row[2] for row in rows) / count, -min(row[3] for row in rows)
    return (say(words, n=(count, COUNT), mean=(mean, SHARE), worst=(worst, SHARE)),)


def _speed_value(present: Presenter, result: Result) -> Text:
    if not result.batch_fit.fit.runs:
        return "it does not fit"
    again = "computing {again} of what the model needs" if result.again > 1.001 else ""
    return range_note(present, "token_rate", result.evidence, present.fill_text(again))


def largest(present: Presenter, result: Result) -> Value:
    """Return the largest micro-batch."""
    return present.value(
        "largest",
        assumes=(
            memory_error_text(),
            "The line is that of the pipeline stage which runs out of memory first.",
            "The CUDA context was measured on an H100; the buffers of NCCL are fitted.",
        ),
        sources=(*_PAPERS, result.batch_fit.run.cluster.gpu.source),
        note="sequences on the one data-parallel rank"
        if result.ranks == 1
        else "sequences on each of {ranks} data-parallel ranks",
    )


def fits(present: Presenter, result: Result) -> Badge:
    """Return the badge on whether the reader's micro-batch fits."""
    if result.fixed > result.usable:
        text, color = "States", "optimizer"
        words = "Without a single sequence a GPU must hold {fixed}; {usable} may be filled. "
        words += "Shard more."
        return Badge(text=text, sentence=present.say(words), color=color)
    return fit_badge(
        result.batch_fit.fit, f"A micro-batch of {result.batch_fit.run.training.micro_batch_size:,}"
    )


# Memory-saving changes ranked by effect, and the challenge.


def advice(inputs: Inputs, result: Result) -> Advice:
    """Return the memory-saving changes ranked by memory freed at the reader's micro-batch."""
    changes = result.tried()
    words = "Nothing here frees memory."
    if changes:
        words = (
            "{m} on the GPU that holds most with {b} at once. Each line gives its memory after one "
        )
        words += (
            "change."
            if changes[0].fit.fit.verdict == "fits"
            else "change; no single one is enough."
        )
    return Advice(
        title="What frees memory",
        verdict=say(words, m=(result.total, BYTES), b=(inputs.micro_batch_size, COUNT)),
        figure="GPU that holds most",
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
