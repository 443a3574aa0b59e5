"""The inputs of `estimate_run` that give a run: the way back from a run to the form."""

from collections.abc import Mapping
from dataclasses import fields, replace

from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.catalog.models import MODELS, Model
from engine.catalog.power_limited import LIMITED_GPU
from engine.catalog.reader_constants import format_constants
from engine.core.parsing import exact_text
from engine.form.own_gpu import OWN_GPU
from engine.form.run.inputs import CUSTOM, LIMITED, RECENT_NAMES, Inputs
from engine.form.run.nearest_valid import EXPERTS, catalog_model, nearest_run
from engine.run.own_gpu import NAME as OWN_NAME
from engine.run.own_gpu import RANGES
from engine.run.parallelism import GradientPrecision
from engine.run.run import Run

_GRADIENTS: Mapping[GradientPrecision, str] = {
    "": "off",
    "bf16": "on",
    "fp16": "on",
    "fp32": "fp32",
}


def inputs_of(run: Run) -> Inputs:
    """Return the inputs that give this run."""
    known = _catalog_key(run.model)
    values: dict[str, str | float | bool] = {
        "model": known or CUSTOM,
        "gpu": _gpu_key(run),
        "zero_stage": str(run.plan.zero_stage),
        "half_gradients": _GRADIENTS[run.training.gradient_precision],
        "own_constants": format_constants(run.cluster.own_constants)
        if run.cluster.own_constants
        else "",
    }
    if run.cluster.gpu.name == OWN_NAME:
        values |= _own_gpu_values(run.cluster.gpu)
    parts = (*(() if known else (run.model,)), run.cluster, run.plan, run.training)
    # A model without experts leaves their fields as they are.
    names = {field.name for field in fields(Inputs)} - set(() if run.model.num_experts else EXPERTS)
    for name in names - set(values):
        part = next((part for part in parts if hasattr(part, name)), None)
        if part is not None:
            values[name] = getattr(part, name)
    return Inputs(**values)  # type: ignore[arg-type]


def estimate_query(inputs: Inputs) -> str:
    """Return the query string of `estimate_run` for these inputs, defaults left out."""
    usual = Inputs()
    pairs = ((field.name, getattr(inputs, field.name)) for field in fields(Inputs))
    return "&".join(
        f"estimate_run.{name}={exact_text(value)}"
        for name, value in pairs
        if value != getattr(usual, name)
    )


def fits_form(run: Run) -> bool:
    """Return whether the form has a field for all that this run says."""
    gpu = run.cluster.gpu
    readers_gpu = gpu.name == OWN_NAME and "fp4" not in gpu.peak and gpu.pcie == RANGES["pcie"][2]
    sold = readers_gpu or gpu == LIMITED_GPU or any(gpu == known for known in ACCELERATORS.values())
    if not sold or (run.model.mix and not _catalog_key(run.model)):
        return False
    again, changes = nearest_run(inputs_of(run))
    return not changes and _without_names(again) == _without_names(run)


def _catalog_key(model: Model) -> str:
    """Return the key of a model in the catalog, or nothing."""
    keys = [key for key, name in RECENT_NAMES.items() if name == model.name]
    keys = [key for key in keys if catalog_model(key) == model]
    return next((key for key, known in MODELS.items() if known == model), "".join(keys))


def _without_names(run: Run) -> Run:
    """Return the run without what changes no answer: names, the price, a head's usual size."""
    model = replace(run.model, name="", source="")
    if model.head_size * model.num_attention_heads == model.hidden_size:
        model = replace(model, head_size=0)
    return replace(run, model=model, cluster=replace(run.cluster, price_per_hour=0.0))


def _own_gpu_values(gpu: Gpu) -> dict[str, float]:
    return {
        "own_peak": gpu.peak["bf16"],
        "own_peak_fp8": gpu.peak.get("fp8", 0.0),
        "own_memory": gpu.memory,
        "own_bandwidth": gpu.memory_bandwidth,
        "own_scale_up": gpu.scale_up,
    }


def _gpu_key(run: Run) -> str:
    gpu = run.cluster.gpu
    if gpu == LIMITED_GPU:
        return LIMITED
    if gpu.name == OWN_NAME:
        return OWN_GPU
    return next(key for key, accelerator in ACCELERATORS.items() if accelerator == gpu)
