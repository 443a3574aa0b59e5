"""Document packing: masks by document, and which GPU then has how much attention to compute."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated, cast

from engine.catalog.models import MODELS
from engine.core.inputs import PERCENT, Choice, Number, Switch
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import COUNT, RATIO, SECONDS, SHARE, TOKENS, Count, Ratio, Seconds, Share
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Line,
    Lines,
    Rule,
    Scale,
    Segment,
)
from engine.form.fields import OwnConstants
from engine.formulas.amdahl import amdahl
from engine.run.machines import cluster_of
from engine.run.parallelism import Plan, Training
from engine.simulate.layer.attention_masks import imbalance
from engine.simulate.layer.packing import (
    Cut,
    PackedSequences,
    Packing,
    pack_balanced,
    pack_in_order,
    rank_pairs,
)
from engine.simulate.step.context_job import ContextJob, layer_time_without_context

LENGTH: Count = 131_072
MEANS = (512, LENGTH)
CUTS = {
    "contiguous": "contiguous pieces",
    "zigzag": "zig-zag of the sequence",
    "striped": "stripes",
    "document": "zig-zag of each document",
}
PACKINGS = {"arrival": "as they arrive", "balanced": "by their work"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    mean_length: Annotated[
        int,
        Number(label="Mean document", low=MEANS[0], high=MEANS[1], scale="log", whole=True),
    ] = 16_384
    ranks: Annotated[
        str,
        Choice(label="GPUs that share a sequence", options={n: n for n in ("2", "4", "8", "16")}),
    ] = "8"
    cut: Annotated[str, Choice(label="Cut", options=CUTS)] = "zigzag"
    packing: Annotated[str, Choice(label="Documents are packed", options=PACKINGS)] = "arrival"
    long_document: Annotated[
        bool,
        Switch(label="One long document", help="It fills one of the sequences by itself."),
    ] = False
    replicas: Annotated[
        int,
        Number(
            label="Replicas",
            low=1,
            high=8,
            whole=True,
            help="Each has a sequence of 131,072 tokens; all wait for the slowest.",
        ),
    ] = 4
    model: Annotated[
        str,
        Choice(
            label="Model",
            cites=False,
            options={
                key: MODELS[key].name for key in ("llama-3-8b", "llama-3-70b", "llama-3-405b")
            },
        ),
    ] = "llama-3-70b"
    exposed: Annotated[
        float,
        Number(
            label="Context parallelism, of the step",
            unit=PERCENT,
            low=0.01,
            high=0.5,
            step=0.01,
            help="Your own share, for the claim below.",
            advanced=True,
        ),
    ] = 0.08
    seed: Annotated[int, Number(label="Seed", low=1, high=100, whole=True, advanced=True)] = 1
    own_constants: OwnConstants = ""


# What a widely read text says balancing removes of context parallelism's latency.
CLAIMED: Share = 0.65
_TENSOR: Count = 8
_COUNTED = (
    "Pairs of query and key that the mask leaves; a token attends to its own document only.",
    "Lengths of documents are drawn from an exponential distribution, with a seed.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Work of each rank and its cost; (cut, packing) -> the layer's time."""

    by_cut: Lazy[Mapping[tuple[str, str], Seconds]]
    packed: PackedSequences
    work: tuple[tuple[Ratio, ...], ...]
    slowest: Count
    busiest: Annotated[
        Ratio,
        Output(
            "Busiest GPU, over the mean",
            note="of all replicas; {within} within its sequence, {between} between sequences",
            color="compute",
            basis="simulated",
            assumes=_COUNTED,
            sources=("wlb2025",),
        ),
    ]
    within: Ratio
    between: Ratio
    idle: Annotated[
        Share,
        Output(
            "Waiting share of the attention",
            note="of a GPU's time in it, on average",
            color="idle",
            basis="simulated",
            assumes=_COUNTED,
        ),
    ]
    layer: Annotated[
        Seconds,
        Output(
            "One layer, slowest GPU",
            note="forward and backward; {even} if all were even",
            color="compute",
            basis="simulated",
            assumes=(*_COUNTED, "TP 8 in nodes of eight H100; nothing of the exchange is counted."),
        ),
    ]
    even: Seconds
    gain: Annotated[
        Ratio,
        Output(
            "A step could be faster by",
            note="if every GPU had as many pairs",
            color="compute",
            basis="simulated",
            assumes=("All layers alike; what is outside the layers is left out.",),
        ),
    ]
    claimed: Annotated[
        Ratio,
        Output(
            "If 65 % of CP's time were saved",
            note="a step would be this much faster if CP takes {exposed} of it",
            color="ink",
            assumes=("The rest of the step stays as it is.",),
        ),
    ]


