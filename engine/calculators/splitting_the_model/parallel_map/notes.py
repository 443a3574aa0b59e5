"""Notes on impossible, uneven or refused parts of the plan."""

from dataclasses import replace

from engine.calculators.splitting_the_model.parallel_map.inputs import MOST, Inputs
from engine.core.text import Text, say
from engine.core.units import COUNT, Count
from engine.form.plain_words import plain_sentences
from engine.run.problems import problems
from engine.run.run import Run
from engine.run.stage_cut import uneven_pieces


def within_limits(inputs: Inputs) -> tuple[Inputs, tuple[Text, ...]]:
    """Return the inputs with at most 1,024 GPUs: the outer axes of most plans shrink first."""
    limited = inputs
    for name in ("data_parallel", "context_parallel", "pipeline_parallel", "tensor_parallel"):
        excess = total_gpus(limited) / MOST
        if excess > 1:
            # The largest number that keeps the product in bounds.
            fits = max(1, int(getattr(limited, name) / excess))
            limited = replace(limited, **{name: fits})  # type: ignore[arg-type]
    if limited == inputs:
        return inputs, ()
    sentence = say(
        "Together the axes ask for {asked} GPUs; the map shows at most {most}, with TP {t}, "
        "CP {c}, DP {d}, PP {p}.",
        asked=(total_gpus(inputs), COUNT),
        most=(MOST, COUNT),
        t=(limited.tensor_parallel, COUNT),
        c=(limited.context_parallel, COUNT),
        d=(limited.data_parallel, COUNT),
        p=(limited.pipeline_parallel, COUNT),
    )
    return limited, (sentence,)


def total_gpus(inputs: Inputs) -> Count:
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


def other_problems(run: Run) -> tuple[Text, ...]:
    """Return other problems that the software would refuse, in plain words."""
    return plain_sentences(problems(run.model, run.cluster, run.plan, run.training))


def refused_order(inputs: Inputs, run: Run) -> tuple[Text, ...]:
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
