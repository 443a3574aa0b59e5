"""Data-parallel scaling: how many times faster n GPUs are, weak and strong, beside measurements."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.data_parallelism.data_parallel_scaling.result import (
    LARGEST,
    SIZES,
    Inputs,
    Result,
)
from engine.calculators.data_parallelism.data_parallel_scaling.result import solve as solve
from engine.catalog.constants import COMMON
from engine.catalog.scaling_runs import SCALED
from engine.core.outputs import Presenter, Views
from engine.core.text import say
from engine.core.units import COUNT, LINK_SPEED, SHARE, TOKENS, Gbit, with_digits
from engine.core.views import (
    Badge,
    Challenge,
    Condition,
    Line,
    Lines,
    Published,
    Rule,
    Scale,
)
from engine.form.run.prediction_text import value_with_range
from engine.formulas.overlap import EFFICIENCY, EXPOSED_TIME, STEP_TIME
from engine.formulas.scaling import BLOCKING_STEP, HIDING_TOKENS, REAL_STEP
from engine.formulas.stragglers import ALL_BELOW

FORMERLY = {"parameters": "", "utilization": "", "scale_up": "", "bucket": ""}
TITLE = "Scaling curves"
QUESTION = "How many times faster are n GPUs, and where does it end?"
HEADLINE = "speedup"
EQUATIONS = (
    BLOCKING_STEP,
    STEP_TIME,
    REAL_STEP,
    HIDING_TOKENS,
    EFFICIENCY,
    EXPOSED_TIME,
    ALL_BELOW,
)
PRESETS = {
    "4M tokens on 1,024 GPUs": {"mode": "strong", "num_gpus": 1024},
    "No overlap": {"overlap": False},
    "H100, eight ports of 400 Gb/s": {
        "gpu": "h100",
        "port": 5e10,
        "ports_per_node": 8,
    },
    "One slow GPU": {"slower": 0.2},
    "Gradients in bf16": {"gradient": "bf16"},
}
_RECEIPTS = (HIDING_TOKENS, ALL_BELOW)
_CLAIM = Published(
    text="a published page says: 8 GPUs should be 8x faster",
    reason="Only if nothing is exposed and nobody is late.",
    source="pingdo_job",
    claim="E2.4",
)


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=_RECEIPTS)
    title = "Version {}: {}".format
    wall = title(3, "jitter, and failures that cost a twentieth of the time")
    return {
        "speedup": present.value("speedup", published=_CLAIM),
        **present.values("efficiency", "tokens_per_gpu", "hiding_tokens", "enough"),
        "step_time": value_with_range(
            present,
            "step_time",
            result.evidence,
            assumes=("The range is of the step with the jitter of the estimate.",),
        ),
        **present.values(
            "exposed", "waiting", "optimizer", "host", "all_below", "one_in", "states", "link"
        ),
        "regime": regime(present, inputs, result),
        "curve": partial(curve, present, inputs, result),
        **present.values("measured_weak", "measured_sharded", "measured_strong"),
        "without_overlap": present.formula(title(1, "no overlap"), BLOCKING_STEP),
        "with_overlap": present.formula(title(2, "overlap"), STEP_TIME, Ts="with_overlap"),
        "on_the_wall": present.formula(wall, REAL_STEP),
        "challenge": partial(challenge, inputs, result),
    }


# Scaling curves: the regime, the curves beside measurements, and a challenge.

_MODEL = {"weak": ("model, weak", "compute"), "strong": ("model, strong", "ink")}
_MEASURED = {
    "node": ("weak, measured", "data"),
    "all": ("weak, sharded", "tensor"),
    "strong": ("strong, measured", "expert"),
}


def regime(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    """Return the badge on the limit of the speed-up."""
    if result.exposed + result.waiting < 0.02 * result.step_time:
        sentence = present.say("{efficiency} of a GPU's speed is kept.")
        return Badge(text="Compute", sentence=sentence, color="compute")
    if result.waiting > result.exposed:
        sentence = present.say("Waiting for the slowest costs {waiting} a step.")
        return Badge(text="Slowest GPU", sentence=sentence, color="compute")
    if not inputs.overlap:
        sentence = present.say("All {exposed} of the all-reduce is exposed: nothing overlaps.")
        return Badge(text="No overlap", sentence=sentence, color="communication")
    few = result.pass_tokens < result.enough
    sentence = present.say(
        "{exposed} of the all-reduce is exposed: the last backward pass has {pass_tokens} tokens, "
        "and hiding takes {enough}."
        if few
        else "{exposed} is exposed or lost to contention, though {pass_tokens} tokens hide all "
        "but the last bucket and the embedding."
    )
    text = "Tokens per GPU" if few else "Network"
    return Badge(text=text, sentence=sentence, color="communication")


def curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the efficiency over the number of GPUs, modelled and measured."""
    lines = [Line(mode, name, result.curves[mode], color) for mode, (name, color) in _MODEL.items()]
    for key, (name, color) in _MEASURED.items():
        run = SCALED[key]
        lines.append(
            Line(f"measured {key}", name, run.efficiencies, color, dashed=True, x=run.gpus)
        )
    label = say("strong, bound: {n} GPUs", n=(round(result.limit), COUNT))
    rule = Rule(key="limit", label=label, axis="x", at=result.limit)
    return present.curve(
        "Share of its speed alone that each GPU keeps",
        over=Scale("num_gpus", "GPUs", 1.0, float(LARGEST), log=True),
        shows=Scale("efficiency", "efficiency", 0.0, 1.05),
        x=SIZES,
        lines=lines,
        rules=(rule,) if 1 <= result.limit <= LARGEST else (),
        caption="Solid: the model at your inputs. Dashed: measured by the authors of InternEvo on "
        "A100, against one node. Right of the vertical line, strong scaling has fewer "
        "tokens per GPU than the bound.",
    )


START: Mapping[str, float | int | str | bool] = {
    "mode": "strong",
    "num_gpus": 1024,
    "overlap": False,
}
SOLUTION: Mapping[str, float | int | str | bool] = {
    **START,
    "overlap": True,
    "ports_per_node": 8,
    "gradient": "bf16",
}
_TARGET = 0.8


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge: strong scaling to 1,024 GPUs."""
    same = (inputs.model, inputs.gpu) == ("llama-2-7b", "a100")
    conditions = (
        Condition(
            text=say("{b} tokens in a batch, on {n} GPUs", b=(4_194_304, TOKENS), n=(1024, COUNT)),
            met=inputs.mode == "strong" and inputs.batch <= 4_194_304 and inputs.num_gpus >= 1024,
        ),
        Condition(text="the same model and GPU", met=same),
        Condition(
            text=say("ports of at most {p}", p=(100 * Gbit, LINK_SPEED)),
            met=inputs.port <= 100 * Gbit,
        ),
        Condition(
            text=say("jitter of {d} or more", d=(COMMON.deviation, with_digits(SHARE))),
            met=inputs.deviation >= COMMON.deviation,
        ),
        Condition(
            text=say("an efficiency of {e} or more", e=(_TARGET, with_digits(SHARE))),
            met=result.efficiency >= _TARGET,
        ),
    )
    return Challenge(
        title="Challenge: four million tokens, a thousand GPUs",
        goal="Keep four fifths of every GPU's speed without a larger batch.",
        conditions=conditions,
        hints=(
            "An all-reduce that blocks cannot hide, and half the bytes take half the time.",
            "With 4,096 tokens per GPU, compare what hides the all-reduce with what the last "
            "backward pass has.",
        ),
        start=START,
        solution=SOLUTION,
    )
