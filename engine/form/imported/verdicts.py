"""Badges and tables for an imported job: fit, bottleneck, changes, keys, links."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace

from engine.catalog.gain_errors import GAIN_ERROR
from engine.catalog.nodes import NODES
from engine.core.parsing import exact_text
from engine.core.record import record
from engine.core.slices import SlicedRun, Slices
from engine.core.text import Text, say
from engine.core.units import COUNT, LINK_SPEED, RATIO, SECONDS, SHARE, Count
from engine.core.views import Badge, CalculatorLink, Cell, Table
from engine.form.adjusted_inputs import join_sentences
from engine.form.memory_fit import fit_badge
from engine.form.run.form_values import fits_form, inputs_of
from engine.form.run.inputs import CUSTOM, Inputs
from engine.form.run.result import RunEstimate
from engine.run.importers.assemble import ImportedRun
from engine.run.importers.import_report import ReportEntry
from engine.run.machines import cluster_of
from engine.run.parallelism import num_microbatches
from engine.run.run import Run
from engine.simulate.planner.plan_upgrades import PlanUpgrade
from engine.simulate.step.single_changes import SingleChange

# Calculators that accept an imported job, and the job's values for their inputs.


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
    bare = replace(run.cluster, own_constants=None, price_per_hour=0.0, oversubscription=1.0)
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


_PARTS = {
    "compute": ("Computation", "compute"),
    "tensor_parallel": ("Tensor parallelism", "communication"),
    "context_parallel": ("Context parallelism", "communication"),
    "expert_parallel": ("The exchange of experts", "communication"),
    "pipeline": ("Messages between stages", "communication"),
    "data_parallel": ("Data-parallel collectives", "communication"),
    "bubble": ("The pipeline bubble", "muted"),
    "optimizer": ("The optimizer", "memory"),
    "other": ("Host and stragglers", "muted"),
}
_KINDS = (
    "not read", "not known", "not modeled", "assumed", "without effect", "derived", "understood",
)  # fmt: skip
_MAX_SENTENCES = 3
# What a change costs beside time, by its setting; of the others nothing beyond it.
_PRICES = {
    "precision": "needs scaling and a check of the loss",
    "recompute": "trades memory for operations",
    "micro_batch_size": "changes the activations that are held",
    "zero_stage": "changes what every rank holds",
    "compiled": "compile time at the start",
}


def verdict_badge(imported: ImportedRun, estimated: RunEstimate | None) -> Badge:
    """Return whether the job can run, whether it fits, and what the answer leaves out."""
    if estimated is not None:
        badge = fit_badge(estimated.fit)
        if not imported.warnings:
            return badge
        return replace(badge, sentence=join_sentences((badge.sentence, left_out(imported)), []))
    return Badge(
        text="Contradiction",
        sentence=" ".join(
            _as_sentence(problem) for problem in imported.contradictions[:_MAX_SENTENCES]
        )
        + _more_contradictions(imported),
        color="communication",
    )


def left_out(imported: ImportedRun) -> str:
    """Return the sentence on settings that were left out or assumed."""
    if not imported.warnings:
        return "Nothing that was read is left out."
    warnings = imported.warnings[:_MAX_SENTENCES]
    more = len(imported.warnings) - len(warnings)
    others = f"; and {more} more" if more else ""
    return _as_sentence(f"Left out or assumed: {'; '.join(warnings)}{others}")


def _more_contradictions(imported: ImportedRun) -> str:
    more = len(imported.contradictions) - _MAX_SENTENCES
    return f" And {more} more." if more > 0 else ""


def _as_sentence(text: str) -> str:
    """Return a text as a sentence without template braces."""
    return text.replace("{", "(").replace("}", ")").rstrip(".") + "."


def bottleneck_badge(estimated: RunEstimate | None) -> Badge:
    """Return the longest part of the step."""
    if estimated is None:
        return Badge(text="Nothing to time", sentence="The text gives no job.", color="muted")
    parts, step = estimated.estimate["time"], estimated.step_time
    longest = max(parts, key=lambda name: parts[name])
    waiting = max((name for name in parts if name != "compute"), key=lambda name: parts[name])
    text, color = _PARTS[longest]
    return Badge(
        text=f"{text} binds" if longest == "compute" else text,
        sentence=say(
            f"Computation is {{c}} of the step. {_PARTS[waiting][0]}: {{s}}, the largest part "
            "of the rest.",
            c=(parts["compute"] / step, SHARE),
            s=(parts[waiting] / step, SHARE),
        ),
        color=color,
    )


def changes_table(
    estimated: RunEstimate | None, best: tuple[SingleChange, ...], more: Count
) -> Table:
    """Return the best single changes; for a job that does not fit, those that make it fit."""
    if estimated is None:
        return Table(title="", columns=(), rows=())
    gpus = estimated.num_gpus
    rows: list[tuple[Cell, ...]] = [
        (
            change.setting,
            change.before,
            change.after,
            say("{t}", t=(change.step, SECONDS)),
            say("{r}", r=(estimated.step_time / change.step, RATIO)),
            _PRICES.get(change.setting, ""),
        )
        for change in best
    ]
    if more:
        rows.append(("world_size", str(gpus), str(gpus * more), "", "",
                     "more GPUs, as data-parallel ranks"))  # fmt: skip
    if not rows:
        rows.append(("none", "", "", "", "", _no_change_text(estimated)))
    title = "The best single changes" if estimated.fit.runs else "What makes it fit"
    return Table(
        title=title,
        columns=("Setting", "Now", "Change to", "Step then", "Speed", "Price"),
        rows=tuple(rows),
        caption=say(
            "Each row is the cost model run again with that one change, and each fits. In eight of "
            "ten published pairs of runs, the predicted gain was within {e} of the measured one, "
            "so changes whose speeds differ by less are a tie.",
            e=(GAIN_ERROR, SHARE),
        ),
    )


def plan_table(
    estimated: RunEstimate | None, together: SlicedRun[tuple[PlanUpgrade, ...]] | None
) -> Slices[Table]:
    """Return a plan that changes several settings, where the planner finds a better one."""
    plans = (yield from together.rest()) if together else ()
    if estimated is None or not plans:
        return Table(title="", columns=(), rows=())
    plan = plans[0]
    return Table(
        title="Several changes together" if estimated.fit.runs else "A plan that fits",
        columns=("Setting", "Now", "Change to"),
        rows=plan.changed,
        caption=say(
            "Together: a step of {t}, {r} as fast, and it fits. The planner has tried all plans "
            "with half to twice of each axis, at the same GPUs, batch, precision and software.",
            t=(plan.step, SECONDS),
            r=(estimated.step_time / plan.step, RATIO),
        ),
    )


def _no_change_text(estimated: RunEstimate) -> str:
    if estimated.fit.runs:
        return "no single change of a setting is faster and fits"
    return "no single change of a setting makes it fit, nor do 64 times the GPUs"


def keys_table(imported: ImportedRun) -> Table:
    """Return every key with its interpretation; those to check come first."""
    ordered = sorted(imported.entries, key=lambda entry: (_KINDS.index(entry.kind), entry.line))
    counts = {kind: sum(entry.kind == kind for entry in ordered) for kind in _KINDS}
    names = {kind: kind.replace(" ", "_") for kind in _KINDS}
    counts_text = ", ".join(f"{{{name}}} {kind}" for kind, name in names.items())
    return Table(
        title="What became of every key",
        columns=("Key", "Value", "Line", "Became", "What it means here"),
        rows=tuple(
            (entry.key, _value(entry), str(entry.line or ""), entry.kind, entry.meaning)
            for entry in ordered
        ),
        caption=say(
            f"Recognized: {', '.join(imported.dialects)}. {counts_text}.",
            **{names[kind]: (count, COUNT) for kind, count in counts.items()},
        ),
    )


def _value(entry: ReportEntry) -> Text:
    """Return a value as written; an assumed port speed in its unit."""
    if entry.kind == "assumed" and entry.key == "cluster.nic_bandwidth":
        return say("{b}", b=(float(entry.value), LINK_SPEED))
    return entry.value


def targets_table(links: JobLinks | None) -> Table:
    """Return the calculators that accept the job."""
    if links is None:
        return Table(title="", columns=(), rows=())
    rows: list[tuple[Cell, ...]] = [
        (
            target.title,
            CalculatorLink(
                "open with this job",
                name,
                links.places[name],
                page=target.page,
                job=links.job if not index else "",
            )
            if name in links.places
            else "takes models of the catalog only",
        )
        for index, (name, target) in enumerate(JOB_TARGETS.items())
    ]
    return Table(
        title="Take this job along",
        columns=("What it shows", ""),
        rows=tuple(rows),
        caption="A link holds the job's numbers, never your text.",
    )
