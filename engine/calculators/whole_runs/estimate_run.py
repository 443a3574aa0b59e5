"""Estimate a run: step time, memory and their breakdown, for any parallel plan."""

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Annotated, get_type_hints

from engine.catalog.reported_runs import REPORTED, ReportedRun
from engine.core.inputs import Choice, Number, Scalar
from engine.core.lazy import Lazy
from engine.core.outputs import Views
from engine.core.text import Text, say
from engine.core.units import BYTES, RATIO, SECONDS, SHARE, TOKEN_RATE, Ratio
from engine.core.views import Challenge, Citation, Condition, Table
from engine.form.memory_fit import fit_badge
from engine.form.run import charts, verdicts
from engine.form.run.inputs import Inputs as Form
from engine.form.run.nearest_valid import nearest_run
from engine.form.run.result import RunEstimate, run_estimate
from engine.form.run.views import EQUATIONS as EQUATIONS
from engine.form.run.views import estimate_values, peak_value
from engine.run.run import Run

_MARKS = get_type_hints(Form, include_extras=True)


def _folded(name: str) -> Number | Choice:
    """Return the declaration of an input, folded away until it is asked for."""
    mark: Number | Choice = _MARKS[name].__metadata__[0]
    return replace(mark, advanced=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs(Form):
    """Inputs of a training run, ten of them in sight."""

    virtual_pipeline: Annotated[int, _folded("virtual_pipeline")] = 5
    context_parallel: Annotated[int, _folded("context_parallel")] = 2
    expert_parallel: Annotated[int, _folded("expert_parallel")] = 1
    recompute: Annotated[str, _folded("recompute")] = "none"
    zero_stage: Annotated[str, _folded("zero_stage")] = "1"
    half_gradients: Annotated[str, _folded("half_gradients")] = "off"


GROUPS = {
    "Model": (
        *("num_layers", "hidden_size", "num_attention_heads", "num_key_value_heads"),
        *("ffn_hidden_size", "vocab_size", "mlp", "tied_embeddings", "num_experts"),
        *("experts_per_token", "num_shared_experts", "expert_ffn_hidden_size", "num_dense_layers"),
        *("biases", "learned_positions", "even_routing", "lora_rank", "lora_layers"),
    ),
    "Machine": (
        *("gpus_per_node", "nics_per_node", "nic_bandwidth", "own_peak", "own_peak_fp8"),
        *("own_memory", "own_bandwidth", "own_scale_up", "own_constants"),
    ),
    "Split": (
        *("virtual_pipeline", "context_parallel", "expert_parallel", "expert_tensor_parallel"),
        *("schedule", "sequence_parallel", "zero_stage", "shard_group"),
    ),
    "Memory": (
        *("recompute", "recompute_layers", "flash_attention", "half_gradients"),
        *("quantized_weights", "quantized_once", "keeps_quantized_products"),
        "fp8_activation_inputs",
    ),
    "Software": (
        *("compiled", "overlap_gradient_reduce", "overlap_tensor_parallel"),
        *("overlap_expert_parallel", "exchange", "cuda_graphs", "fused_experts", "eager_loss"),
    ),
}
_FIGURES = {
    "step_time": ("Step", SECONDS),
    "token_rate": ("Tokens per second of a GPU", TOKEN_RATE),
    "mfu": ("MFU", SHARE),
}


def reported_of(inputs: Inputs) -> ReportedRun | None:
    """Return the published report of exactly this run, if any."""
    for report in REPORTED.values():
        if Inputs(**report.settings) == inputs:  # type: ignore[arg-type]
            return report
    return None


def published_comparison(inputs: Inputs, estimated: RunEstimate) -> Table:
    """Return published and predicted figures; empty for an unpublished run."""
    report = reported_of(inputs)
    if report is None:
        return Table(title="", columns=(), rows=())
    label, quantity = _FIGURES[report.figure]
    predicted = float(getattr(estimated, report.figure))
    off = predicted / report.value - 1
    return Table(
        title="Published of this run",
        columns=("What", "Predicted", "Published", "Prediction off by", "As published", "Source"),
        rows=(
            (
                label,
                say("{p}", p=(predicted, quantity)),
                say("{v}", v=(report.value, quantity)),
                say(f"{'+' if off >= 0 else '−'}{{off}}", off=(abs(off), SHARE)),
                report.said,
                Citation((report.source,)),
            ),
        ),
    )


TITLE = "Estimate a run"
QUESTION = "How long does one training step take, where does the time go, and does it fit?"
HEADLINE = "step_time"
PRESETS = {name: report.settings for name, report in REPORTED.items()}

_LONGER: Ratio = 1.02  # of the step at the start, at most
_SOLUTION: dict[str, Scalar] = {
    "tensor_parallel": 8,
    "pipeline_parallel": 2,
    "virtual_pipeline": 10,
    "context_parallel": 1,
    "overlap_tensor_parallel": True,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Changes that make the run possible, its estimate, and the estimate at the start."""

    changes: tuple[Text, ...]
    estimate: RunEstimate
    start: Lazy[RunEstimate]


@cache
def _at_start() -> RunEstimate:
    """Return the estimate of the default inputs."""
    return run_estimate(nearest_run(Inputs())[0])


def solve(inputs: Inputs) -> Result:
    """Return the estimate of the run nearest to the inputs."""
    run, changes = nearest_run(inputs)
    return Result(changes=changes, estimate=run_estimate(run), start=Lazy(_at_start))


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    estimated = result.estimate
    numbers = estimate_values(estimated)
    return {
        "step_time": numbers.pop("step_time"),
        "possible": verdicts.possible_badge(estimated.run, estimated.doubts, result.changes),
        **numbers,
        "time_parts": partial(charts.time_bars, estimated),
        "fits": fit_badge(estimated.fit),
        "peak_memory": peak_value(estimated),
        "memory_parts": partial(charts.memory_bars, estimated),
        "published": partial(published_comparison, inputs, estimated),
        "challenge": partial(_challenge, result),
    }


def _challenge(result: Result) -> Challenge:
    """Return the goal: the same job without context parallelism, in less memory."""
    estimated, start = result.estimate, result.start()
    run, step, peak = estimated.run, start.step_time, start.held.peak_memory
    return Challenge(
        title="Without context parallelism",
        goal="Train the same Llama 3.1 70B on the same 64 H100 without context parallelism: in "
        "less memory than the published plan, and hardly slower.",
        conditions=(
            Condition(
                text="the job of the start: model, GPUs, network, batch",
                met=_same_job(run, start.run),
            ),
            Condition(
                text="no context parallelism, nothing recomputed",
                met=run.plan.context_parallel == 1 and run.training.recompute == "none",
            ),
            Condition(
                text=say(
                    "a step of at most {t}, {r} of that at the start",
                    t=(_LONGER * step, SECONDS),
                    r=(_LONGER, RATIO),
                ),
                met=estimated.step_time <= _LONGER * step,
            ),
            Condition(
                text=say("it fits, and needs less than {m}", m=(peak, BYTES)),
                met=estimated.fit.verdict == "fits" and estimated.held.peak_memory < peak,
            ),
        ),
        hints=(
            "Context parallelism cut the activations of every layer in two. Which other axis "
            "cuts them?",
            "The group of that axis must stay inside a node: how many GPUs has one?",
            "Fewer stages leave a smaller bubble, and so do more virtual stages.",
            "The collectives of that group can run beside the products.",
        ),
        start={},
        solution=_SOLUTION,
    )


def _same_job(run: Run, start: Run) -> bool:
    batch = ("global_batch_size", "sequence_length", "precision")
    return (
        (run.model, run.cluster) == (start.model, start.cluster)
        and run.plan.world_size == start.plan.world_size
        and all(getattr(run.training, key) == getattr(start.training, key) for key in batch)
    )
