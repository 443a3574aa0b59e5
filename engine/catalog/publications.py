"""Published figures of whole training runs: speed, GPU hours, interruptions."""

from dataclasses import dataclass

from engine.catalog.training_reports import REPORTS
from engine.core.units import DAY, HOUR, Count, GpuTime, Parameters, Seconds, Share, Tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """A published run.

    Attributes:
        model, gpu: keys of the catalog.
        world_size, sequence_length: of its long phase.
        parameters: in the source's words, rounded.
        tokens: that it saw.
        mfu: in that phase.
        gpu_time: of the whole run.
        window: in which its interruptions were counted.
        interruptions: in the window; `unexpected` of them were not planned.
        effective: share of the window that was useful training, at least.
        sources: keys of the bibliography.
    """

    model: str
    gpu: str
    world_size: Count
    sequence_length: Count
    parameters: Parameters
    tokens: Tokens
    mfu: Share
    gpu_time: GpuTime
    window: Seconds
    interruptions: Count
    unexpected: Count
    effective: Share
    sources: tuple[str, ...]

    @property
    def wall(self) -> Seconds:
        """The time of the run, if all its GPUs were at work the whole time."""
        return self.gpu_time / self.world_size


# Dubey et al. 2024, table 4 (16,384 GPUs, 8,192 tokens: 41 %; 8,192 GPUs: 43 %) and section 3.3.4;
# GPU hours from the model card of Llama 3.1.
LLAMA_3_405B = Publication(
    model="llama-3-405b",
    gpu="H100-SXM",
    world_size=16_384,
    sequence_length=8192,
    parameters=405e9,
    tokens=15.6e12,
    mfu=REPORTS["llama-3-405b"].mfu,
    gpu_time=30.84e6 * HOUR,
    window=54 * DAY,
    interruptions=466,
    unexpected=419,
    effective=0.9,
    sources=("dubey2024", "llama31_card"),
)


def find_publication(
    model: str, gpu: str, world_size: Count, sequence_length: Count
) -> Publication | None:
    """Return the publication of a job, or None if there is none."""
    wanted = model, gpu, world_size, sequence_length
    known = LLAMA_3_405B
    key = known.model, known.gpu, known.world_size, known.sequence_length
    return known if wanted == key else None
