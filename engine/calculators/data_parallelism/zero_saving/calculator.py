"""ZeRO saving: memory saved per GPU by sharding the states, and the traffic that it adds."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.data_parallelism.zero_saving.result import (
    BATCHES,
    RANKS,
    STAGES,
    Inputs,
    Result,
)
from engine.calculators.data_parallelism.zero_saving.result import solve as solve
from engine.core.outputs import Presenter, Views
from engine.core.text import Text, render_text, say
from engine.core.units import BYTES, COUNT, GB, SHARE, with_digits
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Challenge,
    Condition,
    Line,
    Lines,
    Point,
    Published,
    Rule,
    Scale,
    Segment,
    Table,
    Value,
)
from engine.formulas.states import ZERO_MEMORY
from engine.formulas.volumes import ZERO_BYTES
from engine.formulas.zero_gains import ZERO_SAVING

TITLE = "What ZeRO saves"
QUESTION = "How much of the states does each stage take off a GPU, and what does it send for it?"
HEADLINE = "held"
EQUATIONS = (ZERO_MEMORY, ZERO_SAVING, ZERO_BYTES)
PRESETS = {
    "The published case: two GPUs": {"ranks": 2, "zero_stage": "1"},
    "Llama 3 70B on 64 GPUs": {"model": "llama-3-70b", "ranks": 64},
    "Megatron: gradients summed in fp32": {"gradient_bytes": 4.0},
    "Everything in fp32": {"parameter_bytes": 4.0, "gradient_bytes": 4.0, "optimizer_bytes": 8.0},
    "Four micro-batches": {"num_microbatches": 4, "zero_stage": "2"},
}
MOST = 60 * GB
START: Mapping[str, int | str] = {
    "model": "llama-2-13b",
    "zero_stage": "2",
    "ranks": 8,
    "num_microbatches": 4,
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    outputs = values(present, inputs, result)
    return {
        "saving": outputs["saving"],
        "bytes_per_parameter": outputs["bytes_per_parameter"],
        "held": outputs["held"],
        "regime": regime(inputs, result),
        "curve": partial(curve, present, inputs, result),
        "bars": partial(bars, present, inputs, result),
        "sent": outputs["sent"],
        "extra": outputs["extra"],
        "volume": partial(volume, present, inputs, result),
        "published": partial(published, inputs, result),
        "challenge": partial(_challenge, inputs, result),
    }


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    micro = int(START["num_microbatches"])
    types = (inputs.parameter_bytes, inputs.gradient_bytes, inputs.optimizer_bytes)
    return Challenge(
        title="Challenge: lighter, and not a byte more",
        goal=say(
            "Bring the states of Llama 2 13B to {m} or less on each GPU, with {g} micro-batches "
            "per step, and send no more than plain data parallelism does.",
            m=(MOST, with_digits(BYTES)),
            g=(micro, COUNT),
        ),
        conditions=(
            Condition(
                text=say("Llama 2 13B, {g} micro-batches per step or more", g=(micro, COUNT)),
                met=inputs.model == START["model"] and inputs.num_microbatches >= micro,
            ),
            Condition(
                text="2 bytes for parameters and gradients, 12 for the optimizer",
                met=types == (2.0, 2.0, 12.0),
            ),
            Condition(
                text=say("at most {m} of states on each GPU", m=(MOST, with_digits(BYTES))),
                met=result.held <= MOST,
            ),
            Condition(
                text="no more bytes sent than by plain data parallelism",
                met=result.extra <= 1 + 1e-9,
            ),
        ),
        hints=(
            "Stage 2 would fit, but look at what it sends when gradients are accumulated.",
            "Stage 1 leaves four bytes per parameter and a share of twelve. How small must the "
            "share become?",
        ),
        start=START,
        solution={**START, "zero_stage": "1", "ranks": 32},
    )


# Values of the ZeRO saving: memory and traffic, the regime, and the published shares.


def values(present: Presenter, inputs: Inputs, result: Result) -> dict[str, Value]:
    """Return the values of memory and traffic per GPU."""
    left = (
        "fits, and leaves {rest} for activations and buffers" if result.fits else "{rest} too much"
    )
    several = "with {num_microbatches} micro-batches per step"
    once = "with one micro-batch per step"
    return {
        "saving": _saving_value(present, result),
        "bytes_per_parameter": present.value("bytes_per_parameter", symbols={"P": "one"}),
        "held": present.value("held", note=left),
        "sent": present.value(
            "sent", symbols={"n": "ranks", "a": "parameter_passes", "P": "parameter_size"}
        ),
        "extra": present.value("extra", note=several if inputs.num_microbatches > 1 else once),
    }


def _saving_value(present: Presenter, result: Result) -> Value:
    """Return the share of the states that is saved."""
    published = Published(
        text=present.say("a published guide prints {published_saving}"),
        reason="That is the share for two GPUs, which the guide does not say.",
        source="vizuara_guides",
        claim=f"E1.{result.stage}",
    )
    receipt = present.receipt(
        ZERO_SAVING if result.whole else None,
        "Of parameters, gradients and optimizer; activations are untouched.",
        sources=("rajbhandari2020",),
        published=published if result.stage else None,
    )
    return present.value("saving", receipt=receipt)


def regime(inputs: Inputs, result: Result) -> Badge:
    """Return the badge on the larger part of a GPU's memory: sharded or replicated states."""
    stage, even = result.stage, result.even
    if stage == 0:
        return Badge(
            text="Everything is replicated",
            sentence="Another GPU brings another copy; no GPU gets lighter.",
            color="parameters",
        )
    if stage == 3:
        return Badge(
            text="Everything is sharded",
            sentence="Twice the GPUs, half of the states on each.",
            color="optimizer",
        )
    if inputs.ranks <= even:
        return Badge(
            text="Sharded states dominate",
            sentence=say(
                "A GPU's share weighs more than what it keeps whole, up to {e} GPUs: there is much "
                "to gain from more of them.",
                e=(even, COUNT),
            )
            if even < float("inf")
            else "Nothing is kept whole: doubling the GPUs halves the states on each.",
            color="optimizer",
        )
    whole = "parameters and gradients" if stage == 1 else "parameters"
    return Badge(
        text="Copies dominate",
        sentence=say(
            f"Beyond {{e}} GPUs the {whole}, which every GPU keeps whole, weigh more than its "
            "share: doubling the GPUs saves less than a quarter of what is left.",
            e=(even, COUNT),
        ),
        color="parameters",
    )


