"""Calculators that accept an imported job, and the job's values for their inputs."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace

from engine.catalog.nodes import NODES
from engine.core.parsing import exact_text
from engine.core.record import record
from engine.core.units import Count
from engine.form.run.form_values import fits_form, inputs_of
from engine.form.run.inputs import CUSTOM, Inputs
from engine.run.machines import cluster_of
from engine.run.parallelism import num_microbatches
from engine.run.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTarget:
    """A calculator that accepts a job: link text, page, input names."""

    title: str
    page: str
    names: tuple[str, ...]


def _shape_names() -> tuple[str, ...]:
    names = [field.name for field in fields(Inputs)]
    return tuple(names[names.index("num_layers") :])


_SPLIT = ("tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel")
_SIZES = ("model", "sequence_length", "micro_batch_size", *_SPLIT)
_STEP = (
    *_SIZES,
    "gpu",
    "world_size",
    "virtual_pipeline",
    "global_batch_size",
    "recompute",
    "zero_stage",
)
_PORTS = ("nic_bandwidth", "nics_per_node")
_OWN = "own_constants"
JOB_TARGETS: Mapping[str, JobTarget] = {
    "estimate_run": JobTarget(
        title="Estimate a run, beside published ones",
        page="guides/reproduce-published-runs",
        names=tuple(field.name for field in fields(Inputs)),
    ),
    "sandbox": JobTarget(
        title="This plan beside another one",
        page="reference/sandbox",
        names=tuple(field.name for field in fields(Inputs)),
    ),
    "levers": JobTarget(
        title="What each lever gives",
        page="guides/optimization-frontier",
        names=(
            *_STEP,
            *_PORTS,
            "precision",
            "overlap_gradient_reduce",
            "overlap_tensor_parallel",
            "flash_attention",
            "compiled",
            _OWN,
        ),
    ),
    "parallelism_modeler": JobTarget(
        title="Memory and time of every axis",
        page="guides/parallelism-modeler",
        names=(
            *_SIZES,
            "gpu",
            "gpus_per_node",
            *_PORTS,
            "num_microbatches",
            "data_parallel",
            "zero_stage",
            "recompute",
            "framework",
            "precision",
            "sequence_parallel",
            "flash_attention",
            _OWN,
        ),
    ),
    "parallel_map": JobTarget(
        title="Which rank talks to which",
        page="guides/the-map",
        names=(*_SIZES, "gpus_per_node", "data_parallel", "num_microbatches", _OWN),
    ),
    "largest_batch": JobTarget(
        title="The largest micro-batch that fits",
        page="guides/largest-batch",
        names=(
            *_SIZES,
            "gpu",
            "world_size",
            "recompute",
            "zero_stage",
            "framework",
            "flash_attention",
            _OWN,
        ),
    ),
    "stack_explorer": JobTarget(
        title="Every event of the job, from nanoseconds to days",
        page="guides/stack-explorer",
        names=(*_STEP, *_PORTS, _OWN),
    ),
}

# What these take of a job that was read elsewhere. No link leads there with a job.
_SHORT = (*_STEP, "precision", "framework", _OWN, *_shape_names())
_ACCEPTED: Mapping[str, tuple[str, ...]] = {
    "fabric_compare": _SHORT,
    "log_check": _SHORT,
    "memory_check": _SHORT,
    "trace_check": _SHORT,
    "wire_types": _SHORT,
    "job_planner": (
        *("model", "world_size", "sequence_length", "global_batch_size", "precision"),
        "lora_rank",
        *("overlap_tensor_parallel", "overlap_expert_parallel", "exchange"),
        *("cuda_graphs", "fused_experts", _OWN, *_shape_names()),
    ),
    "planner": (
        *("model", "gpu", "world_size", "sequence_length", "global_batch_size"),
        *("overlap_tensor_parallel", "overlap_expert_parallel", "exchange"),
        *("cuda_graphs", "fused_experts", _OWN),
    ),
}
# Of a cluster alone: its GPU or its machine, and what was measured there.
_CLUSTER = ("gpu", "machine", _OWN)


def accepted_inputs(name: str, inputs: Collection[str]) -> tuple[str, ...]:
    """Return the inputs of a calculator that an imported job fills.

    Of a calculator that asks for no whole job, but takes constants: its cluster alone.
    """
    if name in JOB_TARGETS:
        return JOB_TARGETS[name].names
    names = _ACCEPTED.get(name, _CLUSTER if _OWN in inputs else ())
    return tuple(field_name for field_name in names if field_name in inputs)


def job_values(run: Run) -> dict[str, str]:
    """Return a run's values as URL texts, by input name."""
    inputs, values = inputs_of(run), {}
    for field in fields(Inputs):
        values[field.name] = exact_text(getattr(inputs, field.name))
    if inputs.model != CUSTOM:
        for name in _shape_names():
            del values[name]
    if not inputs.own_constants:
        del values["own_constants"]
    if machine := _machine(run):
        values["machine"] = machine
    ranks: Count = run.plan.data_parallel
    batches = num_microbatches(run.plan, run.training)
    return values | {"data_parallel": exact_text(ranks), "num_microbatches": exact_text(batches)}


def _machine(run: Run) -> str:
    """Return the catalog key of the run's machines, or ""."""
    bare = replace(run.cluster, own=None, price_per_hour=0.0, oversubscription=1.0)
    return next((key for key in NODES if cluster_of(key) == bare), "")


# These have a field for all that a run of the form says, the shape of a model included.
_WHOLE = ("estimate_run", "sandbox")


@record
class JobLinks:
    """URL parameters that carry a job to other calculators.

    Attributes:
        job: all its values, for the calculators that have fields for them.
        places: of `JOB_TARGETS`, those that take it, with what gives it to them.
    """

    job: str
    places: Mapping[str, str]


def job_links(run: Run) -> JobLinks:
    """Return the URL parameters that carry this job to calculators."""
    values, whole = job_values(run), fits_form(run)
    named = values["model"] != CUSTOM
    return JobLinks(
        job="&".join(f"job.{name}={value}" for name, value in values.items()),
        places={
            key: "&".join(f"{key}.{name}={values[name]}" for name in target.names if name in values)
            for key, target in JOB_TARGETS.items()
            if (whole if key in _WHOLE else named)
        },
    )
