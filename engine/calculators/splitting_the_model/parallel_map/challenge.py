"""A challenge on the map: let nothing but pipeline messages leave a node."""

from collections.abc import Mapping

from engine.calculators.splitting_the_model.parallel_map.inputs import Inputs
from engine.calculators.splitting_the_model.parallel_map.result import Result
from engine.core.inputs import Scalar
from engine.core.text import say
from engine.core.units import COUNT, SHARE, with_digits
from engine.core.views import Challenge, Condition

_GPUS, _PARTS, _WAITS = 64, 16, 0.1
START: Mapping[str, Scalar] = {
    "model": "llama-3-70b",
    "tensor_parallel": 8,
    "data_parallel": 4,
    "pipeline_parallel": 2,
    "order": "dp-cp-pp-tp",
    "sequence_length": 8192,
    "micro_batch_size": 1,
    "num_microbatches": 64,
}
SOLUTION: Mapping[str, Scalar] = {
    **START,
    "tensor_parallel": 2,
    "data_parallel": 4,
    "pipeline_parallel": 8,
    "order": "tp-cp-dp-pp",
}


def challenge(inputs: Inputs, result: Result) -> Challenge:
    """Return the challenge for the inputs."""
    mesh, plan, step = result.plan.mesh, result.plan.run.plan, result.plan.step
    across = {axis: traffic.across for axis, traffic in result.plan.traffic.items()}
    waits = step.tensor_parallel + step.data_parallel + step.pipeline
    parts = plan.tensor_parallel * plan.pipeline_parallel
    model_fixed = (inputs.model, inputs.machine, inputs.sequence_length, inputs.gpus_per_node) == (
        START["model"],
        "dgx-h100",
        START["sequence_length"],
        8,
    )
    conditions = (
        Condition(
            text=say(
                "Llama 3 70B, sequences of 8,192 tokens, on {n} H100 in nodes of eight",
                n=(_GPUS, COUNT),
            ),
            met=model_fixed and mesh.world_size == _GPUS,
        ),
        Condition(
            text=say("the model cut into at least {n} parts (TP x PP), to fit", n=(_PARTS, COUNT)),
            met=parts >= _PARTS,
        ),
        Condition(text="no tensor-parallel byte leaves a node", met=across.get("tensor", 0.0) == 0),
        Condition(text="no gradient leaves a node", met=across.get("data", 0.0) == 0),
        Condition(
            text=say(
                "less than {s} of the step waits for communication", s=(_WAITS, with_digits(SHARE))
            ),
            met=waits < _WAITS * step.total,
        ),
    )
    return Challenge(
        title="Challenge: only pipeline messages may leave a node",
        goal="Change sizes and order until the fast links carry everything but the activations "
        "between stages.",
        conditions=conditions,
        hints=(
            "A node has room for eight ranks: the product of the axes that stay inside it.",
            "Pipeline messages are the smallest. Put PP last and give it as many stages as nodes.",
        ),
        start=START,
        solution=SOLUTION,
    )
