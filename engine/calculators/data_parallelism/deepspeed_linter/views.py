"""Views of the linter: the annotated file, the settings left to defaults, and the memory."""

from engine.calculators.data_parallelism.deepspeed_linter.result import Result
from engine.catalog.deepspeed_settings import SETTINGS, VERSION
from engine.core.outputs import Presenter
from engine.core.text import Text, say
from engine.core.units import BYTES, Bytes
from engine.core.views import Axis, Badge, Bar, Bars, Segment, Table
from engine.run.deepspeed_lint import LintMessage

# Settings that decide memory and overlap: named where a file leaves them out.
_SHOWN_SETTINGS = (
    "reduce_bucket_size",
    "overlap_comm",
    "allgather_bucket_size",
    "stage3_max_live_parameters",
    "stage3_max_reuse_distance",
    "stage3_prefetch_bucket_size",
    "stage3_param_persistence_threshold",
)
_NAMES = {"ok": "", "note": "note", "warning": "warning", "error": "ERROR"}


def verdict(present: Presenter, result: Result) -> Badge:
    """Return whether DeepSpeed would take the file."""
    also = f" and {_finding_words('warning', result.warnings)}" if result.warnings else ""
    if result.errors:
        return Badge(
            text="DeepSpeed would refuse it",
            sentence=present.say(f"{_finding_words('error', result.errors)}{also}."),
            color="communication",
        )
    if result.warnings:
        return Badge(
            text="It runs",
            sentence=present.say(
                "{warnings} of its lines do not do what they seem to."
                if result.warnings > 1
                else "One of its lines does not do what it seems to."
            ),
            color="buffers",
        )
    return Badge(text="It runs", sentence="Nothing in it stands out.", color="compute")


def _finding_words(word: str, number: int) -> str:
    """Return a number of findings in words; several name their field."""
    return f"1 {word}" if number == 1 else f"{{{word}s}} {word}s"


def annotated_file(result: Result) -> Table:
    """Return the table of keys with line, effect and cost."""
    return Table(
        title="Line by line",
        columns=("Line", "Setting", "Value", "Verdict", "What it does here", "Memory"),
        rows=tuple(
            (
                str(note.number),
                note.path.removeprefix("zero_optimization."),
                note.value,
                _NAMES[note.verdict],
                note.text,
                _memory(note, result),
            )
            for note in result.notes
        ),
        caption=f"Checked against the source of {VERSION}.",
    )


def _memory(note: LintMessage, result: Result) -> Text:
    spent = result.spent
    sizes: dict[str, Bytes] = {
        "stage": spent.states.total,
        "reduce_bucket_size": spent.bucket,
        "stage3_max_live_parameters": spent.live,
        "stage3_param_persistence_threshold": spent.persistent,
        "zero_hpz_partition_size": spent.second_copy,
    }
    size = sizes.get(note.path.removeprefix("zero_optimization."), 0.0)
    return say("{m}", m=(size, BYTES)) if size and note.verdict != "error" else ""


def defaults_table(result: Result) -> Table:
    """Return the settings that the file leaves to their defaults."""
    settings = result.values.settings
    rows = tuple(
        (name, SETTINGS[name].default, SETTINGS[name].effect)
        for name in _SHOWN_SETTINGS
        if name not in settings and result.stage in SETTINGS[name].stages
    )
    return Table(
        title="Left to the defaults",
        columns=("Setting", "Default", "What it does"),
        rows=rows or (("nothing", "", "Every setting that matters at this stage is given."),),
    )


def memory(result: Result) -> Bars:
    """Return states and buffers on each GPU."""
    spent = result.spent
    parts = (
        ("parameters", "parameters", spent.states.parameters, "parameters"),
        ("gradients", "gradients", spent.states.gradients, "gradients"),
        ("optimizer", "optimizer", spent.states.optimizer, "optimizer"),
    )
    buffers = (
        ("live", "gathered", spent.live, "parameters"),
        ("bucket", "bucket", spent.bucket, "gradients"),
        ("second", "second copy", spent.second_copy, "optimizer"),
        ("persistent", "persistent", spent.persistent, "buffers"),
    )
    rows = (("states", "states", parts), ("buffers", "buffers", buffers))
    high = max(spent.states.total, spent.buffers) * 1.1
    return Bars(
        title="Memory on each GPU, without activations",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=high),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=tuple(
                    Segment(key=name, label=words, value=size, color=color)
                    for name, words, size, color in segments
                    if size
                ),
            )
            for key, label, segments in rows
        ),
    )
