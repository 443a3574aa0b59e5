"""Charts of the checkpoint lab: lost time by interval, contents, published runs."""

from engine.calculators.whole_runs.checkpoint_lab.inputs import Inputs
from engine.calculators.whole_runs.checkpoint_lab.result import Result
from engine.core.numbers import format_significant
from engine.core.outputs import Presenter
from engine.core.text import Sentence, say
from engine.core.units import BYTES, DAY, SECONDS, SHARE, Bytes, GiB, Seconds, Share, TiB
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Citation,
    Lines,
    Point,
    Rule,
    Segment,
    Series,
    Table,
)
from engine.form.adjusted_inputs import with_changes

STEP = "From the step that the planner predicts."
_LEAST: Seconds = 30.0
INTERVALS = tuple(_LEAST * (DAY / _LEAST) ** (i / 40) for i in range(41))
_FLOOR: Share = 1e-4
# Goodput this near to the best is as good as the best.
_NEAR: Share = 0.002


def verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    """Return the cost of saving at the chosen interval, and changes made to the plan."""
    return with_changes(_verdict(present, inputs, result), result.changes)


def _verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if not result.fit.runs:
        return Badge(
            text="Does not fit",
            sentence="The fullest GPU cannot hold this job. There is nothing to save.",
            color="bad",
        )
    if inputs.optimizer == "no":
        return Badge(
            text="Not enough to go on",
            sentence=present.say(
                "A checkpoint of weights alone takes {whole}. Training that goes on from it has "
                "lost Adam's moments."
            ),
            color="bad",
        )
    if inputs.background and result.saved.write > inputs.interval:
        return Badge(
            text="Storage too slow",
            sentence=present.say(
                "A checkpoint is written after {write}, later than the next one is due. So the "
                "next one waits."
            ),
            color="bad",
        )
    return _interval(present, inputs, result)


def _interval(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    often = inputs.interval < result.daly
    if result.best - result.goodput < _NEAR:
        text, color = "Near the best interval", "compute"
    else:
        text, color = ("Too often" if often else "Too rarely"), "communication"
    sentence = (
        "Steps wait {stall} for each checkpoint. The best interval is {daly}, with a goodput "
    )
    return Badge(text=text, sentence=present.say(sentence + "of {best}."), color=color)


def binding(result: Result) -> str:
    """Return the bottleneck of writing."""
    shared = result.saved.write > result.saved.per_node / result.node
    return "the storage sets the pace" if shared else "the ports of a node set the pace"


def curve(inputs: Inputs, result: Result) -> Lines:
    """Return the time lost by interval, for both ways of writing."""
    now = result.now
    rows = (("waits", "steps wait for the write", 0), ("behind", "written in the background", 1))
    return Lines(
        title="Time lost, by the work between two checkpoints",
        x=Axis(
            label="work between checkpoints", quantity=SECONDS, low=_LEAST, high=DAY, scale="log"
        ),
        y=Axis(label="of the time is lost", quantity=SHARE, low=_FLOOR, high=1.0, scale="log"),
        series=tuple(
            Series(
                key=key,
                label=label,
                x=INTERVALS,
                y=tuple(_lost_share(pair[at]) for pair in result.curve),
                color="compute" if at else "memory",
                dashed=not at,
            )
            for key, label, at in rows
        ),
        points=(Point(key="you", label="you", x=inputs.interval, y=_lost_share(now.goodput)),),
        rules=(Rule(key="daly", label="best", axis="x", at=now.daly),)
        if _LEAST <= now.daly <= DAY
        else (),
        handle="interval",
        caption="Lost: steps that wait, work done again, restarts.",
    )


def _lost_share(goodput: Share) -> Share:
    return max(_FLOOR, 1.0 - goodput)


def parts(result: Result) -> Bars:
    """Return the contents of a checkpoint, compared with the weights alone."""
    checkpoint, size = result.saved, result.size
    return Bars(
        title="What is in a checkpoint",
        axis=Axis(
            label="bytes",
            quantity=BYTES,
            low=0.0,
            high=1.05 * size * max(14.0, checkpoint.weight + checkpoint.optimizer),
        ),
        bars=(
            Bar(
                key="saved",
                label="your checkpoint",
                segments=(
                    Segment(
                        key="weights",
                        label="weights",
                        value=size * checkpoint.weight,
                        color="parameters",
                    ),
                    Segment(
                        key="optimizer",
                        label="optimizer",
                        value=size * checkpoint.optimizer,
                        color="optimizer",
                    ),
                ),
            ),
            Bar(
                key="weights",
                label="weights in bf16 alone",
                segments=(
                    Segment(key="weights", label="weights", value=2.0 * size, color="parameters"),
                ),
            ),
        ),
    )


def published(present: Presenter, result: Result) -> Table:
    """Return published and computed figures of two runs."""
    bloom, llama = result.bloom, result.llama
    weights = bloom.whole * 2.0 / (bloom.weight + bloom.optimizer)
    return Table(
        title="Published and computed",
        columns=("Of", "Published", "Computed", "Source"),
        rows=(
            (
                "BLOOM 176B: a checkpoint",
                "2.3 TB",
                _both_units(bloom.whole),
                Citation(("bigscience_readme",)),
            ),
            (
                "Its weights in bf16",
                "329 GB",
                _both_units(weights),
                Citation(("bigscience_readme",)),
            ),
            (
                "Its steps wait",
                "40 s",
                say("{t} at 300 GB/s", t=(bloom.write, SECONDS)),
                Citation(("bigscience_chronicles",)),
            ),
            (
                "Llama 3 405B: one GPU writes",
                "1 MB to 4 GB",
                say("{b} on average", b=(llama.per_gpu, BYTES)),
                Citation(("dubey2024",)),
            ),
            (
                "All of it is written",
                "2 TB/s sustained",
                say("{t} at 2 TB/s", t=(llama.write, SECONDS)),
                Citation(("dubey2024",)),
            ),
        ),
        caption="These rows do not change with your job. GiB and TiB are binary units.",
    )


def _both_units(size: Bytes) -> Sentence:
    unit, name = (TiB, "TiB") if size >= TiB else (GiB, "GiB")
    return say("{b}, or " + f"{format_significant(size / unit)} {name}", b=(size, BYTES))
