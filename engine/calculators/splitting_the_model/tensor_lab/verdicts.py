"""Verdicts and challenge of the tensor-parallel lab."""

from collections.abc import Mapping

from engine.calculators.splitting_the_model.tensor_lab.inputs import Inputs
from engine.calculators.splitting_the_model.tensor_lab.result import Result
from engine.core.inputs import Scalar
from engine.core.outputs import Presenter
from engine.core.text import say
from engine.core.units import SHARE, Share, with_digits
from engine.core.views import Badge, Challenge, Condition
from engine.form.memory_fit import fit_badge

START: Mapping[str, Scalar] = {"tensor_parallel": 32, "sequence_length": 4096}
SOLUTION: Mapping[str, Scalar] = {"tensor_parallel": 4, "sequence_length": 4096, "overlap": True}
_MOST: Share = 0.05


def regime(present: Presenter, result: Result) -> Badge:
    """Return a badge with the tensor group's placement."""
    cluster = result.plan.run.cluster
    if result.num_gpus == 1:
        return Badge(
            text="Nothing is sent",
            sentence="One rank of tensor parallelism has every matrix to itself.",
            color="compute",
        )
    nodes = -(-result.num_gpus // cluster.gpus_per_node)
    if nodes == 1:
        return Badge(
            text="Inside a node",
            sentence=present.say("All {num_gpus} GPUs of a group share one node, and its NVLink."),
            color="tensor",
        )
    return Badge(
        text="Across nodes",
        sentence=present.say(
            f"A group spreads over {nodes} nodes. Its collectives alone take {{ratio}} as long as "
            "the computation."
        ),
        color="communication",
    )


def fits(result: Result) -> Badge:
    """Return whether the fullest GPU holds its part, and the changes made to the plan."""
    if result.changes:
        return Badge(text="Changed", sentence=result.changes[0], color="muted")
    return fit_badge(result.plan.fit)


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge: hardly any waiting, on machines as they are."""
    defaults = Inputs()
    machine = ("gpu", "gpus_per_node", "nics_per_node", "nic_bandwidth", "model")
    same = all(getattr(inputs, name) == getattr(defaults, name) for name in machine)
    batch = inputs.micro_batch_size * inputs.sequence_length <= 4096
    return Challenge(
        title="Challenge: 70B without waiting",
        goal=say(
            "Train Llama 3 70B so that less than {s} of the step waits for tensor parallelism.",
            s=(_MOST, with_digits(SHARE)),
        ),
        conditions=(
            Condition(text="Llama 3 70B on nodes of 8 H100 with 8 ports of 400 Gb/s", met=same),
            Condition(text="at most 4,096 tokens in a micro-batch", met=batch),
            Condition(text="at most 4 stages", met=inputs.pipeline_parallel <= 4),
            Condition(
                text="the plan fits", met=result.plan.fit.verdict == "fits" and not result.changes
            ),
            Condition(
                text=say("less than {s} of the step exposed", s=(_MOST, with_digits(SHARE))),
                met=result.exposed_share < _MOST,
            ),
        ),
        hints=(
            "A group that stays inside a node never uses a port.",
            "What still has to be sent can be sent beside the products.",
            "Fewer ranks send less and compute longer. See what memory is left.",
        ),
        start=START,
        solution=SOLUTION,
    )
