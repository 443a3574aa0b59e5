"""Values of the ZeRO saving: memory and traffic, the regime, and the published shares."""

from engine.calculators.data_parallelism.zero_saving.inputs import STAGES, Inputs
from engine.calculators.data_parallelism.zero_saving.result import Result
from engine.core.outputs import Presenter
from engine.core.text import Text, render_text, say
from engine.core.units import COUNT, SHARE
from engine.core.views import Badge, Published, Table, Value
from engine.formulas.zero_gains import ZERO_SAVING


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
