"""Badges and tables for an imported job: fit, bottleneck, changes, keys, links."""

from dataclasses import replace

from engine.core.slices import SlicedRun, Slices
from engine.core.text import Text, say
from engine.core.units import COUNT, LINK_SPEED, RATIO, SECONDS, SHARE, Count
from engine.core.views import Badge, CalculatorLink, Cell, Table
from engine.form.adjusted_inputs import join_sentences
from engine.form.imported.job_targets import JOB_TARGETS, JobLinks
from engine.form.memory_fit import fit_badge
from engine.form.run.result import RunEstimate
from engine.form.what_if.accuracy import GAIN_ERROR
from engine.run.importers.assemble import ImportedRun
from engine.run.importers.import_report import ReportEntry
from engine.simulate.planner.plan_upgrades import PlanUpgrade
from engine.simulate.step.single_changes import SingleChange

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
        + _rest(imported),
        color="communication",
    )


def left_out(imported: ImportedRun) -> str:
    """Return what the answer leaves out, in one sentence."""
    if not imported.warnings:
        return "Nothing that was read is left out."
    said = imported.warnings[:_MAX_SENTENCES]
    more = len(imported.warnings) - len(said)
    rest = f"; and {more} more" if more else ""
    return _as_sentence(f"Left out or assumed: {'; '.join(said)}{rest}")


def _rest(imported: ImportedRun) -> str:
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
