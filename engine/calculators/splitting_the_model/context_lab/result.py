"""Results of the context-parallelism lab."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.calculators.splitting_the_model.context_lab import inputs as beside
from engine.calculators.splitting_the_model.context_lab.inputs import (
    WIDTHS,
    Added,
    Hidden,
    Inputs,
    added_time,
    job_of,
    kv_blocks,
    kv_buffers,
)
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.units import Bandwidth, Bytes, Count, FlopRate, Ratio, Seconds, Share, Tokens
from engine.formulas.context import overlap_tokens, ring_buffer, ring_step_bytes
from engine.run.run import Run
from engine.simulate.memory.allocator import Memory, MemoryFit
from engine.simulate.step.axis_wires import line_rate_rank
from engine.simulate.step.context_job import (
    ContextJob,
    ContextMethod,
    achieved_rate,
    allowed_methods,
    context_step_time,
    layer_bytes_sent,
    layer_time_without_context,
    peak_memory,
    ring_overlap_ratio,
)
from engine.simulate.step.prediction_evidence import Evidence, evidence

_KERNELS = "Kernels and links reach what was measured of them."
# Both of zig-zag and stripes: half of the pairs of a step are masked.
_CAUSAL: Share = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Every number of the lab; `beside` documents the comparisons.

    Attributes:
        exposed: of a layer, with a ring in a zig-zag and two buffers.
        buffers: keys and values of others on the GPU, by way.
        sends: bytes of a rank in a layer, by the name of the method.
    """

    ratios: Lazy[tuple[tuple[Ratio, ...], tuple[Ratio, ...]]]
    hidden: Lazy[Hidden]
    exposed: Share
    exposed_map: Lazy[tuple[tuple[Share, ...], ...]]
    buffers: Mapping[str, Bytes]
    sends: Mapping[str, Bytes]
    rings: Lazy[tuple[tuple[Ratio, ...], ...]]
    attentions: Lazy[tuple[tuple[FlopRate, ...], ...]]
    job: ContextJob
    memory: Memory
    world: Count
    tokens: Annotated[Tokens, Output(symbol="c", of="context_parallel")]
    width: Annotated[Count, Output(symbol="w", of="model")]
    element_bytes: Annotated[Bytes, Output(symbol="e", of="element")]
    group: Annotated[Ratio, Output(symbol="g", of="heads")]
    visible: Annotated[Share, Output(symbol="v")]
    peak: Annotated[FlopRate, Output(symbol="F", of="machine")]
    line: Annotated[Bandwidth, Output(symbol="B", of="machine")]
    blocks: Annotated[Count, Output(symbol="b", of="num_buffers")]
    block: Annotated[
        Bytes,
        Output("Sent per ring step", "V", "keys and values of {tokens} tokens", "context"),
    ]
    computes: Annotated[
        Seconds,
        Output(
            "A step computes",
            note="forward; the block travels for {hop}",
            color="compute",
            assumes=(_KERNELS,),
            sources=("dao2023",),
        ),
    ]
    hop: Seconds
    ratio: Annotated[
        Ratio,
        Output(
            "Computing over sending, per ring step",
            note="above 1 the ring hides",
            color="context",
            assumes=(_KERNELS, "Forward, a step with two buffers."),
            sources=("liu2023",),
        ),
    ]
    threshold: Annotated[
        Tokens,
        Output(
            "Hidden from, at peak and line rate",
            "c",
            "tokens per GPU, causal",
            "context",
        ),
    ]
    unmasked: Annotated[
        Tokens,
        Output(
            "The same without a mask",
            note="tokens per GPU; F/B in 16 bits without grouped queries",
            color="context",
            sources=("liu2023",),
        ),
    ]
    waits: Annotated[
        Seconds,
        Output(
            "Waited for, per layer",
            note="forward and backward",
            color="communication",
            assumes=(_KERNELS,),
            sources=("liu2023", "dubey2024", "jacobs2023"),
        ),
    ]
    merged: Annotated[
        Seconds,
        Output(
            "Merging, per layer",
            note="the partial results of the ring's steps, forward and backward",
            color="memory",
            assumes=(_KERNELS,),
        ),
    ]
    layer_share: Annotated[
        Share,
        Output(
            "Of the layer",
            note="waiting and merging",
            color="communication",
            assumes=(_KERNELS,),
        ),
    ]
    layer: Annotated[
        Seconds,
        Output(
            "One layer",
            note="forward and backward, one sequence",
            color="compute",
            assumes=(_KERNELS,),
        ),
    ]
    step_share: Annotated[
        Share,
        Output(
            "Of the step, by the step model",
            note="a ring with two buffers, zig-zag, in 16 bits; {step} in all",
            color="communication",
            assumes=("The same prediction as on every other page.",),
        ),
    ]
    step: Seconds
    buffer: Annotated[
        Bytes,
        Output(
            "Keys and values of others",
            "M",
            "on a GPU, for one layer at a time",
            "buffers",
        ),
    ]
    held: Annotated[
        Bytes,
        Output(
            "GPU that holds most",
            note="with them; {usable} can be used",
            color="activations",
            sources=("korthikanti2022",),
        ),
    ]
    usable: Bytes
    fit: MemoryFit
    rate: Annotated[
        FlopRate,
        Output(
            "Reached per GPU",
            note="the step model's ring, half of the pairs counted",
            color="compute",
        ),
    ]
    alternatives: Mapping[str, Added]
    allowed: Mapping[ContextMethod, bool]
    evidence: Evidence


