"""The answer of an imported job in words: whether it runs, what binds, what to change."""

from engine.core.slices import Running, Slices
from engine.core.text import Text, say
from engine.core.units import COUNT, LINK_SPEED, RATIO, SECONDS, SHARE, Count
from engine.core.views import Badge, Cell, Open, Table
from engine.form.imported.job_targets import PLACES, Links
from engine.form.run.result import Estimated
from engine.form.run.verdicts import fit
from engine.form.what_if.accuracy import GAIN_ERROR
from engine.run.importers.assemble import Imported
from engine.run.importers.import_report import Entry
from engine.simulate.planner.plan_upgrades import WholeChange
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
_KINDS = ("ignored", "assumed", "derived", "understood")
_SAID = 3
# What a change costs beside time, by its setting; of the others nothing beyond it.
_PRICES = {
    "precision": "needs scaling and a check of the loss",
    "recompute": "trades memory for operations",
    "micro_batch_size": "changes the activations that are held",
    "zero_stage": "changes what every rank holds",
    "compiled": "compile time at the start",
}


def verdict(read: Imported, found: Estimated | None) -> Badge:
    """Return whether the job can run, and whether it fits."""
    if found is not None:
        return fit(found)
    return Badge(
        text="Contradiction",
        sentence=" ".join(_ended(one) for one in read.contradictions[:_SAID]) + _rest(read),
        color="communication",
    )


def _rest(read: Imported) -> str:
    more = len(read.contradictions) - _SAID
    return f" And {more} more." if more > 0 else ""


def _ended(text: str) -> str:
    """Return a sentence whose braces name no number."""
    return text.replace("{", "(").replace("}", ")").rstrip(".") + "."


def binds(found: Estimated | None) -> Badge:
    """Return the part of the step that takes longest beside computation."""
    if found is None:
        return Badge(text="Nothing to time", sentence="The text gives no job.", color="muted")
    parts, step = found.estimate["time"], found.step_time
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


def changes(found: Estimated | None, best: tuple[SingleChange, ...], more: Count) -> Table:
    """Return the best single changes, each computed; of a job that does not fit, what mends it."""
    if found is None:
        return Table(title="", columns=(), rows=())
    gpus = found.num_gpus
    rows: list[tuple[Cell, ...]] = [
        (
            one.setting,
            one.before,
            one.after,
            say("{t}", t=(one.step, SECONDS)),
            say("{r}", r=(found.step_time / one.step, RATIO)),
            _PRICES.get(one.setting, ""),
        )
        for one in best
    ]
    if more:
        rows.append(("world_size", str(gpus), str(gpus * more), "", "",
                     "more GPUs, as data-parallel ranks"))  # fmt: skip
    if not rows:
        rows.append(("none", "", "", "", "", _none(found)))
    title = "The best single changes" if found.fits else "What makes it fit"
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


def whole_plan(
    found: Estimated | None, together: Running[tuple[WholeChange, ...]] | None
) -> Slices[Table]:
    """Find a plan that changes several settings together, where the planner knows a better."""
    plans = (yield from together.rest()) if together else ()
    if found is None or not plans:
        return Table(title="", columns=(), rows=())
    plan = plans[0]
    return Table(
        title="Several changes together" if found.fits else "A plan that fits",
        columns=("Setting", "Now", "Change to"),
        rows=plan.changed,
        caption=say(
            "Together: a step of {t}, {r} as fast, and it fits. The planner has tried all plans "
            "with half to twice of each axis, at the same GPUs, batch, precision and software.",
            t=(plan.step, SECONDS),
            r=(found.step_time / plan.step, RATIO),
        ),
    )


def _none(found: Estimated) -> str:
    if found.fits:
        return "no single change of a setting is faster and fits"
    return "no single change of a setting makes it fit, nor do 64 times the GPUs"


def keys(read: Imported) -> Table:
    """Return every key, what became of it and why; what needs a look stands first."""
    ordered = sorted(read.entries, key=lambda one: (_KINDS.index(one.kind), one.line))
    counts = {kind: sum(one.kind == kind for one in ordered) for kind in _KINDS}
    told = ", ".join(f"{{{kind}}} {kind}" for kind in _KINDS)
    return Table(
        title="What became of every key",
        columns=("Key", "Value", "Line", "Became", "What it means here"),
        rows=tuple(
            (one.key, _value(one), str(one.line or ""), one.kind, one.meaning) for one in ordered
        ),
        caption=say(
            f"Recognized: {', '.join(read.dialects)}. {told}.",
            **{kind: (count, COUNT) for kind, count in counts.items()},
        ),
    )


def _value(one: Entry) -> Text:
    """Return a value as the text has it; an assumed speed of a port in its unit."""
    if one.kind == "assumed" and one.key == "cluster.nic_bandwidth":
        return say("{b}", b=(float(one.value), LINK_SPEED))
    return one.value


def places(links: Links | None) -> Table:
    """Return where the job can be taken."""
    if links is None:
        return Table(title="", columns=(), rows=())
    rows: list[tuple[Cell, ...]] = [
        (
            one.title,
            Open(
                "open with this job",
                name,
                links.places[name],
                page=one.page,
                job=links.job if not index else "",
            )
            if name in links.places
            else "takes models of the catalog only",
        )
        for index, (name, one) in enumerate(PLACES.items())
    ]
    return Table(
        title="Take this job along",
        columns=("What it shows", ""),
        rows=tuple(rows),
        caption="A link holds the job's numbers, never your text.",
    )
