"""The challenge of the checkpoint lab: a job that saves on a slow file system."""

from collections.abc import Mapping

from engine.calculators.whole_runs.checkpoint_lab.inputs import Inputs
from engine.core.inputs import Scalar
from engine.core.text import say
from engine.core.units import GB, SHARE, Seconds, Share, with_digits
from engine.core.views import Challenge, Condition
from engine.form.saving_inputs import LLAMA3_MTBF

_GOAL: Share = 0.99
_RESTART: Seconds = 600.0
_START: Mapping[str, Scalar] = {
    "model": "llama-3-70b",
    "world_size": 1024,
    "global_batch_size": 1024,
    "storage": 10 * GB,
    "background": False,
}


def challenge(inputs: Inputs, goodput: Share, fits: bool) -> Challenge:
    """Return the challenge."""
    as_found = inputs.gpu_mtbf == LLAMA3_MTBF and inputs.restart >= _RESTART
    return Challenge(
        title="A cheap file system",
        goal=say(
            "Llama 3 70B on 1,024 GPUs keeps {share} of its time with a storage of 10 GB/s.",
            share=(_GOAL, with_digits(SHARE)),
        ),
        conditions=(
            Condition(text="Llama 3 70B", met=inputs.model == "llama-3-70b"),
            Condition(text="1,024 GPUs", met=inputs.world_size == 1024),
            Condition(text="storage of at most 10 GB/s", met=inputs.storage <= 10 * GB),
            Condition(
                text="GPUs that fail as Llama 3's did, a restart of 10 min or more", met=as_found
            ),
            Condition(text="weights and optimizer are saved", met=inputs.optimizer == "yes"),
            Condition(text="it fits", met=fits),
            Condition(text=say("{g} goodput", g=(_GOAL, with_digits(SHARE))), met=goodput >= _GOAL),
        ),
        hints=(
            "What do the steps wait for if the write runs behind them?",
            "A second checkpoint cannot begin before the one before it is written.",
            "Drag the interval toward the rule in the chart.",
        ),
        start=_START,
        solution={**_START, "background": True, "interval": 600.0},
    )