def solve(inputs: Inputs) -> Result:
    """Return bytes, times and memory."""
    job = job_of(inputs)
    scores, ring, step = job.scores, job.ring, context_step_time(job)
    memory, usable = peak_memory(job)
    inside = ring.group.nodes == 1
    best = line_rate_rank(job.cluster, job.rank)
    ranks = job.plan.context_parallel
    width = round(scores.key_value_heads * scores.head_size)
    element, blocks = WIDTHS[inputs.element], kv_blocks(job, inputs.way, inputs.num_buffers)
    now = added_time(job, inputs.way, inputs.layout, inputs.num_buffers)
    layer = layer_time_without_context(job) + now.waits + now.merged
    peak = job.cluster.gpu.peak["bf16"]
    line = best.scale_up if inside else best.port
    group = scores.heads / scores.key_value_heads
    buffer = ring_buffer(scores.queries, width, element, blocks)
    fit = MemoryFit(
        needed=memory.total + buffer,
        least=memory.least + buffer,
        usable=usable,
        device=job.cluster.gpu.memory,
    )
    return Result(
        ratios=Lazy(partial(beside.ratios, inputs, job)),
        hidden=Lazy(partial(beside.hidden, inputs)),
        exposed=beside.exposed(job),
        exposed_map=Lazy(partial(beside.exposed_map, inputs)),
        buffers=kv_buffers(job, width, element),
        sends=layer_bytes_sent(job),
        rings=Lazy(beside.ring_ratios),
        attentions=Lazy(beside.attention_rates),
        job=job,
        memory=memory,
        world=job.plan.world_size,
        tokens=scores.queries,
        width=width,
        element_bytes=element,
        group=group,
        visible=_CAUSAL,
        peak=peak,
        line=line,
        blocks=blocks,
        block=ring_step_bytes(scores.queries, width, element),
        computes=job.attention_time[0] / ranks,
        hop=ring.hop,
        ratio=ring_overlap_ratio(job, ranks, inside=inside),
        threshold=overlap_tokens(peak, line, group, element, _CAUSAL),
        unmasked=overlap_tokens(peak, line, group, element),
        waits=now.waits,
        merged=now.merged,
        layer_share=(now.waits + now.merged) / layer,
        layer=layer,
        step_share=step.context_parallel / step.total,
        step=step.total,
        buffer=buffer,
        held=fit.needed,
        usable=usable,
        fit=fit,
        rate=achieved_rate(job, step, "causal"),
        alternatives={
            "ring": added_time(job, "ring", "zigzag", 2),
            "one": added_time(job, "ring", "zigzag", 1),
            "contiguous": added_time(job, "ring", "contiguous", 2),
            "gather": added_time(job, "gather", "zigzag", 2),
            "swap": added_time(job, "swap", "zigzag", 2),
        },
        allowed=allowed_methods(job),
        evidence=evidence(
            Run(model=job.model, cluster=job.cluster, plan=job.plan, training=job.training)
        ),
    )
