"""A step of reinforcement learning: who generates, who trains, and who waits."""

from collections.abc import Mapping
from functools import partial

from engine.calculators.whole_runs.rollout_lab import charts
from engine.calculators.whole_runs.rollout_lab.curves import JOB
from engine.calculators.whole_runs.rollout_lab.inputs import Inputs as Inputs
from engine.calculators.whole_runs.rollout_lab.measured import measured
from engine.calculators.whole_runs.rollout_lab.result import Result as Result
from engine.calculators.whole_runs.rollout_lab.result import search as search
from engine.calculators.whole_runs.rollout_lab.result import solve as solve
from engine.calculators.whole_runs.rollout_lab.timeline import timeline
from engine.core.inputs import Scalar
from engine.core.outputs import Presenter, Views
from engine.core.views import Badge, Challenge, Condition

TITLE = "A step of reinforcement learning"
QUESTION = "Which GPUs idle while others generate?"
EQUATIONS = ()
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "All equally long": {"spread": 0.0},
    "Apart, one step off": {"mode": "one_step_off"},
    "verl's 7B on 64 H20": {"world_size": 64, **JOB},
    "32B on 64 H100": {"model": "qwen2.5-32b", "world_size": 64, "engine": "4"},
}
START: Mapping[str, Scalar] = {"mode": "separate", "share": 0.5, "spread": 1.0, "world_size": 32}
SOLUTION: Mapping[str, Scalar] = {**START, "mode": "colocated", "engine": "4"}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the timeline, the numbers and the curves."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "timeline": partial(timeline, result.steps[inputs.mode]),  # type: ignore[index]
        **present.values("step", "idle"),
        "regime": _regime(present, inputs, result),
        **present.values("generation", "tail", "learning", "update", "rate", "stale"),
        **present.values("mean", "over_mean"),
        "tail_curve": partial(charts.tail, inputs, result),
        "survivors": partial(charts.survivors, result),
        "measured": partial(measured, result),
        "placements": partial(charts.placements, result),
        "split": partial(charts.split, inputs, result),
        "challenge": partial(_challenge, inputs, result),
    }


def _regime(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if inputs.mode == "colocated" and not result.fit.runs:
        return Badge(
            text="Does not fit",
            sentence="One of the two phases needs more than a GPU has; see the memory below.",
            color="bad",
        )
    together = inputs.mode in ("colocated", "separate")
    if together and result.tail > 0.25 * result.generation:
        return Badge(
            text="The longest responses set the step",
            sentence=present.say("For {tail} of {generation} at least half of the engines wait."),
            color="communication",
        )
    if result.generation > result.learning:
        return Badge(
            text="Generation binds",
            sentence=present.say(
                "It takes {generation}, log-probabilities and training {learning}."
            ),
            color="communication",
        )
    return Badge(
        text="Training binds",
        sentence=present.say(
            "It takes {learning} with its passes before, generation {generation}."
        ),
        color="compute",
    )


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    same = Inputs(mode=inputs.mode, engine=inputs.engine, share=inputs.share) == inputs
    return Challenge(
        title="Challenge: on policy, and at work",
        goal="32 H100 train Qwen2.5 7B on 1,024 responses per step, half of them generating, in "
        "turn. Bring the idle time below 30 percent without training on old responses.",
        conditions=(
            Condition(text="the same model, GPUs, responses and lengths", met=same),
            Condition(text="less than 30 percent of the GPU time is idle", met=result.idle < 0.3),
            Condition(text="no response is behind an update", met=result.stale == 0),
        ),
        hints=(
            "In turn, one half of the cluster always waits for the other.",
            "The longest response waits for its own tokens, one after another. What makes one "
            "token faster?",
        ),
        start=START,
        solution=SOLUTION,
    )