def published(inputs: Inputs, result: Result) -> Table:
    """Return the published shares, the GPUs they hold for, and the reader's own."""
    rows: list[tuple[Text, ...]] = []
    for stage in STAGES[1:]:
        shares = result.published[stage], *result.compared[stage]
        rows.append((f"ZeRO-{stage}", *(say("{s}", s=(share, SHARE)) for share in shares)))
    yours = render_text(say("{n} GPUs", n=(inputs.ranks, COUNT)))
    return Table(
        title="Savings as published, and by number of GPUs",
        columns=("Stage", "Published", "2 GPUs", yours, "1,024 GPUs"),
        rows=tuple(rows),
        caption="The published guide prints its shares without a number of GPUs.",
    )


# The pictures of the saving: against GPUs, by stage, and the bytes sent against micro-batches.

# The highest saving of a stage belongs to what it shards last.
COLORS = {0: "ink", 1: "optimizer", 2: "gradients", 3: "parameters"}
NAMES = {0: "DDP", 1: "ZeRO-1", 2: "ZeRO-2", 3: "ZeRO-3"}


def curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the saving of every stage against the number of GPUs."""
    two = result.published[1]
    label = say("published: {s}", s=(two, SHARE))
    even = result.even if result.stage else 0.0
    rule = Rule(key="even", label=say("equal"), axis="x", at=even, color="muted")
    return present.curve(
        "States saved on each GPU",
        over=Scale(COUNT, "GPUs", 1.0, 1024.0, log=True),
        shows=Scale("saving", "saved", 0.0, 1.05),
        x=RANKS,
        lines=(
            Line(f"stage{stage}", NAMES[stage], saved, COLORS[stage])
            for stage, saved in zip(STAGES[1:], result.over_ranks(), strict=True)
        ),
        handle="ranks",
        marked=bool(result.stage),
        points=(Point(key="published", label=label, x=2.0, y=two, color="ink"),),
        rules=(rule,) if 1.0 < even <= 1024.0 else (),
        caption="The axis of GPUs is logarithmic. On the dashed line a GPU's share weighs as much "
        "as what it keeps whole.",
    )


def bars(present: Presenter, inputs: Inputs, result: Result) -> Bars:
    """Return the bars of states per GPU by stage, against the memory."""
    high = max(result.usable, *(sharding.states.total for sharding in result.stages)) * 1.1
    return Bars(
        title="States on each GPU",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=high),
        bars=tuple(
            Bar(
                key=f"stage{stage}",
                label=NAMES[stage],
                segments=tuple(
                    Segment(key=name, label=name, value=getattr(sharding.states, name), color=name)
                    for name in ("parameters", "gradients", "optimizer")
                ),
            )
            for stage, sharding in zip(STAGES, result.stages, strict=True)
        ),
        rules=(
            Rule(
                key="usable",
                label=say("usable: {c}", c=(result.usable, BYTES)),
                axis="x",
                at=result.usable,
            ),
        ),
        caption="Activations come on top; the line is what may be filled.",
    )


def volume(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the bytes sent in a step against the micro-batches that it accumulates."""
    columns = result.over_batches
    # ZeRO-1 lies on plain data parallelism where gradients and parameters have as many bytes.
    lines = [
        Line(f"stage{stage}", NAMES[stage], column, COLORS[stage], dashed=stage == 0)
        for stage, column in zip(STAGES, columns, strict=True)
    ]
    high = max(*map(max, columns), 1.0)
    low = min((y for column in columns for y in column if y > 0), default=high / 10)
    return present.curve(
        "Bytes that each GPU sends in a step",
        over=Scale(COUNT, "micro-batches per step", 1.0, 64.0, log=True),
        shows=Scale("sent", "sent", low / 2, high * 2, log=True),
        x=BATCHES,
        lines=lines if high > 1.0 else (),
        handle="num_microbatches",
        marked=result.sent > 0,
        caption=present.say(
            "Both axes are logarithmic. Micro-batches: {num_microbatches}. ZeRO-1 sends {one}, "
            "ZeRO-2 {two} and ZeRO-3 {three}: stages 2 and 3 keep no place for a sum that is not "
            "their own.",
            **{
                key: (result.stages[stage].sent, BYTES)
                for stage, key in ((1, "one"), (2, "two"), (3, "three"))
            },
        ),
    )
