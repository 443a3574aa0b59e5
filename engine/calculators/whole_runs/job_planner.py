"""Job planner: a plan, its days and its money for any job on any machines."""

from functools import partial
from typing import Any

from engine.core.numbers import format_value
from engine.core.outputs import Presenter, Views
from engine.core.slices import Slices, run_to_end
from engine.core.text import Text, render_text, say
from engine.core.units import BYTES, COUNT, DAY, MONEY, SECONDS
from engine.core.views import Code
from engine.form.job_planner import pictures
from engine.form.job_planner.answer import Answer, answer
from engine.form.job_planner.inputs import PRESETS as PRESETS
from engine.form.job_planner.inputs import Inputs as Inputs
from engine.form.job_planner.inputs import request_text
from engine.form.planner.plan_text import plan_name
from engine.form.planner.published_text import published_table
from engine.form.run.prediction_text import value_with_range
from engine.form.short_job import Shape
from engine.run.exporters.fully_sharded import torchtitan_toml
from engine.run.exporters.megatron import megatron_arguments

TITLE = "Plan my job"
QUESTION = "Which plan is the fastest for my job, how long does it take, and what does it cost?"
HEADLINE = "days"
EQUATIONS = ()
SMALL = {"world_size": 8}
GROUPS = {
    "The model, if it is your own": tuple(Shape.__dataclass_fields__),
    "The job": ("global_batch_size", "lora_rank"),
    "The machine, if it is your own": (
        *("gpu", "own_peak", "own_peak_fp8", "own_memory", "own_bandwidth", "own_scale_up"),
        *("gpus_per_node", "nics_per_node", "nic_bandwidth", "transport", "own_constants"),
    ),
    "The machine that is compared": ("other_world_size", "other_price"),
    "The software": (
        *("framework", "overlap_tensor_parallel", "overlap_expert_parallel", "exchange"),
        *("cuda_graphs", "fused_experts"),
    ),
}
_NO_PLAN = "no plan, so no step"


def search(inputs: Inputs) -> Slices[Answer]:
    """Find every number of the page."""
    return answer(inputs)


def solve(inputs: Inputs) -> Answer:
    """Return every number of the page."""
    return run_to_end(search(inputs))


def views(inputs: Inputs, result: Answer) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    # A number says so where there is nothing that it could tell.
    none: dict[str, Any] = {} if result.best else {"note": _NO_PLAN}
    paid = none or ({} if result.price else {"note": pictures.price_note(inputs, result)})
    return {
        "best": pictures.plan_badge(inputs, result),
        "step": value_with_range(present, "step", result.evidence)
        if result.evidence
        else present.value("step", **none),
        **{name: present.value(name, **none) for name in ("rate", "days", "in_the_end")},
        "cost": present.value("cost", **paid),
        "steps_cost": present.value(
            "steps_cost", **(none or {"note": pictures.price_note(inputs, result)})
        ),
        "held": present.value("held", note=_room(result)),
        "memory": pictures.memory_badge(result),
        "by_date": partial(pictures.date_badge, inputs, result),
        "by_budget": partial(pictures.budget_badge, inputs, result),
        "by_model": partial(pictures.model_badge, inputs, result),
        "limits": partial(pictures.limits_badge, result),
        "ties": partial(pictures.ties_badge, result),
        "published": partial(published_table, result.published),
        "moves": partial(pictures.moves_table, result),
        "curve": partial(pictures.days_curve, inputs, result),
        "costs": partial(pictures.cost_curve, inputs, result),
        "models": partial(pictures.model_curve, inputs, result),
        "sizes": partial(pictures.sizes_table, result),
        "cheaper": partial(pictures.compared_badge, inputs, result),
        "compared": partial(pictures.compared_curve, inputs, result),
        "machines": partial(pictures.compared_table, inputs, result),
        "table": partial(pictures.plans_table, result),
        "written": partial(_written, inputs, result),
        "export": partial(_export, result),
        "request": partial(_request, inputs),
    }


def _room(answer: Answer) -> Text:
    """Return what the process may fill, beside what it holds."""
    if not answer.best:
        return _NO_PLAN
    return say("of {usable} that may be filled", usable=(answer.best.fit.usable, BYTES))


def _written(inputs: Inputs, answer: Answer) -> Code:
    """Return the answer as text, to be sent to somebody."""
    job, best = answer.job, answer.best
    training, machines = job.training, job.cluster
    lines = [
        f"{job.model.name}, {format_value(inputs.tokens, COUNT)} tokens, "
        f"{training.global_batch_size:,} sequences of {training.sequence_length:,} tokens a step"
        + (f", LoRA of rank {training.lora_rank}" if training.lora_rank else ""),
        f"{job.world_size:,} {machines.gpu.name}, {machines.gpus_per_node} to a node, "
        f"{machines.nics_per_node} ports a node, {machines.transport}",
    ]
    if best is None:
        return Code(title="No plan", language="text", text="\n".join([*lines, _NO_PLAN, ""]))
    end = (answer.end_low, answer.in_the_end, answer.end_high)
    low, median, high = (f"{days / DAY:,.3g}" for days in end)
    money = format_value(answer.cost, MONEY)
    price = render_text(pictures.price_note(inputs, answer))
    lines += [
        f"Plan: {plan_name(best.plan, best.training)}",
        f"Step: {format_value(answer.step, SECONDS)}",
        f"The whole run: {answer.days / DAY:,.3g} days if nothing fails; {median} in the end, by "
        f"the factor of pretraining runs ({low} to {high} in eight of ten)",
        f"Cost in the end: {money}, {price}" if answer.price else f"Cost: {price}",
        f"Memory of the process: {format_value(answer.held, BYTES)} of "
        f"{format_value(machines.gpu.memory, BYTES)}: {best.fit.verdict}",
    ]
    return Code(title="The answer as text", language="text", text="\n".join([*lines, ""]))


def _request(inputs: Inputs) -> Code:
    """Return the job as a request to the planner, for terminal and Python."""
    return Code(title="The same request in a file", language="json", text=request_text(inputs))


def _export(answer: Answer) -> Code:
    """Return the best plan as the configuration of its software."""
    if not answer.run:
        return Code(title="No plan", language="text", text="")
    training = answer.run.training
    megatron = training.framework == "megatron"
    unsaid = ["data", "tokenizer"]
    if not megatron:
        unsaid.append("the model")
    if training.lora_rank:
        unsaid.append("the adapters")
    head = f"# Not said here: {', '.join(unsaid)}.\n"
    return Code(
        title=f"The plan for {'Megatron-LM' if megatron else 'torchtitan'}",
        language="bash" if megatron else "toml",
        text=head + (megatron_arguments if megatron else torchtitan_toml)(answer.run),
    )
