"""Layers moved between the stages of a pipeline: times, memory, and the layout for Megatron."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.splitting_the_model.stage_lab.inputs import HELD
from engine.calculators.splitting_the_model.stage_lab.inputs import Inputs as Inputs
from engine.calculators.splitting_the_model.stage_lab.inputs import Result as Result
from engine.calculators.splitting_the_model.stage_lab.inputs import solve as solve
from engine.core.inputs import Scalar
from engine.core.outputs import Teller, Views
from engine.core.text import say, words
from engine.core.units import BYTES, COUNT, RATIO, SECONDS, Ratio
from engine.core.views import Badge, Challenge, Code, Condition, Scene
from engine.draw.drag_handle import Grip
from engine.draw.layer_cut import Row, cut_strip, layer_width
from engine.form.run.prediction_text import ranged
from engine.formulas.axes import STAGE_MESSAGE

TITLE = "Layers between stages"
QUESTION = "Where should a model be cut into stages?"
EQUATIONS = (STAGE_MESSAGE,)
PRESETS = {
    "Eight stages": {"stages": "8"},
    "8B, four stages": {"model": "llama-3-8b", "tensor_parallel": "1"},
    "One layer off the last stage": {"shift_3": 1},
}
START: Mapping[str, Scalar] = {"model": "llama-3-8b", "tensor_parallel": "1", "stages": "4"}
SOLUTION: Mapping[str, Scalar] = {**START, "shift_1": 1, "shift_2": 2, "shift_3": 3}
_BALANCED: Ratio = 1.05


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "strip": partial(_strip, inputs, result),
        "regime": _regime(tell, result),
        **tell.values("slowest", "imbalance"),
        "step": ranged(tell, "step", result.plan.evidence, assumes=(HELD,)),
        **tell.values("token_rate", "output", "memory"),
        "message": tell.value("message", symbols={"t": "sequence_length"}),
        **tell.values("needed", "tensor_needed"),
        "layout": Code(
            title="For Megatron-LM",
            language="bash",
            text=f"--pipeline-model-parallel-size {inputs.stages} \\\n"
            f'--pipeline-model-parallel-layout "{result.layout}"',
        ),
        "challenge": partial(_challenge, inputs, result),
    }


def _regime(tell: Teller, result: Result) -> Badge:
    if result.memory > result.usable:
        return Badge(
            text="Does not fit",
            sentence=tell.say("{memory} on the fullest GPU; {usable} can be used."),
            color="communication",
        )
    if result.imbalance <= _BALANCED:
        return Badge(
            text="Balanced",
            sentence=tell.say("The slowest stage takes {imbalance} as long as the mean."),
            color="compute",
        )
    number = result.plan.slowest
    return Badge(
        text=f"Stage {number} holds up the others",
        sentence=tell.say(
            "It takes {slowest}, and the mean stage {mean}. All others wait for it in every "
            "micro-batch."
        ),
        color="pipeline",
    )


def _strip(inputs: Inputs, result: Result) -> Scene:
    rows = [
        Row(
            layers=stage.layers,
            ends=_ends(number, len(result.cut)),
            time=words(say("{t}", t=(stage.time, SECONDS))),
            memory=words(say("{m}", m=(stage.memory.total, BYTES))),
            time_share=stage.time / result.slowest,
            memory_share=stage.memory.total / result.usable,
            slowest=number == result.plan.slowest,
        )
        for number, stage in enumerate(result.plan.stages)
    ]
    ends = (result.embedding, result.output)
    notch = layer_width(sum(result.cut), ends)
    grips = [
        Grip(
            name=f"shift_{boundary}",
            key=f"boundary{boundary}",
            notch=notch,
            label=f"Boundary after stage {boundary - 1}",
            now=getattr(inputs, f"shift_{boundary}"),
            low=-20,
            high=20,
            text=f"{result.cut[boundary - 1]} layers before it",
            steps=1,
        )
        for boundary in range(1, len(result.cut))
    ]
    caption = say(
        f"Layers of each stage: {', '.join(map(str, result.cut))}. The output layer takes as long "
        "as {o} layers.",
        o=(result.output, COUNT),
    )
    return cut_strip(rows, ends, grips, caption)


def _ends(stage: int, stages: int) -> str:
    if stage == 0:
        return ", emb."
    return ", out." if stage == stages - 1 else ""


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    same = inputs.model == "llama-3-8b" and inputs.tensor_parallel == "1"
    return Challenge(
        title="Challenge: balance a small model with a large vocabulary",
        goal=say(
            "Cut Llama 3 8B into four stages so that the slowest takes at most "
            "{r} as long as the mean.",
            r=(_BALANCED, RATIO),
        ),
        conditions=(
            Condition(text="Llama 3 8B, one GPU per stage", met=same),
            Condition(text="four stages", met=inputs.stages == "4"),
            Condition(text="it fits", met=result.memory <= result.usable),
            Condition(
                text=say("slowest over mean at most {r}", r=(_BALANCED, RATIO)),
                met=result.imbalance <= _BALANCED,
            ),
        ),
        hints=(
            "The output layer multiplies by the whole vocabulary. See how many layers it is worth.",
            "What leaves the last stage has to be shared among the others: move all boundaries.",
        ),
        start=START,
        solution=SOLUTION,
    )
