"""The verdict on memory in words: fits, tight, or does not fit."""

from dataclasses import replace

from engine.catalog.constants import TIGHT_RUNS
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, SHARE
from engine.core.views import Badge, Segment
from engine.form.adjusted_inputs import join_sentences
from engine.simulate.memory.allocator import Memory, MemoryFit, Verdict

TITLES: dict[Verdict, str] = {
    "fits": "Fits",
    "tight": "Tight",
    "does not fit": "Does not fit",
}


def tight_text(fit: MemoryFit) -> Text:
    """Return the meaning of a tight fit, with the published runs in that state."""
    state = "it leaves only {left} of the GPU free"
    if fit.give_back:
        state = "it runs only if PyTorch's allocator gives {left} back, for which it stops the GPU"
    return say(
        f"Tight: {state}. Of {{runs}} published runs that are tight by this model the middle one "
        "took {middle} longer than predicted, the slowest {slowest}.",
        left=(fit.give_back or fit.device - fit.needed, BYTES),
        runs=(TIGHT_RUNS.runs, COUNT),
        middle=(TIGHT_RUNS.middle - 1, SHARE),
        slowest=(TIGHT_RUNS.slowest - 1, SHARE),
    )


def tight_mark(fit: MemoryFit) -> str:
    """Return the words that follow the name of a plan which does not simply fit, or ""."""
    return "" if fit.verdict == "fits" else f", {fit.verdict}"


def with_fit(badge: Badge, fit: MemoryFit) -> Badge:
    """Return a badge of a job that runs, which says so if it does only just."""
    if fit.verdict != "tight":
        return badge
    return replace(
        badge,
        text=f"{badge.text}, but tight",
        sentence=join_sentences((badge.sentence, tight_text(fit)), []),
    )


def fit_badge(fit: MemoryFit, subject: str = "The rank that holds most") -> Badge:
    """Return whether a job fits its GPUs."""
    needs = say(
        f"{subject} needs {{needed}} of the {{usable}} that may be filled.",
        needed=(fit.needed, BYTES),
        usable=(fit.usable, BYTES),
    )
    if fit.verdict == "fits":
        return Badge(text=TITLES[fit.verdict], sentence=needs, color="compute")
    if fit.verdict == "tight":
        sentence = join_sentences((needs, tight_text(fit)), [])
        return Badge(text=TITLES[fit.verdict], sentence=sentence, color="communication")
    over = say(
        "Even if the allocator gives every free block back, {over} are missing.",
        over=(fit.least - fit.device, BYTES),
    )
    sentence = join_sentences((needs, over), [])
    return Badge(text=TITLES[fit.verdict], sentence=sentence, color="communication")


# GPU memory as a stacked bar.

_PARTS = ("parameters", "gradients", "optimizer", "activations", "buffers")


def memory_segments(memory: Memory) -> tuple[Segment, ...]:
    """Return the parts of a GPU's memory as segments of a bar."""
    parts = [Segment(key=k, label=k, value=getattr(memory, k), color=k) for k in _PARTS]
    reserve = Segment(key="reserve", label="reserve", value=memory.reserve, color="muted")
    return (*parts, reserve)