def _sequences(inputs: Inputs) -> PackedSequences:
    sequences = pack_in_order(
        inputs.replicas, LENGTH, inputs.mean_length, inputs.seed, long=inputs.long_document
    )
    return pack_balanced(sequences) if cast(Packing, inputs.packing) == "balanced" else sequences


@lru_cache(maxsize=32)
def _layer(model: str, ranks: Count, own_constants: str) -> tuple[Seconds, Seconds]:
    """Return a layer without its attention, and the attention of a full causal mask, even."""
    job = ContextJob(
        model=MODELS[model],
        cluster=cluster_of("dgx-h100", own_constants),
        plan=Plan(
            world_size=_TENSOR * ranks,
            tensor_parallel=_TENSOR,
            context_parallel=ranks,
            sequence_parallel=True,
        ),
        training=Training(micro_batch_size=1, global_batch_size=1, sequence_length=LENGTH),
    )
    core = sum(job.attention_time)
    return layer_time_without_context(job) - core, core


def solve(inputs: Inputs) -> Result:
    """Return the work of every GPU, and the layer's time."""
    ranks, packed = int(inputs.ranks), _sequences(inputs)
    pairs = [rank_pairs(cast(Cut, inputs.cut), ranks, batch) for batch in packed]
    whole = [sum(batch) for batch in pairs]
    mean = sum(whole) / len(whole) / ranks
    busy = [max(batch) for batch in pairs]
    slowest = max(range(len(busy)), key=lambda index: busy[index])
    outside_core, core = _layer(inputs.model, ranks, inputs.own_constants)
    full = LENGTH * (LENGTH + 1) / 2 / ranks
    layer, even = (outside_core + core * count / full for count in (busy[slowest], mean))
    return Result(
        by_cut=Lazy(partial(_by_cut, inputs)),
        packed=packed,
        work=tuple(tuple(count / mean for count in batch) for batch in pairs),
        slowest=slowest,
        busiest=busy[slowest] / mean,
        within=imbalance(pairs[slowest]),
        between=whole[slowest] / ranks / mean,
        idle=1 - mean / busy[slowest],
        layer=layer,
        even=even,
        gain=layer / even,
        claimed=amdahl(inputs.exposed, 1 / (1 - CLAIMED)),
    )


def _by_cut(inputs: Inputs) -> Mapping[tuple[str, str], Seconds]:
    return {
        (cut, packing): solve(replace(inputs, cut=cut, packing=packing)).layer
        for cut in CUTS
        for packing in PACKINGS
    }


_BINS = 16
# So much more than the mean goes unnoticed.
_EVEN = 1.05


