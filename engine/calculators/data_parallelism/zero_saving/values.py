"""The numbers of the saving, each with its receipt; the regime; the published shares."""

from engine.basis.text import Text, say
from engine.basis.units import BYTES, COUNT, PARAMETERS, RATIO, SHARE, Quantity
from engine.basis.views import Badge, Published, Receipt, Table, Value
from engine.calculators.data_parallelism.zero_saving.inputs import (
    STAGES,
    Inputs,
    Sharding,
    break_even_ranks,
    size_of,
    types_of,
)
from engine.formulas.states import MIXED_PRECISION, ZERO_MEMORY, ZERO_SAVING, zero_saving
from engine.formulas.volumes import ZERO_BYTES, gradient_passes, parameter_passes

GUIDES = "vizuara_guides"
FROM = {
    "p": "parameter_bytes",
    "g": "gradient_bytes",
    "o": "optimizer_bytes",
    "a": "ranks",
    "b": "ranks",
    "c": "ranks",
}


def _symbols(inputs: Inputs, stage: int) -> dict[str, tuple[float, Quantity]]:
    return {
        "p": (inputs.parameter_bytes, BYTES),
        "g": (inputs.gradient_bytes, BYTES),
        "o": (inputs.optimizer_bytes, BYTES),
        "a": (inputs.ranks if stage >= 3 else 1, COUNT),
        "b": (inputs.ranks if stage >= 2 else 1, COUNT),
        "c": (inputs.ranks if stage >= 1 else 1, COUNT),
    }


def saved(inputs: Inputs, stage: int, found: Sharding) -> Value:
    """Return the share of the states that is saved."""
    whole = inputs.parameter_bytes + inputs.gradient_bytes + inputs.optimizer_bytes
    published = Published(
        text=say(
            "widely published guides print {s}", s=(zero_saving(MIXED_PRECISION, stage, 2), SHARE)
        ),
        reason="That is the share for two GPUs; it is not said.",
        source=GUIDES,
        claim=f"E1.{stage}",
    )
    return Value(
        label="States saved",
        value=found.saving,
        quantity=SHARE,
        receipt=Receipt(
            equation=ZERO_SAVING if whole else None,
            symbols={"s": (found.saving, SHARE), **_symbols(inputs, stage)} if whole else {},
            inputs=FROM if whole else {},
            assumptions=("Of parameters, gradients and optimizer; activations are untouched.",),
            sources=("rajbhandari2020",),
            published=published if stage else None,
        ),
        note=say("on {n} GPUs", n=(inputs.ranks, COUNT)),
        color="optimizer",
    )


def held(inputs: Inputs, stage: int, found: Sharding) -> Value:
    """Return the states of one GPU."""
    size = size_of(inputs)
    fits = found.held <= inputs.capacity
    note: Text = say(
        "fits, and leaves {r} for activations and buffers" if fits else "{r} too much",
        r=(abs(inputs.capacity - found.held), BYTES),
    )
    return Value(
        label="States on each GPU",
        value=found.held,
        quantity=BYTES,
        receipt=Receipt(
            equation=ZERO_MEMORY,
            symbols={
                "M": (found.held, BYTES),
                "P": (size, PARAMETERS),
                **_symbols(inputs, stage),
            },
            inputs=FROM,
            assumptions=("Shares are even; padding and buffers of the collectives are left out.",),
        ),
        note=note,
        color="optimizer",
    )


def per_parameter(inputs: Inputs, stage: int, found: Sharding) -> Value:
    """Return the bytes on each GPU for one parameter."""
    value = found.held / size_of(inputs)
    return Value(
        label="Bytes per parameter",
        value=value,
        quantity=BYTES,
        receipt=Receipt(
            equation=ZERO_MEMORY,
            symbols={"M": (value, BYTES), "P": (1.0, PARAMETERS), **_symbols(inputs, stage)},
            inputs=FROM,
            assumptions=("Of one parameter's states, on each GPU.",),
        ),
        note=say(
            "of {w} without sharding",
            w=(
                inputs.parameter_bytes + inputs.gradient_bytes + inputs.optimizer_bytes,
                BYTES,
            ),
        ),
        color="optimizer",
    )


def sent_value(inputs: Inputs, stage: int, found: Sharding) -> Value:
    """Return what a GPU sends in a step."""
    size = size_of(inputs)
    return Value(
        label="Sent by each GPU in a step",
        value=found.sent,
        quantity=BYTES,
        receipt=Receipt(
            equation=ZERO_BYTES,
            symbols={
                "V": (found.sent, BYTES),
                "n": (inputs.ranks, COUNT),
                "r": (gradient_passes(stage, inputs.num_microbatches), COUNT),
                "G": (size * inputs.gradient_bytes, BYTES),
                "a": (parameter_passes(stage, inputs.num_microbatches), COUNT),
                "P": (size * inputs.parameter_bytes, BYTES),
            },
            inputs={"n": "ranks", "r": "num_microbatches", "a": "num_microbatches"},
            assumptions=(
                "Rings; gradients and parameters travel in the bytes they are kept in.",
                "Stages 0 and 1 reduce once per step, stages 2 and 3 after every micro-batch.",
            ),
        ),
        note=say("{e} of plain data parallelism", e=(found.extra, RATIO)),
        color="communication",
    )


def extra(inputs: Inputs, found: Sharding) -> Value:
    """Return the bytes sent over those of plain data parallelism."""
    return Value(
        label="Over plain data parallelism",
        value=found.extra,
        quantity=RATIO,
        receipt=Receipt(
            assumptions=(
                "Bytes that each GPU sends in a step, divided by those of an all-reduce.",
            ),
            sources=("rajbhandari2020",),
        ),
        note=say("with {g} micro-batches per step", g=(inputs.num_microbatches, COUNT))
        if inputs.num_microbatches > 1
        else "with one micro-batch per step",
        color="communication",
    )


def regime(inputs: Inputs, stage: int) -> Badge:
    """Return what the memory of a GPU is made of: its share, or what every GPU keeps whole."""
    even = break_even_ranks(types_of(inputs), stage)
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
            else "Nothing is kept whole. Twice the GPUs, half of the states on each.",
            color="optimizer",
        )
    what = "parameters and gradients" if stage == 1 else "parameters"
    return Badge(
        text="Copies dominate",
        sentence=say(
            f"Beyond {{e}} GPUs the {what}, which every GPU keeps whole, weigh more than its "
            "share: twice the GPUs take less than a quarter off the rest.",
            e=(even, COUNT),
        ),
        color="parameters",
    )


def published(inputs: Inputs) -> Table:
    """Return the published shares, the GPUs they hold for, and the reader's own."""
    rows: list[tuple[Text, ...]] = []
    for stage in STAGES[1:]:
        rows.append(
            (
                f"ZeRO-{stage}",
                say("{s}", s=(zero_saving(MIXED_PRECISION, stage, 2), SHARE)),
                *(
                    say("{s}", s=(zero_saving(types_of(inputs), stage, ranks), SHARE))
                    for ranks in (2, inputs.ranks, 1024)
                ),
            )
        )
    return Table(
        title="Savings as published, and by number of GPUs",
        columns=("Stage", "Published", "2 GPUs", f"{inputs.ranks:,} GPUs", "1,024 GPUs"),
        rows=tuple(rows),
        caption="A widely published guide prints its shares without a number of GPUs.",
    )
