"""The published runs that a prediction is compared with, one line each: of equal ones the best."""

from collections.abc import Sequence

from engine.catalog.published_runs import SOURCES
from engine.formulas.parameters import active_parameters
from engine.run.published import PublishedRun
from tests.validation.unseen import model_of


def name_of(case: PublishedRun) -> str:
    """The model as a reader knows it, with its layers where it is cut."""
    name = case.row["model"]
    if "InternLM" in name:
        return "InternLM 7B"
    if name == "GPT":
        return f"GPT {case.run.model.num_layers} x {case.run.model.hidden_size}"
    name = name.replace(" (layer-cut proxy)", "").replace("GPT/BLOOM", "BLOOM-like")
    cut = model_of(case).startswith("grok") and case.run.model.num_layers < 64
    return f"{name}, {case.run.model.num_layers} layers" if cut else name


def line(case: PublishedRun) -> tuple[str, ...]:
    """What is said of one run."""
    run = case.run
    plan, training = run.plan, run.training
    bits = {"fp8": 8, "fp4": 4}.get(training.precision, 16)
    sizes = (
        *(plan.world_size, plan.tensor_parallel, plan.pipeline_parallel, plan.context_parallel),
        *(plan.expert_parallel, plan.zero_stage, bits, training.sequence_length),
        *(training.global_batch_size, run.model.num_experts),
    )
    gpu = run.cluster.gpu.name.split()[0]
    source = list(SOURCES).index(case.row["source_file"])
    active = f"{active_parameters(run.model):.3g}"
    return (name_of(case), gpu, *map(str, sizes), active, f"{case.time:.4g}", str(source))


def nearby_text(found: Sequence[PublishedRun]) -> str:
    """Return the table; of releases of one run the fastest."""
    chosen: dict[tuple[str, ...], tuple[str, ...]] = {}
    for case in found:
        if case.trusted and case.run.training.global_batch_size >= 1:
            one = line(case)
            key = (*one[:10], one[12])
            if key not in chosen or float(one[-2]) < float(chosen[key][-2]):
                chosen[key] = one
    return "\n".join("\t".join(one) for one in chosen.values()) + "\n"