def lengths(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the share of tokens that lie in documents of each length."""
    low, high = MEANS
    edges = [low * (high / low) ** (i / _BINS) for i in range(_BINS + 1)]
    tokens = [0] * _BINS
    for sequence in result.packed:
        for length in sequence:
            bin_share = math.log(max(length, low) / low) / math.log(high / low)
            tokens[min(_BINS - 1, int(bin_share * _BINS))] += length
    total = sum(tokens)
    xs, ys = [], []
    for index, count in enumerate(tokens):
        xs += [edges[index], edges[index + 1]]
        ys += [count / total] * 2
    return present.curve(
        "Tokens by the length of their document",
        over=Scale(TOKENS, "length of a document", low, high, log=True),
        shows=Scale(SHARE, "share of all tokens", 0.0, 1.1 * max(ys)),
        x=tuple(xs),
        lines=(Line("tokens", "tokens", tuple(ys), "activations"),),
        handle="mean_length",
        at=0.0,
        now="",
        rules=(
            Rule(
                key="mean",
                label=say("mean {n}", n=(inputs.mean_length, TOKENS)),
                axis="x",
                at=float(inputs.mean_length),
                color="accent",
            ),
        ),
        caption=say(
            "Drag the mean. {n} documents in {r} sequences of 131,072 tokens; what does not fit is "
            "cut at the end of a sequence.",
            n=(sum(map(len, result.packed)), COUNT),
            r=(len(result.packed), COUNT),
        ),
    )


def work(result: Result) -> Bars:
    """Return the work of each GPU of the slowest sequence, over the mean of all GPUs."""
    pairs = result.work[result.slowest]
    return Bars(
        title="The GPUs of the slowest sequence",
        axis=Axis(
            label="pairs, over the mean of all GPUs",
            quantity=RATIO,
            low=0.0,
            high=1.1 * max(1.0, *pairs),
        ),
        bars=tuple(
            Bar(
                key=f"r{rank}",
                label=f"GPU {rank}",
                segments=(Segment(key="work", label="attention", value=count, color="compute"),),
            )
            for rank, count in enumerate(pairs)
        ),
        rules=(Rule(key="mean", label="mean of all", axis="x", at=1.0),),
        caption=say(
            "Sequence {n} of {m}, with {d} documents.",
            n=(result.slowest + 1, COUNT),
            m=(len(result.packed), COUNT),
            d=(len(result.packed[result.slowest]), COUNT),
        ),
    )


# As short as a row of a narrow chart.
_PACKED = {"arrival": "", "balanced": ", by work"}


def cuts(inputs: Inputs, result: Result) -> Bars:
    """Return the layer's time by cut and packing."""
    bars = []
    for packing in PACKINGS:
        for cut, name in CUTS.items():
            time = result.by_cut()[cut, packing]
            now = (cut, packing) == (inputs.cut, inputs.packing)
            parts = (
                ("even", "even share", result.even, "compute"),
                ("more", "more than that", time - result.even, "idle"),
            )
            bars.append(
                Bar(
                    key=f"{packing}.{cut}",
                    label=f"{name}{_PACKED[packing]}" + (" (now)" if now else ""),
                    segments=tuple(
                        Segment(key=k, label=t, value=v, color=c) for k, t, v, c in parts
                    ),
                )
            )
    most = max(sum(part.value for part in bar.segments) for bar in bars)
    return Bars(
        title="One layer of the slowest GPU, by cut and packing",
        axis=Axis(label="forward and backward", quantity=SECONDS, low=0.0, high=1.05 * most),
        bars=tuple(bars),
        caption="The same documents throughout, packed as they arrive or by their work.",
    )


def regime(present: Presenter, result: Result) -> Badge:
    """Return whether the cut or the packing is the cause."""
    if result.busiest < _EVEN:
        return Badge(
            text="Even",
            sentence=present.say("The busiest GPU has {busiest} the mean."),
            color="compute",
        )
    if result.within > result.between:
        return Badge(
            text="The cut is uneven",
            sentence=present.say(
                "Within the slowest sequence the busiest GPU has {within} the mean of its own."
            ),
            color="bad",
        )
    words = "The slowest sequence has {between} the pairs of the mean one; "
    words += "no cut within it helps." if result.within < 1.05 else "its cut adds {within}."
    return Badge(
        text="The sequences are uneven",
        sentence=present.say(words),
        color="bad",
    )


TITLE = "Documents in a shared sequence"
QUESTION = "Documents have different lengths: which GPU waits for which?"
HEADLINE = "gain"
EQUATIONS = ()
PRESETS = {
    "Each document cut by itself": {"cut": "document"},
    "One long document": {"long_document": True, "cut": "document"},
    "Short documents": {"mean_length": 2048},
    "By their work": {"packing": "balanced", "cut": "document"},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views: document lengths, work per rank, and the cost."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "lengths": partial(lengths, present, inputs, result),
        **present.values("busiest", "idle"),
        "regime": regime(present, result),
        "work": partial(work, result),
        **present.values("layer", "gain", "claimed"),
        "cuts": partial(cuts, inputs, result),
    }
