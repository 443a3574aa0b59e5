"""What of the reader's plan is impossible, uneven or refused, in words."""

from dataclasses import replace

from engine.calculators.splitting_the_model.parallel_map.inputs import MOST, Inputs
from engine.core.text import Text, say
from engine.core.units import COUNT, Count
from engine.form.plain_words import plainly
from engine.run.problems import problems
from engine.run.run import Run
from engine.run.stage_cut import uneven_pieces


def at_most(inputs: Inputs) -> tuple[Inputs, tuple[Text, ...]]:
    """Return the inputs with at most 1,024 GPUs: the outer axes of most plans shrink first."""
    found = inputs
    for name in ("data_parallel", "context_parallel", "pipeline_parallel", "tensor_parallel"):
        excess = product(found) / MOST
        if excess > 1:
            # The largest number that keeps the product in bounds.
            fits = max(1, int(getattr(found, name) / excess))
            found = replace(found, **{name: fits})  # type: ignore[arg-type]
    if found == inputs:
        return inputs, ()
    sentence = say(
        "Together the axes ask for {asked} GPUs; the map shows at most {most}, with TP {t}, "
        "CP {c}, DP {d}, PP {p}.",
        asked=(product(inputs), COUNT),
        most=(MOST, COUNT),
        t=(found.tensor_parallel, COUNT),
        c=(found.context_parallel, COUNT),
        d=(found.data_parallel, COUNT),
        p=(found.pipeline_parallel, COUNT),
    )
    return found, (sentence,)


def product(inputs: Inputs) -> Count:
    """Return the GPUs that the axes ask for."""
    inside = inputs.tensor_parallel * inputs.context_parallel
    return inside * inputs.data_parallel * inputs.pipeline_parallel


def uneven(run: Run) -> tuple[Text, ...]:
    """Return how layers that do not divide are spread over the stages."""
    layers, stages = run.model.num_layers, run.plan.pipeline_parallel
    sizes = uneven_pieces(run.model, run.plan)
    if not sizes:
        return ()
    return (
        say(
            "{n} layers do not divide into {p} stages: they get {low} to {high} layers, embedding "
            "and output layer counted as one each.",
            n=(layers, COUNT),
            p=(stages, COUNT),
            low=(min(sizes), COUNT),
            high=(max(sizes), COUNT),
        ),
    )


def others(run: Run) -> tuple[Text, ...]:
    """Return what else the software would refuse, with the names of fields in plain words."""
    return plainly(problems(run.model, run.cluster, run.plan, run.training))


def refused(inputs: Inputs, run: Run) -> tuple[Text, ...]:
    """Return whether Megatron's check of the order fails: experts, and the pipeline not last."""
    plan = run.plan
    last = inputs.order.endswith("pp") or plan.pipeline_parallel == 1
    copies = plan.world_size // (plan.pipeline_parallel * plan.expert_parallel)
    if last or plan.expert_parallel == 1 or copies == plan.data_parallel:
        return ()
    return (
        say(
            "Megatron-LM refuses this order: unless PP comes last, attention and experts must have "
            "the same data parallelism; here it is {d} and {e}.",
            d=(plan.data_parallel, COUNT),
            e=(copies, COUNT),
        ),
    )
